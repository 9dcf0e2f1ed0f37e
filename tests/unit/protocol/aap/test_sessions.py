"""Connecting, creating, listing, loading, resuming and deleting; options and tools."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.agents.aap_server import AGENT, Call, Json, Kept, Step, answers, breaks, hangs, text, thinking
from tests.unit.protocol.aap.bench import Bench, connected, failing, offering, opened

from acp_nvim.session.options import Option

pytestmark = pytest.mark.anyio


def option(bench: Bench, ident: str) -> Option:
    return next(each for each in bench.session.options if each.id == ident)


async def set_option(bench: Bench, ident: str, value: str) -> None:
    await bench.adapter.set_option(bench.session, option(bench, ident), value)


# -- connecting


@pytest.mark.req("AAP-01", "AAP-02", "AAP-06", "AAP-07", "AAP-66")
async def test_connecting() -> None:
    async with connected(key="k-123456") as bench:
        info = await bench.adapter.connect()
        assert (info.protocol, info.name, info.title, info.version) == ("aap", "helper", "Helper", "1.2.3")
        assert (info.can_load, info.can_resume, info.can_list, info.can_delete) == (True, True, True, True)
        assert info.image
        (seen,) = bench.server.requests
        assert (seen.what, seen.path, seen.headers["authorization"]) == (
            "GET meta",
            "/v1/meta",
            "Bearer k-123456",
        )


@pytest.mark.req("AAP-03", "AAP-08", "AAP-09")
async def test_connecting_without_a_key_to_an_agent_that_can_nothing() -> None:
    agents: list[Json] = [{"name": "x", "version": 7, "capabilities": {"magic": {}, "history": None}, "y": 1}]
    async with connected(agents=agents) as bench:
        info = await bench.adapter.connect()
        assert (info.name, info.can_load, info.image, info.version) == ("x", False, False, None)
        assert "authorization" not in bench.server.requests[0].headers


@pytest.mark.req("AAP-06")
@pytest.mark.parametrize(("version", "said"), [(2, "version 2"), (None, "no version"), ("3", "version 3")])
async def test_another_version(version: Any, said: str) -> None:
    async with connected(version=version) as bench:
        failure = await failing(bench.adapter.connect)
        assert failure.message == f"the server speaks {said} of AAP; this client speaks version 3"


@pytest.mark.req("AAP-07")
async def test_one_of_several_agents() -> None:
    agents = [AGENT, {**AGENT, "name": "other", "title": "Other"}]
    async with connected(agents=agents, agent="other") as bench:
        assert (await bench.adapter.connect()).name == "other"
        await bench.adapter.new_session(bench.session)
        assert bench.server.kept.agent == "other"
    async with connected(agents=agents, agent="third") as bench:
        failure = await failing(bench.adapter.connect)
        assert failure.message == "the server has no agent third; it has: helper, other"
        assert failure.remedy == "set agents.remote.agent to one of them"
    async with connected(agents=[]) as bench:
        failure = await failing(bench.adapter.connect)
        assert failure.message == "which of the server's agents? It has: none"


@pytest.mark.req("AAP-07")
@pytest.mark.parametrize("picked", ["other", None])
async def test_the_user_picks_one_of_several_agents(picked: str | None) -> None:
    agents = [AGENT, {**AGENT, "name": "other", "title": "Other"}]
    async with connected(agents=agents) as bench, anyio.create_task_group() as group:

        async def connect() -> None:
            if picked is not None:
                assert (await bench.adapter.connect()).name == picked
            else:
                failure = await failing(bench.adapter.connect)
                assert failure.message == "which of the server's agents? It has: helper, other"

        group.start_soon(connect)
        await bench.asked()
        content = {"agent": picked} if picked is not None else None
        bench.questions.answer("q1", "accept" if picked else "decline", content)


class Picks:
    """memory.Picks."""

    def __init__(self, name: str | None) -> None:
        self.name = name

    async def recall(self) -> str | None:
        return self.name

    async def keep(self, name: str) -> None:
        self.name = name


@pytest.mark.req("AAP-07")
@pytest.mark.parametrize("before", [None, "gone"])
async def test_what_was_picked_is_remembered(before: str | None) -> None:
    agents = [AGENT, {**AGENT, "name": "other", "title": "Other"}]
    picks = Picks(before)
    async with connected(agents=agents, picks=picks) as bench, anyio.create_task_group() as group:
        group.start_soon(bench.adapter.connect)
        await bench.asked()
        bench.questions.answer("q1", "accept", {"agent": "other"})
    assert picks.name == "other"
    async with connected(agents=agents, picks=picks) as bench:
        assert (await bench.adapter.connect()).name == "other"
    async with connected(agents=agents, picks=picks, agent="helper") as bench:  # the settings win
        assert (await bench.adapter.connect()).name == "helper"


@pytest.mark.req("AAP-75", "AAP-76")
@pytest.mark.parametrize(
    ("fault", "kind", "message", "remedy"),
    [
        pytest.param(
            answers(401, b'{"error": "no"}'),
            "auth",
            "the server does not accept the key (401 Unauthorized: no)",
            "put a valid key into $AAP_KEY (:help acp-aap-key), then :AcpRestart",
            id="401",
        ),
        pytest.param(
            answers(403, b"Forbidden", "text/plain"),
            "auth",
            "the server does not accept the key (403 Forbidden)",
            "put a valid key into $AAP_KEY (:help acp-aap-key), then :AcpRestart",
            id="403",
        ),
        pytest.param(
            answers(404, b"404 Not Found", "text/plain"),
            "generic",
            "there is no AAP server at URL (404 Not Found)",
            "correct agents.remote.url, then :AcpRestart",
            id="404",
        ),
        pytest.param(
            answers(200, b"<html>", "text/html"),
            "generic",
            "the answer to /meta is not AAP (text/html): Expecting value: line 1 column 1 (char 0)",
            "is agents.remote.url right? :AcpTrace has the answer",
            id="a page",
        ),
        pytest.param(
            breaks(),
            "transport",
            "URL: the connection broke off",
            "see whether the server runs, then :AcpRestart",
            id="cut",
        ),
    ],
)
async def test_a_server_that_is_none(fault: Any, kind: str, message: str, remedy: str) -> None:
    async with connected(key="k-123456") as bench:
        bench.server.fail("GET meta", fault, fault, fault)
        failure = await failing(bench.adapter.connect)
        assert failure.message == message.replace("URL", bench.server.url)
        assert (failure.kind, failure.remedy) == (kind, remedy)


@pytest.mark.req("AAP-77")
@pytest.mark.parametrize("status", [429, 503])
async def test_a_get_waits_as_long_as_the_server_wants(status: int) -> None:
    async with connected() as bench:
        bench.server.fail("GET meta", answers(status, retry_after="2"), answers(status, retry_after="3"))
        await bench.adapter.connect()
        assert bench.slept == [2.0, 3.0]


@pytest.mark.req("AAP-77")
@pytest.mark.parametrize(
    ("header", "when"),
    [
        ("3600", "in 3600 s"),
        ("soon", "in a while"),
        ("Fri, 01 Jan 2021 00:00:00 GMT", "in 0 s"),
        ("\u00b2", "in a while"),  # a digit, but no number
        (f"Fri, 01 Jan 2021 00:00:00 +{'9' * 20}", "in a while"),
    ],
)
async def test_a_get_does_not_wait_for_ever(header: str, when: str) -> None:
    async with connected() as bench:
        bench.server.fail("GET meta", *[answers(429, retry_after=header)] * 3)
        failure = await failing(bench.adapter.connect)
        assert failure.message == "the server is busy (429 Too Many Requests)"
        assert failure.remedy == f":AcpRestart {when}"
        assert len(bench.server.requests) == (3 if when == "in 0 s" else 1)


async def test_a_get_that_broke_off_is_sent_again() -> None:
    async with connected() as bench:
        bench.server.fail("GET meta", breaks())
        await bench.adapter.connect()
        assert len(bench.server.requests) == 2


# -- creating, options


@pytest.mark.req("AAP-11", "AAP-12", "AAP-20", "AAP-21", "AAP-05")
async def test_a_new_session_has_the_tools_but_trusts_none() -> None:
    async with opened() as bench:
        assert bench.server.requests[-1].body == {
            "agent": {"name": "helper", "tools": [{"name": "search"}, {"name": "clock"}]}
        }
        assert (bench.session.remote_id, bench.session.state) == ("s/1 é", "idle")
        assert bench.session.info is not None
        assert bench.session.info.protocol == "aap"


@pytest.mark.req("AAP-18", "AAP-20", "AAP-21", "AAP-24", "AAP-04")
async def test_a_new_session_is_made_with_what_the_settings_say() -> None:
    """Some servers choose a model, and log in to it, when a session is made."""
    settings = {
        "model": "large",
        "style": "bold",
        "token": "hush-hush",
        "tool:clock": "off",
        "tool:search": "trust",
        "mood": "good",
        "tool:nothing": "trust",
    }
    async with opened([[text("a")]], settings=settings) as bench:
        assert bench.server.requests[-1].body["agent"] == {
            "name": "helper",
            "tools": [{"name": "search", "trust": True}],
            "options": {"model": "large", "style": "bold", "token": "hush-hush"},
        }
        assert bench.hidden == [("token", "hush-hush")]
        shown = {each.id: each.value for each in bench.session.options}
        assert shown == {
            "model": "large",
            "style": "bold",
            "token": "•••",
            "tool:search": "trust",
            "tool:clock": "off",
        }
        await set_option(bench, "token", "hush-hush")  # as the settings are applied
        await bench.prompt()
        assert "agent" not in bench.server.turns[0]
        await set_option(bench, "token", "other-one")
        await set_option(bench, "token", "hush-hush")
        await bench.prompt()
        assert bench.server.turns[1]["agent"] == {"options": {"token": "hush-hush"}}
    async with opened(settings={"model": "none of them", "style": True, "tool:clock": "maybe"}) as bench:
        assert "options" not in bench.server.requests[-1].body["agent"]
        assert len(bench.server.requests[-1].body["agent"]["tools"]) == 2


@pytest.mark.req("AAP-10")
async def test_ids_are_encoded_in_paths() -> None:
    async with opened([[text("a")]]) as bench:
        assert (await bench.prompt()).stop == "end_turn"
        assert bench.server.requests[-1].path == "/v1/sessions/s/1 é/turns"


@pytest.mark.req("AAP-18", "AAP-20", "AAP-21")
async def test_options_and_tools_are_options_of_the_session() -> None:
    async with opened() as bench:
        shown = [(o.id, o.type, o.value, [c.value for c in o.choices]) for o in bench.session.options]
        assert shown == [
            ("model", "select", "small", ["small", "large"]),
            ("style", "text", "plain", []),
            ("token", "secret", "", []),
            ("tool:search", "select", "ask", ["off", "ask", "trust"]),
            ("tool:clock", "select", "ask", ["off", "ask", "trust"]),
        ]
        assert option(bench, "model").category == "model"
        assert option(bench, "style").description == "how it writes"


@pytest.mark.req("AAP-13", "AAP-19", "AAP-20", "AAP-24")
async def test_changes_go_with_the_next_turn_once() -> None:
    async with opened([[text("a")]] * 4) as bench:
        await bench.prompt()
        await set_option(bench, "model", "large")
        await set_option(bench, "style", "bold")
        await set_option(bench, "tool:clock", "off")
        assert [option(bench, each).value for each in ("model", "style", "tool:clock")] == [
            "large",
            "bold",
            "off",
        ]
        await bench.prompt()
        await bench.prompt()
        await set_option(bench, "model", "small")
        await bench.prompt()
        assert [turn.get("agent") for turn in bench.server.turns] == [
            None,
            {"tools": [{"name": "search"}], "options": {"model": "large", "style": "bold"}},
            None,
            {"options": {"model": "small"}},
        ]
        assert bench.server.kept.options == {"model": "small", "style": "bold"}


@pytest.mark.req("AAP-20")
async def test_all_tools_may_be_off() -> None:
    async with opened([[text("a")]]) as bench:
        await set_option(bench, "tool:clock", "off")
        await set_option(bench, "tool:search", "off")
        await bench.prompt()
        assert bench.server.turns[0]["agent"] == {"tools": []}


@pytest.mark.req("AAP-19", "AAP-24")
async def test_a_change_that_did_not_arrive_goes_with_the_turn_after() -> None:
    async with opened([[text("a")]]) as bench:
        await set_option(bench, "model", "large")
        bench.server.fail("POST turns", answers(503))
        await bench.prompt()
        await bench.prompt()
        assert bench.server.turns[1]["agent"] == {"options": {"model": "large"}}


@pytest.mark.req("AAP-18", "AAP-16", "AAP-04")
async def test_a_secret_is_sent_once_and_shown_never() -> None:
    async with opened([[text("a")]] * 2) as bench:
        await set_option(bench, "token", "hush-hush")
        assert bench.hidden == [("token", "hush-hush")]
        assert option(bench, "token").value == "•••"
        await bench.prompt()
        assert bench.server.turns[0]["agent"] == {"options": {"token": "hush-hush"}}
        other = bench.new_session("other")
        await bench.adapter.load_session(other, bench.server.kept.id)
        secret = next(each for each in other.options if each.id == "token")
        assert secret.value == "•••"
        bench.session = other
        await bench.prompt("more")
        assert "agent" not in bench.server.turns[-1]  # the placeholder does not go back


# -- sessions the server has


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
