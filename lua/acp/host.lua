--- The Python host: started with the first event that needs it, without waiting; one process for all chats.
local M = {}

local START_LIMIT_MS = 30000
local KEEP_LINES = 50

---@class acp.HostProblem
---@field kind 'gone'|'missing'|'old'|'silent'|'failed'
---@field python string
---@field text string one line without the remedy, with one `%s` for the interpreter

---@class acp.Candidate
---@field python string
---@field isolated boolean our own environment: nothing but it is imported

---@class acp.Host
---@field state 'off'|'starting'|'ready'|'failed'
---@field channel? integer
---@field python? string interpreter in use, or the last one tried
---@field isolated? boolean it is that of our own environment
---@field info table<string, any> what the host told about itself
---@field error? string
---@field details string[] the end of its stderr, tracebacks
---@field queue acp.Candidate[] interpreters still to be tried
---@field problems acp.HostProblem[]
---@field outbox {name: string, payload: table}[]
---@field seq integer counts the starts
local host = {
  state = 'off',
  info = {},
  details = {},
  queue = {},
  problems = {},
  outbox = {},
  seq = 0,
}

---The last `open` of each chat that was not closed; `known`: chats that the running host has.
local opens, known = {}, {} ---@type table<integer, table>, table<integer, boolean>

---Events that mean nothing to a host that does not run, and so do not start one.
local passive = {
  settings = true,
  close = true,
  cancel = true,
  queued = true,
  history = true,
  answer = true,
  shown = true,
  follow = true,
  sessions_end = true,
  login_ended = true,
  trace_more = true,
  trace_closed = true,
  mentions = true,
  complete = true,
}

local source = vim.fs.normalize(debug.getinfo(1, 'S').source:sub(2)) -- <root>/lua/acp/host.lua
local root = vim.fn.fnamemodify(source, ':p:h:h:h')
local boot = root .. '/python/acp_nvim/boot.py'
local rplugin = root .. '/rplugin/python3/acp_remote.py'

---The plugin's own Python environment, made by `:AcpInstall`.
---@return string folder
function M.environment()
  return vim.fs.joinpath(vim.fn.stdpath('data') --[[@as string]], 'acp.nvim', 'venv')
end

---@return string
local function own_python()
  return M.environment() .. '/bin/python'
end

---The interpreters to try, best first. One the user names is the only one.
---@return acp.Candidate[]
local function candidates()
  local config = require('acp.config')
  local wanted, own = config.python(), own_python()
  local problem = config.python_problem()
  if problem then
    require('acp.message').once(problem, 'warning', problem)
  end
  if wanted then
    return { { python = wanted, isolated = wanted == own } }
  end
  local list, seen = {}, {}
  for _, python in ipairs({ own, vim.g.python3_host_prog or own, 'pynvim-python', 'python3' }) do
    local path = vim.fn.exepath(vim.fn.expand(python))
    if path ~= '' and not seen[path] then
      seen[path] = true
      table.insert(list, { python = path, isolated = python == own })
    end
  end
  return list
end

---@param lines string[]
local function remember(lines)
  for _, line in ipairs(lines) do
    if line ~= '' then
      table.insert(host.details, require('acp.message').plain(line))
    end
  end
  while #host.details > KEEP_LINES do
    table.remove(host.details, 1)
  end
end

---Shorten a path from the left, so that the whole message fits on the command line.
---@param template string with one %s
---@param path string
---@return string
local function fit(template, path)
  path = vim.fn.fnamemodify(path, ':~')
  local room = vim.o.columns - 12 - #'acp: ' - (vim.fn.strdisplaywidth(template) - 2)
  local chars = vim.fn.strchars(path)
  if chars > room and room > 1 then
    path = '…' .. vim.fn.strcharpart(path, chars - room + 1)
  end
  return (template:gsub('%%s', function()
    return path
  end))
end

---How much a problem tells: the one that tells most is shown.
local weight = { missing = 5, old = 4, failed = 3, silent = 2, gone = 1 }

