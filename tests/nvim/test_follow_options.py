"""Odd settings change nothing, and follow changes nothing of the user's settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.nvim.follow_kit import code_and_chat, project, visit, window_of, windows
from tests.plugin import Screen, StartScreen

ODD = {
    "plain": "",
    "autochdir": "set autochdir",
    "nohidden": "set nohidden",
    "splits": "set splitright splitbelow equalalways",
    "noequalalways": "set noequalalways winwidth=1 winheight=1",
    "switchbuf": "set switchbuf=usetab,newtab,uselast",
    "scrolloff": "set scrolloff=999 sidescrolloff=10",
    "scrollbind": "set scrollbind cursorbind",
    "folds": "set foldmethod=expr foldexpr=getline(v:lnum)=~'0$'?'>1':'1' foldlevel=0",
    "nofoldenable": "set nofoldenable",
    "signcolumn": "set signcolumn=auto:3",
    "columns": "set number relativenumber signcolumn=yes:2 foldcolumn=3 statuscolumn=%s%l",
    "lazyredraw": "set lazyredraw",
    "cmdheight": "set cmdheight=0",
    "laststatus": "set laststatus=3 showtabline=2 winbar=%f",
    "nowrap": "set nowrap list linebreak",
    "startofline": "set startofline virtualedit=all jumpoptions=stack,view",
    "noautoread": "set noautoread nomodeline",
    "undo": "set undofile undolevels=-1",
    "readonly": "set readonly nomodifiable",
    "messages": "set shortmess= report=0 verbose=0 cmdheight=1",
    "winminheight": "set winheight=5 winwidth=20 winminheight=5 winminwidth=20",
    "ignored": "set eventignore=BufEnter,WinEnter",
}
ALL = """
autochdir nohidden splits switchbuf scrolloff folds columns
lazyredraw laststatus nowrap startofline noautoread
"""
ODD["all"] = " | ".join(ODD[name] for name in ALL.split())

OPTIONS = """
local found = {}
for name, info in pairs(vim.api.nvim_get_all_options_info()) do
  if info.scope == 'global' then
    -- 0.10 lists options that it does not have.
    local there, value = pcall(vim.api.nvim_get_option_value, name, { scope = 'global' })
    found[name] = there and value or nil
  end
end
local windows = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local own = { width = vim.api.nvim_win_get_width(win), height = vim.api.nvim_win_get_height(win) }
  for name, info in pairs(vim.api.nvim_get_all_options_info()) do
    if info.scope == 'win' then
      own[name] = vim.api.nvim_get_option_value(name, { win = win })
    end
  end
  windows[tostring(win)] = own
end
return { found, windows, vim.fn.getcwd(-1, -1), vim.fn.winrestcmd(), vim.api.nvim_get_current_win() }
"""


@pytest.mark.parametrize("name", ODD)
def test_odd_settings(name: str, start_screen: StartScreen, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    project(tmp_path)
    project(tmp_path / "sub", "d.py")
    screen = code_and_chat(start_screen, tmp_path, on=False, size=(160, 44))
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.lua("for cmd in (...):gmatch('[^|]+') do vim.cmd(vim.trim(cmd)) end", ODD[name])
    screen.command("split c.py | AcpFollow on | wincmd p")
    before = screen.lua(OPTIONS)
    buffers = len(screen.api.list_bufs())
    for path, line in (("b.py", 50), ("sub/d.py", 120), ("a.py", 30), ("b.py", 199), ("c.py", 1)):
        visit(screen, tmp_path / path, line)
        assert (Path(path).name, line) in windows(screen), f"{windows(screen)} {screen.messages()}"
    assert differences(before, screen.lua(OPTIONS)) == {}
    assert len(screen.api.list_bufs()) == buffers
    screen.command("AcpFollow off")
    assert differences(before, screen.lua(OPTIONS)) == {}
    assert not screen.blocked()
    assert screen.messages().strip() == ""


def differences(before: Any, after: Any) -> dict[str, Any]:
    """What is not as it was, by name."""
    found: dict[str, Any] = {}
    flat = [{**{f"g {k}": v for k, v in each[0].items()}, **each_window(each[1])} for each in (before, after)]
    for key in flat[0].keys() | flat[1].keys():
        if flat[0].get(key) != flat[1].get(key):
            found[key] = (flat[0].get(key), flat[1].get(key))
    for index, what in ((2, "cwd"), (3, "sizes"), (4, "focus")):
        if before[index] != after[index]:
            found[what] = (before[index], after[index])
    return found


def each_window(windows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {f"{win} {name}": value for win, own in windows.items() for name, value in own.items()}


@pytest.mark.parametrize("name", ["plain", "splits", "noequalalways", "winminheight"])
def test_a_split_resizes_only_the_window_it_is_made_from(
    name: str, start_screen: StartScreen, tmp_path: Path
) -> None:
    screen = code_and_chat(start_screen, project(tmp_path), size=(160, 44), on=False)
    screen.lua("for cmd in (...):gmatch('[^|]+') do vim.cmd(vim.trim(cmd)) end", ODD[name])
    screen.command("topleft 7split | setlocal winfixbuf | wincmd p | wincmd t | wincmd j")
    screen.api.set_current_win(window_of(screen, "a.py"))
    chat = sizes(screen, "prompt")
    for win in screen.api.list_wins():
        if screen.api.win_get_buf(win).number == screen.funcs.bufnr("a.py"):
            screen.api.set_option_value("winfixbuf", True, {"win": win})
    screen.command("AcpFollow on")
    heights = [height for _, height in sizes(screen, "a.py")]
    visit(screen, tmp_path / "b.py", 50)
    assert ("b.py", 50) in windows(screen), windows(screen)
    assert sizes(screen, "prompt") == chat
    after = [height for _, height in sizes(screen, "a.py")]
    assert sum(1 for a, b in zip(heights, after, strict=True) if a != b) == 1


def sizes(screen: Screen, name: str) -> list[tuple[int, int]]:
    """Width and height of the windows that show a buffer whose name ends so."""
    return [
        (screen.api.win_get_width(win), screen.api.win_get_height(win))
        for win in screen.api.list_wins()
        if screen.api.buf_get_name(screen.api.win_get_buf(win)).endswith(name)
    ]
