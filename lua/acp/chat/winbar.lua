--- The winbar of the transcript, the one place for the state of a session, and both statuslines of a chat.
local M = {}

local api = vim.api

---Text as it may stand in a 'statusline' expression.
---@param text string
---@return string
local function escape(text)
  return (require('acp.message').plain(text):gsub('%%', '%%%%'))
end

---Tokens for people: 999, 1.2k, 53k, 1.5M, 2G.
---@param n number
---@param round? boolean no decimals of thousands: the size of a context
---@return string
local function tokens(n, round)
  local unit, value
  if n >= 999950e6 then
    unit, value = 'T', n / 1e12
  elseif n >= 999950e3 then
    unit, value = 'G', n / 1e9
  elseif n >= 999950 then
    unit, value = 'M', n / 1e6
  elseif n >= 1000 then
    unit, value = 'k', n / 1e3
  else
    return ('%d'):format(n)
  end
  if value < 10 and not (round and unit == 'k') then
    return (('%.1f'):format(value):gsub('%.0$', '')) .. unit
  end
  return ('%d'):format(math.floor(value + 0.5)) .. unit
end

---@alias acp.Piece {[1]: string, [2]: string?} text and highlight group

---Whether other work goes on while a question is open: some row of the transcript still moves.
---@param chat integer
---@param entry acp.RawStatus
---@return boolean
local function at_work(chat, entry)
  local transcript = require('acp.chat.blocks').of_chat(chat)
  return entry.working or (transcript ~= nil and next(transcript.moving) ~= nil)
end

---The state in words.
---@param chat integer
---@param entry acp.RawStatus
---@param icons acp.Icons
---@return acp.Piece
local function state(chat, entry, icons)
  local running = entry.state == 'running' or (entry.state == 'waiting' and at_work(chat, entry))
  if entry.state == 'failed' then
    local remedy = require('acp.host').status().state == 'failed' and ':AcpInstall' or ':AcpRestart'
    local said = entry.login and 'not logged in, :AcpLogin' or 'failed, ' .. remedy
    return { icons.failed .. ' ' .. said, 'AcpFailed' }
  end
  if entry.state == 'none' then
    return { 'off' }
  end
  if entry.logging_in and entry.state == 'starting' then
    return { icons.running .. ' logging in, :AcpCancel', 'AcpRunning' }
  end
  if entry.state == 'starting' and entry.silent then
    return { 'still starting, :AcpRestart', 'AcpWarn' }
  end
  if entry.state == 'starting' then
    return { icons.running .. ' starting', 'AcpRunning' }
  end
  if entry.cancelling then
    return { 'cancelling', 'AcpCancelled' }
  end
  if entry.state == 'waiting' and not running then
    local count = entry.pending > 1 and (' (%d)'):format(entry.pending) or ''
    return { icons.waiting .. ' waiting for you' .. count, 'AcpWaiting' }
  end
  if not running then
    return { 'ready' }
  end
  if entry.silent then
    return { ('silent %d s, :AcpCancel'):format(require('acp.status').silence(entry)), 'AcpWarn' }
  end
  local text = vim.trim(require('acp.icons').frame() .. ' running ' .. require('acp.status').elapsed(entry))
  return { text, 'AcpRunning' }
end

---The pieces of the left side, always shown.
---@param chat integer
---@param entry acp.RawStatus
---@return acp.Piece[]
local function left(chat, entry)
  local icons = require('acp.icons').get()
  local said = state(chat, entry, icons)
  local name = entry.label or entry.agent or 'acp'
  if #require('acp.chat').list() > 1 then
    name = ('%s %d'):format(name, chat) -- what :2AcpChat takes
  end
  local pieces = { { name }, said }
  if entry.plan and entry.plan.total > 0 then
    table.insert(pieces, { ('plan %d/%d'):format(entry.plan.done, entry.plan.total) })
  end
  if entry.pending > 0 and said[2] ~= 'AcpWaiting' and entry.state ~= 'failed' then
    local noun = entry.pending == 1 and 'question' or 'questions'
    table.insert(pieces, { ('%s %d %s'):format(icons.waiting, entry.pending, noun), 'AcpWaiting' })
  end
  if entry.follow and entry.follow_paused then
    table.insert(pieces, { icons.paused .. ' follow paused', 'AcpWarn' })
  elseif entry.follow then
    table.insert(pieces, { icons.mark .. ' follow' })
  end
  return pieces
end

