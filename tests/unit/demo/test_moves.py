"""Deleting and moving files, several files at once, and a conflict made on purpose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.demo.client import DemoClient

Start = Callable[..., DemoClient]


@pytest.mark.req("V1-108")
def test_a_file_is_deleted(client: DemoClient, project: Path) -> None:
    client.prompt(client.start(), "delete greeting.txt")
    (request,) = client.permissions
    path = str(project / "greeting.txt")
    assert request["toolCall"]["kind"] == "delete"
    assert request["toolCall"]["locations"] == [{"path": path}]
    assert not (project / "greeting.txt").exists()
    assert "`greeting.txt` is gone" in client.said()


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("hello.txt", "hello.txt"),
        ("deep/er/hello.txt", "deep/er/hello.txt"),
        ("src", "src/greeting.txt"),
    ],
)
def test_a_file_is_moved(client: DemoClient, project: Path, target: str, found: str) -> None:
    text = (project / "greeting.txt").read_text()
    client.prompt(client.start(), f"move greeting.txt to {target}")
    (request,) = client.permissions
    call = request["toolCall"]
    paths = [str(project / "greeting.txt"), str(project / found)]
    assert call["kind"] == "move"
    assert [each["path"] for each in call["locations"]] == paths
    assert call["rawInput"] == {"source": paths[0], "destination": paths[1]}
    assert not (project / "greeting.txt").exists()
    assert (project / found).read_text() == text


@pytest.mark.parametrize("request_", ["delete greeting.txt", "move greeting.txt to x.txt"])
def test_not_without_a_yes(client: DemoClient, project: Path, request_: str) -> None:
    client.answer = "reject"
    client.prompt(client.start(), request_)
    assert (project / "greeting.txt").exists()
    assert "stays where it is" in client.said()


def test_a_target_that_appears_meanwhile_is_kept(client: DemoClient, project: Path) -> None:
    client.answer = None

    def meddle(message: dict[str, Any]) -> None:
        if message.get("method") == "session/request_permission":
            (project / "x.txt").write_text("mine\n")
            client.choose(message["id"], "allow")

    client.on_message = meddle
    client.prompt(client.start(), "move greeting.txt to x.txt")
    assert (project / "x.txt").read_text() == "mine\n"
    assert (project / "greeting.txt").exists()
    assert client.updates("tool_call_update")[-1]["status"] == "failed"


def test_several_files_with_one_question(client: DemoClient, project: Path) -> None:
    client.prompt(client.start(), "replace world by ACP in all files at once")
    (request,) = client.permissions
    call = request["toolCall"]
    paths = [str(project / "greeting.txt"), str(project / "src/main.py")]
    assert [(each["type"], each["path"]) for each in call["content"]] == [("diff", path) for path in paths]
    assert call["locations"] == [{"path": paths[0], "line": 2}, {"path": paths[1], "line": 1}]
    assert call["title"] == "Edit 2 files"
    assert (project / "greeting.txt").read_text() == "# greetings\nhello ACP\ngoodbye ACP\n"
    assert (project / "src/main.py").read_text() == 'print("hello ACP")\n'


def test_a_conflict_is_left_to_the_editor(start: Start) -> None:
    client = start(files={"greeting.txt": "hello\r\n"})
    session = client.start()
    edits: list[str] = []

    def meddle(message: dict[str, Any]) -> None:
        update = message.get("params", {}).get("update", {})
        if update.get("sessionUpdate") == "agent_message_chunk" and client.said().endswith("lost."):
            edits.append("mine\r\n")

    client.on_message = meddle
    client.prompt(session, "demo conflict in greeting.txt 0.2")
    requests = [message["method"] for message in client.received if "id" in message and "method" in message]
    assert requests == ["fs/read_text_file", "session/request_permission", "fs/write_text_file"]
    assert edits, "there was time for the user"
    assert client.files == {"greeting.txt": "hello\r\nA line of the demo agent.\r\n"}
    assert "a careless agent" in client.said()
    assert "`greeting.txt` is written" in client.said()


def test_without_a_name_a_text_is_chosen(start: Start, project: Path) -> None:
    (project / "README.md").write_text("# Readme")
    client = start(files={"README.md": "# Readme"})
    client.prompt(client.start(), "demo conflict 0")
    assert client.files == {"README.md": "# Readme\nA line of the demo agent.\n"}


def test_silence_is_silent_and_can_be_cancelled(client: DemoClient) -> None:
    session = client.start()
    blocks = [{"type": "text", "text": "demo silence 600"}]
    turn = client.begin("session/prompt", {"sessionId": session, "prompt": blocks})
    client.until(lambda m: m.get("params", {}).get("update", {}).get("sessionUpdate") == "tool_call")
    client.send(method="session/cancel", params={"sessionId": session})
    assert client.wait(turn)["result"] == {"stopReason": "cancelled"}
