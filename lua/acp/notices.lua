--- Tells the user who looks elsewhere: by the terminal's bell or by `vim.notify`, as the settings say.
local M = {}

local api = vim.api

local TITLE = 60 -- cells of what a chat is about

local away = false -- another window of the desktop has the focus, as far as the terminal tells

---The window of the desktop that Neovim is in got the focus, or lost it.
---@param here boolean
function M.focus(here)
  away = not here
end

---Whether the user is known to work outside of Neovim. Some terminals never tell.
---@return boolean
function M.away()
  return away
end

---Ring, whatever 'belloff' says: that is about beeps of Neovim's own. 'visualbell' counts.
function M.bell()
  if api.nvim_get_mode().mode:find('^[vVsS\22\19t]') then
    -- <Esc> would end a selection, and cannot be given to a terminal: the UI itself has to ring.
    if api.nvim_ui_send then
      api.nvim_ui_send('\a')
    else
      io.stdout:write('\a')
      io.stdout:flush()
    end
    return
  end
  local belloff = vim.o.belloff
  vim.o.belloff = ''
  -- <Esc> in Normal mode is the way to ring that reaches every kind of user interface.
  pcall(vim.cmd.normal, { '\27', bang = true })
  vim.o.belloff = belloff
end

---Say something in one line, or ring.
---@param how 'notify'|'bell'
---@param text string
---@param level? integer of `vim.log.levels`
function M.tell(how, text, level)
  if how == 'bell' then
    return M.bell()
  end
  text = require('acp.message').plain(text)
  local ok, reason = pcall(vim.notify, text, level or vim.log.levels.INFO, { title = 'acp' })
  if not ok then
    require('acp.message').once('notify', 'warning', 'vim.notify failed: ' .. tostring(reason))
  end
end

---@param chat acp.Chat
---@param data {stop_reason: string, error?: string}
---@return string text
---@return integer level
local function words(chat, data)
  local message, status = require('acp.message'), require('acp.status').raw(chat.n)
  local about = message.cut(message.plain(status.title or status.topic or ''), TITLE)
  about = about ~= '' and ': ' .. about or ''
  if data.stop_reason == 'error' or data.stop_reason == 'lost' then
    local why = data.error and (' (%s)'):format(message.cut(message.plain(data.error), TITLE)) or ''
    return ('%s failed%s%s'):format(chat.agent, about, why), vim.log.levels.WARN
  elseif data.stop_reason == 'end_turn' or data.stop_reason == 'none' then
    return ('%s is done%s'):format(chat.agent, about), vim.log.levels.INFO
  end
  return ('%s stopped%s (%s)'):format(chat.agent, about, message.plain(data.stop_reason)), vim.log.levels.WARN
end

---A turn has ended. Who sees it, or has ended it, need not be told; nor who waits for what is queued.
---@param chat acp.Chat
---@param data {stop_reason: string, error?: string}
function M.turn_ended(chat, data)
  local how = require('acp.config').get().notify.turn_end
  local seen = require('acp.chat.windows').visible(chat) and not away
  local status = require('acp.status').raw(chat.n)
  local goes_on = status.queued > 0 or status.state == 'running'
  if not how or seen or goes_on or data.stop_reason == 'cancelled' then
    return
  end
  local text, level = words(chat, data)
  M.tell(how, text .. '  :AcpChat', level)
end

return M
