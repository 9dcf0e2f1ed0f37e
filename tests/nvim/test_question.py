"""Which question is shown, and when it may take the focus."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nvim.questions import desk, open_file, rest
from tests.plugin import StartScreen, eventually

# -- when it may take the focus


@pytest.mark.parametrize("window", ["transcript", "prompt"])
def test_entered_in_the_chat_when_the_keyboard_rests(start_screen: StartScreen, window: str) -> None:
    made = desk(start_screen)
    if window == "transcript":
        made.screen.keys("<C-w>k")
    before = made.screen.api.get_current_win()
    made.ask()
    assert made.entered() == ""
    made.wait_entered()
    made.screen.keys("1")
    made.wait_answers(("q1", 1))
    eventually(lambda: made.screen.api.get_current_win() == before)


def test_in_insert_mode_with_an_empty_prompt_and_back(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.keys("i")
    made.ask()
    made.wait_entered()
    assert made.mode() == "n"
    made.screen.keys("2")
    made.wait_answers(("q1", 2))
    eventually(lambda: made.mode() == "i")
    made.screen.keys("typed on")
    eventually(lambda: made.screen.lines() == ["typed on"])


@pytest.mark.parametrize("keys", ["q", "<Esc>", ":q<CR>"])
def test_dismissed_goes_back_to_insert_mode(start_screen: StartScreen, keys: str) -> None:
    made = desk(start_screen)
    made.screen.keys("i")
    made.ask()
    made.wait_entered()
    made.screen.keys(keys)
    eventually(lambda: made.mode() == "i")
    assert made.count() == 1
    rest(made)
    assert made.carded() == ""


def test_what_is_typed_meanwhile_answers_nothing(start_screen: StartScreen) -> None:
    """The agent asks while the user writes: every key lands in the prompt, "1" and "<CR>" too."""
    made = desk(start_screen)
    made.screen.keys("i")
    made.screen.keys("hi 1")
    made.ask()
    for key in ("<CR>", "n", "e", "x", "t", "1", "2", "3", "q", "j"):
        made.screen.keys(key)
    eventually(lambda: made.screen.lines() == ["hi 1", "next123qj"])
    rest(made)
    assert (made.entered(), made.answers(), made.mode()) == ("", [], "i")
    assert made.carded() == "q1"
    assert ":AcpPermit answers" in made.screen.text()


def test_one_burst_of_keys(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.keys("i")
    made.ask()
    made.screen.keys("hi 1<CR>next")
    eventually(lambda: made.screen.lines() == ["hi 1", "next"])
    assert made.answers() == []


def test_a_typing_user_is_never_interrupted(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.ask()
    for _ in range(12):  # longer than the time of rest, with shorter pauses
        made.screen.keys("l")
        made.screen.lua("vim.wait(80)")
        assert made.entered() == ""
    made.wait_entered()


BUSY = {
    "an operator": ("d", "<Esc>"),
    "a macro": ("qa", "q"),
    "a command line": (":echo 1", "<Esc>"),
    "visual mode": ("v", "<Esc>"),
    "a search": ("/x", "<Esc>"),
    "replace mode": ("R", "<Esc>"),
}


@pytest.mark.parametrize("what", sorted(BUSY))
def test_not_in_the_middle_of_something(start_screen: StartScreen, what: str) -> None:
    begin, end = BUSY[what]
    made = desk(start_screen)
    made.screen.keys(begin)
    made.ask()
    rest(made)
    assert made.entered() == ""
    made.screen.keys(end)
    made.wait_entered()
    made.screen.keys("1")
    made.wait_answers(("q1", 1))


@pytest.mark.parametrize("keys", ["3", '"', "g", "z", "<C-w>", "m"])
def test_not_within_a_command(start_screen: StartScreen, keys: str) -> None:
    """Neovim answers nothing while it waits for the rest of a command; the rest must not become an answer."""
    made = desk(start_screen)
    made.ask()
    made.screen.keys(keys)
    made.screen.keys("<Esc>")
    made.wait_entered()
    assert made.answers() == []


def test_not_over_a_completion_menu(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.command("set completeopt=menu,noinsert,noselect")
    made.screen.keys("i")
    made.screen.lua("vim.schedule(function() vim.fn.complete(1, { 'one', 'two' }) end)")
    eventually(lambda: made.screen.funcs.pumvisible() == 1)
    made.ask()
    rest(made)
    assert made.entered() == ""


def test_not_out_of_a_float(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.open_float()
    made.ask()
    rest(made)
    assert made.entered() == ""
    made.close_float()
    made.wait_entered()


def test_elsewhere_it_is_shown_and_takes_no_keys(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    win = open_file(made)
    made.ask()
    rest(made)
    assert made.screen.api.get_current_win().handle == win
    text = made.screen.wait(":AcpPermit answers")
    assert "npm install left-pad@1.3.0" in text
    assert " 2  Always allow npm" in text
    made.screen.keys("ix1<Esc>")
    eventually(lambda: made.screen.lines() == ["x1"])
    made.screen.keys("<C-w>w")
    eventually(lambda: made.screen.api.get_current_win().handle != win)
    made.wait_entered()
    assert made.answers() == []


def test_rules_of_opening(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.setup({"permission": {"open": "never"}})
    made.ask()
    rest(made)
    assert (made.entered(), made.carded()) == ("", "q1")
    made.close("q1")
    made.screen.setup({"permission": {"open": "always"}})
    open_file(made)
    made.screen.keys("i")
    made.ask("q2")
    rest(made)
    assert made.entered() == "", "not out of Insert mode in a file"
    made.screen.keys("<Esc>")
    made.wait_entered("q2")
    made.screen.keys("1")
    made.wait_answers(("q2", 1))


# -- how it says that it is answered


def test_the_footer_says_what_is_true_where_the_user_is(start_screen: StartScreen) -> None:
    made = desk(start_screen)
    made.screen.setup({"permission": {"open": "never"}})
    made.ask()
    made.screen.wait(" \\a allows · \\r rejects ╯")
    made.screen.keys("<C-w>k")
    made.screen.wait(" \\a allows · \\r rejects · <CR> on the row opens ╯")
    made.screen.keys("<C-w>ji")
    made.screen.wait(" :AcpPermit answers ╯")
    made.screen.lua("require('acp.status').update(..., { state = 'waiting', pending = 1 }, 0)", made.chat)
    made.screen.wait("Answer above: <Esc>, then :AcpPermit")
    made.screen.keys("<Esc>")
    made.screen.wait("Answer above: <CR> on a question, or :AcpPermit")
    made.screen.wait(" \\a allows · \\r rejects ╯")
    open_file(made)
    made.screen.wait(" :AcpPermit answers ╯")


def test_the_footer_names_only_keys_that_answer(start_screen: StartScreen) -> None:
    made = desk(start_screen, init="vim.g.maplocalleader = ','")
    made.screen.setup({"permission": {"open": "never"}, "keymaps": {"both": {"reject_once": False}}})
    made.ask()
    made.screen.wait(" ,a allows ╯")
    made.close("q1")
    made.ask("q2", options=[{"id": "x", "name": "Yes", "kind": "allow_always"}])
    made.screen.wait(" :AcpPermit answers ╯")


# -- a chat that is not on the screen


def test_a_hidden_chat_says_who_waits(start_screen: StartScreen) -> None:
    made = desk(start_screen, show=False)
    win = made.screen.api.get_current_win().handle
    made.ask()
    made.screen.wait("? claude wants to run a command (q1)  :AcpPermit")
    rest(made)
    assert made.screen.api.get_current_win().handle == win
    assert "npm install" not in made.screen.text()
    made.screen.keys(":AcpPermit<CR>")
    made.wait_entered()
    text = made.screen.text()
    assert "? claude wants" not in text
    assert max(len(row) for row in text.split("\n") if "Allow once" in row) == 120
    made.screen.keys("1")
    made.wait_answers(("q1", 1))
    assert made.screen.api.get_current_win().handle == win


def test_hidden_and_shown_again(start_screen: StartScreen) -> None:
    made = desk(start_screen, show=False)
    made.ask()
    made.screen.wait("? claude wants")
    made.show(focus=False)
    made.screen.wait(":AcpPermit answers")
    assert "? claude wants" not in made.screen.text()
    made.screen.lua("require('acp.chat.windows').close(require('acp.chat').get(...))", made.chat)
    made.screen.wait("? claude wants")
    made.screen.command("tabnew")
    made.screen.wait("? claude wants")
    made.close("q1")
    made.screen.wait(lambda text: "claude wants" not in text)


@pytest.mark.parametrize("how", ["notify", "bell", False])
def test_other_ways_to_say_so(start_screen: StartScreen, how: Any) -> None:
    made = desk(start_screen, show=False)
    made.screen.setup({"notify": {"question": how}})
    made.screen.lua("_G.told = {} vim.notify = function(text) table.insert(_G.told, text) end")
    bells: list[int] = []
    made.screen._on_bell = lambda *_: bells.append(1)  # type: ignore[attr-defined]
    made.ask()
    made.screen.command("tabnew")
    rest(made)
    made.screen.pump()
    assert len(made.screen.lua("return _G.told")) == (1 if how == "notify" else 0)
    assert len(bells) == (1 if how == "bell" else 0)
    assert "claude wants" not in made.screen.text()
    assert made.screen.lua("return vim.o.belloff") == "all"


def test_a_bell_in_insert_mode_disturbs_nothing(start_screen: StartScreen) -> None:
    made = desk(start_screen, show=False)
    made.screen.setup({"notify": {"question": "bell"}})
    made.screen.keys("iab<Left>")
    eventually(lambda: made.screen.lines() == ["ab"])
    made.ask()
    made.screen.keys("c")
    eventually(lambda: made.screen.lines() == ["acb"])
    assert made.mode() == "i"
