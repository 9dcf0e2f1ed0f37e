"""How turns end: as they should, broken off, refused, failed, cancelled."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from msgspec import structs
from tests.agents.aap_faults import answers, breaks
from tests.agents.aap_script import Call, Cut, Fail, Hold, Quirks, Raw, Step, Stop, text, thinking
from tests.agents.aap_server import takes_and_breaks
from tests.unit.protocol.aap.bench import connected, offering, opened

from acp_nvim.protocol.aap import turn as turns
from acp_nvim.session.content import Block
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio

PLAIN = [[thinking("Let me ", "see."), text("Hello", " there")]]


@pytest.mark.req("AAP-49")
async def test_what_comes_after_the_end_is_ignored() -> None:
    raw = (
        b'event: turn_stop\ndata: {"stopReason": "refusal"}\n\nevent: text_delta\ndata: {"delta": "more"}\n\n'
    )
    async with opened([[text("a"), Raw(raw)]]) as bench:
        await bench.prompt()
        assert bench.timeline == ["user: hello", "agent: a", "end: refusal"]


@pytest.mark.req("AAP-49")
async def test_a_model_that_fails_in_a_stream() -> None:
    async with opened([[text("half"), Fail()], [text("again")]], quirks=Quirks(double_stop=True)) as bench:
        turn = await bench.prompt()
        assert bench.timeline == ["user: hello", "agent: half", "end: error"]
        assert turn.error is not None
        assert turn.error.message == "the server's agent failed; it does not say why"
        assert (await bench.prompt()).stop == "end_turn"


@pytest.mark.req("AAP-50")
async def test_a_model_that_fails_in_message_mode_says_nothing() -> None:
    async with opened([[Fail()]], agents=offering("message")) as bench:
        turn = await bench.prompt()
        assert turn.stop == "error"
        assert turn.error is not None
        assert turn.error.message == "the server ended the turn without a word"


@pytest.mark.req("AAP-42", "AAP-50")
@pytest.mark.parametrize(
    "said", [b"out of memory", b'{"message": "out of memory"}', b'{"error": "out of memory"}']
)
@pytest.mark.parametrize("before", [True, False])
async def test_an_error_in_words_that_ends_a_stream(said: bytes, before: bool) -> None:
    raw = Raw(b"event: error\ndata: " + said + b"\n\n")
    script: list[Step] = [[text("half"), raw] if before else [raw]]
    async with opened(script, quirks=Quirks(lose_stop=True)) as bench:
        turn = await bench.prompt()
        assert turn.stop == "error"
        assert turn.error is not None
        assert turn.error.message == "the server failed: out of memory"
        assert ("agent: half" in bench.timeline) == before


@pytest.mark.req("AAP-38")
async def test_a_history_that_cannot_be_had_keeps_nobody_from_going_on() -> None:
    async with opened([[text("a"), Cut()], [text("b")]]) as bench:
        await bench.prompt()
        bench.server.fail("GET history", answers(500))
        assert (await bench.prompt()).stop == "end_turn"


@pytest.mark.req("AAP-75")
async def test_a_model_that_fails_without_a_stream() -> None:
    async with opened([[Fail()]], agents=offering("none")) as bench:
        turn = await bench.prompt()
        assert turn.error is not None
        assert turn.error.message == "the server failed (500 Internal Server Error)"


LOST = Quirks(lose_stop=True)
SHORTER = answers(200, b'{"history": {"full": [{"role": "user", "content": "x"}]}}')


@pytest.mark.req("AAP-50")
@pytest.mark.parametrize("fault", [None, SHORTER, answers(500)], ids=["no history", "not in it", "500"])
async def test_an_end_without_a_stop(fault: Any) -> None:
    """C26: what came stays, and it is not shown as finished."""
    agents = offering("delta", history=() if fault is None else ("full",))
    async with opened([[text("caf", "é")]], quirks=LOST, agents=agents) as bench:
        if fault is not None:
            bench.server.fail("GET history", fault)
        turn = await bench.prompt()
        assert bench.timeline == ["user: hello", "agent: café", "end: end_turn"]
        assert not turn.confirmed
        assert len(bench.server.turns) == 1


@pytest.mark.req("AAP-50")
@pytest.mark.parametrize("mode", ["delta", "message"])
async def test_an_end_without_a_stop_that_the_history_confirms(mode: str) -> None:
    """As the SDK's server ends each turn: it keeps an answer when it is complete, and loses the end."""
    script: list[Step] = [[text("one "), thinking("hm"), text("\U0001f680", " two")], [text("half"), Cut()]]
    async with opened(script, quirks=LOST, agents=offering(mode)) as bench:
        assert (await bench.prompt()).confirmed
        assert len(bench.server.turns) == 1
        turn = await bench.prompt("more")  # what breaks off is not asked about
        assert turn.error is not None
        assert len(bench.server.seen("GET history")) == 1


