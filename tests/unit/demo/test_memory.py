"""Resuming a session in another process: only where the demo has been given a folder to remember it in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.demo.client import DemoClient, Json

Start = Callable[..., DemoClient]


def hello(client: DemoClient) -> Json:
    result: Json = client.request("initialize", {"protocolVersion": 1})["result"]
    return result


def resume(client: DemoClient, session: str, cwd: Path) -> Json:
    return client.request("session/resume", {"sessionId": session, "cwd": str(cwd), "mcpServers": []})


@pytest.mark.req("V1-52")
def test_without_a_folder_nothing_is_offered(client: DemoClient, project: Path) -> None:
    offered = hello(client)["agentCapabilities"]
    assert offered["sessionCapabilities"] == {"close": {}}
    assert offered["loadSession"] is False
    assert resume(client, "demo-1", project)["error"]["code"] == -32601


@pytest.mark.req("V1-52")
def test_a_session_goes_on_in_another_process(start: Start, project: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    first = start("--state", str(state))
    session = first.start()
    first.answer = "always"
    first.prompt(session, "run true")
    used = first.updates("usage_update")[-1]["used"]
    ids = {update["toolCallId"] for update in first.updates("tool_call")}
    assert first.close() == 0
    assert state.stat().st_mode & 0o077 == 0

    second = start("--state", str(state))
    assert hello(second)["agentCapabilities"]["sessionCapabilities"] == {"close": {}, "resume": {}}
    assert resume(second, session, project)["result"] == {}
    second.prompt(session, "run true")
    assert second.permissions == [], "what was always allowed stays so"
    assert second.said()
    assert second.updates("usage_update")[0]["used"] == used
    assert second.updates("session_info_update") == [], "it has its title"
    assert not ids & {update["toolCallId"] for update in second.updates("tool_call")}


@pytest.mark.parametrize("ident", ["demo-0123456789abcdef", "../secret", "", "demo-1", 3, None])
def test_a_session_nobody_knows(start: Start, project: Path, tmp_path: Path, ident: Any) -> None:
    (tmp_path / "secret.json").write_text("{}")
    client = start("--state", str(tmp_path / "state"))
    hello(client)
    assert resume(client, ident, project)["error"]["code"] == -32002


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"always": 3}'])
def test_a_file_that_is_damaged(start: Start, project: Path, tmp_path: Path, content: str) -> None:
    state = tmp_path / "state"
    client = start("--state", str(state))
    client.start()
    (path,) = state.iterdir()
    path.write_text(content)
    other = start("--state", str(state))
    hello(other)
    assert resume(other, path.stem, project)["error"]["code"] == -32002


def test_a_folder_that_cannot_be_written_is_no_trouble(start: Start, project: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    client = start("--state", str(tmp_path / "state"))
    assert client.prompt(client.start(), "help")["result"] == {"stopReason": "end_turn"}


def test_only_one_process_step_is_needed_to_be_resumable(start: Start, project: Path, tmp_path: Path) -> None:
    client = start("--state", str(tmp_path / "state"))
    session = client.start()
    known = json.loads((tmp_path / "state" / f"{session}.json").read_text())
    assert known == {"always": [], "titled": False, "characters": 0, "life": 1}
    assert resume(client, session, project)["error"]["code"] == -32600, "it is open here"
