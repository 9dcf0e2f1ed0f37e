--- What the commands of `plugin/acp.lua` do.
local M = {}

---@param ok any
---@param reason string?
local function tell(ok, reason)
  if not ok and reason then
    require('acp.message').warn(reason)
  end
end

---@param args {args: string, bang: boolean}
function M.chat(args)
  require('acp').chat({ agent = args.args ~= '' and args.args or nil, new = args.bang })
end

---The lines of a range as context. A buffer without a file has no path.
---@param first integer
---@param last integer
---@return acp.Context
local function lines_of(first, last)
  local lines = vim.api.nvim_buf_get_lines(0, first - 1, last, false)
  local path = vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) or ''
  return {
    path = path ~= '' and vim.fn.fnamemodify(path, ':p') or nil,
    first = first,
    last = last,
    text = table.concat(lines, '\n'),
  }
end

---@param args {args: string, bang: boolean, range: integer, line1: integer, line2: integer}
function M.send(args)
  local context = args.range > 0 and lines_of(args.line1, args.line2) or nil
  if args.args:find('%S') then
    local text = args.args
    if context and not context.path then
      text, context = ('%s\n\n```\n%s\n```'):format(text, context.text), nil
    end
    return tell(require('acp').send(text, { context = { context }, now = args.bang }))
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
    require('acp.chat.windows').open(chat, true)
  end
end

---@param args {bang: boolean}
function M.cancel(args)
  tell(require('acp').cancel({ queue = args.bang }))
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
function M.permit(args)
  local choice = vim.trim(args.args)
  tell(require('acp').permit(tonumber(choice) or (choice ~= '' and choice or nil)))
end

---A key answers only a question that was on the screen; else it shows it.
---@param choice string
function M.permit_key(choice)
  tell(require('acp.question').permit(choice, { key = true }))
end

---@param args {args: string}
function M.login(args)
  local name = vim.trim(args.args)
  local registry = require('acp.chat')
  local function login(chat)
    require('acp.host').event('login', { chat = chat.n })
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

---@param args {args: string}
function M.trace(args)
  local name = vim.trim(args.args)
  if name == '' then
    local chat = require('acp.chat').current()
    if not chat then
      return tell(nil, 'no agent was started yet; :AcpChat starts one')
    end
    name = chat.agent
  elseif not require('acp.config').agent(name) then
    return tell(nil, ("there is no agent '%s'; :AcpTrace <Tab> lists them"):format(name))
  end
  require('acp.trace').open_for(name)
end

---@param args {args: string, fargs: string[], bang: boolean}
function M.install(args)
  require('acp.install').run(args)
end

---@return string[] paths whose change the current chat can show
local function changed()
  local chat = require('acp.chat').current()
  return chat and require('acp.diff.request').paths(chat) or {}
end

local words_of = {
  answers = { 'allow_once', 'allow_always', 'reject_once', 'reject_always', 'cancel', 'hide' },
  follow = { 'on', 'off', 'toggle', 'list' },
}

---@param what 'agents'|'answers'|'follow'|'changes'
---@param lead string
---@return string[]
function M.complete(what, lead)
  local words = words_of[what] or what == 'changes' and changed() or require('acp.config').agents()
  if what == 'agents' then
    words = require('acp.config').agents_found_first()
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

return M
