"""Mode, model and what else opencode and gemini offer: set by the user, shown, and in force."""

from __future__ import annotations

import pytest
from tests.agents.real import Chat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

OTHER = {"opencode": ("plan", "Fake/Fake model two"), "gemini": ("Auto Edit", "gemini-2.5-pro")}
"""Another mode and model than those a session begins with."""


def wait_status(chat: Chat, **wanted: str) -> None:
    def is_so() -> bool:
        return dict(chat.screen.lua("return require('acp').status()")).items() >= wanted.items()

    chat.until(is_so, f"status has {wanted}")


def ids(chat: Chat) -> list[str]:
    return [option["id"] for option in chat.screen.lua("return require('acp').options()")]


def test_mode_and_model(chat: Chat) -> None:
    mode, model = OTHER[chat.name]
    before = ids(chat)
    assert {"mode", "model"} <= set(before)
    for option, value in (("mode", mode), ("model", model)):
        chat.screen.command(f"AcpOptions {option} {value}")
        wait_status(chat, **{option: value})
    chat.screen.wait(f"{mode} mode · {model}")
    if chat.name == "opencode":
        # The other model has no levels of effort: the agent has changed the list.
        assert set(before) - set(ids(chat)) == {"effort"}
    chat.send("markdown")
    assert "naïve" in chat.finish()
    wait_status(chat, mode=mode, model=model)
    assert chat.screen.messages().strip() == ""


def test_the_picker(chat: Chat) -> None:
    mode, _ = OTHER[chat.name]
    chat.screen.keys("<Esc>")
    chat.screen.command("AcpOptions mode")
    shown = chat.screen.wait(mode)
    row = next(line for line in shown.split("\n") if mode in line and "│" in line)
    number = row[: row.index(mode)].split()[-1]
    chat.screen.keys(number if number.isdigit() else row[: row.index(mode)].split()[-2])
    wait_status(chat, mode=mode)
    chat.screen.wait(f"{mode} mode")


def test_a_mode_is_in_force(chat: Chat) -> None:
    """Edits gemini may make in this mode are not asked about; opencode's settings ask in any mode."""
    mode, _ = OTHER[chat.name]
    chat.screen.command(f"AcpOptions mode {mode}")
    wait_status(chat, mode=mode)
    chat.send("edit")
    text = chat.finish()
    assert "hello ACP" in (chat.workspace / "greeting.txt").read_text()
    assert "✓ edit   greeting.txt" in text
    assert len(chat.asked()) == (0 if chat.name == "gemini" else 1)
