"""session/prompt and session/cancel."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v1.bench import connected, opened

from acp_nvim.session.content import Block, Text
from acp_nvim.session.entities import Failure
from acp_nvim.session.events import TurnStarted

pytestmark = pytest.mark.anyio


def chunk(words: str, role: str = "agent_message") -> dict[str, Any]:
    return {"sessionUpdate": f"{role}_chunk", "content": {"type": "text", "text": words}}


def tool(call: str, status: str | None = None, update: bool = False) -> dict[str, Any]:
    kind = "tool_call_update" if update else "tool_call"
    return {
        "sessionUpdate": kind,
        "toolCallId": call,
        "title": call,
        **({"status": status} if status else {}),
    }


@pytest.mark.parametrize(
    "stop", ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "budget_exceeded"]
)
@pytest.mark.req("V1-67", "V1-71", "V1-74")
async def test_a_turn_ends_with_the_answer_and_its_reason(stop: str) -> None:
    async with opened() as bench:
        async with bench.turn("hi"):
            request = await bench.asked("session/prompt")
            assert request["params"] == {"sessionId": "r1", "prompt": [{"type": "text", "text": "hi"}]}
            bench.says(chunk("o"), chunk("k"))
            await bench.settle()
            states = [bench.session.state]
            bench.ends(request, stop)
        assert bench.timeline == ["user|hi", "agent|ok", f"end|{stop}"]
        assert [*states, bench.session.state] == ["running", "idle"]


@pytest.mark.req("V1-16")
async def test_updates_around_the_answer_keep_their_side_of_it() -> None:
    async with opened() as bench:
        async with bench.turn("hi"):
            request = await bench.asked("session/prompt")

            def update(words: str) -> dict[str, Any]:
                params = {"sessionId": "r1", "update": chunk(words)}
                return {"jsonrpc": "2.0", "method": "session/update", "params": params}

            answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"stopReason": "end_turn"}}
            bench.transport.push(update("a"), update("b"), answer, update("c"))
        await bench.settle()
        assert bench.timeline == ["user|hi", "agent|ab", "end|end_turn", "agent|c"]


@pytest.mark.parametrize(
    ("error", "stop", "kind", "message"),
    [
        ({"code": -32603, "message": "Internal error: x"}, "error", "generic", "Internal error: x"),
        ({"code": -32000, "message": "auth required"}, "error", "auth", "auth required"),
        ({"code": 400, "message": '{"error":{"message":"no model","code":400}}'}, "error", "generic",
         "no model"),
        ({"code": -32602, "message": "bad", "data": {"message": "too long"}}, "error", "invalid",
         "bad: too long"),
        ({"code": -32002, "message": "gone"}, "error", "not_found", "gone"),
        ({"code": 1, "message": "", "data": [1]}, "error", "generic", "error 1"),
        ({"code": 1, "message": "{broken"}, "error", "generic", "{broken"),
        ({"code": -32800, "message": "cancelled"}, "cancelled", None, None),
    ],
)  # fmt: skip
@pytest.mark.req("V1-73", "V1-83", "V1-215")
async def test_an_error_ends_the_turn_and_leaves_the_session_usable(
    error: dict[str, Any], stop: str, kind: str | None, message: str | None
) -> None:
    async with opened() as bench:
        async with bench.turn():
            await bench.answers("session/prompt", None, error)
        turn = bench.session.turns[0]
        assert turn.stop == stop
        assert (turn.error.kind if turn.error else None) == kind
        assert (turn.error.message if turn.error else None) == message
        async with bench.turn("again"):
            await bench.answers("session/prompt", {"stopReason": "end_turn"})
        assert bench.timeline[-1] == "end|end_turn"


@pytest.mark.parametrize("result", [None, {}, {"stopReason": 3}])
@pytest.mark.req("V1-74")
async def test_an_answer_without_a_reason_ends_the_turn_too(result: Any) -> None:
    async with opened() as bench:
        async with bench.turn():
            await bench.answers("session/prompt", result)
        assert (bench.session.turns[0].stop, bench.session.turns[0].state) == (None, "done")


@pytest.mark.req("V1-75")
async def test_c11_the_echo_is_not_shown_again() -> None:
    async with opened() as bench:
        async with bench.turn("fix it"):
            request = await bench.asked("session/prompt")
            bench.says(chunk("fix it", "user_message"), chunk("ok"))
            bench.ends(request)
        assert bench.timeline == ["user|fix it", "agent|ok", "end|end_turn"]


@pytest.mark.req("V1-76")
async def test_updates_come_without_a_turn_too() -> None:
    async with opened() as bench:
        bench.says({"sessionUpdate": "usage_update", "used": 1, "size": 2}, chunk("in the background"))
        await bench.settle()
        assert bench.timeline == ["agent|in the background"]
        assert bench.session.usage is not None


BLOCKS = [
    Block("resource", uri="file:///ws/a%20b.py", mime="text/x-python", text=Text("code")),
    Block("resource", uri="file:///ws/c.bin", data="eA=="),
    Block("link", uri="file:///ws/d", name="d"),
    Block("image", data="eA==", mime="image/png"),
    Block("audio", data="eA==", mime="audio/wav"),
    Block.of_text("look"),
]
RICH = {
    "protocolVersion": 1,
    "agentCapabilities": {"promptCapabilities": {"image": True, "audio": True, "embeddedContext": True}},
}


@pytest.mark.req("V1-68", "V1-69", "V1-97")
async def test_blocks_of_a_prompt() -> None:
    async with opened(RICH) as bench:
        bench.store.apply(bench.session, TurnStarted(tuple(BLOCKS)))
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.prompt, bench.session, BLOCKS)
            params = await bench.answers("session/prompt", {"stopReason": "end_turn"})
        assert params["prompt"] == [
            {
                "type": "resource",
                "resource": {"uri": "file:///ws/a%20b.py", "text": "code", "mimeType": "text/x-python"},
            },
            {"type": "resource", "resource": {"uri": "file:///ws/c.bin", "blob": "eA=="}},
            {"type": "resource_link", "uri": "file:///ws/d", "name": "d"},
            {"type": "image", "data": "eA==", "mimeType": "image/png"},
            {"type": "audio", "data": "eA==", "mimeType": "audio/wav"},
            {"type": "text", "text": "look"},
        ]


@pytest.mark.req("V1-68")
async def test_only_what_the_agent_takes_is_sent() -> None:
    async with opened() as bench:
        bench.store.apply(bench.session, TurnStarted(tuple(BLOCKS[:1])))
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.prompt, bench.session, BLOCKS[:1])
            params = await bench.answers("session/prompt", {"stopReason": "end_turn"})
        assert params["prompt"] == [
            {
                "type": "resource_link",
                "uri": "file:///ws/a%20b.py",
                "name": "a b.py",
                "mimeType": "text/x-python",
            }
        ]
        for block in BLOCKS[3:5]:
            bench.store.apply(bench.session, TurnStarted((block,)))
            await bench.adapter.prompt(bench.session, [block])
            error = bench.session.turns[-1].error
            assert error is not None
            assert error.message == f"the agent takes no {block.type} in a prompt"
        assert sum(message.get("method") == "session/prompt" for message in bench.sent) == 1


@pytest.mark.req("V1-70")
async def test_one_prompt_is_pending_at_a_time() -> None:
    async with opened() as bench, bench.turn("one"), bench.turn("two"):
        first = await bench.asked("session/prompt")
        await bench.settle()
        assert sum(message.get("method") == "session/prompt" for message in bench.sent) == 1
        bench.ends(first)
        bench.ends(await bench.asked("session/prompt"))


async def test_a_prompt_without_a_session_ends_at_once() -> None:
    async with connected() as bench:
        async with bench.turn():
            pass
        error = bench.session.turns[0].error
        assert error is not None
        assert error.remedy == ":AcpRestart"


@pytest.mark.req("V1-19")
async def test_a_lost_connection_ends_the_turn_as_lost() -> None:
    async def why(reason: str) -> Failure:
        assert reason == "the agent closed its output"
        await anyio.lowlevel.checkpoint()
        return Failure("robo exited (1)", kind="transport", data=["last words"])

    async with opened(why_lost=why) as bench:
        async with bench.turn():
            await bench.asked("session/prompt")
            bench.says(tool("t1"))
            bench.asks_permission(5, "t2")
            await bench.settle()
            bench.transport.end()
        turn = bench.session.turns[0]
        assert (turn.stop, turn.state) == ("lost", "failed")
        assert turn.error == Failure("robo exited (1)", kind="transport", data=["last words"])
        assert bench.timeline[1:] == ["tool t1|no answer|t1", "tool t2|no answer|", "end|lost"]
        assert bench.questions.open() == []
        while bench.reason is None:
            await anyio.lowlevel.checkpoint()
        assert bench.reason == "the agent closed its output"
        assert bench.session.state == "lost"


@pytest.mark.req("V1-19")
async def test_without_a_reason_of_the_process_the_connections_is_told() -> None:
    async with opened() as bench:
        async with bench.turn():
            await bench.asked("session/prompt")
            await bench.adapter.close()
        error = bench.session.turns[0].error
        assert error == Failure("robo: the connection was closed", kind="transport", remedy=":AcpRestart")


async def test_an_agent_that_does_not_read_ends_the_turn() -> None:
    async with opened() as bench:
        bench.transport.broken = True
        async with bench.turn():
            pass
        assert bench.session.turns[0].stop == "lost"


async def test_a_turn_whose_task_is_cancelled_ends_too() -> None:
    async with opened() as bench:
        async with anyio.create_task_group() as group:
            bench.store.apply(bench.session, TurnStarted((Block.of_text("x"),)))
            group.start_soon(bench.adapter.prompt, bench.session, [Block.of_text("x")])
            await bench.asked("session/prompt")
            group.cancel_scope.cancel()
        assert bench.session.turn is None
        assert bench.session.turns[0].stop == "lost"


@pytest.mark.req("V1-78", "V1-79", "V1-80", "V1-83")
async def test_c15_cancel_during_a_question() -> None:
    async with opened() as bench:
        async with bench.turn():
            request = await bench.asked("session/prompt")
            bench.says(tool("t0", "completed"), tool("t2", "in_progress"))
            bench.asks_permission(81, "t1", title="rm x", kind="delete")
            await bench.settle()
            assert bench.questions.open() == ["q1"]
            await bench.adapter.cancel(bench.session)
            assert bench.timeline[1:] == [
                "tool t0|completed|t0", "tool t2|cancelled|t2", "tool t1|cancelled|rm x",
            ]  # fmt: skip
            assert bench.questions.open() == []
            assert (await bench.reply(81))["result"] == {"outcome": {"outcome": "cancelled"}}
            cancels = [message for message in bench.sent if message.get("method") == "session/cancel"]
            assert cancels == [{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "r1"}}]
            turn = bench.session.turn
            assert turn is not None  # it ends when the agent says so
            await bench.adapter.cancel(bench.session)  # once is enough
            bench.ends(request, "cancelled")
        assert turn.stop == "cancelled"
        assert turn.cancelling
        assert not turn.rejected
        assert sum(message.get("method") == "session/cancel" for message in bench.sent) == 1


@pytest.mark.req("V1-81", "V1-82")
async def test_after_a_cancel_questions_are_answered_at_once_and_updates_taken() -> None:
    async with opened() as bench:
        async with bench.turn():
            request = await bench.asked("session/prompt")
            bench.says(tool("t1", "in_progress"))
            await bench.settle()
            await bench.adapter.cancel(bench.session)
            bench.asks_permission(5, "t2", title="more")
            assert (await bench.reply(5))["result"] == {"outcome": {"outcome": "cancelled"}}
            assert bench.questions.asked == []
            bench.says(tool("t1", "completed", update=True), chunk("bye"))
            await bench.settle()
            assert bench.timeline[1:] == [
                "tool t1|completed|t1", "tool t2|cancelled|more", "agent|bye",
            ]  # fmt: skip
            bench.ends(request, "cancelled")
        bench.asks_permission(6, "t3")
        await bench.settle()
        assert bench.questions.open() == ["q1"]  # the cancel is over


@pytest.mark.req("V1-78")
async def test_without_a_turn_there_is_nothing_to_cancel() -> None:
    async with opened() as bench:
        await bench.adapter.cancel(bench.session)
        await bench.adapter.cancel(bench.new_session("s2", "/"))
        assert [message["method"] for message in bench.sent] == ["initialize", "session/new"]


@pytest.mark.req("V1-83")
async def test_a_cancel_after_the_end_changes_nothing() -> None:
    """The user does not see the end in the moment it comes."""
    async with opened() as bench:
        async with bench.turn():
            bench.ends(await bench.asked("session/prompt"))
        await bench.adapter.cancel(bench.session)
        turn = bench.session.turns[0]
        assert (turn.cancelling, turn.outcome, turn.state) == (False, "end_turn", "done")
        assert [message for message in bench.sent if message.get("method") == "session/cancel"] == []


async def test_a_cancel_into_a_lost_connection_is_quiet() -> None:
    async with opened() as bench:
        async with bench.turn():
            request = await bench.asked("session/prompt")
            bench.transport.broken = True
            await bench.adapter.cancel(bench.session)
            bench.ends(request, "cancelled")
        assert bench.session.turns[0].stop == "cancelled"


@pytest.mark.req("V1-134")
async def test_the_end_of_the_turn_answers_what_is_still_open() -> None:
    async with opened() as bench:
        async with bench.turn():
            request = await bench.asked("session/prompt")
            bench.asks_permission(5, "t1")
            await bench.settle()
            bench.ends(request)
        assert (await bench.reply(5))["result"] == {"outcome": {"outcome": "cancelled"}}
        assert bench.questions.open() == []


async def test_c14_the_agent_stops_after_a_rejection() -> None:
    async with opened() as bench:
        async with bench.turn():
            request = await bench.asked("session/prompt")
            bench.asks_permission(71, "t1", title="Edit h.py", kind="edit")
            await bench.settle()
            bench.questions.answer("q1", "no")
            assert (await bench.reply(71))["result"]["outcome"] == {
                "outcome": "selected", "optionId": "no",
            }  # fmt: skip
            bench.ends(request, "cancelled")
        turn = bench.session.turns[0]
        assert bench.timeline[1] == "tool t1|rejected|Edit h.py"
        assert (turn.stop, turn.rejected, turn.cancelling) == ("cancelled", True, False)
