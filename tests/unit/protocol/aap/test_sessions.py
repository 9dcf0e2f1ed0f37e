"""Old sessions: listed, loaded, taken up, deleted."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.agents.aap_faults import answers, hangs
from tests.agents.aap_script import Call, Json, Kept, Step, text, thinking
from tests.unit.protocol.aap.bench import Bench, connected, failing, offering, opened

pytestmark = pytest.mark.anyio


def keep(bench: Bench, ident: str = "old", agent: str = "helper", **more: Any) -> Kept:
    kept = Kept(ident, agent, {"search": True}, {"style": "bold", "token": "x"}, [], **more)
    bench.server.sessions[ident] = kept
    return kept


HISTORY: list[Json] = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "look"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "thinking", "thinking": "hm"},
            {"type": "tool_use", "toolCallId": "1", "name": "search", "input": {"query": "cats"}},
        ],
    },
    {"role": "tool", "toolCallId": "1", "content": "found"},
    {"role": "tool", "toolCallId": "1", "content": "found"},
    {"role": "mystery", "content": "?"},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
]
SHOWN = [
    "user: look",
    "thought: hm",
    "agent: I look.",
    "tool 1: Search the web completed",
    "agent: Done.",
    "user: ab",
]


@pytest.mark.req("AAP-15", "AAP-14")
async def test_all_pages_of_the_sessions_of_this_agent() -> None:
    async with connected(page=2) as bench:
        await bench.adapter.connect()
        for n in range(5):
            keep(bench, f"s{n}", "other" if n == 3 else "helper")
        found = await bench.adapter.list_sessions("/ws")
        assert [(each.id, each.cwd) for each in found.sessions] == [
            ("s0", "/ws"),
            ("s1", "/ws"),
            ("s2", "/ws"),
            ("s4", "/ws"),
        ]
        assert found.cut is None
        assert [each.query for each in bench.server.seen("GET sessions")] == [
            {},
            {"after": "2"},
            {"after": "4"},
        ]
        assert {each.cwd for each in (await bench.adapter.list_sessions()).sessions} == {"/home"}


@pytest.mark.req("AAP-15")
async def test_pages_that_repeat_or_fail() -> None:
    async with connected(page=1) as bench:
        await bench.adapter.connect()
        keep(bench, "a")
        keep(bench, "b")
        bench.server.fail("GET sessions", answers(200, b'{"sessions": [{"sessionId": "a"}], "next": "1"}'))
        bench.server.fail("GET sessions", answers(500, b"oops", "text/plain"))
        found = await bench.adapter.list_sessions()
        assert [each.id for each in found.sessions] == ["a"]
        assert found.cut == "the server failed (500 Internal Server Error: oops)"
        bench.server.fail("GET sessions", *[answers(200, b'{"sessions": [{"x": 1}], "next": "1"}')] * 2)
        assert (await bench.adapter.list_sessions()).cut == "it sends the same page again and again"
        bench.server.fail("GET sessions", answers(500))
        assert (await failing(bench.adapter.list_sessions)).code == 500


@pytest.mark.req("AAP-66", "AAP-67", "AAP-68", "AAP-70", "AAP-71", "AAP-16")
@pytest.mark.parametrize("kind", ["full", "compacted"])
async def test_loading_shows_the_history(kind: str) -> None:
    agents = offering("delta", history=("full", "compacted") if kind == "full" else ("compacted",))
    async with connected([[text("ok")]], agents=agents) as bench:
        await bench.adapter.connect()
        keep(bench, history=list(HISTORY))
        assert await bench.adapter.load_session(bench.session, "old") == 6
        assert bench.timeline == SHOWN
        assert bench.texts("1") == "found"
        assert bench.server.seen("GET history")[0].query == {"type": kind}
        assert {o.id: o.value for o in bench.session.options} == {
            "model": "small",
            "style": "bold",
            "token": "•••",
            "tool:search": "trust",
            "tool:clock": "off",
        }
        assert not bench.session.waits
        await bench.prompt("more")
        assert bench.server.turns[0] == {
            "messages": [{"role": "user", "content": "more"}],
            "stream": "delta",
        }


@pytest.mark.req("AAP-73")
async def test_loading_without_a_history() -> None:
    async with connected(agents=offering("delta", history=())) as bench:
        await bench.adapter.connect()
        keep(bench)
        assert await bench.adapter.load_session(bench.session, "old") is None
        assert (bench.session.remote_id, bench.session.items) == ("old", [])


@pytest.mark.req("AAP-72", "AAP-74")
async def test_what_is_shown_already_is_not_overwritten() -> None:
    async with opened([[text("a long answer")]]) as bench:
        await bench.prompt()
        shown = bench.timeline
        bench.server.kept.history = [{"role": "user", "content": "(a summary)"}]
        await bench.adapter.load_session(bench.session, bench.server.kept.id)
        assert bench.timeline == shown


OPEN: list[Json] = [
    {"role": "user", "content": "look"},
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "toolCallId": "1", "name": "search", "input": {"query": "cats"}},
            {"type": "tool_use", "toolCallId": "2", "name": "mine", "input": {}},
        ],
    },
]


@pytest.mark.req("AAP-68", "AAP-69", "AAP-27", "AAP-29", "AAP-30")
async def test_an_old_session_that_waits_is_taken_up_where_it_was() -> None:
    async with connected([[text("ok")]]) as bench:
        await bench.adapter.connect()
        kept = keep(bench, history=list(OPEN))
        kept.tools = {"search": False}
        kept.declared = [{"name": "mine", "description": "", "parameters": {}}]
        await bench.adapter.load_session(bench.session, "old")
        assert bench.session.waits
        assert bench.server.turns == []
        async with bench.turn(""):
            await bench.asked()
            assert bench.call("1").open_permissions
            bench.questions.answer("q1", "allow")
        assert bench.server.turns == [
            {
                "messages": [
                    {"role": "tool_permission", "toolCallId": "1", "granted": True},
                    {
                        "role": "tool",
                        "toolCallId": "2",
                        "content": "This tool is not available in this application.",
                    },
                ],
                "stream": "delta",
                "tools": [],
            }
        ]
        assert bench.timeline == [
            "user: look",
            "tool 1: Search the web completed",
            "tool 2: mine failed",
            "agent: ok",
            "end: end_turn",
        ]
        assert bench.texts("1") == "found cats"
        assert kept.declared == []


@pytest.mark.req("AAP-68")
async def test_what_a_user_said_since_is_no_call_that_waits() -> None:
    async with connected() as bench:
        await bench.adapter.connect()
        keep(bench, history=[*OPEN, {"role": "user", "content": "never mind"}])
        await bench.adapter.load_session(bench.session, "old")
        assert not bench.session.waits
        assert bench.timeline[1] == "tool 1: Search the web no answer"


@pytest.mark.req("AAP-68", "AAP-62")
async def test_resuming_finds_what_waits_when_the_user_goes_on() -> None:
    script: list[Step] = [[Call("1", "search", {"query": "cats"})], [text("fine")], [text("new")]]
    async with opened(script) as bench:
        async with bench.turn():
            await bench.asked()
            await bench.adapter.cancel(bench.session)
        again = Bench(bench.server)  # as after :AcpRestart
        again.session = bench.session
        again.store.add(bench.session)
        await again.adapter.connect()
        assert await again.adapter.resume_session(bench.session, bench.server.kept.id) is None
        async with again.turn("next"):
            await again.asked()
            again.questions.answer("q1", "reject")
        assert [each["messages"][0]["role"] for each in bench.server.turns[1:]] == ["tool_permission", "user"]
        assert again.timeline[-4:] == ["user: next", "agent: fine", "agent: new", "end: end_turn"]
        await again.http.close()


@pytest.mark.req("AAP-76")
async def test_a_session_that_is_gone_is_not_made_anew() -> None:
    async with connected() as bench:
        await bench.adapter.connect()
        failure = await failing(lambda: bench.adapter.resume_session(bench.session, "gone"))
        assert failure.kind == "not_found"
        assert failure.message.startswith("the server does not know this session any more")
        assert bench.server.seen("POST sessions") == []


@pytest.mark.req("AAP-17")
async def test_deleting() -> None:
    async with connected() as bench:
        await bench.adapter.connect()
        keep(bench)
        await bench.adapter.delete_session("old")
        assert bench.server.sessions == {}
        await bench.adapter.delete_session("old")  # gone already
        bench.server.fail("DELETE session", answers(500))
        assert (await failing(lambda: bench.adapter.delete_session("old"))).code == 500


async def test_a_session_in_which_nothing_was_said_is_not_left_behind() -> None:
    async with opened([[text("a")]]) as bench:
        second = bench.new_session("second")
        await bench.adapter.new_session(second)
        await bench.prompt()
        await bench.adapter.close_session(second)
        await bench.adapter.close_session(bench.session)
        assert len(bench.server.sessions) == 1
        assert bench.server.kept.history


async def test_what_is_asked_can_be_taken_back() -> None:
    async with connected() as bench, anyio.create_task_group() as group:
        await bench.adapter.connect()
        bench.server.fail("POST sessions", hangs())

        async def create() -> None:
            failure = await failing(lambda: bench.adapter.new_session(bench.session))
            assert (failure.kind, failure.code) == ("cancelled", -32800)

        group.start_soon(create)
        await bench.until(lambda: bench.server.seen("POST sessions"))
        assert bench.adapter.asked(bench.session) == "POST /sessions"
        await bench.adapter.withdraw(bench.session, shared=False)


async def test_what_it_cannot() -> None:
    async with opened() as bench:
        for act in (
            lambda: bench.adapter.authenticate("x"),
            bench.adapter.logout,
            lambda: bench.adapter.fork_session(bench.session, "x"),
        ):
            assert (await failing(act)).kind == "unsupported"


async def test_what_was_thought_is_shown_when_it_came() -> None:
    async with opened([[text("a"), thinking("b")]], agents=offering("message")) as bench:
        await bench.prompt()
        assert bench.timeline == ["user: hello", "agent: a", "thought: b", "end: end_turn"]
