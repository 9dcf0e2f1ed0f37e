--- What a key of the chat shows beside it: a file, the details of a block, the prompts, the keys.
local M = {}

local api = vim.api

---Open a file in a code window of this tab page and go there.
---@param path string
---@param line? integer from 1
function M.file(path, line)
  local buf = vim.fn.bufadd(path)
  local win
  for _, other in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(other) == buf and not vim.w[other].acp_pair then
      win = other
    end
  end
  vim.cmd("normal! m'")
  win = win or require('acp.chat.code').window()
  api.nvim_set_current_win(win)
  if api.nvim_win_get_buf(win) ~= buf then
    vim.bo[buf].buflisted = true
    local keep = vim.bo.modified
      and not vim.o.hidden
      and vim.bo.bufhidden == ''
      and #vim.fn.win_findbuf(0) < 2
    vim.cmd((keep and 'sbuffer ' or 'buffer ') .. buf)
  end
  if line then
    local last = api.nvim_buf_line_count(0)
    api.nvim_win_set_cursor(0, { math.min(math.max(line, 1), last), 0 })
    vim.cmd('normal! zvzz')
  end
end

---Give a float a name in the statusline, where there is one for all windows. Anywhere else 0.12 would show it
---inside the float.
---@param win integer
---@param name string
function M.name_float(win, name)
  if vim.o.laststatus == 3 then
    local text = ' acp: ' .. name:gsub('%%', '%%%%')
    api.nvim_set_option_value('statusline', text, { win = win, scope = 'local' })
  end
end

---@class acp.FloatOpts
---@field centre? boolean in the middle of the screen; default: at the cursor
---@field enter? boolean with the focus, until it is closed
---@field footer? string what closes it
---@field hang? integer cells by which what does not fit into a line is indented
---@field keys? string[] that close it, beside `q` and `<Esc>`
---@field long? string[] keys that enter it instead, if its text does not fit

---@return string|string[]|nil
local function border()
  local wanted = vim.fn.exists('+winborder') == 1 and vim.o.winborder or ''
  if wanted == 'none' or wanted == 'shadow' then
    return 'solid' -- title and footer need a place
  end
  if wanted ~= '' then
    return nil -- as the user wants it
  end
  return require('acp.icons').kind() == 'ascii' and { '+', '-', '+', '|', '+', '-', '+', '|' } or 'rounded'
end

---Close a float when the user goes on with something else.
---@param win integer
---@param close fun()
local function close_when_left(win, close)
  api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'InsertEnter', 'WinScrolled', 'BufLeave' }, {
    callback = function(args)
      if not api.nvim_win_is_valid(win) then
        return true
      end
      if args.event == 'WinScrolled' and tonumber(args.match) == win then
        return
      end
      if api.nvim_get_current_win() == win then
        return
      end
      vim.schedule(function()
        if api.nvim_get_current_win() ~= win then
          close()
        end
      end)
      return true
    end,
  })
end

