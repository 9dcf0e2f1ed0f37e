--- The state of each chat: what the host said, and what follows at once from what the user did.
local M = {}

---@class acp.Usage
---@field used integer tokens
---@field size integer tokens
---@field cost? string

---@class acp.Status
---@field host 'off'|'starting'|'ready'|'failed'
---@field agent? string
---@field title? string
---@field session? string
---@field state 'none'|'starting'|'idle'|'running'|'waiting'|'failed'
---@field stop_reason? string
---@field pending integer open questions of this chat
---@field pending_all integer open questions of all chats
---@field queued integer
---@field follow boolean
---@field mode? string
---@field model? string
---@field usage? acp.Usage
---@field error? string

---What is kept of a chat; more than `status()` tells.
---@class acp.RawStatus
---@field state string
---@field pending integer
---@field queued integer
---@field follow boolean
---@field seq integer number of this chat's last send
---@field sent {seq: integer, text: string}[] texts the host has not taken yet
---@field told {state: string, queued: integer} what the host said last
---@field agent? string
---@field title? string
---@field topic? string the first line of the first prompt
---@field active_ms? integer when the last turn ended or began, in ms since the epoch
---@field session? string
---@field stop_reason? string
---@field mode? string
---@field model? string
---@field usage? acp.Usage
---@field error? string
---@field plan? {done: integer, total: integer}
---@field started_ms? integer
---@field cancelling? boolean
---@field label? string
---@field silent? integer seconds of silence when the host told of it
---@field silent_at? integer ms of `vim.uv.now()`: when the host told
---@field login? boolean the agent wants a login
---@field logging_in? string by the method of this name, just now
---@field follow_paused? boolean the mark moves, the view stays
---@field follow_note? string what was not opened, and why
---@field asking? boolean a request is under way that the user may take back
---@field blind? string[] folders in which the agent does not see unsaved edits
---@field can_steer? boolean a prompt can be put into the running turn
---@field can_fork? boolean the agent can go on from the session in a new one
---@field working? boolean other work goes on while a question is open

local chats = {} ---@type table<integer, acp.RawStatus>
local nobody = { state = 'none', pending = 0, queued = 0, follow = false, seq = 0, sent = {}, told = {} }
local changed = {} ---@type table<integer, true>

---@return 'off'|'starting'|'ready'|'failed'
local function host_state()
  return require('acp.host').status().state
end

---@param chat integer
---@return acp.RawStatus never changed by the caller
function M.raw(chat)
  return chats[chat] or nobody
end

---Show what is new, and tell `AcpStatus`, once for all changes of one pass of the main loop.
---@param chat integer
local function touch(chat)
  if not next(changed) then
    vim.schedule(function()
      local which = changed
      changed = {}
      for n in pairs(which) do
        require('acp.chat.winbar').refresh(n)
        require('acp.chat.prompt').refresh(n)
        require('acp.events').fire(n, 'AcpStatus')
      end
      vim.cmd('redrawstatus!')
    end)
  end
  changed[chat] = true
end

---Something that is shown of a chat has changed, elsewhere.
---@param chat integer
function M.poke(chat)
  if chats[chat] then
    touch(chat)
  end
end

---A chat was made; its agent starts.
---@param chat integer
---@param agent string
function M.start(chat, agent)
  chats[chat] = {
    agent = agent,
    state = 'starting',
    pending = 0,
    queued = 0,
    follow = false,
    seq = 0,
    sent = {},
    told = { state = 'starting', queued = 0 },
  }
  touch(chat)
end

---A chat is gone.
---@param chat integer
function M.drop(chat)
  chats[chat] = nil
end

---State and queue as they follow from what the host said and what was sent since.
---@param entry acp.RawStatus
---@param seen integer number of the last send the host has handled
---@return string state
---@return integer queued
local function settled(entry, seen)
  local told = entry.told
  if told.state == 'failed' then
    return 'failed', told.queued
  end
  if seen < entry.seq then
    return entry.state, entry.queued
  end -- old news
  -- Between a send and the start of its turn the host is idle with a queue: to the user it runs.
  if told.state == 'idle' and told.queued > 0 then
    return 'running', told.queued - 1
  end
  return told.state, told.queued
