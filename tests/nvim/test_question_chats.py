"""With several chats open, a question says which of them asks; with one, it need not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nvim.questions import Desk, desk, open_file
from tests.plugin import StartScreen, eventually

RECORD = """
  _G.prompts = {}
  vim.ui.select = function(items, options, done) table.insert(_G.prompts, options.prompt) end
"""
FORM: dict[str, Any] = {
    "fields": [
        {
            "key": "name",
            "type": "text",
            "title": "Name",
            "lines": [],
            "words": "",
            "required": True,
            "secret": False,
            "choices": [],
        }
    ],
    "left_out": [],
}


@pytest.fixture
def two(start_screen: StartScreen) -> tuple[Desk, int]:
    """Two chats of one agent, the first on the screen; and the number of the second."""
    made = desk(start_screen)
    return made, made.new_chat()


def test_the_chooser_names_the_chat_when_there_are_two(two: tuple[Desk, int]) -> None:
    made, second = two
    made.ask()
    made.wait_entered()
    made.screen.wait("╭ claude 1 wants to run a command (q1) ─")
    made.screen.keys("1")
    made.wait_answers(("q1", 1))
    made.show(second)
    made.ask("q2", chat=second)
    made.wait_entered("q2")
    made.screen.wait(f"╭ claude {second} wants to run a command (q2) ─")


def test_the_card_follows_how_many_chats_there_are(start_screen: StartScreen) -> None:
    made = desk(start_screen, focus=False)
    open_file(made)
    made.ask()
    made.screen.wait("╭ claude wants to run a command (q1) ─")
    second = made.new_chat()
    made.screen.command("split")
    made.screen.wait("╭ claude 1 wants to run a command (q1) ─")
    made.screen.lua("local c = require('acp.chat') c.finish(c.get(...))", second)
    made.screen.command("close")
    made.screen.wait("╭ claude wants to run a command (q1) ─")


def test_a_chat_that_is_not_on_the_screen_says_what_it_is_about(two: tuple[Desk, int]) -> None:
    made, second = two
    open_file(made)
    title = "Fix leap years in the date parser\x1b[31m of the whole project, in each of its modules and tests"
    made.screen.lua("require('acp.status').update(...)", second, {"title": title}, 0)
    made.ask("q2", chat=second)
    screen = made.screen.wait(f"? claude {second} wants to run a command (q2): Fix leap years in the ")
    assert "\x1b" not in screen
    assert ":AcpPermit" in screen


def test_one_chat_that_is_not_on_the_screen_needs_no_name(start_screen: StartScreen) -> None:
    made = desk(start_screen, show=False)
    made.screen.lua("require('acp.status').update(...)", made.chat, {"title": "Fix leap years"}, 0)
    made.ask()
    screen = made.screen.wait("? claude wants to run a command (q1)  :AcpPermit")
    assert "Fix leap years" not in screen


def test_a_notification_names_the_chat(two: tuple[Desk, int]) -> None:
    made, second = two
    made.screen.setup({"notify": {"question": "notify"}})
    made.screen.lua("_G.told = {} vim.notify = function(text) table.insert(_G.told, text) end")
    made.ask("q2", chat=second)
    wanted = [f"claude {second} wants to run a command (q2)  :AcpPermit"]
    eventually(lambda: made.screen.lua("return _G.told") == wanted)


def test_the_users_picker_gets_the_chat_in_its_prompt(two: tuple[Desk, int]) -> None:
    made, _ = two
    made.screen.lua(RECORD)
    made.ask()
    eventually(lambda: made.screen.lua("return _G.prompts") == ["claude 1 wants to run: npm test (q1)"])


def test_a_form_names_the_chat(two: tuple[Desk, int]) -> None:
    made, _ = two
    accept = {"id": "accept", "name": "Fill in", "kind": "other"}
    made.ask(form=FORM, options=[accept], title="claude wants to ask you something")
    made.wait_entered()
    made.screen.keys("1")
    made.screen.wait("╭ claude 1 wants to ask you something, 1 of 1 ─")


def test_words_that_do_not_begin_with_the_agent_get_the_chat_before_them(two: tuple[Desk, int]) -> None:
    made, _ = two
    made.ask(title="log out of claude?")
    made.wait_entered()
    made.screen.wait("╭ claude 1: log out of claude? ─")


def test_an_answer_out_of_sight_says_which_chat_it_was_for(two: tuple[Desk, int]) -> None:
    made, _ = two
    made.screen.command("tabnew")
    made.screen.setup({"notify": {"question": False}})
    made.ask(what="run npm test")
    made.screen.command("AcpPermit allow_once")
    made.wait_answers(("q1", 1))
    made.screen.wait("allowed for claude 1: run npm test (Allow once)")
