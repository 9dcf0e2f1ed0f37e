"""A Neovim whose host is a recorder: what the chat does by itself, without a Python host beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.plugin import Neovim

INIT = """
_G.sent = {}
_G.host_state = 'ready'
package.preload['acp.host'] = function()
  return {
    status = function() return { state = _G.host_state, pid = 1 } end,
    environment = function() return '/nowhere' end,
    event = function(name, payload) table.insert(_G.sent, { name, payload }) end,
  }
end
_G.permits = {}
package.preload['acp.question'] = function()
  return {
    permit = function(choice, opts)
      table.insert(_G.permits, { choice or 'picker', opts or {} })
      return true
    end,
    pick = function(id) table.insert(_G.permits, { 'pick', id }) end,
    count = function() return 0 end,
    reset = function() end,
  }
end
vim.o.termguicolors = false
"""
"""Lua for ``Options.init``: stands in for the host and for the questions."""

AGENT = """
require('acp').setup({ agents = { claude = { command = { 'sh' } } }, default_agent = 'claude' })
"""
"""Lua for ``Options.init``: one agent whose program exists everywhere."""


def events(nvim: Neovim, name: str | None = None) -> list[Any]:
    """Return what was sent to the host: pairs of name and payload, or the payloads of one name."""
    found = nvim.lua("return _G.sent")
    return [payload for sent, payload in found if sent == name] if name else list(found)


def update(nvim: Neovim, patch: Mapping[str, Any], seen: int = 0, chat: int = 1) -> None:
    """Tell the editor a patch of a chat's status, as the host does."""
    nvim.lua("require('acp.status').update(...)", chat, dict(patch), seen)


def frame(nvim: Neovim, block: int, lines: list[str], chat: int = 1, **deco: Any) -> None:
    """Write a block into a transcript, as the host does."""
    nvim.lua(
        "require('acp.chat.transcript').frame(...)",
        [[chat, [["set", block, lines, {"kind": "row", **deco}]]]],
    )


def status(nvim: Neovim, *arguments: int) -> dict[str, Any]:
    """Return ``require('acp').status()``."""
    return dict(nvim.lua("return require('acp').status(...)", *arguments))


def buffer(nvim: Neovim, name: str) -> int:
    """Return the number of the buffer of this exact name."""
    for number in nvim.api.list_bufs():
        if nvim.api.buf_get_name(number) == name:
            return int(number.number)
    raise AssertionError(f"no buffer {name}")


LAYOUT = """
local rows = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)):gsub('^acp://', '')
  rows[#rows + 1] = { name, vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
end
return rows
"""


def layout(nvim: Neovim) -> list[tuple[str, int, int]]:
    """Return name, width and height of the windows of this tab page, in their order."""
    return [(name, width, height) for name, width, height in nvim.lua(LAYOUT)]


def focus(nvim: Neovim) -> str:
    """Return the name of the current buffer."""
    return str(nvim.api.buf_get_name(0))


TRANSCRIPT, PROMPT = "acp://claude/1", "acp://claude/1/prompt"


def go_to_transcript(nvim: Neovim) -> None:
    """Leave Insert mode, in which a chat is opened, and go to the transcript."""
    nvim.keys("<Esc>")
    window = nvim.funcs.bufwinid(buffer(nvim, TRANSCRIPT))
    nvim.api.set_current_win(window)
