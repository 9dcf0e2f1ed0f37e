--- What the list of sessions shows: the chats of this Neovim, and what agents know from elsewhere (ui.md
--- section 7).
local M = {}

---What an agent's answer allows.
---@class acp.SessionCan
---@field open? boolean
---@field delete? boolean
---@field fork? boolean

---@class acp.SessionEntry
---@field agent string
---@field session? string the agent's id of it
---@field title? string fit to be shown; else the first line of the first prompt, if it is known
---@field state 'none'|'starting'|'idle'|'running'|'waiting'|'failed' `none`: it is not open here
---@field pending integer open questions
---@field chat? integer number of the chat that shows it
---@field cwd string
---@field time? integer seconds since the epoch: when something was last said in it
---@field home string folder of the agent's process that has it
---@field directories? string[] more folders it works in, as the agent says
---@field can acp.SessionCan
---@field remembered? boolean it is known from here alone

---What an agent has answered.
---@class acp.SessionSource
---@field agent string
---@field home string
---@field seq integer of the question it answers
---@field state 'asking'|'done'|'cannot'|'failed'
---@field sessions? {id: string, cwd: string, title?: string, time?: integer, directories?: string[]}[]
---@field cut? string why there are more
---@field open? boolean
---@field delete? boolean
---@field fork? boolean
---@field kind? string of the failure
---@field error? string
---@field remedy? string

---What is remembered of a session that was used from here.
---@class acp.RememberedSession
---@field agent string
---@field id string
---@field cwd string
---@field home string
---@field title? string
---@field time? integer seconds since the epoch
---@field delete boolean
---@field fork boolean

local rank = { waiting = 1, failed = 2, running = 3, starting = 3, idle = 4, none = 5 }

---@param chat acp.Chat
---@return acp.SessionEntry
local function live(chat)
  local status = require('acp.status').raw(chat.n)
  local active = status.active_ms and math.floor(status.active_ms / 1000)
  return {
    agent = chat.agent,
    session = status.session or chat.open.load,
    title = status.title,
    topic = status.topic,
    state = status.state == 'none' and 'idle' or status.state,
    pending = status.pending,
    chat = chat.n,
    cwd = chat.cwd,
    time = active or chat.open.time,
    home = chat.open.home or chat.cwd,
    can = {},
    used = chat.used,
  }
end

---What the agent of a remembered session can do with it; nil: the agent has told of all it has, and not of
---this one.
---@param session acp.RememberedSession
---@param sources acp.SessionSource[]
---@return acp.SessionCan?
local function remembered_can(session, sources)
  local can = { open = true, delete = session.delete, fork = session.fork }
  for _, source in ipairs(sources) do
    if source.agent == session.agent and (source.state == 'done' or source.state == 'cannot') then
      if source.state == 'done' and not source.cut then
        return nil
      end
      can = { open = source.open, delete = source.delete, fork = source.fork }
    end
  end
  return can
end

---All entries: who waits for the user first, then the other chats, then the sessions that are not open; the
---last used of each first.
---@param sources acp.SessionSource[]
---@param only? string of this agent
---@param remembered? acp.RememberedSession[]
---@return acp.SessionEntry[]
function M.entries(sources, only, remembered)
  local list, known = {}, {} ---@type acp.SessionEntry[], table<string, acp.SessionEntry>
  local function key(agent, session)
    return agent .. '\0' .. session
  end
  for _, chat in ipairs(require('acp.chat').list()) do
    if not only or chat.agent == only then
      local entry = live(chat)
      table.insert(list, entry)
      if entry.session then
        known[key(entry.agent, entry.session)] = entry
      end
      for _, source in ipairs(sources) do
        if source.agent == entry.agent and (source.home == entry.home or not next(entry.can)) then
          entry.can = { open = source.open, delete = source.delete, fork = source.fork }
        end
      end
    end
  end
  local order = 0
  for _, source in ipairs(sources) do
    for _, session in ipairs(source.sessions or {}) do
      order = order + 1
      local old = known[key(source.agent, session.id)]
      if old then
        old.title = old.title or session.title
        old.time = old.time or session.time
      else
        local entry = {
          agent = source.agent,
          session = session.id,
          title = session.title,
          state = 'none',
          pending = 0,
          cwd = session.cwd,
          time = session.time,
          home = source.home,
          directories = session.directories,
          can = { open = source.open, delete = source.delete, fork = source.fork },
          order = order,
        }
        known[key(source.agent, session.id)] = entry
        table.insert(list, entry)
      end
    end
  end
  for _, session in ipairs(remembered or {}) do
    order = order + 1
    local old = known[key(session.agent, session.id)]
    local can = remembered_can(session, sources)
    if old then
      old.title = old.title or session.title
      old.time = old.time or session.time
    elseif can then
      table.insert(list, {
        agent = session.agent,
        session = session.id,
        title = session.title,
        state = 'none',
        pending = 0,
        cwd = session.cwd,
        time = session.time,
        home = session.home,
        can = can,
        remembered = true,
        order = order,
      })
    end
  end
  for _, entry in ipairs(list) do
    entry.title = entry.title or entry.topic
  end
  table.sort(list, function(a, b)
    if rank[a.state] ~= rank[b.state] then
      return rank[a.state] < rank[b.state]
    elseif a.chat and b.chat then
      return a.used > b.used
    elseif a.time ~= b.time then
      return (a.time or 0) > (b.time or 0)
    end
    return a.order < b.order
  end)
  return list
