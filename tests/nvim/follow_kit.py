"""Follow in a real Neovim: with a stub for the host (what Lua does by itself), or with the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.nvim.stub import AGENT, INIT
from tests.plugin import Screen, StartScreen, eventually

EVENTS = """
_G.visits = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'AcpFollow',
  callback = function(args) table.insert(_G.visits, args.data) end,
})
"""
NO_HOST = INIT + AGENT + EVENTS


def project(folder: Path, *names: str, lines: int = 200) -> Path:
    """A folder with files of numbered lines."""
    for name in names or ("a.py", "b.py", "c.py"):
        (folder / name).write_text("".join(f"{name} line {n}\n" for n in range(1, lines + 1)))
    return folder


def normal(screen: Screen) -> None:
    """Leave Insert mode: in the prompt the chat begins with it."""
    eventually(lambda: screen.api.get_mode()["mode"] == "i")
    screen.keys("<Esc>")
    eventually(lambda: screen.api.get_mode()["mode"] == "n")


def code_and_chat(
    start_screen: StartScreen, folder: Path, *, on: bool = True, init: str = "", **options: Any
) -> Screen:
    """``a.py`` at the left, the chat at the right with the cursor in its prompt; a stub for the host."""
    options = {"size": (140, 30), "files": ("a.py",), **options}
    screen = start_screen(init=NO_HOST + init, cwd=folder, **options)
    screen.command("AcpChat")
    normal(screen)
    if on:
        screen.command("AcpFollow on")
    return screen


def visit(
    screen: Screen, path: Path | str, line: int | None = None, verb: str = "edit", chat: int = 1
) -> None:
    """Say where the agent works, as the host does."""
    place = {"chat": chat, "path": str(path), "verb": verb, "label": "claude"}
    if line is not None:
        place["line"] = line
    screen.lua("require('acp.follow').visit(...)", place)


WINDOWS = """
local rows = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local buf = vim.api.nvim_win_get_buf(win)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':t')
  rows[#rows + 1] = { win, name, vim.api.nvim_win_get_cursor(win)[1] }
end
return rows
"""


def windows(screen: Screen) -> list[tuple[str, int]]:
    """File name and cursor line of the windows of this tab page but for the chat's."""
    chat = {"1", "2", "prompt"}
    return [(name, line) for _, name, line in screen.lua(WINDOWS) if name not in chat]


def shows(screen: Screen, name: str, line: int) -> None:
    """Wait until some window has its cursor there."""
    eventually(
        lambda: (name, line) in windows(screen),
        message=lambda: f"not at {name}:{line}: {windows(screen)}\n{screen.text()}\n{screen.messages()}",
    )


MARKS = """
local found = {}
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  for _, name in ipairs({ 'acp.follow', 'acp.follow.flash' }) do
    local ns = vim.api.nvim_create_namespace(name)
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })) do
      local d = mark[4]
      local text = ''
      for _, chunk in ipairs(d.virt_text or {}) do text = text .. chunk[1] end
      found[#found + 1] = {
        name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':t'),
        line = mark[2] + 1,
        sign = vim.trim(d.sign_text or ''),
        number = d.number_hl_group or '',
        text = text,
        flash = d.line_hl_group or '',
      }
    end
  end
end
return found
"""


def marks(screen: Screen, *, flash: bool = False) -> list[dict[str, Any]]:
    """The marks there are, or the lines that are lit up."""
    found = [dict(mark) for mark in screen.lua(MARKS)]
    return [mark for mark in found if bool(mark["flash"]) == flash]


def winbar(screen: Screen, chat: int = 1) -> str:
    """The winbar of a chat with its groups."""
    return str(screen.lua("return require('acp.chat.winbar').render(..., 200)", chat))


def window_of(screen: Screen, name: str) -> int:
    """The first window that shows a file of this name."""
    return next(int(win) for win, shown, _ in screen.lua(WINDOWS) if shown == name)
