"""MCP servers of the settings: their secrets."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from acp_nvim.client.launch import resolve
from acp_nvim.client.mcp import secrets_of
from acp_nvim.client.payloads import AgentConfig
from acp_nvim.client.secrets import MASK, Secrets

pytestmark = pytest.mark.anyio


def printing(text: str) -> dict[str, Any]:
    return {"cmd": [sys.executable, "-c", f"print({text!r})"]}


async def test_commands_become_values_and_what_fails_is_left_out() -> None:
    servers = [
        {"name": "a", "command": "x", "env": {"TOKEN": printing("s3cret-value"), "MODE": "quiet"}},
        {"name": "b", "url": "http://h", "headers": {"Authorization": printing("Bearer 0123456789")}},
        {
            "name": "c",
            "url": "http://h",
            "headers": {"Key": {"cmd": [sys.executable, "-c", "exit('sealed')"]}},
        },
        {"name": "d", "command": "y"},
    ]
    launch = await resolve("mine", AgentConfig(command=["agent"], mcp_servers=servers), demo=False)
    made = {server["name"]: server for server in launch.mcp_servers}
    assert sorted(made) == ["a", "b", "d"]
    assert made["a"]["env"] == {"TOKEN": "s3cret-value", "MODE": "quiet"}
    assert made["b"]["headers"] == {"Authorization": "Bearer 0123456789"}
    (problem,) = launch.mcp_problems
    assert problem.startswith("MCP server c: agents.mine.mcp_servers.c.headers.Key: ")
    assert problem.endswith("failed (1): sealed")
    assert set(launch.secrets) == {"s3cret-value", "quiet", "Bearer 0123456789", "0123456789"}
    assert servers[0]["env"]["TOKEN"] == printing("s3cret-value")  # type: ignore[index]


@pytest.mark.req("V1-217")
@pytest.mark.parametrize(
    ("server", "secret"),
    [
        ({}, set()),
        ({"env": {"A": "one"}, "headers": {"B": "two"}}, {"one", "two"}),
        ({"headers": {"B": "Token abcdef"}}, {"Token abcdef", "abcdef"}),
        ({"url": "https://u:p%40ss@host/x?api_key=k1&page=2"}, {"p%40ss", "p@ss", "k1"}),
        ({"url": "http://[broken"}, set()),
        ({"args": ["--port", "80", "--api-key", "k2", "--token=k3", "-v", "key", "k4"]}, {"k2", "k3"}),
    ],
)
async def test_what_is_secret(server: dict[str, Any], secret: set[str]) -> None:
    assert set(secrets_of(server)) == secret


def test_a_whole_json_value_is_masked() -> None:
    secrets = Secrets()
    secrets.add(["0123456789"])
    value = {"a": ["x 0123456789", 5, None, {"b": "0123456789"}], "c": True}
    assert secrets.mask_all(value) == {"a": [f"x {MASK}", 5, None, {"b": MASK}], "c": True}
