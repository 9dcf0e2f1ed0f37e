"""Tool calls: trusted, hidden and untrusted tools; questions, their answers, and what is posted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.aap_faults import answers, breaks
from tests.agents.aap_script import AGENT, Call, Hold, Quirks, Raw, Step, text
from tests.unit.protocol.aap.bench import Bench, offering, opened

from acp_nvim.protocol.aap import turn as turns
from acp_nvim.session.asked import ToolSubject

pytestmark = pytest.mark.anyio

SEARCH = Call("1", "search", {"query": "cats"})


async def trust(bench: Bench, name: str, how: str = "trust") -> None:
    option = next(each for each in bench.session.options if each.id == f"tool:{name}")
    await bench.adapter.set_option(bench.session, option, how)


@pytest.mark.req("AAP-47", "AAP-45", "AAP-20", "AAP-21", "AAP-70")
async def test_a_trusted_tool_runs_without_a_question() -> None:
    script: list[Step] = [[text("I look."), SEARCH, Call("2", "clock")], [text("Found.")]]
    async with opened(script) as bench:
        await trust(bench, "search")
        await trust(bench, "clock")
        await bench.prompt()
        assert bench.timeline == [
            "user: hello",
            "agent: I look.",
            "tool 1: Search the web completed",
            "tool 2: clock completed",
            "agent: Found.",
            "end: end_turn",
        ]
        assert (bench.texts("1"), bench.texts("2")) == ("found cats", "noon")
        assert (bench.call("1").name, bench.call("1").raw_input) == ("search", {"query": "cats"})
        assert bench.questions.asked == []
        (turn,) = bench.server.turns
        assert turn["agent"] == {
            "tools": [{"name": "search", "trust": True}, {"name": "clock", "trust": True}]
        }


@pytest.mark.req("AAP-22", "AAP-48")
async def test_a_tool_nobody_has_spoken_of() -> None:
    result = (
        b'event: tool_result\ndata: {"toolCallId": "7", "content": [{"type": "text", "text": "late"}]}\n\n'
    )
    script: list[Step] = [[Call("1", "secret-tool", {}), Raw(result)], [text("ok")]]
    async with opened(script, tools={"secret-tool": lambda _: "done"}) as bench:
        await bench.prompt()
        assert bench.timeline == [
            "user: hello",
            "tool 1: secret-tool completed",
            "tool 7: a tool completed",
            "agent: ok",
            "end: end_turn",
        ]
        assert bench.texts("7") == "late"


@pytest.mark.req("AAP-27", "AAP-54", "AAP-55", "AAP-56", "AAP-57", "AAP-58", "AAP-60")
async def test_untrusted_tools_are_asked_about_and_all_answers_go_in_one_post() -> None:
    script: list[Step] = [[SEARCH, Call("2", "clock"), Call("3", "search", {"query": "dogs"})], [text("ok")]]
    async with opened(script) as bench:
        async with bench.turn():
            await bench.asked(3)
            assert len(bench.server.turns) == 1
            assert {bench.call(row).status for row in "123"} == {"pending"}
            first = bench.questions.asked[0]
            assert first.subject == ToolSubject("1")
            assert first.description == "Looks for pages.\nquery: the words to look for"
            assert [(o.name, o.kind) for o in first.options] == [
                ("Allow once", "allow_once"),
                ("Always allow this tool in this session", "allow_always"),
                ("Reject", "reject_once"),
                ("Reject, and say why", "reject_why"),
            ]
            bench.questions.answer("q3", "allow")
            bench.questions.answer("q1", "allow")
            bench.questions.answer("q2", "reject")
        assert bench.server.turns[1] == {
            "messages": [
                {"role": "tool_permission", "toolCallId": "1", "granted": True},
                {"role": "tool_permission", "toolCallId": "2", "granted": False},
                {"role": "tool_permission", "toolCallId": "3", "granted": True},
            ],
            "stream": "delta",
        }
        # The server tells no result after a permission: the history has it.
        assert (bench.texts("1"), bench.texts("3")) == ("found cats", "found dogs")
        assert bench.timeline == [
            "user: hello",
            "tool 1: Search the web completed",
            "tool 2: clock rejected",
            "tool 3: Search the web completed",
            "agent: ok",
            "end: end_turn",
        ]


@pytest.mark.req("AAP-58")
@pytest.mark.parametrize("mode", ["delta", "none"])
async def test_without_a_history_a_result_stays_untold(mode: str) -> None:
    async with opened([[SEARCH], [text("ok")]], agents=offering(mode, history=())) as bench:
        async with bench.turn():
            await bench.asked()
            bench.questions.answer("q1", "allow")
        assert bench.call("1").status == "completed"
        assert bench.texts("1") == turns.UNTOLD


@pytest.mark.req("AAP-48", "AAP-58")
async def test_a_server_that_tells_the_result_after_a_permission() -> None:
    async with opened([[SEARCH], [text("ok")]], quirks=Quirks(tell_granted=True)) as bench:
        async with bench.turn():
            await bench.asked()
            bench.questions.answer("q1", "allow")
        assert bench.texts("1") == "found cats"
        assert bench.server.seen("GET history") == []


@pytest.mark.req("AAP-23", "AAP-21")
async def test_always_is_trust_from_the_same_post_on() -> None:
    script: list[Step] = [[SEARCH], [Call("2", "search", {"query": "dogs"})], [text("ok")]]
    async with opened(script) as bench:
        async with bench.turn():
            await bench.asked()
            bench.questions.answer("q1", "always")
        assert bench.server.turns[1]["agent"] == {
            "tools": [{"name": "search", "trust": True}, {"name": "clock"}]
        }
        assert len(bench.questions.asked) == 1
        assert bench.texts("2") == "found dogs"
        assert {o.id: o.value for o in bench.session.options}["tool:search"] == "trust"


@pytest.mark.req("AAP-56", "AAP-59")
@pytest.mark.parametrize(
    ("typed", "sent"),
    [("  too slow ", "too slow"), ("", None), (None, None)],
    ids=["said", "empty", "not said"],
)
async def test_a_reason_goes_with_a_rejection(typed: str | None, sent: str | None) -> None:
    async with opened([[SEARCH], [text("ok")]]) as bench:
        async with bench.turn():
            await bench.asked()
            bench.questions.answer("q1", "reason")
            await bench.until(lambda: bench.questions.open() == ["q2"])
            content = {"reason": typed} if typed is not None else None
            bench.questions.answer("q2", "accept" if typed is not None else "decline", content)
        wanted: dict[str, Any] = {"role": "tool_permission", "toolCallId": "1", "granted": False}
        if sent is not None:
            wanted["reason"] = sent
        assert bench.server.turns[1]["messages"] == [wanted]
        assert "tool 1: Search the web rejected" in bench.timeline
        assert bench.texts("1") == ""


async def test_a_question_that_is_closed_rejects() -> None:
    async with opened([[SEARCH], [text("ok")]]) as bench:
        async with bench.turn():
            await bench.asked()
            bench.questions.answer("q1", None)
        (message,) = bench.server.turns[1]["messages"]
        assert (message["granted"], message["reason"]) == (False, "The user closed the question.")


@pytest.mark.req("AAP-22")
async def test_a_tool_that_is_not_exposed_cannot_be_trusted() -> None:
    async with opened([[Call("1", "mystery", {})], [text("ok")]]) as bench, bench.turn():
        await bench.asked()
        assert [o.id for o in bench.questions.asked[0].options] == ["allow", "reject", "reason"]
        bench.questions.answer("q1", "reject")


@pytest.mark.req("AAP-62")
async def test_cancelling_at_a_question_posts_nothing_and_the_next_prompt_denies_first() -> None:
    script: list[Step] = [[SEARCH, Call("2", "clock")], [text("fine")], [text("new")]]
    async with opened(script) as bench:
        async with bench.turn():
            await bench.asked(2)
            bench.questions.answer("q1", "allow")
            await bench.adapter.cancel(bench.session)
        assert bench.session.turns[-1].stop == "cancelled"
        assert len(bench.server.turns) == 1
        await bench.prompt("next")
        reason = "The user cancelled the turn."
        assert [each["messages"] for each in bench.server.turns[1:]] == [
            [
                {"role": "tool_permission", "toolCallId": "1", "granted": False, "reason": reason},
                {"role": "tool_permission", "toolCallId": "2", "granted": False, "reason": reason},
            ],
            [{"role": "user", "content": "next"}],
        ]
        assert bench.timeline[-4:] == ["user: next", "agent: fine", "agent: new", "end: end_turn"]


@pytest.mark.req("AAP-62", "AAP-38")
async def test_what_a_cancelled_stream_has_left_open_is_found_in_the_history() -> None:
    script: list[Step] = [[text("hm"), Hold(), SEARCH], [text("fine")], [text("new")]]
    async with opened(script) as bench:
        async with bench.turn():
            await bench.until(lambda: "agent: hm" in bench.timeline)
            await bench.adapter.cancel(bench.session)
        # The server did not stop: it went on, as the SDK's does.
        bench.server.kept.history += [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "toolCallId": "1", "name": "search", "input": {}}],
            }
        ]
        bench.server.script = [[text("fine")], [text("new")]]
        await bench.prompt("next")
        assert bench.server.turns[1]["messages"][0]["toolCallId"] == "1"
        assert bench.server.turns[2]["messages"] == [{"role": "user", "content": "next"}]


@pytest.mark.req("AAP-62")
async def test_without_a_history_what_was_seen_is_denied() -> None:
    script: list[Step] = [[SEARCH, Call("2", "other"), Hold()]]
    async with opened(script, agents=offering("delta", history=())) as bench:
        async with bench.turn():
            await bench.until(lambda: "2" in bench.session.tool_calls)
            await bench.adapter.cancel(bench.session)
        assert [bench.call(row).local for row in "12"] == ["cancelled", "cancelled"]
        bench.server.kept.history += [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "toolCallId": "1", "name": "search", "input": {}}],
            }
        ]
        bench.server.script = [[text("fine")], [text("new")]]
        await bench.prompt("next")
        (message,) = bench.server.turns[1]["messages"]
        assert message["toolCallId"] == "1"  # nobody knows whether the other one waits


@pytest.mark.req("AAP-51", "AAP-55")
@pytest.mark.parametrize("fault", [answers(503), breaks()], ids=["503", "cut"])
async def test_answers_that_did_not_arrive_are_sent_with_the_next_prompt(fault: Any) -> None:
    async with opened([[SEARCH], [text("fine")], [text("new")]]) as bench:
        async with bench.turn():
            await bench.asked()
            bench.server.fail("POST turns", fault)
            bench.questions.answer("q1", "allow")
        assert bench.session.turns[-1].stop == "error"
        assert bench.session.turns[-1].error is not None
        assert not bench.session.turns[-1].error.unsent  # the prompt itself had arrived
        await bench.prompt("next")
        assert len(bench.questions.asked) == 1
        assert [each["messages"] for each in bench.server.turns[2:]] == [
            [{"role": "tool_permission", "toolCallId": "1", "granted": True}],
            [{"role": "user", "content": "next"}],
        ]


async def test_an_id_that_is_used_again_is_another_call() -> None:
    async with opened(
        [[SEARCH], [text("a")], [Call("1", "search", {"query": "dogs"})], [text("b")]]
    ) as bench:
        await trust(bench, "search")
        await bench.prompt()
        await bench.prompt("again")
        assert bench.timeline == [
            "user: hello",
            "tool 1: Search the web completed",
            "agent: a",
            "end: end_turn",
            "user: again",
            "tool 1#2: Search the web completed",
            "agent: b",
            "end: end_turn",
        ]
        assert (bench.texts("1"), bench.texts("1#2")) == ("found cats", "found dogs")


@pytest.mark.req("AAP-57")
async def test_the_older_name_of_a_schema() -> None:
    schema = {"properties": {"path": {"description": "where"}, "odd": 5, "plain": {}}}
    tool = {"name": "search", "description": "S.", "inputSchema": schema}
    agents = [{**AGENT, "tools": [tool]}]
    async with opened([[SEARCH], [text("ok")]], agents=agents) as bench, bench.turn():
        await bench.asked()
        assert bench.questions.asked[0].description == "S.\npath: where"
        bench.questions.answer("q1", "reject")
