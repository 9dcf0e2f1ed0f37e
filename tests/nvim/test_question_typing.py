"""A chooser that opens by itself while the user is about to write: what is typed then is text, no answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim import diff_kit
from tests.nvim.questions import Desk, desk, rest
from tests.plugin import StartScreen, eventually

TEXT = "add 1 more test"


def opening(start_screen: StartScreen, keys: str = "i") -> Desk:
    """The chooser has just opened by itself over the empty prompt, and is deaf."""
    made = desk(start_screen)
    # Four times as long as in earnest: on a busy machine a key of the test may come late.
    made.screen.lua("require('acp.question.chooser').DEAF_MS = 1000")
    made.screen.keys(keys)
    made.ask()
    eventually(lambda: made.entered() == "q1")
    return made


def wait_text(made: Desk, text: str) -> None:
    eventually(
        lambda: (made.screen.lines(), made.mode()) == ([text], "i"),
        message=lambda: f"{made.screen.lines()} {made.mode()} {made.answers()}\n{made.screen.text()}",
    )


@pytest.mark.parametrize("pause", [0, 30, 120])
def test_text_typed_as_the_chooser_opens_is_text(start_screen: StartScreen, pause: int) -> None:
    made = opening(start_screen)
    for key in TEXT:
        made.screen.keys("<Space>" if key == " " else key)
        made.screen.lua("vim.wait(...)", pause)
    wait_text(made, TEXT)
    rest(made)
    assert (made.entered(), made.carded(), made.answers()) == ("", "q1", [])
    assert ":AcpPermit answers" in made.screen.text()
    made.screen.keys("<C-u>")
    made.wait_entered()
    made.screen.keys("1")
    made.wait_answers(("q1", 1))


@pytest.mark.parametrize("text", ["1", "1<lt>|2", "3q:j", "日本 1", "À1", "1é"])
def test_every_key_is_kept_in_order(start_screen: StartScreen, text: str) -> None:
    """In one burst, and whatever the key would be in the chooser or in Normal mode."""
    made = opening(start_screen)
    made.screen.keys(text)
    wait_text(made, text.replace("<lt>", "<"))
    assert made.answers() == []


def test_no_mapping_is_executed_on_them(start_screen: StartScreen) -> None:
    made = opening(start_screen)
    made.screen.command("nnoremap 1 <Cmd>quit<CR>")
    made.screen.command("nnoremap 1a <Cmd>quit<CR>")
    made.screen.command("inoremap 1 no")
    for key in "1a":
        made.screen.keys(key)
        made.screen.lua("vim.wait(50)")
    wait_text(made, "1a")


def test_keys_that_come_slowly_are_text_as_long_as_the_keyboard_does_not_rest(
    start_screen: StartScreen,
) -> None:
    """Deafness ends with the keyboard at rest, not with the clock."""
    made = opening(start_screen)
    made.screen.lua("vim.wait(200)")
    made.screen.keys("<BS>")  # no text: the chooser stays, and stays deaf
    made.screen.lua("vim.wait(200)")
    assert made.entered() == "q1"
    made.screen.keys("1")
    wait_text(made, "1")
    assert made.answers() == []


@pytest.mark.parametrize("key", ["<CR>", "<Esc>", "<BS>", "<Tab>", "<Up>"])
def test_a_key_that_is_no_text_does_nothing(start_screen: StartScreen, key: str) -> None:
    made = opening(start_screen)
    made.screen.keys(key)
    assert (made.entered(), made.answers()) == ("q1", [])
    made.wait_listening()
    made.screen.keys("2")
    made.wait_answers(("q1", 2))
    eventually(lambda: made.mode() == "i")
    assert made.screen.lines() == [""]


@pytest.mark.parametrize(("keys", "text"), [("iadd 1", "add 1"), ("A1", "1"), ("oa1", "\na1")])
def test_an_insert_command_in_normal_mode_begins_text_too(
    start_screen: StartScreen, keys: str, text: str
) -> None:
    made = opening(start_screen, "<Esc>")
    for key in keys:
        made.screen.keys("<Space>" if key == " " else key)
        made.screen.lua("vim.wait(120)")
    eventually(lambda: "\n".join(made.screen.lines()) == text)
    assert (made.mode(), made.answers()) == ("i", [])


@pytest.mark.parametrize("keys", ["1", "11", "dd1", ":1"])
def test_other_keys_in_normal_mode_do_nothing(start_screen: StartScreen, keys: str) -> None:
    made = opening(start_screen, "<Esc>")
    for key in keys:
        made.screen.keys(key)
        made.screen.lua("vim.wait(150)")
    assert (made.entered(), made.answers(), made.mode()) == ("q1", [], "n")
    made.wait_listening()
    made.screen.keys("3")
    made.wait_answers(("q1", 3))


def test_a_chooser_the_user_asked_for_is_deaf_and_stays(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.lua("require('acp.question.chooser').DEAF_MS = 1000")
    made.screen.keys("isome text")
    made.ask()
    made.screen.keys("<Cmd>AcpPermit<CR>")
    eventually(lambda: made.entered() == "q1")
    for key in "121":
        made.screen.keys(key)
        made.screen.lua("vim.wait(200)")
    assert (made.entered(), made.answers()) == ("q1", [])
    made.wait_listening()
    made.screen.keys("q")
    eventually(lambda: made.mode() == "i")
    made.screen.keys("!")
    eventually(lambda: made.screen.lines() == ["some text!"])


@pytest.mark.parametrize("keys", ["cc", "S", "s", "C", "cw", "R<Esc>i", "O", "3i"])
def test_it_opens_out_of_insert_mode_however_that_began(start_screen: StartScreen, keys: str) -> None:
    """state() says 'o' for all of Insert mode after a change."""
    made = desk(start_screen)
    made.screen.keys("ix<Esc>0" if keys in ("s", "C", "cw") else "<Esc>", keys, "<BS>" * (keys == "O"))
    eventually(lambda: made.mode() == "i")
    if keys == "O":
        made.screen.keys("<C-o>dd")
    made.ask()
    made.wait_entered()
    made.screen.keys("1")
    made.wait_answers(("q1", 1))


@pytest.mark.parametrize("keys", ["add 1", "1"])
def test_beside_a_diff_too(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path, keys: str) -> None:
    made = diff_kit.desk(start_screen, agent, diff_kit.question(diff_kit.edit()), short_tmp)
    screen = made.screen
    screen.keys("i")
    made.go()
    entered = "local c = require('acp.question.card').get() return c and c.entered or false"
    eventually(lambda: screen.lua(entered), message=screen.text)
    assert made.windows()[-1][0].endswith(f"/{diff_kit.PATH}")
    for key in keys:
        screen.keys("<Space>" if key == " " else key)
        screen.lua("vim.wait(120)")
    made.wait_closed()
    eventually(lambda: (screen.lines(), screen.api.get_mode()["mode"]) == ([keys], "i"), message=screen.text)
    assert screen.lua("return require('acp.question').count()") == 1
    screen.keys("<C-u>")
    assert "<C-w>w to the diff" in made.wait_diff()
    screen.keys("<C-w>w")
    eventually(lambda: screen.api.get_current_win().handle in [win for _, win in made.windows()])
    screen.keys("<C-w>w")
    eventually(lambda: "/diff/" in screen.api.buf_get_name(0))
    screen.wait("\\a allows · \\r rejects")
    screen.keys("\\r")
    made.wait_answer("no")
