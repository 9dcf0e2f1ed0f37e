"""session/new, resume, load, close; options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v1.bench import HELLO, Bench, connected, opened

from acp_nvim.protocol.mcp import Mcp
from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.entities import Note
from acp_nvim.session.events import OptionsSet
from acp_nvim.session.options import Option
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio

CAPABLE = {
    "protocolVersion": 1,
    "agentCapabilities": {
        "loadSession": True,
        "mcpCapabilities": {"http": True},
        "sessionCapabilities": {"close": {}, "additionalDirectories": {}},
    },
}
RESUMING = {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"resume": {}}}}


def commands(name: str) -> dict[str, Any]:
    return {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [{"name": name, "description": "d"}],
    }


def text(role: str, words: str) -> dict[str, Any]:
    return {"sessionUpdate": f"{role}_chunk", "content": {"type": "text", "text": words}}


@pytest.mark.req("V1-46", "V1-59", "V1-63", "V1-64")
async def test_what_a_new_session_is_asked_for(tmp_path: Path) -> None:
    settings = [
        {"name": "tools", "command": "sh", "args": ["-c", "x"], "env": {"A": "b"}},
        {"name": "web", "url": "http://127.0.0.1/mcp", "headers": {"K": "v"}},
        {"name": "old", "type": "sse", "url": "http://127.0.0.1/sse"},
        {"name": "gone", "command": "no-such-program-here"},
        {"name": "empty"},
    ]
    more = str(tmp_path)
    folders = [more + "/", "/ws", "/no/such", more]
    vault = "MCP server vault: pass failed"
    async with connected(mcp_servers=settings, mcp_problems=[vault], directories=folders) as bench:
        await bench.open(CAPABLE)
        params = bench.sent[1]["params"]
        assert params["cwd"] == "/ws"
        assert params["additionalDirectories"] == [more]
        assert bench.session.roots == ("/ws", more)
        stdio, http = params["mcpServers"]
        assert stdio == {
            "name": "tools",
            "command": stdio["command"],
            "args": ["-c", "x"],
            "env": [{"name": "A", "value": "b"}],
        }
        assert stdio["command"].startswith("/")
        assert http == {
            "type": "http",
            "name": "web",
            "url": "http://127.0.0.1/mcp",
            "headers": [{"name": "K", "value": "v"}],
        }
        (note,) = (item for item in bench.session.items if isinstance(item, Note))
        assert note.title == "robo does not get all that the settings name:"
        assert [line.split(":")[0] for line in note.lines] == [
            "MCP server vault", "MCP server old", "MCP server gone", "MCP server empty", "directories",
            "directories",
        ]  # fmt: skip


@pytest.mark.req("V1-63")
async def test_programs_of_mcp_servers_are_found_as_the_agents_are(tmp_path: Path) -> None:
    """In the agent's $PATH or the server's own; with a slash from the session's folder."""
    for folder in ("bin", "own", "ws"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "server").write_text("#!/bin/sh\n")
        (tmp_path / folder / "server").chmod(0o755)
    mcp = Mcp(
        [
            {"name": "a", "command": "server"},
            {"name": "b", "command": "server", "env": {"PATH": str(tmp_path / "own"), "A": ""}},
            {"name": "c", "command": "./server"},
        ],
        str(tmp_path / "bin"),
    )
    servers, problems = mcp.servers(AgentInfo("acp-v1"), str(tmp_path / "ws"))
    assert [server.command for server in servers] == [
        str(tmp_path / folder / "server") for folder in ("bin", "own", "ws")
    ]
    assert problems == []


@pytest.mark.req("V1-46", "V1-59", "V1-63")
async def test_empty_lists_are_sent_and_unwanted_fields_are_not(tmp_path: Path) -> None:
    mcp = [{"name": "py", "command": sys.executable}]
    async with connected(mcp_servers=mcp, directories=[str(tmp_path)]) as bench:
        await bench.open(HELLO)
        (server,) = bench.sent[1]["params"]["mcpServers"]
        assert server == {"name": "py", "command": sys.executable, "args": [], "env": []}
        assert "additionalDirectories" not in bench.sent[1]["params"]
        assert bench.session.roots == ("/ws",)  # what was not sent is no root
        assert bench.notices() == ["robo takes no further folders: agents.robo.directories"]
    async with opened() as bench:
        assert bench.sent[1]["params"] == {"cwd": "/ws", "mcpServers": []}


