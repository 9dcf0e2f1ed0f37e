"""MCP servers of the settings: checked, passed on, and their secrets never shown (V1-63, V1-64, C41)."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END
from tests.nvim.trouble import open_chat, ready_chat
from tests.plugin import StartNvim, StartScreen, eventually

CHECK = """
local problems = {}
local found = require('acp.mcp').check(..., 'mcp_servers', problems)
return { found or {}, problems }
"""


def test_every_form_becomes_one(start_nvim: StartNvim) -> None:
    nvim = start_nvim()
    secret = {"cmd": ["pass", "x"]}
    by_name: dict[str, Json] = {
        "b": {"command": ["npx", "-y"], "args": ["server"], "env": [{"name": "K", "value": "v"}]},
        "a": {"command": "server", "env": {"K": secret}},
        "c": {"url": "https://h/mcp", "headers": {"Key": "v"}},
        "d": {"type": "sse", "url": "http://h/sse"},
    }
    made: list[Json] = [
        {"name": "a", "type": "stdio", "command": "server", "args": [], "env": {"K": secret}},
        {"name": "b", "type": "stdio", "command": "npx", "args": ["-y", "server"], "env": {"K": "v"}},
        {"name": "c", "type": "http", "url": "https://h/mcp", "headers": {"Key": "v"}},
        {"name": "d", "type": "sse", "url": "http://h/sse", "headers": []},
    ]
    assert nvim.lua(CHECK, by_name) == [made, []]
    listed = [{"name": name, **by_name[name]} for name in sorted(by_name)]
    assert nvim.lua(CHECK, listed) == [made, []]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "needs a command, as 'npx', or a url"),
        ("npx", "must be a table, as { command = 'npx', args = { '-y', 'server' } }"),
        ({"command": "x", "url": "http://h"}, "has a command and a url; it needs one of them"),
        ({"command": 5}, ".command must be a program, as 'npx', or a list with its arguments"),
        ({"command": []}, ".command must be a program, as 'npx', or a list with its arguments"),
        ({"command": "x", "args": "y"}, ".args must be a list of strings, as { 'a', 'b' }"),
        ({"command": "x", "env": "y"}, ".env must be a table, as { NAME = 'value' }"),
        ({"command": "x", "env": ["A=b"]}, ".env must be a table, as { NAME = 'value' }"),
        ({"command": "x", "env": {"A": 5}}, ".env.A must be a string or { cmd = { 'program', 'argument' } }"),
        ({"command": "x", "type": "http"}, ".type must be 'stdio', as it has a command"),
        ({"url": "http://h", "type": "stdio"}, ".type must be 'http' or 'sse', as it has a url"),
        ({"url": "http://h", "type": "ws"}, ".type must be 'stdio', 'http', 'sse'"),
        ({"url": "h:80"}, ".url must be a string that begins with 'http://' or 'https://'"),
        ({"url": "http://h", "args": ["x"]}, ".args means nothing for a server with a url"),
        (
            {"command": "x", "cmd": "y"},
            ".cmd is no setting: known are name, type, command, args, env, url, headers",
        ),
    ],
)
def test_what_is_wrong_is_named(start_nvim: StartNvim, entry: Any, said: str) -> None:
    nvim = start_nvim()
    _, problems = nvim.lua(CHECK, {"s": entry, "good": {"command": "x"}})
    blank = "" if said.startswith(".") else " "
    assert problems == [f"mcp_servers.s{blank}{said}"]


@pytest.mark.parametrize(
    ("servers", "names", "said"),
    [
        ([{"command": "x"}], [], ["mcp_servers.1 needs a name"]),
        (
            [{"name": "a", "command": "x"}, {"name": "a", "command": "y"}],
            ["a"],
            ["mcp_servers.2: there is another server 'a'"],
        ),
        ("npx", [], ["mcp_servers must be a table, as { name = { command = 'npx' } }"]),
    ],
)
def test_names(start_nvim: StartNvim, servers: Any, names: list[str], said: list[str]) -> None:
    found, problems = start_nvim().lua(CHECK, servers)
    assert ([server["name"] for server in found], problems) == (names, said)


HELLO: Json = {"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True}}}
SERVERS: Json = {
    "local": {
        "command": "sh",
        "args": ["-c", "true", "--token", "in-the-args-1"],
        "env": {"PW": "in-env-12345"},
    },
    "web": {
        "url": "http://127.0.0.1/mcp?api_key=in-the-url-1",
        "headers": {
            "Authorization": {"cmd": [sys.executable, "-c", "print('Bearer in-header-1234')"]},
        },
    },
}
SECRETS = ["in-the-args-1", "in-env-12345", "in-the-url-1", "in-header-1234"]


@pytest.mark.req("V1-63", "V1-64", "V1-217")
def test_they_are_passed_on_and_their_secrets_never_shown(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    leak = " ".join(SECRETS)
    error = {"code": -32603, "message": f"mcp: {leak}", "data": {"details": [leak, f"more {leak}"]}}
    x = agent(
        {
            "initialize": [{"reply": HELLO}],
            "session/new": [{"stderr": f"connecting with {leak}\n"}, {"reply": {"sessionId": "s1"}}],
            "session/prompt": [[{"error": error}], [{"exit": 3}]],
            "session/set_mode": [{"error": error}],
        }
    )
    chat = ready_chat(start_screen, {**x.settings, "mcp_servers": SERVERS}, size=(160, 50))
    local, web = x.log("session/new")[0]["params"]["mcpServers"]
    assert local["command"].startswith("/")
    assert local["args"] == ["-c", "true", "--token", "in-the-args-1"]
    assert local["env"] == [{"name": "PW", "value": "in-env-12345"}]
    assert web == {
        "type": "http",
        "name": "web",
        "url": "http://127.0.0.1/mcp?api_key=in-the-url-1",
        "headers": [{"name": "Authorization", "value": "Bearer in-header-1234"}],
    }
    chat.submit("go")
    chat.until("✗ error: mcp: •••")
    chat.submit("go")
    chat.until("✗ connection lost: x ended with exit code 3", "connecting with •••")
    seen = [chat.text, chat.screen.messages()]
    chat.screen.command("AcpTrace x")
    eventually(lambda: "session/new" in "\n".join(chat.screen.lines()))
    seen.append("\n".join(chat.screen.lines()))
    row = next(n for n, line in enumerate(chat.screen.lines(), 1) if "→ session/new" in line)
    chat.screen.keys(f"{row}G<CR>")
    chat.screen.wait('"mcpServers"')
    seen.append("\n".join(chat.screen.lines()))
    assert '"url": "http://127.0.0.1/mcp?api_key=•••"' in seen[-1]
    chat.screen.command("checkhealth acp")
    seen.append("\n".join(chat.screen.lines()))
    for text in seen:
        for secret in SECRETS:
            assert secret not in text


@pytest.mark.req("V1-64")
def test_what_cannot_be_passed_on_is_said_in_one_note(start_screen: StartScreen, agent: MakeAgent) -> None:
    servers = {
        "gone": {"command": "no-such-server-here"},
        "old": {"type": "sse", "url": "http://127.0.0.1/sse"},
        "vault": {"command": "sh", "env": {"K": {"cmd": [sys.executable, "-c", "exit('sealed')"]}}},
        "good": {"command": "sh"},
    }
    x = agent({"initialize": [{"reply": HELLO}], "session/prompt": [END]})
    chat = open_chat(start_screen, {**x.settings, "mcp_servers": servers}, size=(160, 50))
    chat.until("── x does not get all that the settings name:")
    lines = [line for line in chat.text.split("\n") if line.startswith("  │")]
    assert [line.split(":")[0] for line in lines] == [
        f"  │ MCP server {name}" for name in ("vault", "gone", "old")
    ]
    assert "agents.x.mcp_servers.vault.env.K: " in lines[0] and "sealed" in lines[0]
    assert lines[1].endswith("cannot run `no-such-server-here`: no 'no-such-server-here' in $PATH")
    assert lines[2].endswith("the agent takes no sse servers")
    (server,) = x.log("session/new")[0]["params"]["mcpServers"]
    assert server["name"] == "good"
    chat.works("hello")
