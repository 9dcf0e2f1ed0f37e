--- Buffers named `acp://…` that lost their text: those of a live chat get it back, those without one, left by
--- a session file or typed by the user, say so.
local M = {}

local api = vim.api

---What buffers of live chats had when they were unloaded: operations that write a transcript, or lines.
local kept = {} ---@type table<integer, table[]|string[]>

---Operations that write a transcript as it is.
---@param t acp.Transcript
---@return table[]
local function operations(t)
  local ops = {}
  for _, win in ipairs(vim.fn.win_findbuf(t.buf)) do
    require('acp.chat.fold').keep(win)
  end
  for block in require('acp.chat.transcript').blocks(t.buf) do
    local deco = vim.deepcopy(block.deco)
    deco.folds = deco.folds
      and vim.tbl_map(function(fold)
        return { fold.first, fold.last, fold.closed, fold.text }
      end, deco.folds)
    local lines = api.nvim_buf_get_lines(t.buf, block.first, block.first + block.n, false)
    table.insert(ops, { 'set', block.id, lines, deco })
  end
  for _, late in ipairs(t.waiting) do
    vim.list_extend(ops, late)
  end
  return ops
end

---A buffer of a chat is being unloaded, by `:edit`, `:bunload` or `:bdelete`, or it is wiped.
---@param chat acp.Chat
---@param buf integer
function M.keep(chat, buf)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  local t = require('acp.chat.blocks').of(buf)
  if t then
    kept[buf] = operations(t)
  elseif buf == chat.prompt then
    kept[buf] = api.nvim_buf_get_lines(buf, 0, -1, false)
  end
end

---The lines of a prompt, also while it is being unloaded.
---@param buf integer
---@return string[]
function M.lines(buf)
  return kept[buf] or api.nvim_buf_get_lines(buf, 0, -1, false)
end

---@param buf integer
function M.forget(buf)
  kept[buf] = nil
end

---Give a buffer its text back.
---@param chat acp.Chat
---@param buf integer
local function refill(chat, buf)
  local content = kept[buf]
  kept[buf] = nil
  if not content then
    return
  end
  if vim.b[buf].acp_chat == nil then
    require('acp.chat').equip(chat, buf)
  end
  if buf == chat.buf then
    local transcript = require('acp.chat.transcript')
    transcript.attach(chat.n, buf)
    transcript.frame({ { chat.n, content } })
    return
  end
  local undo = vim.bo[buf].undolevels
  vim.bo[buf].undolevels = -1
  api.nvim_buf_set_lines(buf, 0, -1, false, content)
  vim.bo[buf].undolevels = undo
  vim.bo[buf].modified = false
  require('acp.chat.prompt').refresh(chat.n)
end

---Load a buffer of a live chat that was unloaded: closing a chat is not its end.
---@param chat acp.Chat
---@param buf integer
function M.revive(chat, buf)
  if api.nvim_buf_is_loaded(buf) or not kept[buf] then
    return
  end
  vim.bo[buf].buftype = 'nofile' -- nothing is read for the name
  vim.fn.bufload(buf)
  refill(chat, buf) -- unless `fill` did
end

---The session that a buffer without a chat showed.
---@param buf integer
---@param agent string
---@return acp.RememberedSession?
local function remembered(buf, agent)
  local number = tonumber(api.nvim_buf_get_name(buf):match('^acp://[^/]+/(%d+)'))
  return number and require('acp.sessions.record').of(agent, number, vim.fn.getcwd())
end

---@param session acp.RememberedSession
---@return string
local function describe(session)
  local message = require('acp.message')
  local title = message.plain(session.title)
  local ago = require('acp.sessions.rows').ago(session.time, os.time())
  return ('“%s”, %s'):format(message.cut(title ~= '' and title or 'untitled', 60), ago)
end

---@param session acp.RememberedSession
local function resume(session)
  local message = require('acp.message')
  message.refused(require('acp.sessions').open_entry({
    agent = session.agent,
    session = session.id,
    title = session.title ~= '' and session.title or nil,
    time = session.time,
    state = 'none',
    pending = 0,
    cwd = session.cwd,
    home = session.home,
    can = { open = true },
  }))
end

---Fill a buffer that has no chat. A buffer of a live chat gets its text back.
---@param buf integer
function M.fill(buf)
  local live = require('acp.chat').of(buf)
  if live then
    return refill(live, buf)
  end
  if vim.b[buf].acp_own then
    return
  end
  if vim.g.SessionLoad == 1 then
    -- `:file` of the session file would show two messages, and so ask for a key. It sets 'shortmess' back.
    vim.opt.shortmess:append('F')
  end
  local agent = api.nvim_buf_get_name(buf):match('^acp://([^/]+)') or ''
  local known = require('acp.config').agent(agent) ~= nil
  local command = ':AcpChat' .. (known and ' ' .. agent or '')
  local session = known and remembered(buf, agent) or nil
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].swapfile = false
  vim.bo[buf].buflisted = false
  vim.bo[buf].modifiable = true
  local lines = { 'This chat ended with the Neovim it was in.', '' }
  if session then
    table.insert(lines, ('<CR>  goes on with it: %s'):format(describe(session)))
    vim.keymap.set('n', '<CR>', function()
      resume(session)
    end, { buffer = buf, nowait = true, desc = 'acp: go on with this session' })
  end
  table.insert(lines, ('%s  opens a new one here'):format(command))
  table.insert(lines, ':AcpSessions  lists those that agents remember')
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  vim.b[buf].acp_dead = true
end

return M
