--- Terminal buffers: all of a command's output, with its colours, as it comes. The host sends only what may
--- go to a terminal (`text/terminal.py`); what is typed goes nowhere. A buffer is filled anew each time it is
--- opened, so that closing it loses nothing.
local M = {}

local api = vim.api
local set = require('acp.window').set

local SCROLLBACK = 10000 -- lines; each takes some kilobytes of memory while the buffer is open

---@class acp.TerminalInfo
---@field command string
---@field state string how it stands: `running`, `exit 1`, …
---@field group string highlight group of the state

---@class acp.TerminalView
---@field id integer
---@field chat integer
---@field number integer of the terminal in its chat
---@field buf integer
---@field channel integer
---@field from integer window the user came from

local views = {} ---@type table<integer, acp.TerminalView>
local count = 0

---The terminal whose row or body the cursor is on, in a transcript.
---@param chat acp.Chat
---@return integer?
function M.under_cursor(chat)
  if api.nvim_get_current_buf() ~= chat.buf then
    return nil
  end
  local block = require('acp.chat.transcript').block_at(chat.buf, api.nvim_win_get_cursor(0)[1] - 1)
  for _, item in ipairs(block and block.deco.terminals or {}) do
    if block.row >= item[1] and block.row <= item[2] then
      return item[3]
    end
  end
end

---A window for the buffer, with the focus: the user has asked for it.
---@param buf integer
---@return integer
local function open_window(buf)
  if require('acp.config').get().terminal.layout == 'tab' then
    vim.cmd('tab split')
    set(0, { winfixbuf = false })
    api.nvim_win_set_buf(0, buf)
  else
    local code = require('acp.chat.code').window()
    local height = math.max(math.floor(api.nvim_win_get_height(code) / 2), 3)
    api.nvim_open_win(buf, true, { split = 'below', win = code, height = height })
  end
  set(0, {
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    list = false,
    spell = false,
    colorcolumn = '',
    winfixbuf = true,
    winbar = ' terminal', -- before the terminal takes the window's size
  })
  return api.nvim_get_current_win()
end

---@param view acp.TerminalView
---@param on boolean
local function tell(view, on)
  local payload = { chat = view.chat, number = view.number, view = view.id, on = on }
  require('acp.host').event('terminal', payload)
end

---@param view acp.TerminalView
local function drop(view)
  if views[view.id] then
    views[view.id] = nil
    if require('acp.host').status().state == 'ready' then
      tell(view, false)
    end
  end
end

---Give the buffer a terminal and ask for its output. It is in the current window, whose size it takes.
---@param view acp.TerminalView
local function start(view)
  -- What the user does for terminals (`startinsert`, most of all) is meant for those that can be typed in.
  local ignored = vim.o.eventignore
  vim.o.eventignore = ignored == '' and 'TermOpen' or ignored .. ',TermOpen'
  local ok, channel = pcall(api.nvim_open_term, view.buf, { on_input = function() end })
  vim.o.eventignore = ignored
  if not ok then
    error(channel)
  end
  view.channel = channel
  vim.bo[view.buf].scrollback = SCROLLBACK
  vim.bo[view.buf].modifiable = false
  tell(view, true)
end

---@param chat acp.Chat
---@param number integer
---@param name string
---@return acp.TerminalView
local function make(chat, number, name)
  count = count + 1
  local buf = api.nvim_create_buf(false, true)
  local view = { id = count, chat = chat.n, number = number, buf = buf, channel = 0 }
  view.from = api.nvim_get_current_win()
  views[view.id] = view
  vim.b[buf].acp_own, vim.b[buf].acp_chat, vim.b[buf].acp_terminal = true, chat.n, view.id
  for option, value in pairs({ bufhidden = 'wipe', swapfile = false, modeline = false, undolevels = -1 }) do
    api.nvim_set_option_value(option, value, { buf = buf })
  end
  api.nvim_buf_set_name(buf, name)
  require('acp.chat.keys').attach_terminal(buf)
  api.nvim_create_autocmd({ 'BufUnload', 'BufWipeout' }, {
    buffer = buf,
    callback = function()
      drop(view)
    end,
  })
  -- There is nothing to be typed: Terminal mode would only take the keys away.
  api.nvim_create_autocmd('TermEnter', { buffer = buf, command = 'stopinsert' })
  return view
