"""Resuming a session in another process: only where the demo has been given a folder to remember it in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.demo.client import DemoClient, Json

from acp_nvim.demo import history

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
    assert hello(second)["agentCapabilities"]["sessionCapabilities"] == {
        "close": {}, "resume": {}, "list": {}, "delete": {}, "fork": {},
    }  # fmt: skip
    assert resume(second, session, project)["result"].keys() == {"modes", "configOptions"}
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
    assert known == {
        "always": [], "titled": False, "title": "", "updated": "", "characters": 0, "life": 1,
        "cwd": str(project), "history": [], "settings": {"mode": "ask", "thoughts": True, "pace": "normal"},
    }  # fmt: skip
    assert resume(client, session, project)["error"]["code"] == -32600, "it is open here"


def entries(client: DemoClient, **params: Any) -> Json:
    result: Json = client.request("session/list", params)["result"]
    return result


@pytest.mark.req("V1-50", "V1-53", "V1-54", "V1-57")
def test_sessions_are_listed_loaded_and_deleted(start: Start, project: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    first = start("--state", str(state))
    hello(first)
    assert entries(first) == {"sessions": []}
    session = first.start()
    assert entries(first) == {"sessions": []}, "nothing was said in it"
    first.prompt(session, "help")
    (entry,) = entries(first, cwd=str(project))["sessions"]
    assert (entry["sessionId"], entry["cwd"], entry["title"]) == (session, str(project), "help")
    assert entries(first, cwd="/elsewhere") == {"sessions": []}
    said = first.said()
    assert first.close() == 0

    second = start("--state", str(state))
    hello(second)
    params = {"sessionId": session, "cwd": str(project), "mcpServers": []}
    assert "error" not in second.request("session/load", params)
    assert second.said() == said
    assert [update["content"]["text"] for update in second.updates("user_message_chunk")] == ["help"]
    second.prompt(session, "help")
    assert second.request("session/delete", {"sessionId": session})["result"] == {}
    assert second.request("session/delete", {"sessionId": "demo-unknown"})["result"] == {}
    assert entries(second) == {"sessions": []}
    assert list(state.iterdir()) == []


def test_pages(start: Start, project: Path, tmp_path: Path) -> None:
    client = start("--state", str(tmp_path / "state"))
    hello(client)
    wanted = []
    for _ in range(21):
        wanted.append(client.start())
        client.prompt(wanted[-1], "help")
    page = entries(client)
    assert len(page["sessions"]) == 20
    rest = entries(client, cursor=page["nextCursor"])
    assert "nextCursor" not in rest
    assert {each["sessionId"] for each in (*page["sessions"], *rest["sessions"])} == set(wanted)


def test_the_history_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST", 500)
    kept = history.History()
    for number in range(50):
        block = {"type": "text", "text": f"words {number} "}
        kept.add({"sessionUpdate": "agent_message_chunk", "messageId": f"m{number // 2}", "content": block})
        kept.add({"sessionUpdate": "usage_update", "used": number})
    assert len(json.dumps(kept.updates)) < 600
    assert kept.updates[-1]["content"]["text"] == "words 48 words 49 "
