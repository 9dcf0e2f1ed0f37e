--- What the commands of `plugin/acp.lua` do, but `:AcpChat`.
local M = {}

local tell = require('acp.message').refused

---What a buffer without a file is, in words.
---@param buf integer
---@return string?
local function source_of(buf)
  local name, kind = vim.api.nvim_buf_get_name(buf), vim.bo[buf].buftype
  if kind == 'terminal' then
    return 'the terminal ' .. (vim.b[buf].term_title or name)
  elseif kind == 'help' then
    return 'the help file ' .. vim.fs.basename(name)
  elseif kind == 'quickfix' then
    return 'the quickfix list'
  elseif require('acp.chat').of(buf) then
    return 'this chat'
  end
  return name ~= '' and vim.fs.basename(name) or nil
end

---The lines of a range as context. A buffer without a file has no path, but may have a source.
---@param first integer
---@param last integer
---@return acp.Context
local function lines_of(first, last)
  local lines = vim.api.nvim_buf_get_lines(0, first - 1, last, false)
  local path = vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) or ''
  return {
    path = path ~= '' and vim.fn.fnamemodify(path, ':p') or nil,
    source = path == '' and source_of(0) or nil,
    first = first,
    last = last,
    text = table.concat(lines, '\n'),
  }
end

---Something was sent to a chat that is not on the screen: say so.
---@param chat acp.Chat
local function tell_sent(chat)
  local status = require('acp.status').raw(chat.n)
  local name = status.label or chat.agent
  if status.state == 'failed' then
    return require('acp.message').warn(('not sent: %s is not running; :AcpRestart'):format(name))
  end
  require('acp.message').info((status.queued > 0 and 'queued for %s' or 'sent to %s'):format(name))
end

---@param chat acp.Chat? nil: the first is made
---@return boolean
local function hidden(chat)
  return chat ~= nil and not require('acp.chat.windows').visible(chat)
end

---@param text string
---@param context acp.Context?
---@param now boolean
local function send_text(text, context, now)
  local chat = require('acp.chat').current()
  local ok, reason = require('acp').send(text, { context = { context }, now = now })
  if not ok or not chat then
    return tell(ok, reason)
  end
  require('acp.chat.windows').to_end(chat)
  if hidden(chat) then
    tell_sent(chat)
  end
end

---@param args {args: string, bang: boolean, range: integer, line1: integer, line2: integer}
function M.send(args)
  local context = args.range > 0 and lines_of(args.line1, args.line2) or nil
  if args.args:find('%S') then
    local text = args.args
    if context and not context.path then
      text, context = text .. '\n\n' .. require('acp.chat.prompt').quote(context), nil
    end
    return send_text(text, context, args.bang)
  end
  if not context then
    return M.send_prompt(args.bang)
  end
  require('acp.chat.start').show({}, function(chat)
    require('acp.chat.prompt').add_context(chat, context)
  end)
end

---Send what stands in the prompt of the current chat.
---@param now? boolean
function M.send_prompt(now)
  local chat = require('acp.chat').current()
  if not chat then
    return require('acp').chat()
  end
  if not require('acp.chat.prompt').send(chat, now) then
    require('acp').chat()
  elseif hidden(chat) then
    tell_sent(chat)
  end
end

---@param args {bang?: boolean}
function M.cancel(args)
  tell(require('acp').cancel({ queue = args.bang }))
end

---@param args {args: string}
function M.queue(args)
  tell(require('acp.chat.queue_command').run(args.args))
end

---@param args {args: string, bang?: boolean}
function M.history(args)
  if args.bang and args.args:find('%S') then
    return tell(nil, ':AcpHistory! forgets all prompts of this folder, and takes no words')
  end
  local chat = require('acp.chat').current()
  if not chat then
    return tell(nil, 'there is no chat; :AcpChat opens one')
  end
  if args.bang then
    return require('acp.chat.history').clear(chat.cwd)
  end
  tell(require('acp.chat.history').pick(chat, args.args))
end

---@param args {args: string}
function M.follow(args)
  tell(require('acp.follow').command(vim.trim(args.args)))
end

---@param args {args: string}
function M.diff(args)
  local path = vim.trim(args.args)
  tell(require('acp').diff(path ~= '' and path or nil))
end

---@param args {args: string}
function M.options(args)
  tell(require('acp.options.command').run(args.args))
end

---@param args {args: string}
function M.rules(args)
  tell(require('acp.rules').run(args.args))
end

---@param args {args: string}
function M.permit(args)
  local choice = vim.trim(args.args)
  tell(require('acp').permit(tonumber(choice) or (choice ~= '' and choice or nil)))
end

---A key answers only a question that was on the screen; else it shows it.
---@param choice string
function M.permit_key(choice)
  tell(require('acp.question').permit(choice, { key = true }))
end

---The built-in agent has nothing to log in to, unless its settings want that.
---@param agent string
---@return boolean
local function without_login(agent)
  local config, demo = require('acp.chat.start').config_of(agent)
  return demo and not (config.env and config.env.ACP_DEMO_LOGIN)
