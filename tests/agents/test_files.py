"""Files that opencode and gemini change, followed: open and unmodified, or not open."""

from __future__ import annotations

import re

import pytest
from tests.agents.conftest import StartChat
from tests.agents.real import FILES, Chat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

GREETING = FILES["greeting.txt"]
MINE = "my goodbye"
"""What the user has typed instead of the last line, and not saved."""

STATES = pytest.mark.parametrize("opened", ["greeting.txt", "README.md"])
"""The file itself is open, unmodified; or another one, so that follow opens it."""


def changed(word: str, text: str = GREETING) -> str:
    return text.replace("hello world", f"hello {word}")


def disk(chat: Chat) -> str:
    return (chat.workspace / "greeting.txt").read_text()


def typed(chat: Chat) -> int:
    """Let the user have unsaved edits in the code window; returns the buffer."""
    buffer = chat.buffer("greeting.txt")
    chat.screen.api.buf_set_lines(buffer, 2, 3, True, [MINE])
    return buffer


def at_change(chat: Chat) -> None:
    """The code window shows the changed line, the user is in the prompt, and nothing was said elsewhere."""
    chat.wait_place("greeting.txt", 2)
    chat.wait_home()
    assert chat.state() == "idle"
    assert chat.screen.messages().strip() == ""


def holds(chat: Chat, text: str) -> int:
    """The file is loaded with this text, saved, one undo away from the text before; returns the buffer."""
    buffer = chat.buffer("greeting.txt")
    lines = text.splitlines()
    chat.until(lambda: chat.screen.lines(buffer) == lines, f"the buffer has {lines}")
    assert not chat.modified(buffer)
    assert disk(chat) == text
    return buffer


@STATES
def test_edit(start_chat: StartChat, opened: str) -> None:
    chat = start_chat(opened)
    chat.send("edit")
    chat.question()
    assert disk(chat) == GREETING
    chat.wait_place("greeting.txt", 2)
    text = chat.finish()
    assert "Done: line 2 of `greeting.txt` now says **hello ACP**." in text
    assert re.search(r"^· think", text, re.MULTILINE)
    assert [row for row in chat.rows("edit") if re.match(r"✓ edit +greeting\.txt +\+1 -1", row)]
    assert len(chat.asked()) == 1
    at_change(chat)
    buffer = holds(chat, changed("ACP"))
    assert chat.undo(buffer) == GREETING.splitlines()


@STATES
def test_several_calls_at_once(start_chat: StartChat, opened: str) -> None:
    chat = start_chat(opened)
    chat.send("multi")
    text = chat.finish()
    assert "All done." in text
    assert len(chat.answered()) == len(chat.asked())
    assert {done["outcome"] for done in chat.answered()} == {"selected"}
    chat.wait_home()
    buffer = holds(chat, changed("many"))
    assert chat.undo(buffer) == GREETING.splitlines()
    assert chat.screen.messages().strip() == ""


@STATES
def test_reject(start_chat: StartChat, opened: str) -> None:
    chat = start_chat(opened)
    chat.send("reject")
    text = chat.finish("reject_once")
    assert [row for row in chat.rows("edit") if row.startswith("⊘") and "rejected by you" in row], text
    at_change(chat)
    holds(chat, GREETING)


def test_without_follow_a_file_is_not_opened(start_chat: StartChat) -> None:
    chat = start_chat(follow=False)
    chat.send("edit")
    chat.finish()
    chat.wait_home()
    assert disk(chat) == changed("ACP")
    assert chat.place() == ("README.md", 1)
    assert chat.screen.funcs.bufnr("greeting.txt") == -1


def test_write(chat: Chat) -> None:
    chat.send("write")
    seen = chat.question()
    assert "notes/todo.md" in seen
    assert "new file, 2 lines" in seen
    chat.finish()
    assert (chat.workspace / "notes/todo.md").read_text() == "# todo\n- one\n"
    assert [row for row in chat.rows("edit") if row.startswith("✓") and "notes/todo.md" in row]
    chat.wait_place("todo.md", 1)
    chat.wait_home()
    assert chat.screen.lines(chat.buffer("todo.md")) == ["# todo", "- one"]
    assert chat.screen.messages().strip() == ""