@pytest.mark.req("AAP-50")
async def test_an_end_without_a_stop_but_with_an_open_call() -> None:
    script: list[Step] = [[Call("1", "search", {"query": "x"})], [text("ok")]]
    async with opened(script, quirks=Quirks(lose_stop=True)) as bench:
        async with bench.turn():
            await bench.asked()
            bench.questions.answer("q1", "allow")
        assert bench.session.turns[-1].stop == "end_turn"
        assert len(bench.server.turns) == 2


@pytest.mark.req("AAP-51", "AAP-38")
async def test_a_stream_that_breaks_off() -> None:
    async with opened([[text("so ", "far"), Cut()], [text("more")]]) as bench:
        turn = await bench.prompt()
        assert bench.timeline == ["user: hello", "agent: so far", "end: error"]
        assert turn.error is not None
        assert turn.error.message == "the connection broke off in the middle of the answer"
        assert turn.error.remedy == "what came is kept; :AcpSessions loads what the server has"
        assert not turn.error.unsent
        assert len(bench.server.turns) == 1  # nothing is sent again by itself
        assert bench.server.seen("GET history") == []
        await bench.prompt("go on")
        assert len(bench.server.seen("GET history")) == 1  # the server may have gone on
        assert bench.timeline[-2:] == ["agent: more", "end: end_turn"]


@pytest.mark.req("AAP-51", "AAP-77")
@pytest.mark.parametrize(
    ("fault", "message", "remedy"),
    [
        pytest.param(
            answers(413, b'{"error": "payload too large"}'),
            "this is too much for the server (413 Request Entity Too Large: payload too large)",
            "send less context",
            id="413",
        ),
        pytest.param(
            answers(429, b'{"error": {"message": "slow down"}}', retry_after="30"),
            "the server is busy (429 Too Many Requests: slow down)",
            "send again in 30 s",
            id="429",
        ),
        pytest.param(
            answers(503, b"", "text/plain"),
            "the server is busy (503 Service Unavailable)",
            "send again in a while",
            id="503",
        ),
        pytest.param(
            answers(500, b"Internal Server Error", "text/plain"),
            "the server failed (500 Internal Server Error)",
            "send again; :AcpTrace has the full answer",
            id="500",
        ),
        pytest.param(
            answers(502, b"<html><h1>Bad Gateway</h1></html>", "text/html"),
            "the server failed (502 Bad Gateway)",
            "send again; :AcpTrace has the full answer",
            id="502, a page",
        ),
        pytest.param(
            answers(404, b'{"error": "Session not found"}'),
            "the server does not know this session any more (404 Not Found: Session not found)",
            ":AcpChat! begins a new one",
            id="404",
        ),
        pytest.param(
            answers(401, b'{"error": "expired"}'),
            "the server wants a key (401 Unauthorized: expired)",
            "name the variable that holds the key in agents.remote.api_key_env, then send again",
            id="401",
        ),
        pytest.param(
            answers(302, location="https://user:pass@other.example/login?token=1"),
            None,
            "set agents.remote.url to where it is, then send again",
            id="302",
        ),
    ],
)
async def test_a_post_that_is_refused(fault: object, message: str | None, remedy: str) -> None:
    async with opened([[text("now")]]) as bench:
        bench.server.fail("POST turns", fault)  # type: ignore[arg-type]
        turn = await bench.prompt()
        assert turn.stop == "error"
        assert turn.error is not None
        if message is None:
            message = f"{bench.server.url} sends us away to https://other.example (302 Found)"
        assert (turn.error.message, turn.error.remedy) == (message, remedy)
        assert turn.error.unsent
        assert len(bench.server.turns) == 1
        assert (await bench.prompt()).stop == "end_turn"  # the session goes on
        assert bench.server.seen("GET history") == []


@pytest.mark.req("AAP-51")
async def test_a_post_without_an_answer_is_not_repeated() -> None:
    async with opened() as bench:
        bench.server.fail("POST turns", breaks())
        turn = await bench.prompt()
        assert turn.error is not None
        assert turn.error.message == f"{bench.server.url}: the connection broke off"
        assert turn.error.unsent
        assert len(bench.server.turns) == 1


@pytest.mark.req("AAP-51")
async def test_a_post_without_an_answer_may_have_arrived() -> None:
    """Then the user does not get the words back, who would send them twice."""
    async with opened() as bench:
        bench.server.fail("POST turns", takes_and_breaks(bench.server))
        turn = await bench.prompt("my words")
        assert turn.error is not None
        assert not turn.error.unsent
        assert turn.error.message.endswith("before an answer came, but the server has your prompt")
        await bench.prompt("go on")
        assert [each["content"] for each in bench.server.kept.history[:2]] == ["my words", "go on"]

        bench.server.fail("POST turns", breaks())  # the same words again: nobody can tell
        turn = await bench.prompt("go on")
        assert turn.error is not None
        assert turn.error.unsent

        bench.server.fail("POST turns", breaks())
        bench.server.fail("GET history", answers(500))
        turn = await bench.prompt("new words")
        assert turn.error is not None
        assert turn.error.unsent


