"""The user is in Insert mode: nothing of the plugin changes the mode meanwhile, and its end is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.follow_kit import code_and_chat, project, shows, visit, window_of
from tests.nvim.questions import desk
from tests.nvim.transcript_kit import frame, in_window, start_chat
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


def test_frames_and_writes_change_no_mode(start_screen: StartScreen, tmp_path: Path) -> None:
    """Folds of a chat's windows and of the user's are made while the user types elsewhere."""
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line {n}\n" for n in range(30)))
    screen = start_screen(size=(120, 30))
    screen.command(f"edit {path} | set foldmethod=manual foldnestmax=7 | 3,9fold | 12,20fold")
    screen.lua("require('acp.buffers').read(...)", str(path))
    pane = start_chat(screen)
    thought = ["set", 1, ["think", "  one", "  two", ""], {"kind": "think", "folds": [[0, 2, True]]}]
    frame(screen, thought)
    screen.command("wincmd p | vsplit | enew")
    screen.keys("i")
    eventually(lambda: screen.api.get_mode()["mode"] == "i")
    screen.lua(CHANGES + "vim.cmd('autocmd OptionSet * call add(g:options_set, expand(\"<amatch>\"))')")
    screen.lua("vim.g.options_set = {}")
    thought[2] = ["think", "  one", "  two", "  three", ""]
    thought[3] = {"kind": "think", "folds": [[0, 3, True]]}
    frame(screen, thought, ["set", 2, ["said", ""], {"kind": "message"}])
    screen.lua("require('acp.chat.fold').renew(...)", pane.win)
    lines = [f"line {n}" for n in range(30) if n != 8]
    lines[2:2] = ["new", "lines"]
    done = screen.lua("return require('acp.buffers').write(...)", str(path), "\n".join(lines) + "\n")
    assert done["wrote"]
    screen.keys("x<Esc>")
    eventually(lambda: screen.api.get_mode()["mode"] == "n")
    assert screen.lua("return _G.changes") == ["i:n"]
    assert "foldnestmax" not in screen.lua("return vim.g.options_set")
    win = window_of(screen, "a.txt")
    assert screen.lua("return { vim.wo[...].foldmethod, vim.wo[...].foldnestmax }", win) == ["manual", 7]
    levels = in_window(screen, win, "return vim.tbl_map(vim.fn.foldlevel, vim.fn.range(1, 31))")
    assert levels == [int(5 <= n <= 10 or 13 <= n <= 21) for n in range(1, 32)]
