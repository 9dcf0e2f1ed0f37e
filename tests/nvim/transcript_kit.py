"""A transcript in a window of its own, without chat, host or agent: what the tests of it share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.plugin import Neovim

CHAT = 7
"""Number of the chat; no host knows it."""

OPEN = """
local chat, head = ...
local buf = vim.api.nvim_create_buf(false, true)
local transcript = require('acp.chat.transcript')
transcript.attach(chat, buf)
transcript.set_head(chat, head, { kind = 'head', tail = 1 })
local win = vim.api.nvim_open_win(buf, false, { split = 'right', win = -1, width = 60 })
local set = vim.wo[win][0]
set.wrap, set.linebreak, set.breakindent, set.scrolloff = true, true, true, 0
set.number, set.fillchars, set.winhighlight = false, 'fold: ,eob: ', 'Folded:AcpFolded'
set.foldmethod, set.foldenable, set.foldlevel, set.foldminlines = 'manual', true, 0, 0
set.foldtext, set.smoothscroll = "v:lua.require'acp.chat.fold'.text()", true
vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
return { buf, win }
"""


@dataclass(frozen=True)
class Pane:
    """Handles of the transcript's buffer and window."""

    buf: int
    win: int


def start_chat(editor: Neovim, head: tuple[str, ...] = ("demo in ~/x", "")) -> Pane:
    """Open a transcript of 60 columns to the right; the focus stays where it is."""
    buf, win = editor.lua(OPEN, CHAT, list(head))
    return Pane(buf, win)


def frame(editor: Neovim, *ops: list[Any]) -> dict[str, Any]:
    """Send a frame as the host does."""
    return dict(editor.lua("return require('acp.chat.transcript').frame(...)", [[CHAT, list(ops)]]))


def in_window(editor: Neovim, win: int, code: str) -> Any:
    """Run Lua in a window and return what it returns."""
    return editor.lua("local win, code = ... return vim.api.nvim_win_call(win, loadstring(code))", win, code)