@pytest.mark.req("AAP-43", "AAP-75")
async def test_a_page_is_not_the_servers_answer() -> None:
    """A login page of a network, say: the server has got nothing."""
    async with opened() as bench:
        bench.server.fail("POST turns", answers(200, b"<html>", "text/html"))
        turn = await bench.prompt()
        assert turn.error is not None
        assert turn.error.message == "the answer to the prompt is not AAP (text/html)"
        assert turn.error.unsent
        assert (await bench.prompt()).stop == "end_turn"


@pytest.mark.req("AAP-42", "AAP-49")
async def test_a_model_that_fails_with_words() -> None:
    script: list[Step] = [[text("half"), Raw(b"event: error\ndata: the model is gone\n\n"), Fail()]]
    async with opened(script) as bench:
        turn = await bench.prompt()
        assert turn.error is not None
        assert turn.error.message == "the server failed: the model is gone"


@pytest.mark.req("AAP-52")
async def test_a_reason_nobody_knows() -> None:
    async with opened([[text("a"), Stop("sleepy")]]) as bench:
        assert (await bench.prompt()).stop == "sleepy"


@pytest.mark.req("AAP-53")
async def test_tool_use_without_a_call_is_an_end() -> None:
    async with opened([[text("a"), Stop("tool_use")]]) as bench:
        assert (await bench.prompt()).stop == "end_turn"
        assert len(bench.server.turns) == 1


@pytest.mark.req("AAP-61")
async def test_a_turn_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOST_POSTS", 3)
    async with opened([[Call(str(n), "search", {})] for n in range(9)]) as bench:
        async with bench.turn():
            for n in range(2):
                await bench.asked()
                bench.questions.answer(f"q{n + 1}", "allow")
        assert bench.session.turns[-1].stop == "max_turn_requests"
        assert len(bench.server.turns) == 3


@pytest.mark.req("AAP-38", "AAP-65")
@pytest.mark.parametrize("mode", ["delta", "none"])
async def test_cancelling_closes_the_stream_and_the_history_is_read_before_the_next_turn(mode: str) -> None:
    script: list[Step] = [[text("so far"), Hold(), text("more")], [text("next")]]
    async with opened(script, agents=offering(mode)) as bench:
        async with bench.turn():
            if mode == "delta":
                await bench.until(lambda: "agent: so far" in bench.timeline)
            else:
                await bench.until(lambda: bench.server.turns)
            await bench.adapter.cancel(bench.session)
            await bench.adapter.cancel(bench.session)  # twice is once
        assert bench.session.turns[-1].stop == "cancelled"
        await bench.until(lambda: bench.server.dropped == 1)
        bench.server.script = [[text("next")]]
        await bench.prompt("again")
        assert [each.what for each in bench.server.requests][-2:] == ["GET history", "POST turns"]
        assert bench.timeline[-3:] == ["user: again", "agent: next", "end: end_turn"]


@pytest.mark.req("AAP-38")
async def test_a_cancel_after_the_end_changes_nothing() -> None:
    async with opened([[text("so far")]]) as bench:
        turn = await bench.prompt()
        await bench.adapter.cancel(bench.session)
        assert (turn.cancelling, turn.outcome, turn.state) == (False, "end_turn", "done")


@pytest.mark.req("AAP-36")
async def test_one_turn_at_a_time() -> None:
    async with opened([[text("a"), Hold()], [text("b")]]) as bench:
        async with bench.turn("one"):
            await bench.until(lambda: bench.server.turns)
            async with anyio.create_task_group() as group:
                group.start_soon(bench.adapter.prompt, bench.session, [Block.of_text("two")])
                await anyio.sleep(0.1)
                assert len(bench.server.turns) == 1
                bench.server.go_on()
        assert len(bench.server.turns) == 2


async def test_the_end_of_the_connection_ends_the_turn() -> None:
    from acp_nvim.session.entities import Failure

    why = Failure("remote was stopped", kind="cancelled")
    async with opened([[text("a"), Hold()]]) as bench:
        async with bench.turn():
            await bench.until(lambda: "agent: a" in bench.timeline)
            await bench.adapter.end(why)
        assert (bench.session.turns[-1].stop, bench.session.turns[-1].error) == ("lost", why)


async def test_a_prompt_without_a_session() -> None:
    async with connected() as bench:
        await bench.adapter.connect()
        assert (await bench.prompt()).stop == "error"


async def test_a_prompt_behind_the_end_of_the_connection_is_the_users_again() -> None:
    """The chat hears of the end a moment later: until then it still sends."""
    from acp_nvim.session.entities import Failure

    why = Failure("remote was stopped", kind="cancelled")
    async with opened() as bench:
        await bench.adapter.end(why)
        await bench.http.close()
        turn = await bench.prompt()
        assert turn.stop == "lost"
        assert turn.error == structs.replace(why, unsent=True)
        assert not bench.server.turns


async def test_a_connection_that_is_closed_at_this_moment() -> None:
    """Whoever still asks for something gets an answer that can be told."""
    async with opened() as bench:
        await bench.http.close()
        turn = await bench.prompt()
        assert (turn.stop, turn.error and turn.error.unsent) == ("error", True)
        with pytest.raises(AgentError):
            await bench.adapter.list_sessions()
