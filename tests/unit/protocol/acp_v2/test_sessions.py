"""How sessions begin, are taken up again, are listed and end; options and single items."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v2.bench import (
    HELLO,
    INFO,
    chunk,
    connected,
    idle,
    opened,
    state,
    terminal,
    tool,
    whole,
    wrote,
)
from tests.unit.session.build import timeline

from acp_nvim.session.options import Option
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio

CAPABLE: dict[str, Any] = {
    "protocolVersion": 2,
    "info": INFO,
    "capabilities": {
        "session": {"delete": {}, "additionalDirectories": {}, "mcp": {"stdio": {}, "http": {}}}
    },
}
MODE = {"type": "select", "configId": "mode", "name": "Mode", "category": "mode", "currentValue": "ask",
        "options": [{"value": "ask", "name": "Ask"}, {"value": "do", "name": "Do"}]}  # fmt: skip
COMMAND = {"type": "command", "name": "go", "description": "Go"}


@pytest.mark.req("V2-32", "V2-33", "V2-34", "V2-47")
async def test_a_new_session() -> None:
    async with opened(created={"configOptions": [MODE], "availableCommands": [COMMAND]}) as bench:
        request = next(each for each in bench.sent if each.get("method") == "session/new")
        assert request["params"] == {"cwd": "/ws"}
        session = bench.session
        assert (session.state, session.remote_id) == ("idle", "r1")
        assert [each.id for each in session.options] == ["mode"]
        assert [each.name for each in session.commands] == ["go"]
        bench.says({"sessionUpdate": "available_commands_update", "availableCommands": []})
        await bench.settle()
        assert session.commands == []


@pytest.mark.req("V2-33")
async def test_null_lists_say_nothing() -> None:
    async with opened(created={"configOptions": None, "availableCommands": None}) as bench:
        assert bench.session.options == []
        assert bench.session.commands == []


@pytest.mark.req("V2-34")
async def test_what_comes_before_the_answer_counts() -> None:
    async with connected() as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "initialize", HELLO)
            await bench.adapter.connect()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.new_session, bench.session)
            request = await bench.asked("session/new")
            bench.says(state("running"), chunk("hello"))
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {"sessionId": "r1"}})
        assert bench.session.state == "running"
        assert bench.timeline == ["agent|hello"]


@pytest.mark.req("V2-44", "V2-148", "V2-149")
@pytest.mark.parametrize("takes", [True, False])
async def test_folders_and_servers_only_where_they_are_taken(takes: bool, tmp_path: Any) -> None:
    folder, program = tmp_path / "lib", tmp_path / "server"
    folder.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    servers = [
        {"name": "a", "command": str(program), "args": ["-x"], "env": {"K": "v"}},
        {"name": "b", "type": "http", "url": "https://example.org/", "headers": {"H": "1"}},
        {"name": "c", "type": "sse", "url": "https://example.org/"},
    ]
    options: dict[str, Any] = {"mcp_servers": servers, "directories": [str(folder)]}
    async with opened(CAPABLE if takes else HELLO, **options) as bench:
        params = next(each for each in bench.sent if each.get("method") == "session/new")["params"]
        if takes:
            assert params["additionalDirectories"] == [str(folder)]
            assert params["mcpServers"] == [
                {"type": "stdio", "name": "a", "command": str(program), "args": ["-x"],
                 "env": [{"name": "K", "value": "v"}]},
                {"type": "http", "name": "b", "url": "https://example.org/",
                 "headers": [{"name": "H", "value": "1"}]},
            ]  # fmt: skip
            assert bench.notices() == ["MCP server c: the agent takes no sse servers"]
        else:
            assert params == {"cwd": "/ws"}
            assert bench.notices() == ["robo does not get all that the settings name:"]


HISTORY = [
    whole("hi", message_id="u1", role="user_message"),
    chunk("par", "a1"),
    chunk("ts", "a1"),
    whole("whole", message_id="a2"),
    tool("c1", title="ls", status="completed", content=[{"type": "terminal", "terminalId": "t1"}]),
    terminal("t1", output={"data": "b3V0"}, exitStatus={"exitCode": 0}),
    {"sessionUpdate": "plan_update",
     "plan": {"type": "items", "planId": "p",
              "entries": [{"content": "one", "priority": "low", "status": "pending"}]}},
]  # fmt: skip
SHOWN = ["user|hi", "agent|parts", "agent|whole", "tool c1|completed|ls", "plan p|one"]


@pytest.mark.req("V2-35", "V2-36", "V2-37", "V2-39")
async def test_a_session_with_its_history() -> None:
    async with opened(CAPABLE) as bench:
        other = bench.new_session("s2", "/elsewhere")
        async with anyio.create_task_group() as group:
            found: list[int | None] = []

            async def load() -> None:
                found.append(await bench.adapter.load_session(other, "old"))

            group.start_soon(load)
            request = await bench.asked("session/resume")
            assert request["params"] == {
                "sessionId": "old",
                "cwd": "/elsewhere",
                "replayFrom": {"type": "start"},
            }
            bench.says(*HISTORY, idle("refusal"), to="old")
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {"configOptions": [MODE]}})
        assert timeline(other) == SHOWN
        assert other.turns == []
        assert (other.state, other.replaying) == ("idle", False)
        assert other.terminals["t1"].output.tail(9) == b"out"
        assert [message.origin for message in other.messages.values()] == ["replay"] * 3
        assert found[0] is not None
        assert found[0] >= len(SHOWN)
        assert [each.id for each in other.options] == ["mode"]


@pytest.mark.req("V2-35", "V2-36", "V2-45", "V2-62")
async def test_a_session_whose_agent_is_still_at_work(tmp_path: Any) -> None:
    async with opened(CAPABLE, directories=[str(tmp_path)]) as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.resume_session, bench.session, "old")
            request = await bench.asked("session/resume")
            assert request["params"] == {
                "sessionId": "old",
                "cwd": "/ws",
                "additionalDirectories": [str(tmp_path)],
            }
            bench.says(tool("c", title="tests", status="in_progress"), state("running"), to="old")
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {}})
        assert bench.session.state == "running"
        assert bench.session.turn is not None
        assert bench.session.turn.prompt == []
        assert bench.timeline == ["tool c|in_progress|tests"]
        bench.says(tool("c", status="completed"), chunk("done"), idle(), to="old")
        await bench.settle()
        assert bench.timeline == ["tool c|completed|tests", "agent|done", "end|end_turn"]


@pytest.mark.req("V2-36")
async def test_an_agent_that_tells_no_state_on_resume() -> None:
    async with opened() as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.resume_session, bench.session, "old")
            await bench.answers("session/resume", {})
        assert bench.session.state == "idle"
        assert bench.session.turn is None


@pytest.mark.req("V2-38", "V2-40")
async def test_a_history_that_is_shown_already_is_not_shown_twice() -> None:
    async with opened() as bench:
        bench.says(*HISTORY)
        await bench.settle()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.load_session, bench.session, "r1")
            request = await bench.asked("session/resume")
            bench.says(
                *HISTORY,
                wrote(b"more"),
                {"sessionUpdate": "notice", "severity": "info", "title": "new"},
                idle(),
            )
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {}})
        assert bench.timeline == [*SHOWN, "note|new"]
        assert bench.session.terminals["t1"].output.tail(9) == b"out"
        bench.says(chunk("live", "a9"))
        await bench.settle()
        assert bench.timeline[-1] == "agent|live"


@pytest.mark.req("V2-46")
async def test_a_session_that_is_gone() -> None:
    async with opened() as bench:
        async with anyio.create_task_group() as group:
            gone = {"code": -32002, "message": "no such session", "data": {"sessionId": "old"}}
            group.start_soon(bench.answers, "session/resume", None, gone)
            with pytest.raises(AgentError) as raised:
                await bench.adapter.resume_session(bench.session, "old")
        assert raised.value.failure.kind == "not_found"
        assert not bench.session.replaying


@pytest.mark.req("V2-41")
async def test_lists_have_pages_and_an_empty_cursor_is_one() -> None:
    async with opened() as bench:
        pages = [
            {"sessions": [{"sessionId": "a", "cwd": "/ws"}, {"sessionId": "b", "cwd": "relative"}, 7],
             "nextCursor": ""},
            {"sessions": [{"sessionId": "c", "cwd": "/x", "title": "C", "updatedAt": "2026-01-01T00:00:00Z",
                           "additionalDirectories": None}], "nextCursor": None},
        ]  # fmt: skip
        asked: list[dict[str, Any]] = []

        async def agent() -> None:
            asked.append(await bench.answers("session/list", pages[0]))
            asked.append(await bench.answers("session/list", pages[1]))

        async with anyio.create_task_group() as group:
            group.start_soon(agent)
            found = await bench.adapter.list_sessions("/ws")
        assert asked == [{"cwd": "/ws"}, {"cwd": "/ws", "cursor": ""}]
        assert [each.id for each in found.sessions] == ["a", "c"]
        assert found.cut is None


@pytest.mark.req("V2-42", "V2-43", "V2-44")
@pytest.mark.parametrize("error", [None, {"code": -32002, "message": "gone"}])
async def test_close_and_delete(error: dict[str, Any] | None) -> None:
    async with opened(CAPABLE) as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.delete_session, "old")
            assert await bench.answers("session/delete", {}, error) == {"sessionId": "old"}
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.close_session, bench.session)
            assert await bench.answers("session/close", {}, error) == {"sessionId": "r1"}
        bench.says(chunk("too late"))
        await bench.settle()
        assert bench.timeline == []


@pytest.mark.req("V2-44")
async def test_nothing_is_deleted_where_that_is_not_offered() -> None:
    async with opened() as bench:
        with pytest.raises(AgentError, match="cannot delete"):
            await bench.adapter.delete_session("old")
        with pytest.raises(AgentError, match="cannot fork"):
            await bench.adapter.fork_session(bench.session, "old")


@pytest.mark.req("V2-131", "V2-132")
@pytest.mark.parametrize(
    ("value", "sent"), [("do", {"type": "id", "value": "do"}), (True, {"type": "boolean", "value": True})]
)
async def test_an_option_is_set_with_its_type(value: str | bool, sent: dict[str, Any]) -> None:
    async with opened(created={"configOptions": [MODE]}) as bench:
        option = bench.session.options[0]
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.set_option, bench.session, option, value)
            asked = await bench.answers(
                "session/set_config_option", {"configOptions": [{**MODE, "currentValue": "do"}]}
            )
        assert asked == {"sessionId": "r1", "configId": "mode", **sent}
        assert bench.session.options[0].value == "do"
        async with anyio.create_task_group() as group:
            group.start_soon(
                bench.answers, "session/set_config_option", None, {"code": -32602, "message": "no"}
            )
            with pytest.raises(AgentError):
                await bench.adapter.set_option(bench.session, Option("mode", "Mode", "select"), "bad")
        assert bench.session.options[0].value == "do"


@pytest.mark.req("V2-73", "V2-74", "V2-107")
async def test_single_items_are_cancelled_only_where_that_is_offered() -> None:
    async with opened() as bench:
        bench.says(
            tool("c1", capabilities={"cancel": {}}),
            tool("c2", capabilities={}),
            terminal("t1", capabilities={"cancel": {}}),
            terminal("t2"),
        )
        await bench.settle()
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: bench.adapter.cancel_item(bench.session, call="c1"))
            assert await bench.answers("tool_call/cancel", {}) == {"sessionId": "r1", "toolCallId": "c1"}
        assert bench.session.tool_calls["c1"].status == "pending"  # the agent says when
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: bench.adapter.cancel_item(bench.session, terminal="t1"))
            assert await bench.answers("terminal/cancel", {}) == {"sessionId": "r1", "terminalId": "t1"}
        count = len(bench.sent)
        for item in ({"call": "c2"}, {"call": "x"}, {"terminal": "t2"}, {"terminal": "x"}):
            with pytest.raises(AgentError, match="cannot be cancelled"):
                await bench.adapter.cancel_item(bench.session, **item)
        assert len(bench.sent) == count
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "tool_call/cancel", None, {"code": -32602, "message": "final"})
            with pytest.raises(AgentError, match="final"):
                await bench.adapter.cancel_item(bench.session, call="c1")


@pytest.mark.req("V2-76")
async def test_a_request_of_ours_is_taken_back_and_its_answer_waited_for() -> None:
    async with opened(CAPABLE) as bench, anyio.create_task_group() as group:

        async def resume() -> None:
            with pytest.raises(AgentError) as raised:
                await bench.adapter.resume_session(bench.session, "old")
            assert raised.value.failure.kind == "cancelled"

        group.start_soon(resume)
        request = await bench.asked("session/resume")
        assert bench.adapter.asked(bench.session) == "session/resume"
        await bench.adapter.withdraw(bench.session, shared=False)
        assert (await bench.asked("$/cancel_request"))["params"] == {"requestId": request["id"]}
        error = {"code": -32800, "message": "cancelled"}
        bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "error": error})


@pytest.mark.req("V2-31")
async def test_sessions_fail_after_logging_out() -> None:
    methods = [{"type": "agent", "methodId": "a", "name": "Account"}]
    async with opened({**HELLO, "authMethods": methods}) as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.logout)
            await bench.answers("auth/logout", {})
        async with bench.turn():
            await bench.answers("session/prompt", None, {"code": -32000, "message": "log in"})
        error = bench.session.turns[0].error
        assert error is not None
        assert (error.kind, error.unsent) == ("auth", True)