@pytest.mark.req("V1-46", "V1-142", "V1-145", "V1-146", "V1-148", "V1-150")
async def test_the_session_is_open_with_its_options() -> None:
    created: dict[str, Any] = {
        "configOptions": [
            {"type": "hologram", "id": "h", "name": "H"},
            {
                "type": "select", "id": "m", "name": "Model", "category": "model", "currentValue": "b",
                "options": [{"group": "g", "name": "Group", "options": [{"value": "b", "name": "B"}]}],
            },
            {
                "type": "select", "id": "e", "name": "Effort", "description": "how hard",
                "currentValue": "low", "options": [{"value": "low", "name": "Low", "description": "d"}],
            },
        ],
        "modes": {"currentModeId": "x", "availableModes": [{"id": "x", "name": "X"}]},
    }  # fmt: skip
    async with opened(created=created) as bench:
        session = bench.session
        assert (session.remote_id, session.state) == ("r1", "idle")
        assert session.info is bench.adapter.info
        assert [(o.id, o.category, o.source, o.label) for o in session.options] == [
            ("h", None, "config", ""),
            ("m", "model", "config", "B"),
            ("e", None, "config", "Low"),
        ]
        unknown, model = session.options[:2]
        assert (unknown.type, unknown.raw) == ("unknown", created["configOptions"][0])
        assert model.choices[0].group == "Group"


MODES = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}
MODELS = {"currentModelId": "m1", "availableModels": [{"modelId": "m1", "name": "M one"}]}


@pytest.mark.parametrize(
    ("created", "expected"),
    [
        ({"modes": MODES}, [("mode", "mode", "A")]),
        ({"modes": MODES, "models": MODELS}, [("mode", "mode", "A"), ("model", "model", "M one")]),
        ({"modes": MODES, "configOptions": []}, []),
        ({"models": MODELS, "configOptions": []}, [("model", "model", "M one")]),
        ({}, []),
    ],
)
@pytest.mark.req("V1-142", "V1-149")
async def test_modes_and_models_are_options(
    created: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    async with opened(created=created) as bench:
        assert [(o.category, o.source, o.label) for o in bench.session.options] == expected


@pytest.mark.req("V1-47", "V1-48")
async def test_c10_updates_before_the_answer_are_applied_in_order() -> None:
    async with connected() as bench:
        other = bench.new_session("s2", "/other")
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "initialize", HELLO)
            await bench.adapter.connect()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.new_session, bench.session)
            group.start_soon(bench.adapter.new_session, other)
            first = await bench.asked("session/new")
            second = await bench.asked("session/new")
            bench.says(commands("old"), text("agent_message", "Hel"), to="r1")
            bench.says(text("agent_message", "other"), to="r2")
            bench.says(commands("init"), text("agent_message", "lo"), to="r1")
            # The answers and what follows come in one read.
            bench.transport.push(
                {"jsonrpc": "2.0", "id": second["id"], "result": {"sessionId": "r2"}},
                {"jsonrpc": "2.0", "id": first["id"], "result": {"sessionId": "r1"}},
                {
                    "jsonrpc": "2.0",
                    "method": "session/update",
                    "params": {"sessionId": "r1", "update": text("agent_message", "!")},
                },
            )
        await bench.settle()
        assert [command.name for command in bench.session.commands] == ["init"]
        assert bench.timeline == ["agent|Hello!"]
        assert other.items[0].text == "other"  # type: ignore[union-attr]


