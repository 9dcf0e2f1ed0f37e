"""Requests played against the demo agent as a process: what the user sees, what happens to the files."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.demo.client import PATIENCE, DemoClient

Start = Callable[..., DemoClient]

EDIT = ["think", "read in_progress", "completed", "edit pending", "ask", "in_progress", "completed", "say"]

STORIES: dict[str, list[str]] = {
    "help": ["say"],
    "what is love?": ["say"],
    "list files": ["search in_progress", "completed", "say"],
    "show greeting.txt": ["read in_progress", "completed", "say"],
    "show main.py": ["read in_progress", "completed", "say"],
    "show picture.bin": ["read in_progress", "failed", "say"],
    "search world": ["search in_progress", "completed", "say"],
    "replace hello by bye in greeting.txt": EDIT,
    "replace absent by bye in greeting.txt": ["think", "read in_progress", "completed", "say"],
    "replace world by ACP in all files": ["think", "say", *EDIT, *EDIT],
    "replace world by ACP in all files at once": [
        *("think", "read in_progress", "completed", "read in_progress", "completed"),
        *("edit pending", "ask", "in_progress", "completed", "say"),
    ],
    "delete greeting.txt": ["delete pending", "ask", "in_progress", "completed", "say"],
    "move greeting.txt to src": ["move pending", "ask", "in_progress", "completed", "say"],
    "demo silence 0.2": ["other in_progress", "completed", "say"],
    "demo output 3": ["execute pending", "ask", "in_progress", "output", "completed", "say"],
    "create new.txt with hello": ["edit pending", "ask", "in_progress", "completed", "say"],
    "run echo hi": ["execute pending", "ask", "in_progress", "output", "completed", "say"],
    "run exit 3": ["execute pending", "ask", "in_progress", "failed", "say"],
    "plan: list files, then show nothing.txt": [
        *("think", "plan", "search in_progress", "completed", "say", "plan", "say", "plan", "say"),
    ],
}


@pytest.mark.parametrize("text", STORIES)
def test_a_request_is_told_step_by_step(client: DemoClient, text: str) -> None:
    session = client.start()
    assert client.prompt(session, text)["result"] == {"stopReason": "end_turn"}
    story = client.story()
    introduction = ["available_commands_update", "usage_update", "session_info_update"]
    assert story[:3] == introduction
    assert story[3:] == [*STORIES[text], "usage_update"]


SAID: dict[str, str] = {
    "help": "no language model",
    "explain quantum physics": "I did not understand “explain quantum physics”",
    "list files": "- `src/main.py`",
    "show greeting.txt:2": "```txt\nhello world\n```",
    "show greeting.txt:9": "has only 3 lines",
    "show src": "- `src/main.py`",
    "show greetings.txt": "Did you mean `greeting.txt`?",
    "show ../secret.txt": "outside",
    "show picture.bin": "not a text file",
    "search WORLD": "Nothing here contains `WORLD`",
    "search world": "| greeting.txt | 2 | `hello world` |",
    "replace x by y": "In which file?",
    "replace '' by y in greeting.txt": "empty text",
    "replace x by y in src": "is a folder",
    "create greeting.txt with x": "exists already",
    "delete nothing.txt": "There is no file `nothing.txt`",
    "delete src": "is a folder",
    "delete ../secret.txt": "outside",
    "move greeting.txt to notes.md": "`notes.md` exists already",
    "move src to lib": "is a folder",
    "move greeting.txt to ../x": "outside",
    "demo conflict": "needs an editor that writes for me",
    "demo output 3": "It wrote 3 lines.",
    "run kill -9 $$": "was ended by SIGKILL",
    "run exit 7": "ended with exit code 7",
    "make a plan": "I make one of my own",
}


@pytest.mark.parametrize("text", SAID)
def test_what_is_said(client: DemoClient, text: str) -> None:
    client.prompt(client.start(), text)
    assert SAID[text] in client.said()


def test_ignored_and_binary_files_are_left_alone(client: DemoClient, project: Path) -> None:
    client.prompt(client.start(), "replace world by ACP in all files")
    assert (project / "greeting.txt").read_text() == "# greetings\nhello ACP\ngoodbye ACP\n"
    assert (project / "src/main.py").read_text() == 'print("hello ACP")\n'
    assert (project / "node_modules/left/index.js").read_text() == "world\n"
    assert (project / "picture.bin").read_bytes() == b"\x89PNG\0world"


def test_git_decides_what_is_ignored(client: DemoClient, project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / ".gitignore").write_text("src/\n")
    client.prompt(client.start(), "list files")
    assert "greeting.txt" in client.said()
    assert "main.py" not in client.said()


def test_line_ends_survive(client: DemoClient, project: Path) -> None:
    client.prompt(client.start(), "replace two by 2 in crlf.txt")
    assert (project / "crlf.txt").read_bytes() == b"one\r\n2"


@pytest.mark.req("V1-117")
def test_the_question_shows_the_whole_file_before_and_after(client: DemoClient, project: Path) -> None:
    client.prompt(client.start(), "replace hello by bye in greeting.txt")
    (request,) = client.permissions
    call, path = request["toolCall"], str(project / "greeting.txt")
    old, new = "# greetings\nhello world\ngoodbye world\n", "# greetings\nbye world\ngoodbye world\n"
    assert call["content"] == [{"type": "diff", "path": path, "oldText": old, "newText": new}]
    assert call["locations"] == [{"path": path, "line": 2}]
    assert [option["kind"] for option in request["options"]] == ["allow_once", "allow_always", "reject_once"]


@pytest.mark.parametrize("answer", ["reject", "cancelled", "nonsense"])
def test_a_refusal_is_taken_kindly(client: DemoClient, project: Path, answer: str) -> None:
    session = client.start()
    client.answer = answer
    response = client.prompt(session, "replace hello by bye in greeting.txt")
    assert response["result"] == {"stopReason": "end_turn"}
    assert "hello" in (project / "greeting.txt").read_text()
    assert "stays as it is" in client.said()
    assert client.updates("tool_call_update")[-1]["status"] == "failed"
    response = client.prompt(session, "run touch made.txt")
    assert "I do not run it" in client.said()
    assert not (project / "made.txt").exists()


def test_always_asks_once(client: DemoClient, project: Path) -> None:
    session = client.start()
    client.answer = "always"
    client.prompt(session, "replace world by ACP in all files")
    client.prompt(session, "replace ACP by world in greeting.txt")
    assert len(client.permissions) == 1
    client.prompt(session, "run true")
    client.prompt(session, "run true")
    assert len(client.permissions) == 2
    client.prompt(session, "run echo")
    assert len(client.permissions) == 3


def test_a_file_changed_meanwhile_is_not_overwritten(client: DemoClient, project: Path) -> None:
    session = client.start()
    client.answer = None

    def meddle(message: dict[str, Any]) -> None:
        if message.get("method") == "session/request_permission":
            (project / "greeting.txt").write_text("mine\n")
            client.choose(message["id"], "allow")

    client.on_message = meddle
    client.prompt(session, "replace hello by bye in greeting.txt")
    assert (project / "greeting.txt").read_text() == "mine\n"
    assert "changed while I asked" in client.said()


def test_files_go_through_the_editor_when_it_offers_that(start: Start, project: Path) -> None:
    client = start(files={"greeting.txt": "unsaved hello\n"})
    session = client.start()
    client.prompt(session, "replace hello by bye in greeting.txt")
    assert client.files == {"greeting.txt": "unsaved bye\n"}
    assert "hello world" in (project / "greeting.txt").read_text()
    client.prompt(session, "show notes.md")
    assert "The editor did not give me `notes.md`: no notes.md" in client.said()


def test_an_attached_file_is_the_one_meant(client: DemoClient, project: Path) -> None:
    uri = (project / "greeting.txt").as_uri()
    attached = {"type": "resource", "resource": {"uri": uri, "text": "hello world\n"}}
    session = client.start()
    client.prompt(session, "replace hello by bye", attached)
    assert "bye world" in (project / "greeting.txt").read_text()
    client.prompt(session, "explain this", {"type": "resource_link", "uri": uri, "name": "greeting.txt"})
    assert "I see what you attached (`greeting.txt`)" in client.said()


def test_it_says_what_it_was_sent(client: DemoClient, project: Path) -> None:
    uri = (project / "greeting.txt").as_uri()
    client.prompt(
        client.start(),
        "What did you get? @x",
        {"type": "text", "text": "git diff HEAD\n```\nshow notes.md\n```\n"},
        {"type": "resource", "resource": {"uri": uri, "text": "hello world\n"}},
        {"type": "resource_link", "uri": uri, "name": "greeting.txt"},
        {"type": "image", "mimeType": "image/png", "data": "aGk="},
    )
    assert [line for line in client.said().splitlines() if line.startswith("- ")] == [
        "- text, 20 characters",
        "- text, 36 characters",
        f"- resource, 12 characters: `{uri}`",
        f"- resource link: `{uri}`",
        "- image, image/png, 2 bytes",
    ]


def test_the_tour_shows_everything(client: DemoClient, project: Path) -> None:
    client.prompt(client.start(), "show me everything")
    assert (project / "notes.md").read_text() == "# Notes\n\nThis is the first line.\n"
    kinds = {update["kind"] for update in client.updates("tool_call")}
    assert kinds == {"search", "read", "edit", "execute"}
    assert len(client.permissions) == 2
    assert {entry["status"] for entry in client.updates("plan")[-1]["entries"]} == {"completed"}
    assert "| plan | 5 steps |" in client.said()
    assert "```python" in client.said()
    assert client.updates("agent_thought_chunk")


def test_the_tour_finds_something_to_do_anywhere(client: DemoClient, project: Path) -> None:
    (project / "notes.md").unlink()
    (project / "demo-note-1.md").write_text("mine\n")
    client.prompt(client.start(), "/tour")
    assert (project / "demo-note-1.md").read_text() == "mine\n"
    assert "demo agent" in (project / "demo-note-2.md").read_text()


@pytest.mark.req("V1-83")
def test_cancel_ends_a_command_and_all_it_started(client: DemoClient, project: Path) -> None:
    session = client.start()
    blocks = [{"type": "text", "text": "run sleep 300 & echo $$ $!; wait"}]
    turn = client.begin("session/prompt", {"sessionId": session, "prompt": blocks})
    update = client.until(lambda m: _output(m) != "")
    pids = [int(word) for word in _output(update).split()]
    client.send(method="session/cancel", params={"sessionId": session})
    assert client.wait(turn)["result"] == {"stopReason": "cancelled"}
    _gone(pids)
    assert client.prompt(session, "help")["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize("order", ["answer, cancel", "cancel, answer"])
def test_cancel_while_a_question_is_open(client: DemoClient, project: Path, order: str) -> None:
    session = client.start()
    client.answer = None

    def refuse(message: dict[str, Any]) -> None:
        if message.get("method") == "session/request_permission":
            for step in order.split(", "):
                if step == "answer":
                    client.choose(message["id"], "cancelled")
                else:
                    client.send(method="session/cancel", params={"sessionId": session})

    client.on_message = refuse
    response = client.prompt(session, "replace hello by bye in greeting.txt")
    assert response["result"] == {"stopReason": "cancelled"}
    assert "hello" in (project / "greeting.txt").read_text()
    assert client.said() == ""


@pytest.mark.parametrize("how", ["end of input", "SIGTERM"])
def test_the_agent_takes_its_commands_with_it(start: Start, how: str) -> None:
    client = start()
    session = client.start()
    blocks = [{"type": "text", "text": "run trap '' TERM; echo $$; sleep 300 & echo $!; wait; wait"}]
    client.begin("session/prompt", {"sessionId": session, "prompt": blocks})
    update = client.until(lambda m: _output(m).count("\n") == 2)
    pids = [int(word) for word in _output(update).split()]
    if how == "SIGTERM":
        client.process.send_signal(signal.SIGTERM)
        assert client.process.wait(PATIENCE) == 0
    else:
        assert client.close() == 0
    _gone(pids)


def test_sessions_do_not_mix(client: DemoClient, project: Path) -> None:
    first = client.start()
    second = client.request("session/new", {"cwd": str(project / "src"), "mcpServers": []})["result"][
        "sessionId"
    ]
    blocks = [{"type": "text", "text": "run sleep 300"}]
    turn = client.begin("session/prompt", {"sessionId": first, "prompt": blocks})
    client.until(lambda m: m.get("params", {}).get("update", {}).get("status") == "in_progress")
    assert client.prompt(second, "list files")["result"] == {"stopReason": "end_turn"}
    assert "- `main.py`" in client.said()
    assert client.prompt(first, "help")["error"]["code"] == -32600
    assert client.request("session/close", {"sessionId": first})["result"] == {}
    assert client.wait(turn)["result"] == {"stopReason": "cancelled"}
    assert client.prompt(first, "help")["error"]["code"] == -32002


def test_usage_and_title_are_honest(client: DemoClient) -> None:
    session = client.start()
    client.prompt(session, "help")
    (title,) = client.updates("session_info_update")
    assert title["title"] == "help"
    used = client.updates("usage_update")[-1]
    assert used == {"sessionUpdate": "usage_update", "used": (4 + len(client.said())) // 4, "size": 8192}
    client.prompt(session, "x" * 50_000)
    assert client.updates("usage_update")[-1]["used"] == 8192


def _output(message: dict[str, Any]) -> str:
    """The text that a message adds to a tool call; empty for other messages."""
    update = message.get("params", {}).get("update", {})
    if update.get("sessionUpdate") != "tool_call_update" or not update.get("content"):
        return ""
    return str(update["content"][0]["content"]["text"])


def _gone(pids: list[int]) -> None:
    """All these processes end soon (a zombie has ended)."""
    deadline = time.monotonic() + PATIENCE
    assert pids
    while alive := [pid for pid in pids if _alive(pid)]:
        assert time.monotonic() < deadline, f"left alive: {alive}"
        time.sleep(0.01)


def _alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return (
        state.stdout.strip() not in ("",) and not state.stdout.strip().startswith("Z") and os.getpgid(pid) > 0
    )