end

---@param args {args: string}
function M.login(args)
  local name = vim.trim(args.args)
  local registry = require('acp.chat')
  local function login(chat)
    if without_login(chat.agent) then
      return require('acp.message').info('the demo agent needs no login')
    end
    local config, demo = require('acp.chat.start').config_of(chat.agent)
    require('acp.host').event('login', { chat = chat.n, config = config, demo = demo })
  end
  if name ~= '' and without_login(name) then
    return login({ agent = name })
  end
  local chat
  if name == '' then
    chat = registry.current()
  else
    chat = registry.last_of(name)
  end
  if chat then
    return login(chat)
  end
  require('acp.chat.start').show({ agent = name ~= '' and name or nil }, login)
end

function M.logout()
  local chat = require('acp.chat').current()
  if not chat then
    return tell(nil, 'no chat to log out of; :AcpChat opens one')
  end
  if without_login(chat.agent) then
    return require('acp.message').info('the demo agent needs no login')
  end
  require('acp.host').event('logout', { chat = chat.n })
end

function M.restart()
  local chat = require('acp.chat').current()
  if not chat then
    return tell(nil, 'no chat to restart; :AcpChat opens one')
  end
  require('acp.status').restarted(chat.n)
  local config, demo = require('acp.chat.start').config_of(chat.agent)
  require('acp.chat').configure(chat, config, demo)
  require('acp.host').event('restart', { chat = chat.n, config = config, demo = demo })
end

---@param args {fargs: string[]} an agent, a session of it; the agent may be left out
function M.trace(args)
  local name, session = args.fargs[1], args.fargs[2]
  local config, chat = require('acp.config'), require('acp.chat').current()
  if #args.fargs > 2 then
    return tell(nil, 'an agent and a session are enough: :AcpTrace [agent] [session]')
  elseif name and not session and not config.agent(name) and chat then
    if vim.tbl_contains(require('acp.trace').sessions(chat.agent), name) then
      name, session = chat.agent, name
    end
  end
  if not name then
    if not chat then
      return tell(nil, 'no agent was started yet; :AcpChat starts one')
    end
    name = chat.agent
  elseif not config.agent(name) then
    return tell(nil, ("there is no agent '%s'; :AcpTrace <Tab> lists them"):format(name))
  end
  tell(require('acp.trace').open_for(name, session))
end

---@param args {args: string}
function M.sessions(args)
  local name, id = vim.trim(args.args):match('^(%S*)%s*(.*)$')
  if id ~= '' then
    return tell(require('acp.sessions').open_id(name, id))
  end
  tell(require('acp').sessions({ agent = name ~= '' and name or nil }))
end

---@param args {args: string}
function M.fork(args)
  tell(require('acp').fork({ text = args.args }))
end

---@param args {args: string, fargs: string[], bang: boolean}
function M.install(args)
  tell(require('acp.install').run(args))
end

---@return string[] paths whose change the current chat can show
local function changed()
  local chat = require('acp.chat').current()
  return chat and require('acp.diff.request').paths(chat) or {}
end

---The words that begin so. Some are an agent's: what cannot be shown as it is, is not completed.
---@param words string[]
---@param lead string
---@return string[]
local function starting(words, lead)
  local plain = require('acp.message').plain
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead) and plain(word) == word
  end, words)
end

local words_of = {
  answers = { 'allow_once', 'allow_always', 'reject_once', 'reject_always', 'cancel', 'hide' },
  follow = { 'on', 'off', 'toggle', 'list' },
  rules = { 'revoke', 'restore' },
}

---@param what 'agents'|'answers'|'follow'|'changes'|'options'|'rules'|'queue'|'traces'|'sessions'
---@param lead string
---@param line string
---@param pos integer
---@return string[]
function M.complete(what, lead, line, pos)
  if what == 'options' then
    return require('acp.options.command').complete(lead, line, pos)
  end
  if what == 'traces' then
    local agent, rest = line:sub(1, pos):match('^.-%u%a*%s+(%S+)%s+(.*)$')
    if agent then
      return rest:find('%s') and {} or starting(require('acp.trace').sessions(agent), lead)
    end
    what = 'agents'
  end
  if what == 'sessions' then
    local agent, rest = line:sub(1, pos):match('^.-%u%a*%s+(%S+)%s+(.*)$')
    if agent then
      return rest:find('%s') and {} or starting(require('acp.sessions.record').ids(agent), lead)
    end
    what = 'agents'
  end
  local words = words_of[what] or what == 'changes' and changed() or require('acp.config').agents()
  if what == 'queue' then
    words = line:sub(1, pos):find('^%S+%s+%S+%s') and {} or require('acp.chat.queue_command').words
  end
  if what == 'agents' then
    words = require('acp.config').agents_found_first()
  end
  return starting(words, lead)
end

return M