@pytest.mark.req("V1-47")
async def test_what_is_kept_for_unknown_sessions_is_bounded() -> None:
    async with connected() as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "initialize", HELLO)
            await bench.adapter.connect()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.new_session, bench.session)
            request = await bench.asked("session/new")
            bench.says(*[text("agent_message", "x")] * 1100, to="r1")
            for number in range(20):
                bench.says(text("agent_message", "x"), to=f"stranger{number}")
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {"sessionId": "r1"}})
        assert bench.timeline == ["agent|" + "x" * 1000]
        assert sum("stranger" in note for note in bench.notes) == 5
        bench.says(text("agent_message", "x"), to="stranger1")
        await bench.settle()
        assert bench.notes[-1] != bench.notes[-2]
        assert any("stranger1:" in note for note in bench.notes[-2:])


@pytest.mark.req("V1-41")
@pytest.mark.parametrize(
    ("methods", "remedy"),
    [
        ([{"id": "oauth", "name": "Browser"}], ":AcpLogin"),
        ([{"id": "tty", "name": "Terminal", "type": "terminal"}], ":AcpLogin"),
        ([{"id": "key", "name": "Key", "type": "env_var"}], ":AcpLogin"),
        ([{"id": "dev", "name": "Device", "type": "device"}], "log in with the agent's own program"),
        ([], "log in with the agent's own program"),
    ],
)
async def test_an_agent_that_wants_a_login_says_so(methods: list[dict[str, str]], remedy: str) -> None:
    async with connected() as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "initialize", {**HELLO, "authMethods": methods})
            await bench.adapter.connect()
        async with anyio.create_task_group() as group:
            error = {"code": -32000, "message": "auth required"}
            group.start_soon(bench.answers, "session/new", None, error)
            with pytest.raises(AgentError) as caught:
                await bench.adapter.new_session(bench.session)
        failure = caught.value.failure
        assert (failure.kind, failure.message) == ("auth", "auth required")
        assert (failure.remedy or "").startswith(remedy)
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "session/new", {"sessionId": "r1"})
            await bench.adapter.new_session(bench.session)  # repeated after the login
        assert bench.session.remote_id == "r1"


async def hello(bench: Bench, said: dict[str, Any]) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(bench.answers, "initialize", said)
        await bench.adapter.connect()


@pytest.mark.req("V1-14", "V1-52")
async def test_resume_goes_without_replay() -> None:
    async with connected() as bench:
        await hello(bench, RESUMING)
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.resume_session, bench.session, "old")
            assert await bench.answers("session/resume", None) == {"sessionId": "old", "cwd": "/ws"}
        assert (bench.session.remote_id, bench.session.state) == ("old", "idle")
        assert not any(isinstance(event, OptionsSet) for event in bench.events)
        bench.says(text("agent_message", "x"), to="old")
        await bench.settle()
        assert bench.timeline == ["agent|x"]


@pytest.mark.req("V1-49", "V1-50", "V1-51")
async def test_load_replays_the_history() -> None:
    async with connected() as bench:
        await hello(bench, CAPABLE)
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.resume_session, bench.session, "old")
            request = await bench.asked("session/load")
            assert request["params"] == {"sessionId": "old", "cwd": "/ws", "mcpServers": []}
            bench.says(text("user_message", "hi"), text("agent_message", "hello"), to="old")
            bench.says({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "x"}, to="old")
            await bench.settle()
            assert bench.session.replaying
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {"modes": MODES}})
        assert bench.timeline == ["user|hi", "agent|hello", "tool t1|no answer|x"]
        assert not bench.session.replaying
        assert bench.session.turns == []
        assert {m.origin for m in bench.session.messages.values()} == {"replay"}
        assert bench.session.options[0].label == "A"
        async with bench.turn():
            await bench.answers("session/prompt", {"stopReason": "end_turn"})
        assert bench.notices() == []


@pytest.mark.req("V1-50")
async def test_a_chat_that_has_the_conversation_does_not_get_it_twice() -> None:
    async with opened(CAPABLE) as bench:
        bench.says(text("agent_message", "before"))
        await bench.settle()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.resume_session, bench.session, "r1")
            request = await bench.asked("session/load")
            bench.says(text("agent_message", "before"), commands("new"))
            await bench.settle()
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {}})
        bench.says(text("agent_message", "late replay"))
        await bench.settle()
        assert bench.timeline == ["agent|before"]
        assert bench.session.commands[0].name == "new"
        async with bench.turn("x"):
            request = await bench.asked("session/prompt")
            bench.says(text("agent_message", "now"))
            bench.ends(request)
        assert bench.timeline == ["agent|before", "user|x", "agent|now", "end|end_turn"]


