--- The list of sessions: a buffer in a split below. It follows what the chats do while it is open.
local M = {}

local api = vim.api
local sessions = require('acp.sessions')

local LINES = 9

---@type {buf: integer, view: acp.SessionsView, from: integer, restore: fun(), rows: acp.Row[]}?
local list

local ns = api.nvim_create_namespace('acp.sessions')

---@return acp.Row[]
local function rows()
  local draw, view = require('acp.sessions.rows'), list.view
  local win = vim.fn.win_findbuf(list.buf)[1]
  local width = win and api.nvim_win_get_width(win) or vim.o.columns
  local all = draw.draw(draw.entries(view.sources, view.only, view.remembered), width, os.time())
  local keys = require('acp.chat.keys')
  local notes = draw.notes(view.sources, keys.lhs('sessions', 'reload'))
  local none = #all == 0 and view.settled
  for _, source in ipairs(view.sources) do
    none = none and source.state == 'done'
  end
  vim.list_extend(all, notes)
  if none then
    local where = view.all and ''
      or ' in ' .. require('acp.message').plain(vim.fn.fnamemodify(view.cwd, ':~'))
    local key = not view.all and keys.lhs('sessions', 'all')
    local hint = key and (', %s shows those of all folders'):format(key) or ''
    table.insert(all, { text = ('no sessions%s%s'):format(where, hint), marks = {} })
  end
  return all
end

---What tells an entry apart from others.
---@param row acp.Row?
---@return string?
local function identity(row)
  local entry = row and row.entry
  if not entry then
    return nil
  end
  return entry.chat and ('chat %d'):format(entry.chat) or ('%s\0%s'):format(entry.agent, entry.session)
end

---@param now acp.Row[]
---@param was acp.Row? the row the cursor was on
---@return integer?
local function row_at(now, was)
  local wanted = identity(was)
  local session = was and was.entry and was.entry.session
  for i, row in ipairs(now) do
    -- A session that was opened or closed meanwhile is still the same one.
    local same = session and row.entry and row.entry.session == session and row.entry.agent == was.entry.agent
    if wanted and (identity(row) == wanted or same) then
      return i
    end
  end
end

