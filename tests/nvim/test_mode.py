"""The user is in Insert mode: nothing of the plugin changes the mode meanwhile, and its end is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.follow_kit import code_and_chat, project, shows, visit, window_of
from tests.nvim.questions import desk
from tests.plugin import StartScreen, eventually

CHANGES = """
_G.changes = {}
vim.api.nvim_create_autocmd('ModeChanged', {
  callback = function(args) table.insert(_G.changes, args.match) end,
})
"""

NORMAL = """
local win, command = ...
vim.api.nvim_win_call(win, function() vim.cmd(command) end)
"""
"""Any plugin may do it. After it no ModeChanged tells of the end of Insert mode."""

COMMANDS = pytest.mark.parametrize("command", ["normal! m'", "noautocmd normal! m'"])


def test_follow_changes_no_mode(start_screen: StartScreen, tmp_path: Path) -> None:
    screen = code_and_chat(start_screen, project(tmp_path))
    win = window_of(screen, "a.py")
    screen.api.win_set_cursor(win, [7, 3])
    screen.keys("i")
    eventually(lambda: screen.api.get_mode()["mode"] == "i")
    screen.lua(CHANGES)
    visit(screen, tmp_path / "a.py", 99)
    shows(screen, "a.py", 99)
    screen.keys("x<Esc>")
    eventually(lambda: screen.api.get_mode()["mode"] == "n")
    assert screen.lua("return _G.changes") == ["i:n"]
    screen.api.set_current_win(win)
    screen.keys("<C-o>")
    eventually(
        lambda: list(screen.api.win_get_cursor(win)) == [7, 3], message="the place before is remembered"
    )


@COMMANDS
def test_a_question_is_entered_from_the_prompt(start_screen: StartScreen, command: str) -> None:
    made = desk(start_screen)
    made.screen.keys("i")
    eventually(lambda: made.mode() == "i")
    made.ask()
    made.screen.lua(NORMAL, made.screen.funcs.win_getid(1), command)
    made.wait_entered()
    made.screen.keys("2")
    made.wait_answers(("q1", 2))
    eventually(lambda: made.mode() == "i")