@pytest.mark.req("V1-49", "V1-52", "V1-61")
async def test_resume_refused() -> None:
    async with connected() as bench:
        await hello(bench, HELLO)
        with pytest.raises(AgentError, match="cannot take up"):
            await bench.adapter.resume_session(bench.session, "old")
    async with connected() as bench:
        await hello(bench, CAPABLE)
        error = {"code": -32002, "message": "Resource not found", "data": {"sessionId": "old"}}
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "session/load", None, error)
            with pytest.raises(AgentError) as caught:
                await bench.adapter.resume_session(bench.session, "old")
        assert caught.value.failure.kind == "not_found"
        assert not bench.session.replaying
        bench.says(text("agent_message", "x"), to="old")
        await bench.settle()
        assert bench.timeline == []


@pytest.mark.parametrize(
    ("said", "error", "asked"),
    [
        (CAPABLE, None, True),
        (CAPABLE, {"code": -32002, "message": "unknown"}, True),
        (HELLO, None, False),
    ],
)
@pytest.mark.req("V1-58")
async def test_close(said: dict[str, Any], error: dict[str, Any] | None, asked: bool) -> None:
    async with opened(said) as bench:
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.close_session, bench.session)
            if asked:
                assert await bench.answers("session/close", {}, error) == {"sessionId": "r1"}
        assert sum(message.get("method") == "session/close" for message in bench.sent) == asked
        bench.says(text("agent_message", "late"))
        await bench.settle()
        assert bench.timeline == []
        await bench.adapter.close_session(bench.session)


@pytest.mark.req("V1-58")
async def test_close_answers_open_questions_and_tells_errors() -> None:
    async with opened(CAPABLE) as bench:
        bench.asks_permission(5, "t1")
        await bench.settle()
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "session/close", None, {"code": -32603, "message": "no"})
            with pytest.raises(AgentError, match="no"):
                await bench.adapter.close_session(bench.session)
        assert (await bench.reply(5))["result"] == {"outcome": {"outcome": "cancelled"}}


@pytest.mark.req("V1-143", "V1-152", "V1-153")
async def test_options_are_set_by_the_method_of_their_source() -> None:
    select = {
        "type": "select", "id": "m", "name": "Model", "currentValue": "a",
        "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
    }  # fmt: skip
    async with opened(created={"modes": MODES, "models": MODELS}) as bench:
        adapter, session = bench.adapter, bench.session

        async def choose(option: Option, value: str | bool, method: str, result: Any) -> dict[str, Any]:
            async with anyio.create_task_group() as group:
                group.start_soon(adapter.set_option, session, option, value)
                await bench.answers(method, result)
            params: dict[str, Any] = bench.sent[-1]["params"]
            return params

        mode, model = session.options
        assert await choose(mode, "b", "session/set_mode", None) == {"sessionId": "r1", "modeId": "b"}
        assert await choose(model, "m2", "session/set_model", {}) == {"sessionId": "r1", "modelId": "m2"}
        assert [option.value for option in session.options] == ["b", "m2"]
        config = Option("m", "Model", "select", "a")
        changed = {"configOptions": [{**select, "currentValue": "b"}]}
        assert await choose(config, "b", "session/set_config_option", changed) == {
            "sessionId": "r1", "configId": "m", "value": "b",
        }  # fmt: skip
        assert [(option.id, option.value) for option in session.options] == [("m", "b")]
        flag = Option("f", "Flag", "boolean", False)
        assert await choose(flag, True, "session/set_config_option", changed) == {
            "sessionId": "r1", "configId": "f", "type": "boolean", "value": True,
        }  # fmt: skip
    async with connected() as bench:
        with pytest.raises(AgentError, match="not open"):
            await bench.adapter.set_option(bench.session, config, "b")
