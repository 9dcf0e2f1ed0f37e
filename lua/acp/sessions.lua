--- The sessions of all agents: asked for, opened, closed, deleted. What is shown is in `acp.sessions.list`.
local M = {}

---Who has asked for sessions: the list, or a call of `require('acp').sessions()`.
---@class acp.SessionsView
---@field name string the host knows it by this
---@field seq integer number of its last question to the host
---@field only? string only of this agent
---@field cwd string the folder it is about
---@field all boolean of all folders
---@field connect? string the agent that was connected for it
---@field sources acp.SessionSource[]
---@field remembered acp.RememberedSession[] of earlier Neovims
---@field settled boolean all have answered
---@field done? fun(view: acp.SessionsView) called once, when all have answered

local views = {} ---@type table<string, acp.SessionsView>
local count = 0

---Draw the list again, if it is open.
local function refresh()
  if package.loaded['acp.sessions.list'] then
    require('acp.sessions.list').refresh()
  end
end

---Whether an agent of some chat can be asked.
---@return boolean
local function connected()
  if require('acp.host').status().state ~= 'ready' then
    return false
  end
  for _, chat in ipairs(require('acp.chat').list()) do
    local state = require('acp.status').raw(chat.n).state
    if state ~= 'failed' and state ~= 'none' then
      return true
    end
  end
  return false
end

---@param view acp.SessionsView
local function settle(view)
  view.settled = true
  view.sources = vim.tbl_filter(function(source)
    return source.seq == view.seq
  end, view.sources)
  if view.done then
    local done = view.done
    view.done = nil
    done(view)
  end
  refresh()
end

---Ask the agents: those that are connected, or the one that is named, or the one a new chat would get.
---@param view acp.SessionsView
function M.ask(view)
  count = count + 1
  view.seq, view.settled = count, false
  local request = { view = view.name, seq = view.seq, only = view.only ~= nil }
  request.cwd = not view.all and view.cwd or nil
  local start = require('acp.chat.start')
  local function go(name)
    if name then
      view.connect = name
      request.agent, request.home = name, start.folder(name) or view.cwd
      request.config, request.demo = start.config_of(name)
    end
    require('acp.host').event('sessions', request)
  end
  local name = view.only or view.connect
  if name or not connected() then
    start.choose(name, go, function()
      go() -- the chats are shown, and what is remembered
    end)
  else
    go()
  end
end

---@param name string
---@param opts {agent?: string, all?: boolean}
---@return acp.SessionsView
function M.new_view(name, opts)
  local cwd = opts.agent and require('acp.chat.start').folder(opts.agent) or vim.fn.getcwd()
  views[name] = {
    name = name,
    seq = 0,
    only = opts.agent,
    cwd = cwd,
    all = opts.all or false,
    sources = {},
    remembered = {},
    settled = false,
  }
  return views[name]
end

---@param view acp.SessionsView
function M.end_view(view)
  views[view.name] = nil
  require('acp.host').event('sessions_end', { view = view.name })
end

---The host tells of an agent.
---@param name string of the view
---@param seq integer
---@param source acp.SessionSource
function M.told(name, seq, source)
  local view = views[name]
  if not view or view.seq ~= seq then
    return
  end
  source.seq = seq
  for i, old in ipairs(view.sources) do
    if old.agent == source.agent and old.home == source.home then
      if source.state == 'asking' then
        -- What it said before counts until the answer is there.
        source = vim.tbl_extend('force', old, { state = 'asking', seq = seq })
      end
      view.sources[i] = source
      return refresh()
    end
  end
  table.insert(view.sources, source)
  refresh()
end

---The host tells of sessions that were used from here, in this Neovim or an earlier one.
---@param name string of the view
---@param seq integer
---@param remembered acp.RememberedSession[]
function M.remembered(name, seq, remembered)
  local view = views[name]
  if view and view.seq == seq then
    view.remembered = remembered
    refresh()
  end
end

---All agents have answered.
---@param name string of the view
---@param seq integer
function M.settled(name, seq)
  local view = views[name]
  if view and view.seq == seq then
    settle(view)
  end
end

---The host has ended, or could not be started: nobody will answer.
---@param reason string
function M.host_lost(reason)
  for _, view in pairs(views) do
    if not view.settled then
      local remedy = require('acp.host').status().state == 'failed' and ':AcpInstall' or ':AcpSessions'
      local source = { agent = 'acp', home = '', state = 'failed', kind = 'host', seq = view.seq }
      source.error, source.remedy = reason, remedy
      view.sources = { source }
      settle(view)
    else
      view.sources = {}
    end
  end
  refresh()
end

---The chat that shows a session of an agent, or is about to.
---@param entry acp.SessionEntry
---@return integer?
local function chat_of(entry)
  if entry.chat then
    return require('acp.chat').get(entry.chat) and entry.chat
  end
  for _, chat in ipairs(require('acp.chat').list()) do
    local loading = not chat.open.fork and chat.open.load
    local session = require('acp.status').raw(chat.n).session or loading
    if chat.agent == entry.agent and session and session == entry.session then
      return chat.n
    end
  end
end

---Why a session cannot be opened, or gone on from (`fork`); nil when nothing is in the way.
---@param entry acp.SessionEntry
---@param fork? boolean
---@return string?
function M.obstacle(entry, fork)
  if not fork and chat_of(entry) then
    return nil
  elseif fork and not entry.can.fork then
    return ('%s cannot fork a session'):format(entry.agent)
  elseif not entry.session then
    return fork and 'this session has not begun yet' or 'this chat has ended'
  elseif not fork and not entry.can.open then
    return ('%s can list its sessions, but not open them'):format(entry.agent)
  elseif vim.fn.isdirectory(entry.cwd) == 0 then
    return ('its folder does not exist any more: %s'):format(vim.fn.fnamemodify(entry.cwd, ':~'))
  end
  return require('acp.chat.start').obstacle(entry.agent)