---A float with text. Its keys close it wherever the cursor is: as long as it is open they are taken from the
---buffer below. Without the focus it also goes when the cursor moves on.
---@param lines string[]
---@param title string
---@param opts? acp.FloatOpts
---@return integer win, integer buf
function M.float(lines, title, opts)
  opts = opts or {}
  local below = api.nvim_get_current_buf()
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  local footer = opts.footer or 'q closes'
  local enter = opts.long and opts.long[1] and ('%s reads on, %s'):format(opts.long[1], footer)
  local widest = vim.fn.strdisplaywidth(title) + 2
  for _, line in ipairs(vim.list_extend({ '  ' .. (enter or footer) }, lines)) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  local width = math.max(10, math.min(widest, vim.o.columns - 4))
  local limit = math.max(1, math.floor(vim.o.lines * 0.7))
  local win = api.nvim_open_win(buf, opts.enter or false, {
    relative = opts.centre and 'editor' or 'cursor',
    row = 1,
    col = opts.centre and math.max(0, math.floor((vim.o.columns - width) / 2) - 1) or 0,
    width = width,
    height = 1,
    style = 'minimal',
    border = border(),
    title = ' ' .. title .. ' ',
  })
  local set = require('acp.window').set
  set(win, { wrap = true })
  if opts.hang then
    set(win, { linebreak = true, breakindent = true, breakindentopt = 'shift:' .. opts.hang })
  end
  M.name_float(win, title)
  local rows = api.nvim_win_text_height(win, {}).all
  local long = rows > limit
  local config = { height = math.min(rows, limit), footer_pos = 'right' }
  config.footer = (' %s '):format(long and enter or footer)
  local below_cursor = vim.o.lines - vim.o.cmdheight - 1 - vim.fn.screenrow()
  if opts.centre then
    config.relative, config.col = 'editor', math.max(0, math.floor((vim.o.columns - width) / 2) - 1)
    config.row = math.max(0, math.floor((vim.o.lines - config.height) / 2) - 2)
  elseif config.height + 2 > below_cursor and vim.fn.screenrow() > below_cursor then
    config.relative, config.anchor, config.row, config.col = 'cursor', 'SW', 0, 0
  end
  api.nvim_win_set_config(win, config)

  local function close()
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
  end
  local keys = vim.list_extend({ 'q', '<Esc>' }, opts.keys or {})
  for _, key in ipairs(vim.list_extend(vim.list_slice(keys), opts.long or {})) do
    vim.keymap.set('n', key, close, { buffer = buf, nowait = true, desc = 'acp: close' })
  end
  if opts.enter then
    return win, buf
  end
  local borrow = require('acp.borrow')
  local give_back = {
    borrow.keys(below, { 'n' }, keys, close, 'acp: close'),
    opts.long and borrow.keys(below, { 'n' }, opts.long, not long and close or function()
      api.nvim_set_current_win(win)
    end, 'acp: close, or read on'),
  }
  api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(win),
    once = true,
    callback = function()
      for _, undo in pairs(give_back) do
        undo()
      end
    end,
  })
  -- Scheduled: the key that opened it may still move the cursor.
  vim.schedule(function()
    close_when_left(win, close)
  end)
  return win, buf
end

local asked = {} ---@type {chat: integer?, block: integer?} what the host was asked the details of

---Ask the host for the details of the block under the cursor.
---@param chat acp.Chat
function M.ask_details(chat)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local block = require('acp.chat.transcript').block_at(chat.buf, row)
  if not block then
    return
  end
  asked = { chat = chat.n, block = block.id }
  require('acp.host').event('details', { chat = chat.n, block = block.id, row = block.row })
end

---The host answers. Too late when the user has gone elsewhere.
---@param n integer chat
---@param lines string[]
function M.details(n, lines)
  local chat = require('acp.chat').get(n)
  if not chat or asked.chat ~= n or api.nvim_get_current_buf() ~= chat.buf then
    return
  end
  local block = require('acp.chat.transcript').block_at(chat.buf, api.nvim_win_get_cursor(0)[1] - 1)
  if not block or block.id ~= asked.block or #lines == 0 then
    return
  end
  asked = {}
  M.float(lines, 'details', { long = require('acp.chat.keys').all('transcript', 'details') })
end

---The keys of a buffer in a float.
---@param group 'transcript'|'prompt'|'diff'|'sessions'
---@param rows? {[1]: string, [2]: string}[] default: those of the group in `acp.chat.keys`
function M.keys(group, rows)
  local keys = require('acp.chat.keys')
  local width = 0
  rows = rows or keys.help(group)
  for _, row in ipairs(rows) do
    width = math.max(width, vim.fn.strdisplaywidth(row[1]))
  end
  local lines = {}
  for _, row in ipairs(rows) do
    table.insert(
      lines,
      (' %s%s  %s '):format(row[1], (' '):rep(width - vim.fn.strdisplaywidth(row[1])), row[2])
    )
  end
  local _, buf = M.float(lines, 'keys', { keys = keys.all(group, 'help') })
  local ns = api.nvim_create_namespace('acp.keys')
  for i, row in ipairs(rows) do
    api.nvim_buf_set_extmark(buf, ns, i - 1, 1, { end_col = 1 + #row[1], hl_group = 'AcpKey' })
  end
end

---The prompts of a chat in the location list.
---@param chat acp.Chat
function M.outline(chat)
  local items = {}
  for block in require('acp.chat.transcript').blocks(chat.buf, 'user') do
    local row = block.first + (block.deco.lead or 0)
    local text = api.nvim_buf_get_lines(chat.buf, row, row + 1, false)[1] or ''
    table.insert(items, { bufnr = chat.buf, lnum = row + 1, col = 1, text = text })
  end
  if #items == 0 then
    require('acp.message').info('no prompt was sent in this chat')
    return
  end
  vim.fn.setloclist(0, {}, ' ', { title = 'acp: prompts', items = items })
  vim.cmd('lopen')
end

return M
