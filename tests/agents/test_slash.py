"""The commands of opencode and gemini that begin with a slash: offered in the prompt, and run."""

from __future__ import annotations

import pytest
from tests.agents.real import Chat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]


def type_prompt(chat: Chat, *keys: str) -> None:
    """Type into the prompt, from its beginning."""
    chat.screen.command("AcpChat")
    if chat.screen.api.get_mode()["mode"] == "n":
        chat.screen.keys("i")
    chat.screen.keys("<C-u>", *keys)


def offered(chat: Chat) -> list[str]:
    """What the menu of completion offers."""
    info = chat.screen.funcs.complete_info(["items", "pum_visible"])
    return [item["word"] for item in info["items"]] if info["pum_visible"] else []


def test_a_command_is_completed_and_run(chat: Chat) -> None:
    command, argument, answer = {
        "opencode": ("/init", "[[markdown]]", "naïve"),  # a prompt of its own, for the model
        "gemini": (
            "/memory list",
            "",
            "No GEMINI.md files in use.",
        ),  # without the model; its name has a blank
    }[chat.name]
    chat.until(lambda: "commands" in chat.text(), "the commands have come")
    type_prompt(chat, "/")
    chat.until(lambda: command in offered(chat), "it is offered")
    others = [each for each in offered(chat) if not each.startswith(command[:3])]
    assert others
    for key in command[1:-1]:  # what stands there in full is not offered any more
        chat.screen.keys(key)
    chat.until(lambda: command in offered(chat), "it is offered still")
    chat.screen.wait(lambda text: not any(other in text for other in others))
    chat.screen.keys(command[-1], f" {argument}" if argument else "")
    chat.turns += 1
    chat.screen.keys("<C-s>")
    text = chat.finish()
    assert f"❯ {command}" in text
    assert answer in text
    assert "── done" in text
    assert chat.screen.messages().strip() == ""
