"""Other plugins, by what they do: statuslines, pickers, names of keys, treesitter on the transcript."""

from __future__ import annotations

import pytest
from tests.nvim.stub import (
    AGENT,
    INIT,
    PROMPT,
    TRANSCRIPT,
    buffer,
    events,
    focus,
    frame,
    go_to_transcript,
    update,
)
from tests.plugin import Neovim, StartNvim, StartScreen, eventually

OPTIONS = [
    {"id": "mode", "name": "Mode", "type": "select", "category": "mode", "value": "ask", "label": "Ask",
     "choices": [{"value": "ask", "name": "Ask"}, {"value": "plan", "name": "Plan", "group": "more"}]},
    {"id": "web", "name": "Web", "type": "boolean", "value": True},
]  # fmt: skip

PICKERS = r"""
-- telescope-ui-select: changes the table it is given, formats at once, calls back later, once.
-- snacks.picker: indexes an item, which may be a table, and formats with what it was given.
-- fzf-lua: matches its own text again, calls back with the item and its number.
_G.seen = {}
local function strict(items, opts, on_choice)
  assert(vim.islist(items) and #items > 0, 'no list of items')
  assert(type(on_choice) == 'function', 'nothing to call back')
  assert(type(opts.prompt) == 'string' and opts.prompt ~= '', 'no prompt')
  assert(type(opts.kind) == 'string' and opts.kind:match('^acp_[%l_]+$'), 'no kind of ours')
  local names = {}
  for _, item in ipairs(items) do
    local name = opts.format_item(item)
    assert(type(name) == 'string' and name ~= '', 'nothing to show of an item')
    table.insert(names, name)
  end
  for _, text in ipairs({ opts.prompt, unpack(names) }) do
    assert(not text:find('[%c\127]'), 'control characters: ' .. vim.inspect(text))
  end
  table.insert(_G.seen, { kind = opts.kind, prompt = opts.prompt, names = names })
  return names
end
local function other_window(choose)
  local win = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true,
    { relative = 'editor', row = 1, col = 1, width = 9, height = 2 })
  vim.schedule(function()
    vim.api.nvim_win_close(win, true)
    choose()
  end)
end
_G.pickers = {
  telescope = function(items, opts, on_choice)
    strict(items, opts, on_choice)
    opts.format_item = opts.format_item or tostring
    on_choice = vim.schedule_wrap(on_choice)
    other_window(function() on_choice(items[_G.pick], _G.pick) end)
  end,
  snacks = function(items, opts, on_choice)
    strict(items, opts, on_choice)
    local entry = setmetatable({}, { __index = type(items[_G.pick]) == 'table' and items[_G.pick] or nil })
    entry.text, entry.item, entry.idx = opts.format_item(items[_G.pick]), items[_G.pick], _G.pick
    other_window(function() vim.schedule(function() on_choice(entry.item, entry.idx) end) end)
  end,
  fzf = function(items, opts, on_choice)
    local names = strict(items, opts, on_choice)
    local line = ('%d. %s'):format(_G.pick, names[_G.pick])
    other_window(function()
      local at = tonumber(line:match('^%s*(%d+)%.'))
      on_choice(items[at], at)
    end)
  end,
  cancelled = function(items, opts, on_choice)
    strict(items, opts, on_choice)
    other_window(function() on_choice(nil, nil) end)
  end,
}
"""


def start(start_nvim: StartNvim, init: str = "") -> Neovim:
    nvim = start_nvim(init=INIT + AGENT + init)
    nvim.command("AcpChat")
    update(nvim, {"state": "idle"})
    return nvim


