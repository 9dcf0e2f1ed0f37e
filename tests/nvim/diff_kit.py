"""A chat whose agent asks about changes of files, and what the user's screen was before and is after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.cases.kit import END, Chat, Stage, ask, diff
from tests.plugin import Screen, StartScreen, eventually

OLD = '''"""Dates as the calendar has them."""

MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year):
    return year % 4 == 0


def days_in(year, month):
    return MONTHS[month - 1]


def parse(text):
    year, month, day = text.split("-")
    return int(year), int(month), int(day)


def show(date):
    return "-".join(map(str, date))
'''
LEAP = "    return year % 4 == 0\n"
NEW = OLD.replace(LEAP, "    if year % 100 == 0:\n        return year % 400 == 0\n" + LEAP)
PATH = "src/date.py"
OPTIONS = [
    {"optionId": "ok", "name": "Yes", "kind": "allow_once"},
    {"optionId": "all", "name": "Yes, allow all edits this session", "kind": "allow_always"},
    {"optionId": "no", "name": "No, tell claude what to do instead", "kind": "reject_once"},
]
OPEN = "q keeps open"
"""In the footer of a chooser that stands beside a diff."""

# A user whose windows would show it if anything was left over: at the end of the file, scrolled, with folds.
LIVED_IN = """
vim.o.number = true
vim.o.cursorline = true
vim.o.foldcolumn = '1'
"""

SNAPSHOT = """
local api = vim.api
local names = {}
for name, info in pairs(api.nvim_get_all_options_info()) do
  if info.scope == 'win' then table.insert(names, name) end
end
local wins = {}
for _, tab in ipairs(api.nvim_list_tabpages()) do
  for _, win in ipairs(api.nvim_tabpage_list_wins(tab)) do
    if api.nvim_win_get_config(win).relative == '' then
      local options = {}
      for _, name in ipairs(names) do
        options[name] = api.nvim_get_option_value(name, { win = win, scope = 'local' })
      end
      wins[tostring(win)] = {
        buf = api.nvim_buf_get_name(api.nvim_win_get_buf(win)),
        size = { api.nvim_win_get_width(win), api.nvim_win_get_height(win) },
        view = api.nvim_win_call(win, vim.fn.winsaveview),
        options = options,
      }
    end
  end
end
local buffers = {}
for _, buf in ipairs(api.nvim_list_bufs()) do
  local listed = vim.bo[buf].buflisted
  table.insert(buffers, { api.nvim_buf_get_name(buf), listed, vim.bo[buf].modified })
