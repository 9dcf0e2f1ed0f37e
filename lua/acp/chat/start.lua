--- `:AcpChat`: which chat is meant, which agent a new one gets, and in which folder it works.
local M = {}

local choosing = false
local chosen ---@type string? the agent picked in this Neovim

---@param name string
---@return string
local function not_found(name)
  name = require('acp.message').plain(name)
  if name:find('%s') then
    return ("one agent is enough, not '%s'; :AcpChat <Tab> lists them"):format(name)
  end
  return ("there is no agent '%s'; :AcpChat <Tab> lists them, or set agents.%s.command"):format(name, name)
end

---Why an agent cannot be started, or nil. Of a program that is not there the chat itself tells: command,
---reason, where it was looked for, how to install it (C28).
---@param name string
---@return string?
function M.obstacle(name)
  local config = require('acp.config')
  local agent = config.agent(name)
  if not agent then
    return not_found(name)
  end
  if not agent.command and not config.found(name) then
    return ('agents.%s has no command; set agents.%s.command'):format(name, name)
  end
end

---The agents of catalog and settings whose program is there.
---@return string[]
function M.installed()
  local config = require('acp.config')
  return vim.tbl_filter(function(name)
    return name ~= config.DEMO and config.found(name)
  end, config.agents())
end

---Decide which agent a new chat gets, and go on with it. Nothing happens when the user closes the picker.
---@param name string?
---@param go fun(name: string)
---@param none? fun() what happens then
function M.choose(name, go, none)
  local config = require('acp.config')
  name = name or config.get().default_agent or chosen
  if name then
    local problem = M.obstacle(name)
    if problem then
      return require('acp.message').error(problem)
    end
    return go(name)
  end
  local found = M.installed()
  if #found < 2 then
    return go(found[1] or config.DEMO)
  end
  if choosing then
    return none and none()
  end
  choosing = true
  require('acp.choose').one(found, { prompt = 'Which agent?', kind = 'acp_agent' }, function(picked)
    choosing = false
    if not picked then
      return none and none()
    end
    chosen = picked
    go(picked)
  end)
end

---The folder of a new session: the agent's setting, else that of the window the command came from.
---@param name string
---@return string? cwd nil after a message
function M.folder(name)
  local cwd = (require('acp.config').agent(name) or {}).cwd
  if type(cwd) == 'function' then
    local ok, answer = pcall(cwd, vim.api.nvim_get_current_buf())
    if not ok then
      return require('acp.message').error(('agents.%s.cwd failed: %s'):format(name, answer))
    end
    cwd = answer
  end
  if cwd == nil then
    cwd = vim.fn.getcwd()
    if vim.fn.isdirectory(cwd) == 0 then
      return require('acp.message').error('the present folder does not exist any more; :cd to another one')
    end
  end
  if type(cwd) ~= 'string' or vim.fn.isdirectory(vim.fn.expand(cwd)) == 0 then
    return require('acp.message').error(('agents.%s.cwd: there is no folder %s'):format(name, tostring(cwd)))
  end
  return (vim.fn.fnamemodify(vim.fn.expand(cwd), ':p'):gsub('(.)/$', '%1'))
end

---The settings of an agent as the host takes them: without the folder, without empty tables.
---@param name string
---@return acp.AgentConfig
---@return boolean demo the built-in agent
function M.config_of(name)
  local config = require('acp.config')
  local agent = vim.deepcopy(config.agent(name) or {})
  agent.cwd = nil
  for _, key in ipairs({ 'env', 'options', 'client_tools' }) do
    if agent[key] and next(agent[key]) == nil then
      agent[key] = nil
    end
  end
  local demo = name == config.DEMO and agent.command == nil
  if demo then
    -- It remembers its sessions as long as this Neovim lives, whose folder this is.
    local state = vim.fs.dirname(vim.fn.tempname()) .. '/acp-demo'
    agent.command = { '--protocol', 'auto', '--state', state } -- the version that we offer
  end
  return next(agent) and agent or vim.empty_dict(), demo
end

---@param name string
---@return acp.Chat?
local function create(name)
  local cwd = M.folder(name)
  if not cwd then
    return nil
  end
  return require('acp.chat').create(name, cwd, M.config_of(name))
end

---Have the user type at once, after what stands in the prompt; not if they are in the middle of something.
---@param chat acp.Chat
local function begin_typing(chat)
  if not vim.api.nvim_get_mode().mode:find('^n') or vim.api.nvim_get_current_buf() ~= chat.prompt then
    return
  end
  local rest = vim.api.nvim_get_current_line():sub(vim.api.nvim_win_get_cursor(0)[2] + 1)
  vim.cmd(vim.fn.strchars(rest) < 2 and 'startinsert!' or 'startinsert')
end

---The chat of a number, or why there is none.
---@param number integer
---@return acp.Chat?
---@return string? reason
local function numbered(number)
  local registry = require('acp.chat')
  if registry.get(number) then
    return registry.get(number)
  end
  local known = vim.tbl_map(function(chat)
    return ('%d %s'):format(chat.n, chat.agent)
  end, registry.list())
  local which = #known > 0 and 'there are ' .. table.concat(known, ', ') or ':AcpChat opens one'
  return nil, ('there is no chat %d; %s'):format(number, which)
end

---Show a chat, or make one.
---@param opts acp.ChatOpts
---@param done? fun(chat: acp.Chat)
---@return boolean|nil
---@return string? reason
function M.show(opts, done)
  local obstacle = require('acp.cmdwin').obstacle()
  if obstacle then
    require('acp.message').error(obstacle)
    return nil
  end
  local registry, focus = require('acp.chat'), opts.focus ~= false
  local mode = vim.api.nvim_get_mode().mode
  local free = mode:find('^[int]') and not mode:find('^no') -- no operator waits, nothing is selected or typed
  local function present(chat)
    local first = vim.bo[chat.prompt].filetype == ''
    require('acp.chat.windows').open(chat, focus)
    if first then
      require('acp.chat.prompt').go_to_end(chat)
    end
    registry.focused(chat)
    if done then
      done(chat)
    end
    if focus and free then
      registry.set_prompt_filetype(chat)
      begin_typing(chat)
    end
    vim.schedule(function()
      registry.set_filetypes(chat)
    end)
  end
  local existing
  if opts.number then
    local reason
    existing, reason = numbered(opts.number)
    if not existing then
      return nil, reason
    end
  elseif not opts.new and opts.agent then
    existing = registry.last_of(opts.agent)
  elseif not opts.new then
    existing = registry.current()
  end
  if existing then
    present(existing)
    return true
  end
  M.choose(opts.agent, function(name)
    local chat = create(name)
    if chat then
      present(chat)
    end
  end)
  return true
end

---What `:AcpChat` does. Here, because most begin with it, and need no other command's code then.
---@param args {args: string, bang: boolean, count: integer}
function M.command(args)
  if args.count > 0 then
    return require('acp.message').refused(M.show({ number = args.count }))
  end
  M.show({ agent = args.args ~= '' and args.args or nil, new = args.bang })
end

return M
