"""Who closes a question without an answer is where they were before it: in that window, in that mode."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.elicit_kit import asked, form, type_in
from tests.nvim.questions import Desk, desk, open_file, rest
from tests.plugin import StartScreen, eventually

LEAVE = ["q", "<Esc>", ":q<CR>"]


def place(made: Desk) -> tuple[int, str]:
    return int(made.screen.lua("return vim.api.nvim_get_current_win()")), made.mode()


def wait_place(made: Desk, win: int, mode: str) -> None:
    """Wait for that window and mode, and see that they stay."""
    eventually(
        lambda: made.carded() == "" and place(made) == (win, mode),
        message=lambda: f"{place(made)}, not {(win, mode)}\n{made.screen.text()}",
    )
    rest(made)
    assert place(made) == (win, mode)
    assert made.count() == 1


@pytest.mark.parametrize("keys", LEAVE)
@pytest.mark.parametrize("where", ["prompt", "transcript", "code"])
def test_from_normal_mode(start_screen: StartScreen, where: str, keys: str) -> None:
    made = desk(start_screen)
    if where == "transcript":
        made.screen.keys("<C-w>k")
    elif where == "code":
        open_file(made)
    win = place(made)[0]
    made.ask()
    if where == "code":
        made.screen.keys(":AcpPermit<CR>")
    made.wait_entered()
    made.screen.keys(keys)
    wait_place(made, win, "n")


def test_insert_mode_was_left_meanwhile(start_screen: StartScreen) -> None:
    """From the prompt in Insert mode; then on one's own way, in Normal mode, and back into the chooser."""
    made = desk(start_screen)
    made.screen.keys("i")
    made.ask()
    made.wait_entered()
    win = open_file(made)
    made.screen.wait(":AcpPermit answers")
    made.screen.lua("vim.api.nvim_set_current_win(require('acp.question.card').get().win)")
    made.wait_entered()
    made.screen.keys("<Esc>")
    wait_place(made, win, "n")


def test_a_form_that_was_left_for_the_code_and_entered_again(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    made = asked(start_screen, agent, form())
    made.chat.focus()
    made.screen.keys("<Esc>i")
    made.begin()
    type_in(made, "An<Esc>", "<C-w>t")
    code = made.screen.api.get_current_win()
    assert not made.focused()
    made.screen.lua("assert(require('acp').permit())")
    eventually(lambda: made.focused() and made.mode() == "i")
    type_in(made, "<Esc>", "q")
    eventually(lambda: not made.shown())
    eventually(lambda: (made.screen.api.get_current_win(), made.mode()) == (code, "n"))


def test_a_card_clicked_from_insert_mode(start_screen: StartScreen) -> None:
    """The mouse enters a float in Insert mode, and leaves it so."""
    made = desk(start_screen)
    made.ask()
    made.wait_entered()
    made.screen.keys("<C-w>p", "i", "text")
    row, col = made.screen.find("Allow once")
    made.screen.api.input_mouse("left", "press", "", 0, row, col)
    made.screen.api.input_mouse("left", "release", "", 0, row, col)
    made.wait_entered()
    assert made.mode() == "n"
