"""The log-in of the demo, and forks: what goes from one process or session to another."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.demo.client import PACKAGES, PATIENCE, DemoClient

Start = Callable[..., DemoClient]
TERMINAL = {"auth": {"terminal": True}}


def sign_in(state: Path, typed: bytes) -> tuple[int, str]:
    """Play the terminal method as an editor would: exit status and what was shown."""
    ours, its = pty.openpty()
    argv = [sys.executable, "-m", "acp_nvim.demo", "--state", str(state), "--sign-in"]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGES), "LANG": "C.UTF-8"}
    process = subprocess.Popen(argv, stdin=its, stdout=its, stderr=its, env=env)
    os.write(ours, typed)
    status = process.wait(PATIENCE)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(its)
    return status, shown


def test_without_the_flag_there_is_nothing_to_log_in_to(client: DemoClient) -> None:
    said = client.hello()
    assert said["authMethods"] == []
    assert said["agentCapabilities"]["auth"] == {}
    assert client.request("authenticate", {"methodId": "guest"})["error"]["code"] == -32602
    assert client.request("logout", {})["error"]["code"] == -32601


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_a_guest(start: Start, how: str) -> None:
    client = start("--login") if how == "flag" else start(env={"ACP_DEMO_LOGIN": "1"})
    said = client.hello()
    assert [method["id"] for method in said["authMethods"]] == ["guest"]
    assert client.new()["error"]["code"] == -32000
    assert client.request("authenticate", {"methodId": "terminal"})["error"]["code"] == -32602
    assert client.request("authenticate", {"methodId": "guest"})["result"] == {}
    session = client.new()["result"]["sessionId"]
    assert client.request("logout", {})["result"] == {}
    assert client.prompt(session, "help")["error"]["code"] == -32000
    client.request("authenticate", {"methodId": "guest"})
    assert client.prompt(session, "help")["result"] == {"stopReason": "end_turn"}


def test_in_a_terminal(start: Start, tmp_path: Path) -> None:
    state = tmp_path / "state"
    client = start("--login", "--state", str(state), offers=TERMINAL)
    guest, terminal = client.hello()["authMethods"]
    assert (guest["id"], terminal["type"], terminal["args"]) == ("guest", "terminal", ["--sign-in"])
    assert client.request("session/list", {})["error"]["code"] == -32000
    assert sign_in(state, b"\n")[0] == 1
    assert sign_in(state, b"\x04")[0] == 1
    assert client.new()["error"]["code"] == -32000
    status, shown = sign_in(state, b"Ada\n")
    assert status == 0
    assert "Welcome, Ada." in shown
    other = start("--login", "--state", str(state), offers=TERMINAL)
    other.hello()
    assert "result" in other.new()
    assert other.request("session/list", {})["result"] == {"sessions": []}
    other.request("logout", {})
    assert other.new()["error"]["code"] == -32000


@pytest.mark.parametrize(
    ("offers", "arguments", "wanted"),
    [(TERMINAL, [], ["guest"]), ({}, ["--state"], ["guest"]), (TERMINAL, ["--state"], ["guest", "terminal"])],
)
def test_the_terminal_only_where_it_works(
    start: Start, tmp_path: Path, offers: dict[str, object], arguments: list[str], wanted: list[str]
) -> None:
    folder = [str(tmp_path / "state")] if arguments else []
    client = start("--login", *arguments, *folder, offers=offers)
    assert [method["id"] for method in client.hello()["authMethods"]] == wanted


def test_a_fork_goes_its_own_way(start: Start, project: Path, tmp_path: Path) -> None:
    client = start("--state", str(tmp_path / "state"))
    session = client.start()
    client.prompt(session, "list files")
    params = {"sessionId": session, "cwd": str(project), "mcpServers": []}
    forked = client.request("session/fork", params)["result"]
    assert forked["sessionId"] != session
    assert "configOptions" in forked
    client.prompt(forked["sessionId"], "search world")
    client.prompt(session, "help")
    titles = {entry["title"] for entry in client.request("session/list", {})["result"]["sessions"]}
    assert titles == {"list files", "list files (fork)"}
    params["sessionId"] = forked["sessionId"]
    client.request("session/close", {"sessionId": forked["sessionId"]})
    before = len(client.received)
    assert "result" in client.request("session/load", params)
    replayed = [
        m["params"]["update"] for m in client.received[before:] if m.get("method") == "session/update"
    ]
    asked = [u["content"]["text"] for u in replayed if u["sessionUpdate"] == "user_message_chunk"]
    assert asked == ["list files", "search world"]
    calls = [u["toolCallId"] for u in replayed if u["sessionUpdate"] == "tool_call"]
    assert len(set(calls)) == len(calls) == 2
    assert client.request("session/fork", {**params, "sessionId": "demo-x"})["error"]["code"] == -32002
