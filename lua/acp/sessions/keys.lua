--- The keys of the list of sessions (ui.md section 8).
local M = {}

local tell = require('acp.message').refused

---@param entry acp.SessionEntry
---@return string
local function name_of(entry)
  local message = require('acp.message')
  return '“' .. message.cut(message.plain(entry.title or 'untitled'), 40) .. '”'
end

---@param question string
---@param yes string
---@param act fun()
local function confirm(question, yes, act)
  require('acp.choose').one({ 'No', yes }, { prompt = question, kind = 'acp_confirm' }, function(answer)
    if answer == yes then
      act()
    end
  end)
end

---Do something with the entry under the cursor.
---@param act fun(entry: acp.SessionEntry)
---@return fun()
local function with_entry(act)
  return function()
    local entry = require('acp.sessions.list').here()
    if entry then
      act(entry)
    else
      require('acp.message').info('there is no session in this line')
    end
  end
end

---Show the session of the entry in a chat. The list makes room for it.
---@param fork boolean
---@return fun()
local function opens(fork)
  return with_entry(function(entry)
    local sessions = require('acp.sessions')
    local problem = sessions.obstacle(entry, fork)
    if problem then
      return tell(nil, problem)
    end
    require('acp.sessions.list').quit()
    tell(sessions.open_entry(entry, fork))
  end)
end

---@param entry acp.SessionEntry
local function close(entry)
  local sessions = require('acp.sessions')
  local function go()
    tell(sessions.close_entry(entry))
  end
  local status = entry.chat and require('acp.status').raw(entry.chat)
  local busy = status and (status.state == 'running' or status.state == 'waiting' or status.queued > 0)
  if busy then
    return confirm(('%s is at work in %s. Close it?'):format(entry.agent, name_of(entry)), 'Close it', go)
  elseif entry.chat and entry.time and not entry.can.open then
    local question = ('%s may not bring %s back. Close it?'):format(entry.agent, name_of(entry))
    return confirm(question, 'Close it', go)
  end
  go()
end

---@param entry acp.SessionEntry
local function delete(entry)
  local sessions = require('acp.sessions')
  if not entry.can.delete and entry.remembered then
    local question = ('Take %s off the list? %s cannot delete sessions.'):format(name_of(entry), entry.agent)
    return confirm(question, 'Take it off', function()
      tell(sessions.delete_entry(entry))
    end)
  elseif not entry.can.delete then
    return tell(nil, ('%s cannot delete sessions'):format(entry.agent))
  end
  local open = entry.chat and ' It is open in a chat.' or ''
  confirm(('Delete %s for good?%s'):format(name_of(entry), open), 'Delete it', function()
    tell(sessions.delete_entry(entry))
  end)
end

---@type {[1]: string, [2]: string, [3]: fun()}[] action, what it does, how
local actions = {
  { 'open', 'open: show the chat, or load the session', opens(false) },
  { 'fork', 'go on from it in a new session', opens(true) },
  { 'close', 'close: end the session of a chat', with_entry(close) },
  { 'delete', 'delete: the agent forgets it', with_entry(delete) },
  {
    'all',
    'sessions of all folders, or of this one',
    function()
      local list = require('acp.sessions.list')
      list.reload(not list.shows_all())
    end,
  },
  {
    'reload',
    'ask the agents again',
    function()
      require('acp.sessions.list').reload()
    end,
  },
  {
    'quit',
    'close the list',
    function()
      require('acp.sessions.list').quit()
    end,
  },
  {
    'help',
    'these keys',
    function()
      require('acp.chat.show').keys('sessions', M.help())
    end,
  },
}

---Keys and what they do.
---@return {[1]: string, [2]: string}[]
function M.help()
  local keys, rows = require('acp.chat.keys'), {}
  for _, action in ipairs(actions) do
    local own = keys.all('sessions', action[1])
    if #own > 0 then
      table.insert(rows, { table.concat(own, ' '), action[2] })
    end
  end
  return rows
end

---@param buf integer
function M.attach(buf)
  for _, action in ipairs(actions) do
    for _, key in ipairs(require('acp.chat.keys').all('sessions', action[1])) do
      vim.keymap.set('n', key, action[3], { buffer = buf, nowait = true, desc = 'acp: ' .. action[2] })
    end
  end
end

return M