end

---Show a session of which only the id is known.
---@param agent string
---@param id string
---@return boolean|nil
---@return string? reason
function M.open_id(agent, id)
  local problem = require('acp.chat.start').obstacle(agent)
  if problem then
    return nil, problem
  end
  local cwd = require('acp.chat.start').folder(agent)
  if not cwd then
    return nil
  end
  return M.open_entry({
    agent = agent,
    session = id,
    state = 'none',
    pending = 0,
    cwd = cwd,
    home = cwd,
    can = { open = true },
  })
end

---Show a session: its chat, or a new one that takes it up, or goes on from it (`fork`).
---@param entry acp.SessionEntry
---@param fork? boolean
---@return boolean|nil
---@return string? reason
function M.open_entry(entry, fork)
  local problem = M.obstacle(entry, fork)
  if problem then
    return nil, problem
  end
  local n = not fork and chat_of(entry)
  if not n then
    local config, demo = require('acp.chat.start').config_of(entry.agent)
    n = require('acp.chat').create(entry.agent, entry.cwd, config, demo, {
      load = entry.session,
      fork = fork or nil,
      home = entry.home,
      title = not fork and entry.title or nil,
      time = not fork and entry.time or nil,
      directories = entry.directories,
    }).n
  end
  return require('acp').chat({ number = n })
end

---Go on from the session of a chat in a new one, and ask `text` there, if there is any.
---@param chat acp.Chat
---@param text? string
---@return boolean|nil
---@return string? reason
function M.fork(chat, text)
  local status = require('acp.status').raw(chat.n)
  if not status.session or not status.active_ms and not chat.open.load then
    return nil, 'nothing was said in this chat yet; :AcpChat! opens another one'
  elseif status.state == 'failed' then
    return nil, ('%s is not running; :AcpRestart'):format(chat.agent)
  elseif not status.can_fork then
    return nil, ('%s cannot fork a session; :AcpChat! begins a new one'):format(chat.agent)
  end
  local ok, reason = M.open_entry({
    agent = chat.agent,
    session = status.session,
    state = status.state,
    pending = 0,
    cwd = chat.cwd,
    home = chat.open.home or chat.cwd,
    can = { fork = true },
  }, true)
  if ok and text and text:find('%S') then
    return require('acp').send(text)
  end
  return ok, reason
end

---End the session of a chat. The agent may remember it.
---@param entry acp.SessionEntry
---@return boolean|nil
---@return string? reason
function M.close_entry(entry)
  local chat = entry.chat and require('acp.chat').get(entry.chat)
  if not chat then
    return nil, 'this session is not open'
  end
  require('acp.chat').finish(chat)
  if views.list then
    M.ask(views.list) -- the agent may remember it
  end
  return true
end

---Have the agent forget a session. Its chat ends when the agent has done so.
---@param entry acp.SessionEntry
---@return boolean|nil
---@return string? reason
function M.delete_entry(entry)
  if not entry.can.delete and entry.remembered then
    require('acp.host').event('session_forget', { agent = entry.agent, id = entry.session })
    return true
  elseif not entry.can.delete then
    return nil, ('%s cannot delete sessions'):format(entry.agent)
  elseif not entry.session then
    return nil, 'this session has not begun yet'
  end
  local config, demo = require('acp.chat.start').config_of(entry.agent)
  require('acp.host').event('session_delete', {
    agent = entry.agent,
    home = entry.home,
    id = entry.session,
    config = config,
    demo = demo,
  })
  return true
end

---A session is not to be listed any more.
---@param agent string
---@param session string
local function take_off(agent, session)
  for _, view in pairs(views) do
    for _, source in ipairs(view.sources) do
      if source.agent == agent then
        source.sessions = vim.tbl_filter(function(each)
          return each.id ~= session
        end, source.sessions or {})
      end
    end
    view.remembered = vim.tbl_filter(function(each)
      return each.agent ~= agent or each.id ~= session
    end, view.remembered)
  end
  refresh()
end

---The host tells that an agent does not have a session any more.
---@param agent string
---@param session string
function M.gone(agent, session)
  for _, chat in ipairs(require('acp.chat').list()) do
    if chat.agent == agent and chat.open.load == session then
      chat.open.load, chat.open.title, chat.open.time = nil, nil, nil
    end
  end
  take_off(agent, session)
end

---The host tells how a deletion went.
---@param agent string
---@param session string
---@param err string|false
function M.deleted(agent, session, err)
  if err then
    require('acp.message').error(('%s did not delete the session: %s'):format(agent, err))
    return
  end
  local n = chat_of({ agent = agent, session = session })
  if n then
    require('acp.chat').finish(require('acp.chat').get(n))
  end
  take_off(agent, session)
end

---Collect the sessions without showing them.
---@param opts acp.SessionsOpts with `callback`
---@return boolean|nil
---@return string? reason
function M.collect(opts)
  local problem = opts.agent and require('acp.chat.start').obstacle(opts.agent)
  if problem then
    return nil, problem
  end
  count = count + 1
  local view = M.new_view(('call %d'):format(count), opts)
  view.done = function()
    local entries = require('acp.sessions.rows').entries(view.sources, view.only, view.remembered)
    local problems = {}
    for _, row in ipairs(require('acp.sessions.rows').notes(view.sources)) do
      table.insert(problems, row.text)
    end
    for _, entry in ipairs(entries) do
      entry.open = function()
        return M.open_entry(entry)
      end
    end
    M.end_view(view)
    opts.callback(entries, problems)
  end
  M.ask(view)
  return true
end

return M
