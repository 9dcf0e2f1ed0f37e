"""Agents of both texts of version 2 are read: the draft of August 2026, and the schema of November.

One session of each with all that the two write differently (spec/acp-v2.md section 22; arrays of messages
are in ``test_batches.py``, versions in ``test_negotiation.py``).
"""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v2.bench import Bench, chunk, idle, opened, state, terminal, tool, whole

from acp_nvim.protocol.acp_v2 import turns
from acp_nvim.session.entities import Cost, Usage
from acp_nvim.session.terminals import Exit

pytestmark = pytest.mark.anyio

COMMAND = {"name": "plan", "description": "make a plan"}


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "GRACE", 0.05)


async def said(bench: Bench, *updates: dict[str, Any]) -> None:
    bench.says(*updates)
    await bench.settle()


def usage(currency: str) -> dict[str, Any]:
    return {
        "sessionUpdate": "usage_update",
        "used": 1,
        "size": 2,
        "cost": {"amount": 1, "currency": currency},
    }


def of_call(bench: Bench) -> tuple[str, str, list[tuple[str, int | None]]]:
    call = bench.session.tool_calls["c1"]
    return call.status, call.title, [(each.path, each.line) for each in call.locations]


@pytest.mark.req("V2-33", "V2-36", "V2-50", "V2-59", "V2-66", "V2-71")
async def test_an_agent_of_august() -> None:
    async with opened() as bench:
        await said(bench, {"sessionUpdate": "available_commands_update", "availableCommands": [COMMAND]})
        assert [each.name for each in bench.session.commands] == ["plan"]
        async with bench.turn("fix it"):
            await bench.accepts(None)  # "{}"
            bench.says(state("running"), whole("fix it", message_id="u1", role="user_message"))
            bench.says(chunk("one ", "a1"), chunk("message", "a1"), chunk("another", "a2"))
            bench.says(tool(title="Edit", status="in_progress", locations=[{"path": "/ws/a.py", "line": 0}]))
            await said(bench, terminal(exitStatus={"exitCode": 4_294_967_295}), usage("USD"))
            assert bench.session.background is None
            bench.asks_for(7, subject={"type": "tool_call", "toolCall": {"toolCallId": "c1"}})
            await bench.settle()
            await bench.adapter.cancel(bench.session)
            assert (await bench.reply(7))["result"] == {"outcome": {"outcome": "cancelled"}}
            bench.says(idle("cancelled"))
        assert bench.timeline == [
            "user|fix it",
            "agent|one message",
            "agent|another",
            "tool c1|cancelled|Edit",
            "end|cancelled",
        ]
        assert of_call(bench)[1:] == ("Edit", [("/ws/a.py", None)])
        assert bench.session.terminals["t1"].exit == Exit(4_294_967_295)
        assert bench.session.usage == Usage(1, 2, Cost(1, "USD"))

        old = bench.new_session("old", "/ws")  # no state is told before the answer
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "session/resume", {})
            await bench.adapter.resume_session(old, "r2")
        assert old.state == "idle"


@pytest.mark.req("V2-33", "V2-36", "V2-51", "V2-60", "V2-66", "V2-77", "V2-87")
async def test_an_agent_of_november() -> None:
    created = {"availableCommands": [{**COMMAND, "type": "command"}, {"type": "mood", "name": "x"}]}
    async with opened(created=created) as bench:
        assert [each.name for each in bench.session.commands] == ["plan"]
        async with bench.turn("fix it"):
            await bench.accepts("m1")
            work = [{"type": "terminal", "terminalId": "t1"}, {"type": "mood"}]
            bench.says(state("running", background=work))
            # Ids are unique for each kind of message, and chunks of several messages may come in turns.
            bench.says(whole("fix it", message_id="m1", role="user_message"), chunk("one ", "m1"))
            bench.says(chunk("another", "m2"), chunk("message", "m1"))
            bench.says(chunk("thought", "m1", "agent_thought"))
            bench.says(tool(title="Edit", name="edit_file", status="paused", capabilities={"cancel": {}}))
            bench.says(tool(locations=[{"path": "/ws/a.py", "line": 1}], _meta={"a": 1}))
            bench.says(terminal(exitStatus={"exitCode": -1}, size={"columns": 80, "rows": 24}))
            bench.says({"sessionUpdate": "notice", "severity": "info", "title": "By the way"})
            await said(bench, usage("credits"))
            assert len(bench.session.background or []) == 2
            assert of_call(bench) == ("paused", "Edit", [("/ws/a.py", 1)])
            bench.says(idle("error", error={"code": -32603, "message": "model is gone"}, background=[]))
        assert bench.timeline == [
            "user|fix it",
            "agent|one message",
            "agent|another",
            "thought|thought",
            "tool c1|no answer|Edit",
            "note|By the way",
            "end|error",
        ]
        assert bench.session.tool_calls["c1"].name == "edit_file"
        assert bench.session.terminals["t1"].exit == Exit(-1)
        assert bench.session.usage == Usage(1, 2, Cost(1, "credits"))

        old = bench.new_session("old", "/ws")
        async with anyio.create_task_group() as group:
            group.start_soon(_resumed, bench)
            await bench.adapter.resume_session(old, "r2")
        assert old.state == "running"


async def _resumed(bench: Bench) -> None:
    request = await bench.asked("session/resume")
    bench.says(state("running"), to="r2")
    bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {}})
