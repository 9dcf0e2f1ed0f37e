"""Prompts, states, and what ends a turn."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v2.bench import chunk, connected, idle, opened, state, tool, whole

from acp_nvim.protocol.acp_v2 import turns
from acp_nvim.session.content import Block
from acp_nvim.session.events import TurnEnded, TurnStarted

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "GRACE", 0.05)


@pytest.mark.req("V2-48", "V2-50", "V2-58", "V2-59")
@pytest.mark.parametrize(
    "stop",
    ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "budget_exceeded", None],
)
async def test_idle_ends_the_turn_and_the_answer_does_not(stop: str | None) -> None:
    async with opened() as bench:
        async with bench.turn("hi"):
            request = await bench.works()
            assert request["params"] == {"sessionId": "r1", "prompt": [{"type": "text", "text": "hi"}]}
            assert bench.session.turns[0].ended is None
            states = [bench.session.state]
            bench.says(chunk("ok"), idle(stop))
        assert bench.timeline == ["user|hi", "agent|ok", f"end|{stop}"]
        assert [*states, bench.session.state] == ["running", "idle"]


@pytest.mark.req("V2-53", "V2-59", "V2-60")
@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"code": -32603, "message": "model is gone", "data": {"detail": "503"}}, "model is gone: 503"),
        (None, "the agent stopped with an error, and did not say which"),
        ("rubbish", "the agent stopped with an error, and did not say which"),
    ],
)
async def test_an_error_after_the_prompt_was_taken(error: Any, message: str) -> None:
    async with opened() as bench:
        async with bench.turn():
            await bench.works()
            bench.says(idle("error", **({"error": error} if error else {})))
        failure = bench.session.turns[0].error
        assert failure is not None
        assert (failure.message, failure.unsent) == (message, False)
        assert bench.session.turns[0].stop == "error"


@pytest.mark.req("V2-52", "V2-56")
@pytest.mark.parametrize(
    ("error", "stop", "kind"),
    [
        ({"code": -32603, "message": "no"}, "error", "generic"),
        ({"code": -32000, "message": "log in"}, "error", "auth"),
        ({"code": -32002, "message": "gone", "data": {"sessionId": "r1"}}, "error", "not_found"),
        ({"code": -32800, "message": "withdrawn"}, "cancelled", "cancelled"),
    ],
)
async def test_a_prompt_that_was_not_taken(error: dict[str, Any], stop: str, kind: str) -> None:
    async with opened() as bench:
        async with bench.turn("hi"):
            await bench.answers("session/prompt", None, error)
        turn = bench.session.turns[0]
        assert turn.error is not None
        assert (turn.stop, turn.error.kind, turn.error.unsent) == (stop, kind, True)
        assert bench.session.state == "idle"  # the answer says nothing of it
        async with bench.turn("again"):
            await bench.works()
            bench.says(idle())


@pytest.mark.req("V2-51")
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize(
    "echo",
    [
        [whole("hi", "more", message_id="m1", role="user_message")],
        [chunk("h", "m1", "user_message"), chunk("ello", "m1", "user_message")],
    ],
)
async def test_our_prompt_comes_back_by_its_id(before: bool, echo: list[dict[str, Any]]) -> None:
    async with opened() as bench:
        async with bench.turn("hi"):
            request = await bench.asked("session/prompt")
            if before:
                bench.says(state("running"), *echo)
                await bench.settle()
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {"messageId": "m1"}})
            if not before:
                bench.says(state("running"), *echo)
            bench.says(chunk("ok"), whole("other", message_id="m2", role="user_message"), idle())
        assert bench.timeline == ["user|hi", "agent|ok", "user|other", "end|end_turn"]


@pytest.mark.req("V2-50")
async def test_the_older_answer_has_no_id() -> None:
    async with opened() as bench:
        async with bench.turn("hi"):
            await bench.accepts(None)
            bench.says(
                state("running"), whole("hi", message_id="m9", role="user_message"), chunk("ok"), idle()
            )
        assert bench.timeline == ["user|hi", "agent|ok", "end|end_turn"]


@pytest.mark.req("V2-62", "V2-64")
async def test_work_of_its_own_is_a_turn_without_a_prompt() -> None:
    async with opened() as bench:
        bench.says(state("running"), chunk("a job"), idle(), idle(), chunk("later", "a2"))
        await bench.settle()
        assert bench.timeline == ["agent|a job", "end|end_turn", "agent|later"]
        assert [turn.prompt for turn in bench.session.turns] == [[]]


@pytest.mark.req("V2-62")
async def test_work_that_ends_before_our_message_is_taken_in() -> None:
    async with opened() as bench:
        async with bench.turn("hi"):
            request = await bench.asked("session/prompt")
            bench.says(state("running"), chunk("own work"), idle("end_turn"))
            await bench.settle()
            assert bench.session.turns[0].ended is None
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {"messageId": "m1"}})
            bench.says(state("running"), whole("hi", message_id="m1", role="user_message"), chunk("ok", "a2"))
            await bench.settle()
            await anyio.sleep(2 * turns.GRACE)
            assert bench.session.turns[0].ended is None
            bench.says(idle("refusal"))
        assert bench.timeline[-1] == "end|refusal"
        assert len(bench.session.turns) == 1


@pytest.mark.req("V2-57", "V2-61")
@pytest.mark.parametrize("echoed", [True, False])
async def test_an_agent_that_is_done_before_it_has_answered(echoed: bool) -> None:
    """With the echo before the end it is clear; else a moment of silence tells."""
    async with opened() as bench:
        async with bench.turn("hi"):
            request = await bench.asked("session/prompt")
            echo = [whole("hi", message_id="m1", role="user_message")] if echoed else []
            bench.says(state("running"), *echo, chunk("ok"), idle("end_turn"))
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {"messageId": "m1"}})
        assert bench.timeline == ["user|hi", "agent|ok", "end|end_turn"]


@pytest.mark.req("V2-64")
async def test_a_repeated_idle_is_no_end() -> None:
    async with opened() as bench:
        async with bench.turn("hi"):
            await bench.accepts()
            bench.says(idle(None, background=[]))
            await bench.settle()
            bench.says(state("running"))
            await bench.settle()
            await anyio.sleep(2 * turns.GRACE)
            assert bench.session.turns[0].ended is None
            bench.says(idle(), idle())
            await bench.settle()
        ends = [event for event in bench.events if isinstance(event, TurnEnded)]
        assert len(ends) == 1


@pytest.mark.req("V2-61", "V2-65")
@pytest.mark.parametrize(("said", "shown"), [("requires_action", "requires_action"), ("_thinking", "busy")])
async def test_states_that_are_neither_running_nor_idle(said: str, shown: str) -> None:
    async with opened() as bench, bench.turn("hi"):
        await bench.works()
        bench.says(state(said, stopReason="end_turn", more=[1]))
        await bench.settle()
        assert bench.session.state == shown
        assert bench.session.turns[0].ended is None
        bench.says(idle())


@pytest.mark.req("V2-66", "V2-67")
@pytest.mark.parametrize(
    ("said", "known"),
    [
        ({}, None),
        ({"background": None}, None),
        ({"background": []}, []),
        ({"background": "x"}, None),
        ({"background": [{"type": "tool_call"}]}, None),
        (
            {
                "background": [
                    {"type": "terminal", "terminalId": "t"},
                    {"type": "tool_call", "toolCallId": "c"},
                    {"type": "subagent", "id": 1},
                ]
            },
            [
                {"type": "terminal", "terminalId": "t"},
                {"type": "tool_call", "toolCallId": "c"},
                {"type": "subagent", "id": 1},
            ],
        ),
    ],
)
async def test_background_work(said: dict[str, Any], known: list[Any] | None) -> None:
    async with opened() as bench:
        bench.says(state("idle", background=[{"type": "terminal", "terminalId": "old"}]), idle(None, **said))
        await bench.settle()
        assert bench.session.background == known


@pytest.mark.req("V2-11", "V2-63", "V2-92")
async def test_updates_while_idle_change_no_state() -> None:
    async with opened() as bench:
        bench.says(tool("c1", title="tests", status="in_progress"), tool("c1", status="completed"))
        await bench.settle()
        assert bench.session.state == "idle"
        assert bench.session.turns == []
        assert bench.timeline == ["tool c1|completed|tests"]


@pytest.mark.req("V2-68", "V2-69", "V2-70", "V2-72")
async def test_cancel_marks_at_once_and_idle_confirms() -> None:
    jobs = [{"type": "tool_call", "toolCallId": "c2"}]
    async with opened() as bench:
        async with bench.turn():
            await bench.works()
            bench.says(
                tool("c1", title="one", status="in_progress"),
                tool("c2", title="two", status="in_progress"),
                state("running", background=jobs),
            )
            await bench.settle()
            await bench.adapter.cancel(bench.session)
            await bench.adapter.cancel(bench.session)
            assert bench.timeline[1:] == ["tool c1|cancelled|one", "tool c2|in_progress|two"]
            assert (await bench.asked("session/cancel"))["params"] == {"sessionId": "r1"}
            bench.says(chunk("stopping"), tool("c1", status="completed"), idle("cancelled", background=jobs))
        assert bench.timeline[1:] == [
            "tool c1|completed|one",
            "tool c2|in_progress|two",
            "agent|stopping",
            "end|cancelled",
        ]
        assert [message.get("method") for message in bench.sent].count("session/cancel") == 1


@pytest.mark.req("V2-70")
async def test_a_cancel_of_nothing_is_not_waited_for() -> None:
    async with opened() as bench:
        async with bench.turn():
            await bench.accepts()
            await bench.settle()
            await bench.adapter.cancel(bench.session)
        assert bench.timeline[1:] == ["end|cancelled"]


@pytest.mark.req("V2-70")
async def test_a_cancel_after_the_end_changes_nothing() -> None:
    async with opened() as bench:
        async with bench.turn():
            await bench.works()
            bench.says(idle("end_turn"))
        await bench.adapter.cancel(bench.session)
        turn = bench.session.turns[0]
        assert (turn.cancelling, turn.outcome, turn.state) == (False, "end_turn", "done")
        assert [message for message in bench.sent if message.get("method") == "session/cancel"] == []


@pytest.mark.req("V2-68")
async def test_work_of_its_own_can_be_cancelled() -> None:
    async with opened() as bench:
        bench.says(state("running"))
        await bench.settle()
        await bench.adapter.cancel(bench.session)
        await bench.asked("session/cancel")
        bench.says(idle("cancelled"))
        await bench.settle()
        assert bench.timeline == ["end|cancelled"]


@pytest.mark.req("V2-49")
async def test_only_blocks_the_agent_takes_go_out() -> None:
    async with opened() as bench:
        blocks = [Block("image", data="AA==", mime="image/png")]
        bench.store.apply(bench.session, TurnStarted(tuple(blocks)))
        await bench.adapter.prompt(bench.session, blocks)
        turn = bench.session.turns[0]
        assert turn.error is not None
        assert (turn.stop, turn.error.unsent) == ("error", True)
        assert [message.get("method") for message in bench.sent] == ["initialize", "session/new"]


@pytest.mark.parametrize("taken", [True, False])
async def test_the_end_of_the_connection_ends_the_turn(taken: bool) -> None:
    async with opened() as bench:
        async with bench.turn():
            if taken:
                await bench.works()
            else:
                await bench.asked("session/prompt")
            bench.transport.end()
        turn = bench.session.turns[0]
        assert turn.error is not None
        assert (turn.stop, turn.error.kind, turn.error.unsent) == ("lost", "transport", not taken)


async def test_the_end_of_the_connection_ends_work_of_its_own() -> None:
    async with connected() as bench:
        await bench.open()
        bench.says(state("running"), chunk("half"))
        await bench.settle()
        bench.transport.end()
        with anyio.fail_after(5):
            while bench.reason is None:
                await anyio.lowlevel.checkpoint()
        assert bench.timeline == ["agent|half", "end|lost"]
        assert bench.session.state == "lost"


async def test_a_prompt_for_a_session_that_is_not_open() -> None:
    async with connected() as bench:
        bench.store.apply(bench.session, TurnStarted((Block.of_text("x"),)))
        await bench.adapter.prompt(bench.session, [Block.of_text("x")])
        turn = bench.session.turns[0]
        assert turn.error is not None
        assert turn.error.unsent
