"""Look at all that Neovim shows or hands out, and find what could do harm there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.nvim.cases.kit import WATCH
from tests.plugin import Screen

HARMFUL = {
    chr(code)
    for first, last in (
        (0x00, 0x1F),
        (0x7F, 0x9F),
        (0xAD, 0xAD),
        (0x200B, 0x200F),
        (0x2028, 0x202E),
        (0x2060, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xE0000, 0xE007F),
    )
    for code in range(first, last + 1)
}
"""Controls, what turns the direction of writing, and what is not seen."""

TRAP = """
_G.pwned = 0
_G.pwn = function() _G.pwned = _G.pwned + 1 return '' end
vim.cmd('function! Pwn(...) abort\\n let g:pwned = 1\\n return ""\\n endfunction')
vim.o.modeline = true
vim.o.title = true
vim.o.titlestring = "%{luaeval('require([[acp]]).status().title or [[-]]')}"
vim.o.statusline = "%{%v:lua.require'acp'.statusline()%}%{get(b:, 'acp_title', '')}"
_G.told, _G.opened = {}, {}
vim.notify = function(text) table.insert(_G.told, text) end
vim.ui.open = function(text) table.insert(_G.opened, text) end
vim.ui.input = function(opts, done) table.insert(_G.told, opts.prompt or '') done(nil) end
"""
"""A user's settings that hand out what they can, with traps that code of an agent would spring."""

PICKER = """
vim.ui.select = function(items, opts, on_choice)
  table.insert(_G.told, opts.prompt or '')
  for _, item in ipairs(items) do
    table.insert(_G.told, (opts.format_item or tostring)(item))
  end
  vim.schedule(function() on_choice(nil) end)
end
"""
"""A picker of the user's that closes at once."""

LOOK = """
local api, found = vim.api, {}
local function add(where, text)
  if type(text) == 'string' then
    found[#found + 1] = { where, text }
  elseif type(text) == 'table' then
    for key, part in pairs(text) do
      add(where, part)
      if type(key) == 'string' then
        add(where, key)
      end
    end
  end
end
for _, buf in ipairs(api.nvim_list_bufs()) do
  local name = api.nvim_buf_get_name(buf)
  local where = 'buffer ' .. vim.fn.strtrans(name):gsub('done.*', ''):gsub('%d+/done', '')
  if vim.bo[buf].buftype ~= '' then
    add(where .. ' name', name)
  end
  if api.nvim_buf_is_loaded(buf) then
    -- A diff is of texts as they are: what counts is how they look on the screen.
    add(where, name:find('^acp://[^/]*/%d*/diff/') and {} or api.nvim_buf_get_lines(buf, 0, -1, false))
    for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, -1, 0, -1, { details = true })) do
      local what = mark[4]
      add(where .. ' mark', { what.virt_text or {}, what.virt_lines or {} })
      add(where .. ' mark', { what.sign_text or '', what.url or '', what.conceal or '' })
    end
    for key, value in pairs(vim.fn.getbufvar(buf, '')) do
      if key:find('^acp') and key ~= 'acp_session' then
        add(where .. ' b:' .. key, value)
      end
    end
    if vim.bo[buf].tabstop == 77 then
      found[#found + 1] = { where, 'a modeline was obeyed: \\0' }
    end
  end
end
local function evaluated(where, expr, opts)
  if expr ~= '' then
    local ok, got = pcall(api.nvim_eval_statusline, expr, vim.tbl_extend('force', { maxwidth = 400 }, opts))
    add(where, ok and got.str or ('\\0 ' .. tostring(got)))
  end
end
for _, win in ipairs(api.nvim_list_wins()) do
  local where = ('window %d'):format(win)
  local config = api.nvim_win_get_config(win)
  add(where .. ' title', { config.title or '', config.footer or '' })
  evaluated(where .. ' winbar', vim.wo[win].winbar, { winid = win, use_winbar = true })
  evaluated(where .. ' statusline', vim.wo[win].statusline, { winid = win })
  api.nvim_win_call(win, function()
    local line = 1
    while line <= vim.fn.line('$') do
      local last = vim.fn.foldclosedend(line)
      if last > 0 then
        add(where .. ' fold', vim.fn.foldtextresult(line))
        line = last
      end
      line = line + 1
    end
    add(where .. ' locations', vim.fn.getloclist(0, { all = 0 }))
  end)
end
evaluated('tabline', vim.o.tabline, {})
add('quickfix', vim.fn.getqflist({ all = 0 }))
add('messages', vim.split(api.nvim_exec2('messages', { output = true }).output, '\\n'))
add('errors', { vim.v.errmsg, vim.v.warningmsg, vim.v.statusmsg })
add('told', _G.told)
add('opened', _G.opened)
for _, one in ipairs(_G.seen) do
  local data = vim.deepcopy(one[2] or {})
  data.id, data.session, data.option, data.paths, data.path = nil, nil, nil, nil, nil
  for _, option in ipairs(data.options or {}) do
    option.id = nil
  end
  add('event ' .. one[1], data)
end
local status = vim.deepcopy(require('acp').status())
status.session = nil
add('status()', status)
evaluated('statusline()', require('acp').statusline(), {})
if require('acp').winbar then
  evaluated('winbar()', require('acp').winbar(), {})
end
return found
"""
"""Pairs of a place and a text there. Ids go back to who gave them, and must stay what they are."""


FAULTS = """
return vim.tbl_filter(function(said) return said.text:find('^error in ') end, require('acp.message').log)
"""


REVEALED = re.compile(r"<U\+([0-9A-F]{4,5})>(.)")


def revealed(match: re.Match[str]) -> str:
    """What is not seen does no harm with its mark before it."""
    return "" if match[2] == chr(int(match[1], 16)) else match[0]


class Looker:
    """Looks again and again; what it found is kept."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.harm: dict[str, str] = {}
        self.seen = 0
        self._titles: list[str] = []
        setattr(screen, "_on_set_title", self._titles.append)  # noqa: B010

    def look(self, when: str) -> None:
        """Look at everything; ``when`` says what was just done."""
        self._find(when, self.screen.lua(LOOK))
        self._find(when, (("screen", REVEALED.sub(revealed, row)) for row in self.screen.rows()))
        self._find(when, (("title", title) for title in self._titles))
        self._titles.clear()

    def texts(self, when: str, texts: Iterable[str]) -> None:
        """Look at these texts."""
        self._find(when, ((when, text) for text in texts))

    def _find(self, when: str, places: Iterable[tuple[str, str]]) -> None:
        for where, text in places:
            self.seen += "52;c" in text
            bad = sorted(HARMFUL & set(text))
            if bad:
                self.harm.setdefault(f"{when}: {where}: {bad}", text[:300])

    def assert_harmless(self) -> None:
        """Nothing that was looked at could do harm, and nothing was run."""
        found = {where.partition(": ")[2]: f"{where}: {text!r}"[:700] for where, text in self.harm.items()}
        assert not found, "\n".join(list(found.values())[:20])
        assert self.screen.lua("return _G.pwned") == 0, "code of the agent was run"
        assert self.screen.lua("return vim.g.pwned == nil")
        assert not (self.screen.cwd / "pwned").exists(), "a shell ran a command of the agent"
        assert self.screen.lua(FAULTS) == [], "what the agent said was too much for us"
        assert self.seen > 100, "the poison has to be somewhere"


def settings(*more: str) -> str:
    """Lua for ``Options.init``."""
    return "\n".join((WATCH, TRAP, *more))