end

---Show a terminal of a chat and go there.
---@param chat acp.Chat
---@param number integer
function M.open(chat, number)
  if require('acp.host').status().state ~= 'ready' then
    return require('acp.message').warn('nothing to show: the host does not run')
  end
  local name = ('acp://%s/%d/terminal/%d'):format(chat.agent, chat.n, number)
  for _, view in pairs(views) do
    if view.chat == chat.n and view.number == number and api.nvim_buf_is_loaded(view.buf) then
      local win = vim.fn.win_findbuf(view.buf)[1]
      if win then
        view.from = api.nvim_get_current_win()
        api.nvim_set_current_win(win)
        return
      end
    end
  end
  local view = make(chat, number, name)
  open_window(view.buf)
  start(view)
  require('acp.filetype').set(view.buf, 'acp-terminal')
  vim.cmd('keepjumps normal! G') -- from there it follows the output
end

---The beginning of a text that fits.
---@param text string
---@param cells integer
---@return string
local function cut(text, cells)
  if vim.fn.strdisplaywidth(text) <= cells then
    return text
  end
  local sign = require('acp.icons').get().cut
  local chars = vim.fn.strchars(text)
  while chars > 0 and vim.fn.strdisplaywidth(vim.fn.strcharpart(text, 0, chars) .. sign) > cells do
    chars = chars - 1
  end
  return vim.fn.strcharpart(text, 0, chars) .. sign
end

---@param view acp.TerminalView
---@param info acp.TerminalInfo
local function put_bar(view, info)
  local function plain(value)
    return (value:gsub('%%', '%%%%'))
  end
  local key = require('acp.chat.keys').lhs('terminal', 'close')
  local closes = key and ('  %s closes'):format(key) or ''
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    local rest = vim.fn.strdisplaywidth((' terminal    %s%s '):format(info.state, closes))
    local command = cut(info.command, math.max(api.nvim_win_get_width(win) - rest, 10))
    local bar = ' terminal  %#AcpCommand#' .. plain(command) .. '%*%='
    bar = ('%s%%#%s#%s%%*%s '):format(bar, info.group, plain(info.state), plain(closes))
    set(win, { winbar = bar })
  end
end

---The host sends what there is.
---@param id integer of the view
---@param data string
---@param info? acp.TerminalInfo when it has changed
---@return boolean wanted whether more is wanted
function M.feed(id, data, info)
  local view = views[id]
  if not view or not api.nvim_buf_is_loaded(view.buf) then
    return false
  end
  if data ~= '' and not pcall(api.nvim_chan_send, view.channel, data) then
    drop(view)
    return false
  end
  if info and info ~= vim.NIL then
    put_bar(view, info)
  end
  return true
end

---The host does not know the terminal.
---@param id integer of the view
---@param reason string
function M.refuse(id, reason)
  local view = views[id]
  views[id] = nil
  if view and api.nvim_buf_is_valid(view.buf) then
    api.nvim_buf_delete(view.buf, { force = true })
  end
  require('acp.message').warn(reason)
end

---Close the window of the current terminal buffer and go back to where the user came from.
function M.close()
  local view = views[vim.b.acp_terminal or 0]
  local win = api.nvim_get_current_win()
  local from = view and view.from or 0
  if #api.nvim_list_tabpages() == 1 and #require('acp.chat.size').ordinary_windows() == 1 then
    api.nvim_open_win(api.nvim_create_buf(true, false), false, { split = 'above', win = -1 })
  end
  api.nvim_win_close(win, true)
  if api.nvim_win_is_valid(from) and api.nvim_win_get_tabpage(from) == api.nvim_get_current_tabpage() then
    api.nvim_set_current_win(from)
  end
end

return M