end
return {
  wins = wins,
  buffers = buffers,
  tab = api.nvim_get_current_tabpage(),
  tabs = #api.nvim_list_tabpages(),
  win = api.nvim_get_current_win(),
  mode = api.nvim_get_mode().mode,
  cwd = vim.fn.getcwd(),
  globals = {
    vim.o.scrollopt, vim.o.diffopt, vim.o.switchbuf, vim.o.equalalways, vim.o.splitright, vim.o.winbar,
    vim.go.number, vim.go.wrap, vim.go.foldmethod, vim.fn.getreg('#'),
  },
}
"""


@dataclass(frozen=True)
class Desk:
    """One chat, with the cursor in its prompt; the file is open in the window beside it."""

    screen: Screen
    agent: ScriptedAgent
    chat: Chat
    cwd: Path

    def snapshot(self) -> Json:
        """All that a diff must leave as it was."""
        return dict(self.screen.lua(SNAPSHOT))

    def go(self) -> None:
        self.chat.send()

    def wait_diff(self) -> str:
        """Wait until the diff and its chooser are on the screen, and the chooser listens."""
        text = self.screen.wait(OPEN)
        self.wait_listening()
        return text

    def wait_listening(self) -> None:
        """Wait until a chooser takes keys."""
        eventually(
            lambda: self.screen.funcs.maparg("?", "n", False, True).get("desc"),
            message=lambda: f"still deaf\n{self.screen.text()}",
        )

    def card_lines(self) -> list[str]:
        return list(
            self.screen.lua(
                "local card = require('acp.question.card').get()"
                " return vim.api.nvim_buf_get_lines(card.buf, 0, -1, false)"
            )
        )

    def covered(self) -> int:
        """Rows of the screen that the card takes, with its border."""
        height = "return vim.api.nvim_win_get_height(require('acp.question.card').get().win) + 2"
        return int(self.screen.lua(height))

    def wait_closed(self) -> None:
        """Wait until nothing of a diff is left."""

        def gone() -> bool:
            names = self.screen.lua("return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())")
            return not any("/diff/" in name for name in names) and self.tabs() == 1

        eventually(gone, message=lambda: f"the diff is still there\n{self.screen.text()}")

    def tabs(self) -> int:
        return len(self.screen.api.list_tabpages())

    def windows(self) -> list[tuple[str, int]]:
        """Name and id of the windows of this tab page that are no floats, from left or top."""
        code = """
        local found = {}
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
          if vim.api.nvim_win_get_config(win).relative == '' then
            found[#found + 1] = { vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), win }
          end
        end
        return found
        """
        return [(name, win) for name, win in self.screen.lua(code)]

    def lines_of(self, win: int) -> list[str]:
        return self.screen.lines(self.screen.api.win_get_buf(win))

    def diffs(self, win: int) -> list[str]:
        """For each line of a window, its group in diff mode, or ''."""
        code = """
        return vim.api.nvim_win_call(..., function()
          local found = {}
          for row = 1, vim.fn.line('$') do
            found[row] = vim.fn.synIDattr(vim.fn.diff_hlID(row, 1), 'name')
          end
          return found
        end)
        """
        return list(self.screen.lua(code, win))

    def bar(self, win: int) -> str:
        """The winbar of a window as it is drawn, with single blanks."""
        code = """
        local win = ...
        local bar = vim.api.nvim_get_option_value('winbar', { win = win, scope = 'local' })
        return vim.api.nvim_eval_statusline(bar, { winid = win, use_winbar = true, maxwidth = 120 }).str
        """
        return " ".join(str(self.screen.lua(code, win)).split())

    def pending(self) -> int:
        return int(self.chat.status()["pending"])

    def answers(self) -> list[Json]:
        return [message["result"]["outcome"] for message in self.agent.responses(1)]

    def wait_answer(self, option: str | None) -> None:
        """Wait until the agent has its answer; None: cancelled."""
        outcome = self.agent.response(1)["result"]["outcome"]
        wanted: Json = (
            {"outcome": "cancelled"} if option is None else {"outcome": "selected", "optionId": option}
        )
        assert outcome == wanted
        assert len(self.agent.responses(1)) == 1


def edit(old: str | None = OLD, new: str = NEW, path: str = PATH, *, call: str = "t1", **fields: Any) -> Json:
    """A tool call that changes a file."""
    content = [diff(f"$cwd/{path}", old, new)]
    return {"toolCallId": call, "title": f"Edit {path}", "kind": "edit", "content": content, **fields}


def question(tool_call: Mapping[str, Any], ident: int = 1) -> list[Json]:
    """The actions of a turn that asks, and ends when it has its answer."""
    return [ask(ident, tool_call, OPTIONS), {"await": ident}, END]


def desk(
    start_screen: StartScreen,
    agent: MakeAgent,
    actions: Sequence[Any],
    folder: Path,
    *,
    size: tuple[int, int] = (120, 30),
    files: Mapping[str, str | bytes] | None = None,
    opened: Sequence[str] = (PATH,),
    settings: Mapping[str, Any] | None = None,
    init: str = "",
    on: Mapping[str, Any] | None = None,
) -> Desk:
    """Start it. ``files`` are written beside the usual one; ``opened`` are on the command line."""
    cwd = folder / "ws"
    for name, content in {PATH: OLD, **(files or {})}.items():
        place = cwd / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    played = agent(on={"session/prompt": actions, **(on or {})})
    screen = start_screen(size=size, cwd=cwd, files=tuple(opened), init=init)
    stage = Stage(screen, settings or {})
    stage.setup(claude=played)
    chat = stage.open(played, "claude")
    chat.wait_state("idle")
    screen.command("stopinsert")
    eventually(lambda: screen.api.get_mode()["mode"] == "n")
    return Desk(screen, played, chat, cwd)


def used(made: Desk) -> dict[str, Any]:
    """Let the user have been somewhere in the file, then look at the screen."""
    code = made.windows()[0][1]
    made.screen.lua(
        "vim.api.nvim_win_call(..., function()"
        " if vim.wo.foldmethod == 'manual' then vim.cmd('14,16fold') end"
        " vim.cmd('normal! G$') vim.fn.winrestview({ topline = 5 }) end)",
        code,
    )
    return made.snapshot()


def restored(made: Desk, before: dict[str, Any], *, views: bool = True) -> None:
    """All as before, but for the transcript: it has got on.

    ``views`` False: a tab page of the user was there for a while, and its tab line scrolls windows.
    """
    made.wait_closed()
    eventually(lambda: made.screen.api.get_mode()["mode"] == before["mode"])
    after, before = made.snapshot(), deepcopy(before)
    for one in (before, after):
        for window in one["wins"].values():
            if window["buf"] == "acp://claude/1" or not views:
                del window["view"]
    assert after == before


MakeDesk = Callable[..., Desk]