end

---Take what the host says. `state` and `queued` of a host that has not seen the last send wait until it has.
---@param chat integer
---@param patch table<string, any> `vim.NIL` clears a field
---@param seen integer number of the last send the host has handled
function M.update(chat, patch, seen)
  local entry = chats[chat]
  if not entry then
    return
  end
  while entry.sent[1] and entry.sent[1].seq <= seen do
    table.remove(entry.sent, 1)
  end
  local new = false
  local function put(key, value)
    if vim.deep_equal(entry[key], value) then
      return
    end
    entry[key] = value
    new = true
  end
  for key, value in pairs(patch) do
    if value == vim.NIL then
      value = nobody[key]
    end
    if type(value) == 'table' then
      for inner, item in pairs(value) do
        if item == vim.NIL then
          value[inner] = nil
        end
      end
    end
    if key == 'silent' then
      entry.silent_at = vim.uv.now()
    end
    if key == 'state' or key == 'queued' then
      entry.told[key] = value
    else
      put(key, value)
    end
  end
  local state, queued = settled(entry, seen)
  if state ~= entry.state and state ~= 'running' and state ~= 'waiting' then
    put('cancelling', nil)
  end
  put('state', state)
  put('queued', queued)
  if not new then
    return
  end
  if patch.session ~= nil then
    require('acp.chat').set_session(chat, entry.session)
  end
  if patch.title ~= nil then
    require('acp.chat').set_title(chat, entry.title)
  end
  touch(chat)
end

---Note what this side knows of a chat by itself. Nothing else may be put: the rest is the host's.
---@param chat integer
---@param fields {follow: boolean, follow_paused: any, follow_note: any} `vim.NIL` clears a field
function M.put(chat, fields)
  local entry = chats[chat]
  if not entry then
    return
  end
  local new = false
  for key, value in pairs(fields) do
    if value == vim.NIL then
      value = nil
    end
    new = new or entry[key] ~= value
    entry[key] = value
  end
  if new then
    touch(chat)
  end
end

---The user sent a prompt: it runs, or waits its turn, from now on.
---@param chat integer
---@param text string
---@return integer seq number of this send
function M.sent(chat, text)
  local entry = chats[chat]
  entry.seq = entry.seq + 1
  table.insert(entry.sent, { seq = entry.seq, text = text })
  if entry.state == 'idle' then
    entry.state, entry.stop_reason, entry.error, entry.started_ms = 'running', nil, nil, nil
  elseif entry.state ~= 'failed' then
    entry.queued = entry.queued + 1
  elseif host_state() ~= 'ready' then
    -- A new host is started by this send, and the agent with it.
    entry.state, entry.error, entry.login = 'starting', nil, nil
    entry.told.state = 'starting'
    entry.queued = entry.queued + 1
  end
  touch(chat)
  return entry.seq
end

---The user changed a prompt that waits. Counted with the sends, so that older news is known for what it is.
---@param chat integer
---@param dropped boolean it waits no more
---@return integer seq number of this change
function M.queue_changed(chat, dropped)
  local entry = chats[chat]
  entry.seq = entry.seq + 1
  if dropped then
    entry.queued = math.max(0, entry.queued - 1)
  end
  touch(chat)
  return entry.seq
end

---The user cancelled the turn.
---@param chat integer
---@param queue boolean also the queued prompts
function M.cancelled(chat, queue)
  local entry = chats[chat]
  if entry.state == 'running' or entry.state == 'waiting' then
    entry.cancelling = true
  end
  if queue then
    entry.queued = 0
    require('acp.chat.queue').emptied(chat)
  end
  touch(chat)
end

---The agent is being started again.
---@param chat integer
function M.restarted(chat)
  local entry = chats[chat]
  if not entry then
    return
  end
  entry.state, entry.error, entry.cancelling, entry.silent = 'starting', nil, nil, nil
  entry.login, entry.logging_in = nil, nil
  entry.told.state = 'starting'
  touch(chat)
end

