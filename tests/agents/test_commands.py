"""Commands that opencode and gemini run."""

from __future__ import annotations

import pytest
from tests.agents.real import FILES, Chat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]


def quiet(chat: Chat) -> None:
    """The user is in the prompt, and nothing was said outside the chat."""
    chat.wait_home()
    assert chat.state() == "idle"
    assert chat.screen.messages().strip() == ""


def test_shell(chat: Chat) -> None:
    chat.send("shell")
    seen = chat.question()
    assert "wants to run a command" in seen
    assert "echo out-line-1" in seen
    assert chat.focus()[:2] == (1, 1), "a command has no diff"
    assert not (chat.workspace / "shell-was-here.txt").exists()
    text = chat.finish()
    assert (chat.workspace / "shell-was-here.txt").read_text() == "ran\n"
    assert [row for row in chat.rows("run") if row.startswith("✓")]
    assert "The command ran." in text
    quiet(chat)
    assert chat.place() == ("README.md", 1)


def test_rejected(chat: Chat) -> None:
    chat.send("shell")
    text = chat.finish("reject_once")
    assert not (chat.workspace / "shell-was-here.txt").exists()
    assert [row for row in chat.rows("run") if row.startswith("⊘") and "rejected by you" in row], text
    quiet(chat)


def test_failing(chat: Chat) -> None:
    chat.send("shellfail")
    text = chat.finish()
    assert "Both failed, as expected." in text
    assert (chat.workspace / "greeting.txt").read_text() == FILES["greeting.txt"]
    quiet(chat)


def test_cancelled(chat: Chat) -> None:
    chat.send("cancelshell")
    chat.answer("allow_once")
    chat.until(lambda: [row for row in chat.rows("run") if row.startswith("●")], "the command runs")
    chat.screen.command("AcpCancel")
    text = chat.finish()
    assert "── cancelled by you" in text
    assert not (chat.workspace / "slow-done.txt").exists()
    quiet(chat)


def test_they_are_run_by_the_agents_themselves(chat: Chat) -> None:
    """Both are offered our terminals, and neither uses them."""
    chat.send("shell")
    chat.finish()
    chat.screen.keys("<Esc>")
    chat.screen.command(f"AcpTrace {chat.name}")
    chat.until(lambda: len(chat.screen.lines()) > 5, "the trace is shown")
    assert "terminal/" not in "\n".join(chat.screen.lines())
    chat.screen.funcs.search("initialize", "w")
    chat.screen.keys("<CR>")
    chat.until(lambda: "clientCapabilities" in "\n".join(chat.screen.lines()), "the message is shown")
    assert '"terminal": true' in "\n".join(chat.screen.lines())