end

local months = { 'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec' }

---How long ago something was, for people: `now`, `2 min ago`, `3 h ago`, `yesterday`, `3 Nov`, `3 Nov 2024`.
---@param time integer? seconds since the epoch
---@param now integer
---@return string
function M.ago(time, now)
  if not time then
    return ''
  end
  local passed = now - time
  if passed < 60 then
    return 'now'
  elseif passed < 3600 then
    return ('%d min ago'):format(math.floor(passed / 60))
  end
  local then_, today = os.date('*t', time), os.date('*t', now)
  local function same(day)
    return then_.year == day.year and then_.yday == day.yday
  end
  local noon = os.time({ year = today.year, month = today.month, day = today.day, hour = 12 })
  if same(today) then
    return ('%d h ago'):format(math.floor(passed / 3600))
  elseif same(os.date('*t', noon - 86400)) then
    return 'yesterday'
  end
  local text = ('%d %s'):format(then_.day, months[then_.month])
  return then_.year == today.year and text or ('%s %d'):format(text, then_.year)
end

local looks = {
  waiting = { 'waiting', 'AcpWaiting' },
  failed = { 'failed', 'AcpFailed' },
  running = { 'running', 'AcpRunning' },
  starting = { 'running', 'AcpRunning' },
  idle = { 'done', 'AcpDone' },
  none = { 'pending', 'AcpPending' },
}

---@param entry acp.SessionEntry
---@return string icon, string group
local function icon_of(entry)
  local look = looks[entry.state]
  if entry.state == 'idle' and not entry.time then
    look = looks.none -- nothing was said in it yet
  end
  return require('acp.icons').get()[look[1]], look[2]
end

---What trouble and waiting have besides their icon.
---@param entry acp.SessionEntry
---@return string
local function word_of(entry)
  if entry.state == 'waiting' then
    return entry.pending > 1 and ('waiting for you (%d)'):format(entry.pending) or 'waiting for you'
  end
  return entry.state == 'failed' and 'failed' or ''
end

---@alias acp.RowMark {[1]: integer, [2]: integer, [3]: string} first byte, last byte, group

---@class acp.Row
---@field text string
---@field marks acp.RowMark[]
---@field entry? acp.SessionEntry