@pytest.mark.parametrize("picker", ["telescope", "snacks", "fzf", "cancelled"])
def test_lists_in_the_users_picker(start_nvim: StartNvim, picker: str) -> None:
    """Options, older prompts, the queue, rules: what a picker gets, and that what it says back is done."""
    nvim = start(start_nvim, PICKERS + "_G.pick = 2")
    nvim.lua("vim.ui.select = _G.pickers[...]", picker)
    rules = [{"action": "allow", "kind": "read"}, {"action": "ask", "path": "*.md"}]
    nvim.setup(
        {
            "agents": {"claude": {"command": ["sh"]}},
            "default_agent": "claude",
            "permission": {"rules": rules},
        }
    )
    nvim.lua("require('acp.options').update(...)", 1, OPTIONS)
    for text in ("first\nline", "second"):
        nvim.lua("require('acp').send(...)", text)
    nvim.leave_insert()

    for command in ("AcpOptions mode", "AcpHistory", "AcpRules"):
        nvim.command(command)  # which has asked the picker when it returns
        eventually(lambda: nvim.lua("return vim.api.nvim_win_get_config(0).relative") == "")
    shown = nvim.lua("return _G.seen")
    assert [entry["kind"] for entry in shown] == ["acp_option_value", "acp_history", "acp_rules"]
    assert [len(entry["names"]) for entry in shown] == [2, 2, 2]
    chosen = picker != "cancelled"
    eventually(lambda: bool(events(nvim, "option")) == chosen)
    assert any("first" in line for line in nvim.lines(buffer(nvim, PROMPT))) == chosen


def test_what_completes_knows_the_prompt_when_insert_mode_begins(start_screen: StartScreen) -> None:
    """blink.cmp chooses its sources then."""
    listen = """
    _G.entered = {}
    vim.api.nvim_create_autocmd('InsertEnter', {
      callback = function() table.insert(_G.entered, vim.bo.filetype) end,
    })
    """
    screen = start_screen(init=INIT + AGENT + listen)
    screen.keys(":AcpChat<CR>")
    eventually(lambda: screen.lua("return _G.entered") == ["acp-prompt"])


def test_every_key_of_ours_has_a_name(start_nvim: StartNvim) -> None:
    """Plugins that list keys, as which-key, show the description."""
    nvim = start(start_nvim)
    for name in (TRANSCRIPT, PROMPT):
        maps = [entry for mode in "niox" for entry in nvim.api.buf_get_keymap(buffer(nvim, name), mode)]
        assert len(maps) > 15
        assert [entry["lhs"] for entry in maps if not entry.get("desc", "").startswith("acp: ")] == []
    plugs = [entry for mode in "ni" for entry in nvim.api.get_keymap(mode) if "(acp-" in entry["lhs"]]
    assert len(plugs) > 15
    assert [entry["lhs"] for entry in plugs if not entry.get("desc", "").startswith("acp: ")] == []


def test_a_statusline_of_the_user(start_nvim: StartNvim) -> None:
    """As a plain expression, and as the text a component of lualine returns."""
    nvim = start_nvim(init=INIT + AGENT)
    line = "%{%v:lua.require'acp'.statusline()%}"

    def evaluated() -> str:
        return str(nvim.api.eval_statusline(line, {})["str"])

    assert evaluated() == ""
    assert events(nvim, "open") == [], "drawing it starts nothing"
    nvim.command("AcpChat")
    update(nvim, {"state": "idle"})
    assert evaluated() == "claude"
    update(nvim, {"state": "waiting", "pending": 2})
    assert evaluated() == "claude ? 2"
    nvim.lua("vim.o.statusline = ''")
    text = nvim.lua("return require('acp').statusline()")
    assert nvim.api.eval_statusline(text, {})["str"] == "claude ? 2"
    assert nvim.lua("return require('acp').status().pending_all") == 2


WINBARS = """
_G.bars = function(value)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    vim.api.nvim_set_option_value('winbar', value, { win = win, scope = 'local' })
  end
end
_G.bar_of = function(name)
  return vim.wo[vim.fn.bufwinid(vim.fn.bufnr(name == '' and 1 or name))].winbar
end
"""


def test_a_plugin_that_sets_winbars_leaves_the_state_of_the_chat(start_nvim: StartNvim) -> None:
    """As lualine does with its sections for winbars, in each window and from any."""
    nvim = start(start_nvim, WINBARS)
    ours = nvim.lua("return _G.bar_of(...)", TRANSCRIPT)
    assert "acp.chat.winbar" in ours
    for value in ("theirs", ""):
        nvim.lua("_G.bars(...)", value)
        assert nvim.lua("return _G.bar_of(...)", TRANSCRIPT) == ours
        assert nvim.lua("return _G.bar_of('')") == value
    nvim.command("AcpChat!")  # the same windows show another chat
    nvim.lua("_G.bars('theirs')")
    assert nvim.lua("return _G.bar_of(...)", "acp://claude/2") == ours


