--- One window of a diff. The user's own buffer in it keeps nothing of it: options and cursor of the window
--- are put back before it closes, because Neovim remembers them for the buffer.
local M = {}

local api = vim.api
local set = require('acp.window').set

---@class acp.DiffSide
---@field what string first word of the winbar
---@field path string of the file, absolute
---@field shown string
---@field source 'text'|'buffer'
---@field notes {[1]: string, [2]: string}[]
---@field syntax 'file'|'diff'|'none'
---@field group string highlight group of the whole text
---@field ends 'unix'|'dos'|'mac'
---@field hidden [integer, integer, string][] what is not seen in the lines: row, byte, what stands for it
---@field lines string[] none where the buffer is the user's
---@field buf integer
---@field win integer
---@field tabstop? integer as in the user's half
---@field own boolean the buffer is the user's
---@field before? {options: table<string, any>, cursor: integer[], mark: integer[]}

-- What is set here, by us or by 'diff'.
local touched = {
  'cursorbind',
  'diff',
  'foldcolumn',
  'foldenable',
  'foldlevel',
  'foldmethod',
  'number',
  'relativenumber',
  'scrollbind',
  'winbar',
  'winfixbuf',
  'wrap',
}

-- What 'diff' sets: a file type plugin of the user's may not take that away.
local bound =
  { 'cursorbind', 'diff', 'foldcolumn', 'foldenable', 'foldlevel', 'foldmethod', 'scrollbind', 'wrap' }

---A language server must not take a proposal for a file.
---@param buf integer
local function keep_servers_away(buf)
  api.nvim_create_autocmd('LspAttach', {
    buffer = buf,
    callback = function(args)
      vim.schedule(function()
        pcall(vim.lsp.buf_detach_client, buf, args.data.client_id)
      end)
    end,
  })
end

local ns = api.nvim_create_namespace('acp.diff')

---Show what hides in the text, which has to stay as it is to be compared. Neovim makes a part of it visible
---by itself, another part in each version.
---@param buf integer
---@param hidden [integer, integer, string][]
local function reveal(buf, hidden)
  for _, each in ipairs(hidden) do
    local row, col, shown = each[1], each[2], each[3]
    local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
    local char = line:sub(col + 1, col + vim.str_utf_end(line, col + 1) + 1)
    if vim.fn.strtrans(char) == char then
      local mark = { virt_text = { { shown, 'SpecialKey' } }, virt_text_pos = 'inline' }
      api.nvim_buf_set_extmark(buf, ns, row, col, mark)
    end
  end
end