---@param pieces {[1]: string, [2]: string?}[]
---@param entry? acp.SessionEntry
---@return acp.Row
local function row_of(pieces, entry)
  local row = { text = '', marks = {}, entry = entry }
  for _, piece in ipairs(pieces) do
    local first = #row.text
    row.text = row.text .. piece[1]
    if piece[2] and piece[1] ~= '' then
      table.insert(row.marks, { first, #row.text, piece[2] })
    end
  end
  return row
end

---The rows of entries, in columns.
---@param entries acp.SessionEntry[]
---@param width integer cells there are
---@param now integer seconds since the epoch
---@return acp.Row[]
function M.draw(entries, width, now)
  local message, cells = require('acp.message'), vim.fn.strdisplaywidth
  local columns, widest, word_width = {}, { 0, 0, 0, 0 }, 0
  for i, entry in ipairs(entries) do
    local busy = entry.state == 'running' or entry.state == 'waiting' or entry.state == 'starting'
    columns[i] = {
      message.plain(entry.title or '(untitled)'),
      message.plain(entry.agent),
      M.ago(busy and (entry.time or now) or entry.time, now),
      message.plain(vim.fn.fnamemodify(entry.cwd, ':~')),
    }
    local word = word_of(entry)
    word_width = math.max(word_width, word ~= '' and cells(word) + 2 or 0)
    for c, text in ipairs(columns[i]) do
      widest[c] = math.max(widest[c], cells(text))
    end
  end
  -- The window does not wrap: a title gives way to the word for who waits.
  local room = math.max(width - 2 - widest[2] - widest[3] - widest[4] - 6 - word_width, 16)
  widest[1] = math.min(widest[1], room)
  local function pad(text, column)
    local gap = widest[column] > 0 and 2 or 0 -- a column without a text takes no room
    return text .. (' '):rep(widest[column] - cells(text) + gap)
  end
  local rows = {}
  for i, entry in ipairs(entries) do
    local icon, group = icon_of(entry)
    local column, word = columns[i], word_of(entry)
    rows[i] = row_of({
      { icon, group },
      { ' ' },
      { pad(message.cut(column[1], widest[1]), 1), entry.title and '' or 'AcpNote' },
      { pad(column[2], 2) },
      { pad(column[3], 3), 'AcpNote' },
      { column[4], 'AcpPath' },
      { word ~= '' and '  ' .. word or '', group },
    }, entry)
  end
  return rows
end

---The rows below: who is still asked, who cannot answer, and what helps.
---@param sources acp.SessionSource[]
---@param reload string? the key that asks again
---@return acp.Row[]
function M.notes(sources, reload)
  local icons, rows = require('acp.icons').get(), {}
  local plain = require('acp.message').plain
  local function put(...)
    table.insert(rows, row_of({ ... }))
  end
  for _, source in ipairs(sources) do
    if source.state == 'asking' then
      put({ icons.running, 'AcpRunning' }, { (' asking %s%s'):format(source.agent, icons.cut), 'AcpNote' })
    elseif source.state == 'cannot' then
      local said = ('%s %s cannot list its sessions'):format(icons.rule, source.agent)
      local more = (': those used here are shown; :AcpSessions %s {id} loads another'):format(source.agent)
      put({ said .. (source.open and more or ''), 'AcpNote' })
    elseif source.state == 'failed' then
      local auth = source.kind == 'auth'
      local said = auth and 'not logged in' or plain(source.error or '')
      if not vim.startswith(said, source.agent) then
        said = ('%s: %s'):format(source.agent, said)
      end
      put({ ('%s %s'):format(icons.failed, said), 'AcpError' })
      for _, line in ipairs(M.remedies(source, reload)) do
        put({ ('  %s '):format(icons.bar), 'AcpBar' }, { plain(line), 'AcpNote' })
      end
    elseif source.cut then
      put({ ('%s %s has more sessions: %s'):format(icons.rule, source.agent, plain(source.cut)), 'AcpNote' })
    end
  end
  return rows
end

---What helps against a failure, one command or key a line.
---@param source acp.SessionSource
---@param reload string?
---@return string[]
function M.remedies(source, reload)
  local again = reload or ':AcpSessions'
  if source.kind == 'auth' and (source.remedy == '' or vim.startswith(source.remedy or '', ':AcpLogin')) then
    return { ':AcpLogin ' .. source.agent, again .. ' asks again' }
  elseif source.kind == 'host' then
    return { source.remedy or ':AcpInstall' }
  end
  local lines = {}
  -- Written for a chat, which is started again by its command. There is no chat here.
  for line in vim.gsplit(source.remedy or '', '\n', { trimempty = true }) do
    if not vim.startswith(line, ':AcpRestart') then
      table.insert(lines, (line:gsub(':AcpRestart', function()
        return again
      end)))
    end
  end
  table.insert(lines, again .. ' asks again')
  table.insert(lines, (':AcpTrace %s  shows what was said'):format(source.agent))
  return lines
end

return M