local function fill()
  local now, was = rows(), list.rows
  list.rows = now
  local lines = vim.tbl_map(function(row)
    return row.text
  end, now)
  if #lines == 0 then
    lines = { '' }
  end
  local wins = {}
  for _, win in ipairs(vim.fn.win_findbuf(list.buf)) do
    local cursor = api.nvim_win_get_cursor(win)
    wins[win] = { row = row_at(now, was[cursor[1]]) or cursor[1], col = cursor[2] }
  end
  local buf = list.buf
  if not vim.deep_equal(lines, api.nvim_buf_get_lines(buf, 0, -1, false)) then
    vim.bo[buf].modifiable = true
    api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    vim.bo[buf].modifiable = false
    vim.bo[buf].modified = false
  end
  for win, at in pairs(wins) do
    api.nvim_win_set_cursor(win, { math.min(at.row, #lines), at.col })
  end
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for i, row in ipairs(now) do
    for _, mark in ipairs(row.marks) do
      if mark[3] ~= '' then
        api.nvim_buf_set_extmark(buf, ns, i - 1, mark[1], { end_col = mark[2], hl_group = mark[3] })
      end
    end
  end
end

local due = false

---Something has changed: draw the list again, once for all changes of one pass of the main loop.
function M.refresh()
  if due or not list then
    return
  end
  due = true
  vim.schedule(function()
    due = false
    if list and api.nvim_buf_is_loaded(list.buf) then
      fill()
    end
  end)
end

---The entry under the cursor.
---@return acp.SessionEntry?
function M.here()
  local row = list and list.rows[api.nvim_win_get_cursor(0)[1]]
  return row and row.entry
end

---Close the list; the cursor goes back to where it was.
function M.quit()
  if not list then
    return
  end
  local buf, from = list.buf, list.from
  if api.nvim_win_is_valid(from) and api.nvim_get_current_buf() == buf then
    api.nvim_set_current_win(from)
  end
  api.nvim_buf_delete(buf, { force = true })
end

---Ask the agents again.
---@param all? boolean of all folders, or of this one
function M.reload(all)
  if not list then
    return
  end
  if all ~= nil then
    list.view.all = all
  end
  sessions.ask(list.view)
  M.refresh()
end

---Whether the list shows the sessions of all folders.
---@return boolean
function M.shows_all()
  return list ~= nil and list.view.all
end

---Whether an agent of the list can delete what it lists.
---@return boolean
local function can_delete()
  for _, row in ipairs(list and list.rows or {}) do
    if row.entry and (row.entry.can.delete or row.entry.remembered) then
      return true
    end
  end
  return false
end

---The list's winbar.
---@return string
function M.winbar()
  local keys, parts = require('acp.chat.keys'), {}
  for _, each in ipairs({
    { 'open', 'opens' },
    { 'delete', 'deletes' },
    { 'all', M.shows_all() and 'this folder' or 'all folders' },
    { 'help', 'keys' },
  }) do
    local key = keys.lhs('sessions', each[1])
    if key and (each[1] ~= 'delete' or can_delete()) then
      table.insert(parts, ('%s %s'):format(key, each[2]))
    end
  end
  local whose = list and list.view.only and ' of ' .. list.view.only or ''
  local hints = table.concat(parts, '  '):gsub('%%', '%%%%')
  return (' sessions%s%%<%%=%s '):format(whose, hints)
end

local options = {
  wrap = false,
  colorcolumn = '',
  cursorline = true,
  winfixheight = true,
  scrollbind = false,
  cursorbind = false,
  diff = false,
  foldenable = false,
  winbar = "%{%v:lua.require'acp.sessions.list'.winbar()%}",
}

---The list's buffer is gone.
local function closed()
  local was = list
  list = nil
  if not was then
    return
  end
  sessions.end_view(was.view)
  api.nvim_create_augroup('acp.sessions', {}) -- nothing is watched any more
  vim.schedule(was.restore)
end

---@param view acp.SessionsView
local function open_window(view)
  vim.cmd.stopinsert()
  local from = api.nvim_get_current_win()
  local restore = require('acp.chat.size').keep()
  local buf = api.nvim_create_buf(false, true)
  list = { buf = buf, view = view, from = from, restore = restore, rows = {} }
  vim.b[buf].acp_own = true
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].swapfile = false
  vim.bo[buf].modeline = false
  vim.bo[buf].undolevels = -1
  api.nvim_buf_set_name(buf, 'acp://sessions')
  local height = vim.o.lines >= 2 * LINES and LINES or math.max(3, math.floor(vim.o.lines / 3))
  local win = api.nvim_open_win(buf, true, { split = 'below', win = -1, height = height })
  local window = require('acp.window')
  window.set(win, window.plain)
  window.set(win, options)
  require('acp.sessions.keys').attach(buf)
  require('acp.filetype').set(buf, 'acp-sessions')
  vim.bo[buf].modifiable = false
  local group = api.nvim_create_augroup('acp.sessions', {})
  api.nvim_create_autocmd('BufWipeout', { group = group, buffer = buf, once = true, callback = closed })
  api.nvim_create_autocmd('User', { group = group, pattern = 'AcpStatus', callback = M.refresh })
  api.nvim_create_autocmd('WinResized', { group = group, callback = M.refresh })
end

---Open the list and ask the agents.
---@param opts? {agent?: string, all?: boolean}
---@return boolean|nil
---@return string? reason
function M.open(opts)
  opts = opts or {}
  local problem = require('acp.cmdwin').obstacle()
    or opts.agent and require('acp.chat.start').obstacle(opts.agent)
  if problem then
    return nil, problem
  end
  local current = require('acp.chat').current()
  local view = sessions.new_view('list', opts)
  local win = list and vim.fn.win_findbuf(list.buf)[1]
  if list and win then
    list.view = view
    api.nvim_set_current_win(win)
  else
    open_window(view)
  end
  fill()
  for i, row in ipairs(list.rows) do
    if current and row.entry and row.entry.chat == current.n then
      api.nvim_win_set_cursor(0, { i, 0 })
    end
  end
  sessions.ask(view)
  return true
end

return M
