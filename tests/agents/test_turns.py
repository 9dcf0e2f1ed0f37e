"""Turns of opencode and gemini in which no file changes: text, errors, a plan, cancelling."""

from __future__ import annotations

import re

import pytest
from tests.agents.real import FILES, Chat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

END = re.compile(r"^── .*$", re.MULTILINE)


def at_rest(chat: Chat) -> None:
    """Nothing was said outside the chat, the code window is where it was, and the user is in the prompt."""
    chat.wait_home()
    assert chat.state() == "idle"
    assert chat.place() == ("README.md", 1)
    assert chat.screen.messages().strip() == ""


def test_long(chat: Chat) -> None:
    chat.send("long")
    text = chat.finish()
    # Without blanks: one line of the answer is longer than a line of the transcript may be.
    wanted = "".join(f"word{number}" for number in range(1, 2001))
    assert wanted in "".join(text.split())
    assert END.search(text)
    chat.screen.command("AcpChat")
    chat.screen.keys("<Esc>i", "still typing")
    chat.screen.wait("still typing")
    at_rest(chat)


def test_error(chat: Chat) -> None:
    chat.send("error")
    text = chat.finish()
    assert re.search(r"^✗ error: .*$", text, re.MULTILINE), text
    at_rest(chat)
    chat.send("markdown")
    assert "naïve" in chat.finish()


def test_markdown(chat: Chat) -> None:
    chat.send("markdown")
    lines = chat.finish().split("\n")
    answer = [
        *("# Title", "", "Some *emphasis* and `code`.", ""),
        *("```python", "def f():", "    return 1", "```", ""),
        *("| a | b |", "|---|---|", "| 1 | 2 |", ""),
        *("- naïve 日本語 🎉", "- https://example.org/ [link](file:///etc/hostname)"),
    ]
    start = lines.index("# Title")
    assert lines[start : start + len(answer)] == answer
    row, col = chat.screen.find("# Title")
    assert chat.screen.attr_at(row, col + 2), "a heading has its colour"
    at_rest(chat)


def test_plan(chat: Chat) -> None:
    chat.send("plan")
    text = chat.finish()
    assert "The plan is under way." in text
    assert re.search("todo", text, re.IGNORECASE), text
    at_rest(chat)


def test_cancel(chat: Chat) -> None:
    chat.send("cancel")
    chat.until(lambda: "slow10 " in chat.text(), "some text has come")
    chat.screen.command("AcpCancel")
    text = chat.finish()
    assert "── cancelled by you" in text
    assert "slow600 " not in text
    at_rest(chat)
    chat.send("markdown")
    assert "naïve" in chat.finish()


def test_cancel_while_the_agent_tries_again(chat: Chat) -> None:
    """opencode then ends the turn as if it were done."""
    llm = chat.llm
    assert llm is not None
    chat.send("overloaded")
    chat.until(lambda: llm.refused > 1, "the model has refused, also what opencode asks for a title")
    chat.screen.command("AcpCancel")
    text = chat.finish()
    assert "── cancelled by you" in text
    assert chat.screen.lua("return _G.ended[1].stop_reason") == "cancelled"
    at_rest(chat)
    chat.send("markdown")
    assert "naïve" in chat.finish()


def test_cancel_during_a_question(chat: Chat) -> None:
    chat.send("cancelperm")
    chat.question()
    chat.screen.command("AcpCancel")
    chat.wait_home()
    text = chat.finish()
    assert [done["outcome"] for done in chat.answered()] == ["cancelled"]
    assert "── cancelled by you" in text
    assert "never be seen" not in text
    # opencode says afterwards that the call failed: a real state of the agent replaces our own (V1-82).
    assert [row for row in chat.rows("edit") if re.match("– .*cancelled$|✗ .*failed$", row)], text
    assert (chat.workspace / "greeting.txt").read_text() == FILES["greeting.txt"]
    assert chat.screen.lines(chat.buffer("greeting.txt"))[1] == "hello world"
    chat.wait_place("greeting.txt", 2)
    assert chat.screen.messages().strip() == ""