---The buffer of a side: the user's if the file is loaded, else one of ours that cannot be changed.
---@param side acp.DiffSide
---@param name string
---@param view acp.DiffView
function M.make_buffer(side, name, view)
  local loaded = side.source == 'buffer' and require('acp.buffers.files').find(side.path)
  side.own = loaded and true or false
  if loaded then
    side.buf = loaded
    return
  end
  local lines = side.lines
  if side.source == 'buffer' and vim.fn.filereadable(side.path) == 1 then
    lines = vim.fn.readfile(side.path) -- it was unloaded a moment ago
  end
  local buf = api.nvim_create_buf(false, true)
  side.buf = buf
  vim.b[buf].acp_chat, vim.b[buf].acp_question = view.chat, view.question
  local function option(key, value)
    api.nvim_set_option_value(key, value, { buf = buf })
  end
  option('bufhidden', 'wipe')
  option('swapfile', false)
  option('modeline', false)
  option('undolevels', -1)
  pcall(api.nvim_buf_set_name, buf, name)
  local function fill()
    option('modifiable', true)
    api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    option('fileformat', side.ends)
    option('modified', false)
    option('modifiable', false)
    reveal(buf, lines == side.lines and side.hidden or {})
    if side.group ~= '' then
      local mark = { end_row = #lines, end_col = 0, hl_group = side.group, strict = false }
      api.nvim_buf_set_extmark(buf, ns, 0, 0, mark)
    end
  end
  fill()
  api.nvim_create_autocmd('BufReadCmd', { buffer = buf, callback = fill }) -- `:edit`
  keep_servers_away(buf)
end

---Colours as for the file. Only when the buffer is in its window: what the user does with a file type may set
---options of it.
---
---Without Neovim's own file type plugins: they are for editing, and may take their time (that of Python looks
---for an interpreter). Without the words of `diff` in twenty languages, which take 50 ms.
---@param side acp.DiffSide
function M.set_filetype(side)
  local there = api.nvim_buf_is_loaded(side.buf) and api.nvim_win_is_valid(side.win)
  if side.own or side.syntax == 'none' or not there or api.nvim_win_get_buf(side.win) ~= side.buf then
    return
  end
  local kind = 'diff'
  if side.syntax == 'file' then
    kind = vim.filetype.match({ filename = side.path, buf = side.buf }) or ''
  end
  if kind:match('^[%w_.-]+$') then
    -- A file type plugin may fail (Markdown's without its parser, 0.12): then the diff has no colours.
    -- `silent!`, because an error in an autocommand cannot be caught and would ask for <Enter>.
    vim.b[side.buf].did_ftplugin = 1
    local translations, options = vim.g.diff_translations, {}
    vim.g.diff_translations = 0
    for _, name in ipairs(bound) do
      options[name] = api.nvim_get_option_value(name, { win = side.win, scope = 'local' })
    end
    api.nvim_win_call(side.win, function()
      vim.cmd('silent! setlocal filetype=' .. kind)
    end)
    vim.g.diff_translations = translations
    if not api.nvim_win_is_valid(side.win) or not api.nvim_buf_is_valid(side.buf) then
      return
    end
    for name, value in pairs(options.diff and options or {}) do
      if api.nvim_get_option_value(name, { win = side.win, scope = 'local' }) ~= value then
        set(side.win, { [name] = value })
      end
    end
    vim.bo[side.buf].tabstop = side.tabstop or vim.bo[side.buf].tabstop
    vim.bo[side.buf].modifiable = false
  end
end

---Take the window over: note what the user's buffer had in it, then dress it.
---@param side acp.DiffSide
---@param numbers boolean
function M.dress(side, numbers)
  local win = side.win
  local options = {}
  for _, name in ipairs(touched) do
    options[name] = api.nvim_get_option_value(name, { win = win, scope = 'local' })
  end
  side.before = {
    options = options,
    cursor = api.nvim_win_get_cursor(win),
    mark = api.nvim_buf_get_mark(side.buf, '"'),
  }
  vim.w[win].acp_diff = true
  require('acp.chat.bars').keep()
  set(win, {
    winbar = require('acp.diff.bar').WINBAR,
    winfixbuf = true,
    number = numbers,
    relativenumber = false,
    wrap = side.syntax ~= 'diff' and options.wrap,
  })
end

---Put a window back to what Neovim gave it. Also for windows the user has split from ours.
---@param win integer
---@param options table<string, any>
local function undress(win, options)
  if api.nvim_get_option_value('diff', { win = win }) then
    api.nvim_win_call(win, function()
      vim.cmd('diffoff')
    end)
  end
  vim.w[win].acp_diff = nil
  require('acp.window').restore(win, options)
end

---The window is about to close, or has another buffer now.
---@param side acp.DiffSide
function M.leave(side)
  local before, win = side.before, side.win
  side.before = nil
  if not before or not api.nvim_win_is_valid(win) then
    return
  end
  undress(win, before.options)
  if side.own and api.nvim_buf_is_valid(side.buf) and api.nvim_win_get_buf(win) == side.buf then
    pcall(api.nvim_win_set_cursor, win, before.cursor)
  end
end

---What closing the windows has made of the user's buffer.
---@param side acp.DiffSide
---@param mark integer[] where its last cursor was
function M.restore_mark(side, mark)
  if side.own and mark[1] > 0 and api.nvim_buf_is_loaded(side.buf) then
    pcall(api.nvim_buf_set_mark, side.buf, '"', mark[1], mark[2], {})
  end
end

---Windows of a tab page that were split from ours lose what they got from there.
---@param tab integer
---@param sides acp.DiffSide[]
function M.clean_copies(tab, sides)
  if not api.nvim_tabpage_is_valid(tab) then
    return
  end
  local own = {}
  for _, side in ipairs(sides) do
    own[side.win] = true
  end
  for _, win in ipairs(api.nvim_tabpage_list_wins(tab)) do
    local bar = api.nvim_get_option_value('winbar', { win = win, scope = 'local' })
    if not own[win] and bar == require('acp.diff.bar').WINBAR then
      local options = {}
      for _, name in ipairs(touched) do
        options[name] = api.nvim_get_option_value(name, { scope = 'global' })
      end
      undress(win, options)
    end
  end
end

return M
