"""Files that opencode and gemini change while the user has unsaved edits in them."""

from __future__ import annotations

import pytest
from tests.agents.conftest import StartChat
from tests.agents.real import FILES, UNSAVED, Chat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

SAVED = FILES["greeting.txt"]
MINE = ["# greetings", "hello world", "my goodbye"]
"""What the user has made of it, and not saved."""


def disk(chat: Chat) -> str:
    return (chat.workspace / "greeting.txt").read_text()


def edit(chat: Chat) -> int:
    """Let the user have unsaved edits in the code window; returns the buffer."""
    buffer = chat.buffer("greeting.txt")
    chat.screen.api.buf_set_lines(buffer, 2, 3, True, MINE[2:])
    return buffer


def kept(chat: Chat, buffer: int, text: str) -> None:
    """The user's edits are as they were, the disk has the agent's text, and the user knows."""
    chat.wait_home()
    assert disk(chat) == text
    assert chat.screen.lines(buffer) == MINE
    assert chat.modified(buffer)
    if text != SAVED:
        chat.until(lambda: "changed on disk under your unsaved edits" in chat.text(), "the chat says so")
        assert ":w! keeps yours" in chat.screen.text()


def merged(chat: Chat, buffer: int, word: str) -> None:
    """The agent's change and the user's are in the buffer and on disk, one undo away from the user's."""
    chat.wait_home()
    lines = [MINE[0], f"hello {word}", MINE[2]]
    assert chat.screen.lines(buffer) == lines
    assert disk(chat).splitlines() == lines
    assert not chat.modified(buffer)
    assert chat.undo(buffer) == MINE


def test_typed_while_the_agent_asks(start_chat: StartChat) -> None:
    chat = start_chat("greeting.txt")
    chat.send("edit")
    chat.question()
    buffer = edit(chat)
    chat.finish(ours="reject_once")
    if chat.name == "gemini":
        merged(chat, buffer, "ACP")  # it reads again after the answer
    else:
        kept(chat, buffer, SAVED.replace("hello world", "hello ACP"))


@pytest.mark.parametrize("answer", ["allow_once", "reject_once"])
def test_our_question(start_chat: StartChat, answer: str) -> None:
    """opencode writes the disk by itself, and tells us: the question is whether the buffer goes along."""
    chat = start_chat("greeting.txt")
    buffer = edit(chat)
    chat.send("editslow")
    chat.answer("allow_once")
    theirs = SAVED.replace("hello world", "hello ACP")
    if chat.name == "gemini":
        chat.finish()
        merged(chat, buffer, "ACP")
        return
    seen = chat.question()
    assert UNSAVED in seen
    assert "now  greeting.txt" in seen
    assert chat.screen.lines(buffer) == MINE
    chat.answer(answer)
    chat.finish()
    if answer == "reject_once":
        kept(chat, buffer, theirs)
        return
    chat.wait_home()
    assert chat.screen.lines(buffer) == theirs.splitlines()
    assert disk(chat) == theirs
    assert not chat.modified(buffer)
    assert chat.undo(buffer) == MINE