def test_a_winbar_of_the_users_ftplugin_stays(start_nvim: StartNvim) -> None:
    own = """
    vim.api.nvim_create_autocmd('FileType', { pattern = 'acp-chat', command = 'setlocal winbar=own' })
    """
    nvim = start(start_nvim, WINBARS + own)
    eventually(lambda: nvim.lua("return _G.bar_of(...)", TRANSCRIPT) == "own")
    update(nvim, {"state": "running"})
    assert nvim.lua("return _G.bar_of(...)", TRANSCRIPT) == "own"


RENDERER = """
vim.opt.rtp:append(vim.fn.fnamemodify(vim.v.progpath, ':h:h') .. '/lib/nvim')
_G.there = #vim.api.nvim_get_runtime_file('parser/markdown.so', true) > 0
vim.treesitter.language.register('markdown', 'acp-chat')
vim.api.nvim_create_autocmd('FileType', {
  pattern = 'acp-chat',
  callback = function(args)
    if _G.there then vim.treesitter.start(args.buf, 'markdown') end
    local ns = vim.api.nvim_create_namespace('renderer')
    vim.api.nvim_buf_attach(args.buf, false, {
      on_lines = vim.schedule_wrap(function(_, buf)
        vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
        for row, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
          local first, last = line:find('%*%*')
          if first then
            vim.api.nvim_buf_set_extmark(buf, ns, row - 1, first - 1, { end_col = last, conceal = '' })
            vim.api.nvim_buf_set_extmark(buf, ns, row - 1, 0, { virt_lines = { { { '----' } } } })
          end
        end
      end),
    })
    vim.opt_local.conceallevel = 2
  end,
})
"""
"""What plugins that render Markdown do when they are told to take the transcript."""


def test_the_transcript_stays_right_under_a_plugin_that_renders_markdown(start_nvim: StartNvim) -> None:
    nvim = start(start_nvim, RENDERER)
    transcript = buffer(nvim, TRANSCRIPT)
    frame(nvim, 1, ["**bold** and `code`", "```lua", "return 1"])
    frame(nvim, 2, ["✓ run    x", "  │ out"], folds=[[0, 1, True]])
    frame(nvim, 1, ["**bold** and `code`", "```lua", "return 1", "```", "# more"])
    frame(nvim, 3, ["| a | b |", "**end**"])
    wanted = [
        "**bold** and `code`",
        "```lua",
        "return 1",
        "```",
        "# more",
        "✓ run    x",
        "  │ out",
        "| a | b |",
        "**end**",
    ]
    eventually(
        lambda: nvim.lines(transcript)[-len(wanted) :] == wanted, message=lambda: str(nvim.lines(transcript))
    )
    go_to_transcript(nvim)
    nvim.keys("gg")
    nvim.command("checkhealth acp")
    report = "\n".join(nvim.lines())
    assert "chat 1 has 'conceallevel' 2: parts of it are hidden" in report
    assert ("chat 1 has a treesitter highlighter" in report) == nvim.lua("return _G.there")


def test_a_filetype_autocommand_that_fails_keeps_no_chat_away(start_nvim: StartNvim) -> None:
    """As in a configuration that starts treesitter for each filetype, also where there is no parser."""
    careless = (
        "vim.api.nvim_create_autocmd('FileType', { callback = function() error('no parser for it') end })"
    )
    nvim = start(start_nvim, careless)
    assert focus(nvim) == PROMPT
    assert len(events(nvim, "open")) == 1
    for name, filetype in ((TRANSCRIPT, "acp-chat"), (PROMPT, "acp-prompt")):
        assert nvim.api.get_option_value("filetype", {"buf": buffer(nvim, name)}) == filetype
    log = nvim.lua("return require('acp.message').log")
    told = [entry for entry in log if "FileType" in entry["text"]]
    wanted = [f"a FileType autocommand fails for {name}" for name in ("acp-chat", "acp-prompt")]
    assert sorted(entry["text"].split(";")[0] for entry in told) == wanted
    assert all("no parser for it" in entry["details"][0] for entry in told)
    nvim.command("AcpSessions")
    assert nvim.api.get_option_value("filetype", {}) == "acp-sessions"