---No interpreter is left: say so once, give back what the user sent, offer the remedy.
local function give_up()
  host.state, host.channel, host.outbox, known = 'failed', nil, {}, {}
  local worst ---@type acp.HostProblem?
  for _, problem in ipairs(host.problems) do
    if not worst or weight[problem.kind] > weight[worst.kind] then
      worst = problem
    end
    remember({ (problem.text:gsub('%%s', function()
      return problem.python
    end)) })
  end
  host.python = worst and worst.python
  local problem = worst or { text = 'no Python 3.11 or later found', python = '' }
  local short = fit(problem.text .. '. Run :AcpInstall', problem.python)
  local reason = problem.text:gsub('%%s', function()
    return vim.fn.fnamemodify(problem.python, ':~')
  end)
  host.error = reason
  local named = require('acp.config').python() ~= nil
  -- Later, because the event that started all this may still be making its chat.
  vim.schedule(function()
    require('acp.message').error(short, vim.deepcopy(host.details))
    require('acp.status').host_lost(reason)
    if not named then
      require('acp.install').offer()
    end
  end)
end

local launch ---@type fun()

---@param kind 'gone'|'missing'|'old'|'silent'|'failed'
---@param text string with one %s
local function next_candidate(kind, text)
  table.insert(host.problems, { kind = kind, python = host.python, text = text })
  launch()
end

---What a process that ended while starting had to say.
---@param code integer
---@param said string[] its stderr
local function judge(code, said)
  for _, line in ipairs(said) do
    local old, missing = line:match('^acp%-boot: old (%S+)'), line:match('^acp%-boot: missing (%S+)')
    if old then
      return next_candidate('old', ('%%s is Python %s, too old'):format(old))
    end
    if missing then
      return next_candidate('missing', ("%%s has no package '%s'"):format(missing))
    end
  end
  next_candidate('failed', ('%%s ended with code %d'):format(code))
end

---The process of `channel` ended by itself.
---@param channel integer
---@param code integer
---@param said string[] its stderr
local function on_exit(channel, code, said)
  if channel ~= host.channel or vim.v.exiting ~= vim.NIL then
    return
  end
  host.channel = nil
  if host.state == 'starting' then
    return judge(code, said)
  end
  host.state, host.info, known = 'off', {}, {}
  local how = code > 128 and ('signal %d'):format(code - 128) or ('code %d'):format(code)
  local reason = ('host ended (%s)'):format(how)
  host.error = reason
  vim.schedule(function()
    local text = reason .. ': next command restarts it, or :AcpInstall'
    require('acp.message').warn(text, vim.deepcopy(host.details))
    require('acp.status').host_lost(reason)
  end)
end

---Try the next interpreter. Returns at once; the host answers with `ready`.
function launch()
  local candidate = table.remove(host.queue, 1)
  if not candidate then
    return give_up()
  end
  host.python, host.isolated, host.seq = candidate.python, candidate.isolated, host.seq + 1
  if vim.fn.executable(candidate.python) == 0 then
    return next_candidate('gone', 'cannot run %s: no such program')
  end
  local command = { candidate.python, boot, rplugin }
  if candidate.isolated then
    table.insert(command, 2, '-I')
  end
  local seq, said = host.seq, {}
  -- A process that cannot even be started makes jobstart raise or return a number below 1.
  local ok, channel = pcall(vim.fn.jobstart, command, {
    rpc = true,
    cwd = root, -- an empty or relative entry of PYTHONPATH then means the plugin, not the user's project
    on_stderr = function(_, lines)
      if host.state == 'starting' then
        vim.list_extend(said, lines)
      end
      remember(lines)
    end,
    on_exit = function(id, code)
      on_exit(id, code, said)
    end,
  })
  if not ok or channel <= 0 then
    return next_candidate('gone', 'cannot run %s')
  end
  host.channel, host.state = channel, 'starting'
  vim.rpcnotify(channel, 'acp:hello', {
    settings = require('acp.config').for_host(),
    -- `vim.version()` loads what compares versions, and builds a table of all API functions.
    version = vim.fn.execute('version'):match('NVIM v(%d+%.%d+%.%d+)'),
    icons = require('acp.icons').kind(),
    cache = vim.fn.stdpath('cache'),
    state = vim.fn.stdpath('state'),
    seq = seq,
  })
  vim.defer_fn(function()
    if seq ~= host.seq or host.state ~= 'starting' then
      return
    end
    host.channel = nil -- its exit is no news then
    vim.fn.jobstop(channel)
    next_candidate('silent', '%s did not answer')
  end, START_LIMIT_MS)
end