---The host ended, or could not be started: no agent lives, what it had not taken goes back to the prompts.
---@param reason string one line
function M.host_lost(reason)
  require('acp.question').reset()
  require('acp.options').reset()
  for chat, entry in pairs(chats) do
    local unsent, ran = entry.sent, entry.state == 'running' or entry.state == 'waiting'
    entry.state, entry.error, entry.sent = 'failed', reason, {}
    entry.told = { state = 'failed', queued = 0 }
    entry.seq = 0 -- the next host counts anew
    entry.pending, entry.queued, entry.cancelling, entry.silent, entry.plan = 0, 0, nil, nil, nil
    entry.asking = nil
    entry.login, entry.logging_in = nil, nil
    local back = require('acp.chat.prompt').give_back(chat, unsent)
    require('acp.chat.lost').tell(chat, reason, back)
    touch(chat)
    if ran then
      entry.stop_reason = 'lost'
      require('acp.events').fire(chat, 'AcpTurnEnd', { stop_reason = 'lost', error = reason })
    end
  end
  if package.loaded['acp.sessions'] then
    require('acp.sessions').host_lost(reason)
  end
  if package.loaded['acp.chat.export'] then
    require('acp.chat.export').host_lost()
  end
end

---Open questions of all chats.
---@return integer
local function pending_all()
  local sum = 0
  for _, entry in pairs(chats) do
    sum = sum + entry.pending
  end
  return sum
end

---The state of the chat a buffer belongs to (0 = this buffer), or of the current chat. No round trip.
---@param bufnr? integer
---@return acp.Status
function M.get(bufnr)
  local registry = require('acp.chat')
  local chat
  if bufnr == nil then
    chat = registry.current()
  else
    chat = registry.of(bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr)
  end
  local entry = chat and chats[chat.n] or nobody
  return {
    host = host_state(),
    agent = entry.agent,
    title = entry.title,
    session = entry.session,
    state = entry.state,
    stop_reason = entry.stop_reason,
    pending = entry.pending,
    pending_all = pending_all(),
    queued = entry.queued,
    follow = entry.follow,
    mode = entry.mode,
    model = entry.model,
    usage = entry.usage and vim.deepcopy(entry.usage) or nil,
    error = entry.error,
  }
end

---Minutes and seconds since a turn began, `0:42`; empty when it has not begun.
---@param entry acp.RawStatus
---@return string
function M.elapsed(entry)
  if not entry.started_ms then
    return ''
  end
  local seconds, micro = vim.uv.gettimeofday()
  local passed = math.max(0, math.floor((seconds * 1000 + micro / 1000 - entry.started_ms) / 1000))
  if passed < 3600 then
    return ('%d:%02d'):format(math.floor(passed / 60), passed % 60)
  end
  return ('%d:%02d:%02d'):format(math.floor(passed / 3600), math.floor(passed / 60) % 60, passed % 60)
end

---For how long the agent has been silent, or nil. The host tells it once, the seconds count on here.
---@param entry acp.RawStatus
---@return integer? seconds
function M.silence(entry)
  return entry.silent and entry.silent + math.floor((vim.uv.now() - (entry.silent_at or 0)) / 1000)
end

local urgency = { waiting = 5, failed = 4, running = 3, starting = 2, idle = 1, none = 0 }

---A component for the user's statusline: the chat that most needs the user, and how many more there are.
---@return string escaped for 'statusline', empty without a chat
function M.statusline()
  local icons, first, count = require('acp.icons').get(), nil, 0
  for _, chat in ipairs(require('acp.chat').list()) do
    local entry = M.raw(chat.n)
    count = count + 1
    if not first or urgency[entry.state] > urgency[first.state] then
      first = entry
    end
  end
  if not first then
    return ''
  end
  local parts = { first.agent or '' }
  if first.pending > 0 then
    table.insert(parts, ('%s %d'):format(icons.waiting, first.pending))
  elseif first.state == 'failed' then
    table.insert(parts, icons.failed)
  elseif first.state == 'running' or first.state == 'starting' then
    table.insert(parts, vim.trim(icons.running .. ' ' .. M.elapsed(first)))
  end
  if count > 1 then
    table.insert(parts, '+' .. (count - 1))
  end
  return (table.concat(parts, ' '):gsub('%%', '%%%%'))
end

return M
