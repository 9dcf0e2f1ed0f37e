"""The sessions of opencode and gemini: listed by one that can, loaded with all that was said."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.real import Chat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]


def rows(chat: Chat) -> str:
    """The list of sessions."""
    buffer = chat.screen.funcs.bufnr("acp://sessions")
    return "\n".join(chat.screen.lines(buffer)) if buffer > 0 else ""


def test_a_session_is_found_again(chat: Chat, tmp_path: Path) -> None:
    """Also by an agent that cannot list: what was used from here is remembered."""
    chat.send("edit")
    said = chat.finish()
    chat.screen.keys("<Esc>")
    session = chat.screen.lua("return require('acp').status().session")
    chat.screen.command("AcpSessions")
    if chat.name == "gemini":
        chat.until(
            lambda: "gemini cannot list its sessions: those used" in rows(chat), "it says that it cannot"
        )
        age(tmp_path / "home")
    else:
        chat.until(lambda: "asking" not in rows(chat) and rows(chat).count("opencode") == 1, "listed, once")
    opens = "local entry = require('acp.sessions.list').here() return entry ~= nil and entry.can.open == true"
    chat.until(lambda: chat.screen.lua(opens), "it can be opened again")
    chat.screen.keys("x")  # the agent is kept as long as the list is open
    chat.until(lambda: rows(chat).startswith("no sessions") or "asking" not in rows(chat), "it is closed")
    chat.screen.keys("R")
    chat.until(lambda: rows(chat).startswith("○") and chat.name in rows(chat), "it is known still")
    chat.screen.keys("<CR>")
    chat.until(lambda: chat.state() == "idle", "it is loaded")
    chat.until(lambda: "ready in" in chat.text(), "all of it is in the buffer")
    text = chat.text()
    assert chat.screen.lua("return require('acp').status().session") == session
    assert "── loaded " in text
    assert text.count("greeting.txt") >= 2  # the rows of the read and the edit
    answer = next(line for line in said.split("\n") if line.startswith("Done: "))
    assert text.count(answer) == 1
    assert chat.rows("edit")
    chat.turns = int(chat.screen.lua("return #_G.ended"))
    chat.send("markdown")
    assert "naïve" in chat.finish()
    assert chat.text().count(answer) == 1
    assert chat.screen.messages().strip() == ""
    if chat.name == "gemini":  # opencode says no more than "service failure"
        chat.screen.keys("<Esc>")
        chat.screen.command("AcpSessions gemini 00000000-0000-4000-8000-000000000000")
        newest = "local buf = require('acp.chat').current().buf return vim.fn.getbufoneline(buf, 2)"
        gone = "gemini does not have this session any more"
        chat.until(lambda: gone in str(chat.screen.lua(newest)), "it says that it does not know the id")


def age(home: Path) -> None:
    """Let gemini's sessions be of an earlier minute.

    It names a session's file by id and minute, and overwrites the file that it loads if the name is the same.
    """
    for file in home.glob(".gemini/tmp/*/chats/session-*.jsonl"):
        file.rename(file.with_name(f"session-2026-01-02T03-04-{file.name[-14:]}"))


def test_a_session_outlives_its_agent(chat: Chat, tmp_path: Path) -> None:
    """The agent is ended and started again; nothing of what stands in the chat is repeated."""
    chat.send("edit")
    said = chat.finish()
    session = chat.screen.lua("return require('acp').status().session")
    chat.screen.keys("<Esc>")
    age(tmp_path / "home")
    chat.screen.command("AcpRestart")
    chat.until(lambda: f"── resumed: {chat.name} remembers this chat" in chat.text(), "it is resumed")
    chat.until(lambda: chat.state() == "idle", "it is ready")
    assert chat.screen.lua("return require('acp').status().session") == session
    chat.send("markdown")
    text = chat.finish()
    talk = said[said.index("❯") :].rstrip("\n")  # above it stands how long the start took
    assert text[text.index("❯") :].startswith(talk)
    assert text.count("Change the greeting in greeting.txt") == 1
    assert text.count("naïve") == 1
    assert chat.screen.messages().strip() == ""