---Start the host if it does not run. Never waits.
function M.start()
  if host.state == 'starting' or host.state == 'ready' then
    return
  end
  host.state, host.error, host.details = 'starting', nil, {}
  host.problems, host.queue = {}, candidates()
  launch()
end

---End the host; its agents end with it. Chats are told that they lost their agent.
function M.stop()
  local channel = host.channel
  host.state, host.channel, host.info, host.outbox, known = 'off', nil, {}, {}, {}
  host.seq = host.seq + 1
  if not channel then
    return
  end
  vim.fn.jobstop(channel)
  require('acp.status').host_lost('the host was stopped')
end

---The `open` of a chat that another host had: what stands in its buffer stays, its session is taken up again.
---@param chat integer
---@return table
local function again(chat)
  local open = opens[chat]
  require('acp.status').restarted(chat)
  return vim.tbl_extend('force', open, {
    first_block = require('acp.chat.lost').first_block(chat),
    session = vim.b[open.buf].acp_session,
    title = require('acp.status').raw(chat).title or open.title,
  })
end

---Start the host anew, and the agents of all chats with it.
function M.restart()
  M.stop()
  M.start()
  local chats = vim.tbl_keys(opens)
  table.sort(chats)
  for _, chat in ipairs(chats) do
    if vim.api.nvim_buf_is_valid(opens[chat].buf) then
      M.event('open', again(chat))
    end
  end
end

---@param name string
---@param payload table
local function deliver(name, payload)
  local chat = payload.chat
  if name == 'open' then
    known[chat] = true
  elseif chat and opens[chat] and not known[chat] then
    -- This host was started after another one had ended: it has to be told of the chat first.
    known[chat] = true
    vim.rpcnotify(host.channel, 'acp:event', 'open', again(chat))
    if name == 'restart' then
      return
    end
  end
  vim.rpcnotify(host.channel, 'acp:event', name, payload)
end

---Tell the host something. Starts it if need be; what comes before it is ready is kept, in order.
---@param name string
---@param payload table
function M.event(name, payload)
  if name == 'open' then
    opens[payload.chat] = payload
  end
  if name == 'close' then
    opens[payload.chat] = nil
  end
  if host.state == 'ready' then
    return deliver(name, payload)
  end
  if host.state ~= 'starting' and passive[name] then
    return
  end
  table.insert(host.outbox, { name = name, payload = payload })
  M.start()
end

---Called by the host: it takes events from now on.
---@param info {version: string, python: string, pid: integer, seq: integer?}
function M.ready(info)
  if host.state ~= 'starting' or (info.seq and info.seq ~= host.seq) then
    return
  end
  host.state, host.info = 'ready', info
  local events = host.outbox
  host.outbox = {}
  if package.loaded['acp.install'] then
    require('acp.install').withdraw()
  end
  for _, event in ipairs(events) do
    deliver(event.name, event.payload)
  end
  if host.isolated then
    vim.schedule(require('acp.environment').check)
  end
end

---Called by the host: this Python cannot run it.
---@param info {missing: string, error: string?, python: string, version: string, seq: integer?}
function M.broken(info)
  if host.state ~= 'starting' or (info.seq and info.seq ~= host.seq) then
    return
  end
  local channel = host.channel
  host.channel = nil -- its exit is no news then
  if channel then
    vim.fn.jobstop(channel)
  end
  remember(vim.split(info.error or '', '\n'))
  if info.missing ~= '' then
    return next_candidate('missing', ("%%s has no package '%s'"):format(info.missing))
  end
  next_candidate('failed', '%s cannot load the host')
end

---Called by the host: a task of it ended with an error; the others go on.
---@param where string
---@param traceback string
function M.failed(where, traceback)
  local lines = vim.split(traceback, '\n', { trimempty = true })
  remember(lines)
  local text = ('error in the host (%s): :checkhealth acp has the details'):format(where)
  require('acp.message').once('host ' .. where, 'warning', text, lines)
end

---@class acp.HostStatus
---@field state 'off'|'starting'|'ready'|'failed'
---@field python? string
---@field version? string of that Python
---@field pid? integer
---@field error? string
---@field details string[]

---State of the host, for status and health. No round trip.
---@return acp.HostStatus
function M.status()
  return {
    state = host.state,
    python = host.info.python or host.python,
    version = host.info.version,
    pid = host.info.pid,
    error = host.error,
    details = vim.deepcopy(host.details),
  }
end

return M