---The pieces of the right side in the order they are shown, each with its rank: the highest is dropped first.
---@param entry acp.RawStatus
---@return {[1]: string, [2]: string?, rank: integer}[]
local function right(entry)
  local pieces = {}
  if entry.title and (vim.o.laststatus == 0 or vim.o.laststatus == 3) then
    -- Else it stands in the transcript's statusline.
    table.insert(pieces, { require('acp.message').cut(entry.title, 40), rank = 6 })
  end
  if entry.follow_note then
    table.insert(pieces, { 'not opened: ' .. entry.follow_note, 'AcpNote', rank = 5 })
  end
  if entry.mode and entry.mode ~= '' then
    local mode = entry.mode:lower():find('mode', 1, true) and entry.mode or entry.mode .. ' mode'
    table.insert(pieces, { mode, rank = 2 })
  end
  if entry.model and entry.model ~= '' then
    table.insert(pieces, { entry.model, rank = 3 })
  end
  local usage = entry.usage
  if usage and (usage.size or 0) == 0 and (usage.used or 0) > 0 then -- the size is not known (V1-157)
    table.insert(pieces, { tokens(usage.used) .. ' tokens', rank = 1 })
  elseif usage and (usage.size or 0) > 0 then
    local full = usage.used / usage.size >= 0.85
    local text = tokens(usage.used) .. '/' .. tokens(usage.size, true)
    table.insert(pieces, { text, full and 'AcpWarn' or nil, rank = 1 })
  end
  if usage and usage.cost then
    table.insert(pieces, { usage.cost, rank = 4 })
  end
  return pieces
end

---@param pieces acp.Piece[]
---@param between string
---@return string expression, integer cells
local function join(pieces, between)
  local texts, cells = {}, 0
  for i, piece in ipairs(pieces) do
    local text = escape(piece[1])
    cells = cells
      + vim.fn.strdisplaywidth(require('acp.message').plain(piece[1]))
      + (i > 1 and vim.fn.strdisplaywidth(between) or 0)
    table.insert(texts, piece[2] and ('%%#%s#%s%%*'):format(piece[2], text) or text)
  end
  return table.concat(texts, between), cells
end

---The winbar of a chat for a window so many cells wide.
---@param chat integer
---@param width integer
---@return string
function M.render(chat, width)
  local entry = require('acp.status').raw(chat)
  local said, used = join(left(chat, entry), '  ')
  local pieces = right(entry)
  local shown, cells = join(pieces, ' · ')
  while #pieces > 0 and used + cells + 4 > width do
    local worst = 1
    for i, piece in ipairs(pieces) do
      if piece.rank > pieces[worst].rank then
        worst = i
      end
    end
    table.remove(pieces, worst)
    shown, cells = join(pieces, ' · ')
  end
  return (' %s%%<%%=%s '):format(said, shown)
end

---The winbar for the window that is being drawn.
---@return string
function M.current()
  local win = vim.g.statusline_winid or api.nvim_get_current_win()
  local chat = require('acp.chat').of(api.nvim_win_get_buf(win))
  return chat and M.render(chat.n, api.nvim_win_get_width(win)) or ''
end

---The transcript's statusline: the session's title, whether there is more below, where to find the keys.
---@return string
function M.title()
  local win = vim.g.statusline_winid or api.nvim_get_current_win()
  local buf = api.nvim_win_get_buf(win)
  local chat = require('acp.chat').of(buf)
  if not chat then
    return ''
  end
  local hidden = api.nvim_win_get_cursor(win)[1] < api.nvim_buf_line_count(buf)
  local title = require('acp.status').raw(chat.n).title or ''
  local help = require('acp.chat.keys').lhs('transcript', 'help')
  return (' %s%%<%%=%s%s '):format(
    escape(title),
    hidden and '  more below (G)  ' or '  ',
    help and escape(help .. ' keys') or ''
  )
end

---The prompt's statusline: what its keys do now.
---@return string
function M.prompt()
  local win = vim.g.statusline_winid or api.nvim_get_current_win()
  local chat = require('acp.chat').of(api.nvim_win_get_buf(win))
  local keys, hints = require('acp.chat.keys'), {}
  local send, older = keys.lhs('prompt', 'send'), keys.lhs('prompt', 'previous')
  local walk = package.loaded['acp.chat.walk'] -- else nobody has walked yet
  local here = chat and walk and walk.here(chat.n)
  if older and chat and not here and require('acp.chat.prompt').queued(chat.n) > 0 then
    table.insert(hints, older .. ' to what is queued')
  end
  if send then
    table.insert(hints, send .. (here and here.id and ' changes what is queued' or ' sends'))
  end
  return (' prompt%%<%%=%s '):format(escape(table.concat(hints, '   ')))
end

---Draw the winbars of a chat again: its state has changed.
---@param chat integer
function M.refresh(chat)
  local entry = require('acp.chat').get(chat)
  if not entry then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(entry.buf)) do
    -- The one call that leaves all other windows alone; it is experimental, so with a way around.
    local ok = api.nvim__redraw and pcall(api.nvim__redraw, { win = win, winbar = true })
    if not ok then
      vim.cmd('redrawstatus!')
    end
  end
end

---The next frame of the spinner. Called eight times a second, only while data arrives.
---@param chat integer
function M.tick(chat)
  M.refresh(chat)
end

return M
