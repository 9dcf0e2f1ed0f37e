--- Settings: defaults, `setup()`, what agents there are. Everything works without `setup()`.
local M = {}

---@class acp.AgentConfig
---@field command? string[]
---@field env? table<string, string|{cmd: string[]}>
---@field cwd? string|fun(bufnr: integer): string
---@field protocol? 'acp-v1'|'acp-v2'|'auto'|'aap'
---@field batches? boolean takes arrays of messages, as a draft of version 2 had them
---@field mcp_servers? acp.McpServer[]
---@field directories? string[] absolute, or from ~: more folders its sessions may work in
---@field options? table<string, string|boolean>
---@field stall_s? integer
---@field url? string
---@field agent? string
---@field api_key_env? string
---@field client_tools? string[] names of tools of the editor that an agent over HTTP may have
---@field quirks? table<string, string> of the catalog
---@field note? string of the catalog
---@field install? string of the catalog, if its program is the catalog's
---@field login? string of the catalog, if its program is the catalog's

---@class acp.Config
---@field default_agent? string
---@field python? string
---@field protocol 'acp-v1'|'acp-v2'|'auto' of agents that do not say
---@field agents table<string, acp.AgentConfig>
---@field permission {ui: string, open: string, dismiss: string, terminal: 'allow'|'ask', rules: acp.Rule[]}
---@field follow {enabled: boolean}
---@field diff {layout: 'auto'|'tab'|'split'|'none'}
---@field terminal {layout: 'split'|'tab'}
---@field chat {position: string, width: number, complete: 'auto'|'always'|'never'}
---@field files {protected: string[], write_autocmds: boolean}
---@field notify {question: 'float'|'notify'|'bell'|false, turn_end: 'notify'|'bell'|false}
---@field sessions {remember: boolean}
---@field history {remember: boolean}
---@field icons 'auto'|'unicode'|'ascii'|table<string, any>
---@field keymaps table<string, table<string, string|string[]|false>|false>

---@return acp.Config
local function defaults()
  return {
    agents = {},
    protocol = 'acp-v1', -- version 2 is a preview
    permission = { ui = 'auto', open = 'chat', dismiss = 'keep', terminal = 'allow', rules = {} },
    follow = { enabled = false },
    diff = { layout = 'auto' },
    terminal = { layout = 'split' },
    chat = { position = 'auto', width = 0.4, complete = 'auto' },
    files = {
      protected = { '.git/**', '.nvim.lua', '.exrc', '.envrc', '.vscode/**' },
      write_autocmds = false,
    },
    notify = { question = 'float', turn_end = false },
    sessions = { remember = true },
    history = { remember = true },
    icons = 'auto',
    keymaps = vim.deepcopy(require('acp.chat.keymaps')),
  }
end

local current ---@type acp.Config?

---What was wrong with the last `setup()`, one sentence each.
---@type string[]
M.problems = {}

---The settings in use.
---@return acp.Config
function M.get()
  current = current or defaults()
  return current
end

---Take the user's settings over the defaults. What is wrong is left out and named in one message.
---@param settings? table
function M.setup(settings)
  local taken, problems = require('acp.settings').check(settings == nil and {} or settings)
  local merged = defaults()
  for name, value in pairs(taken) do
    if name == 'agents' or name == 'icons' or type(value) ~= 'table' or type(merged[name]) ~= 'table' then
      merged[name] = value
    elseif name == 'keymaps' then
      for group, maps in pairs(value) do
        merged.keymaps[group] = maps and vim.tbl_extend('force', merged.keymaps[group], maps) or false
      end
    else
      merged[name] = vim.tbl_extend('force', merged[name], value)
    end
  end
  current, M.problems = merged, problems
  if #problems > 0 then
    local more = #problems > 1 and (' (and %d more: :checkhealth acp)'):format(#problems - 1) or ''
    require('acp.message').error(('setup(): %s%s'):format(problems[1], more), problems)
  end
end

---Everything the host may know, without functions.
---@return table
function M.for_host()
  local function plain(value)
    if type(value) ~= 'table' then
      return value
    end
    local copy = {}
    for key, item in pairs(value) do
      if type(item) ~= 'function' then
        copy[key] = plain(item)
      end
    end
    return copy
  end
  local settings = plain(M.get())
  settings.keymaps = nil
  settings.python = M.python()
  settings.icons = vim.tbl_extend('error', {}, require('acp.icons').get())
  for _, name in ipairs({ 'agents' }) do
    if next(settings[name]) == nil then
      settings[name] = vim.empty_dict()
    end
  end
  for _, agent in pairs(settings.agents) do
    for _, key in ipairs({ 'env', 'options', 'client_tools' }) do
      if agent[key] and next(agent[key]) == nil then
        agent[key] = vim.empty_dict()
      end
    end
  end
  return settings
end

---The settings are others now: the host is told, if there is one.
function M.tell_host()
  local host = require('acp.host')
  local state = host.status().state
  if state == 'ready' or state == 'starting' then
    host.event('settings', { settings = M.for_host() })
  end
end

---The interpreter the user wants for the host, or nil.
---@return string?
function M.python()
  local wanted = M.get().python or vim.g.acp_python
  return type(wanted) == 'string' and wanted ~= '' and vim.fn.expand(wanted) or nil
end

---What is wrong with how the user names that interpreter, or nil. The setting is checked by `setup()`.
---@return string?
function M.python_problem()
  local wanted = vim.g.acp_python
  if wanted ~= nil and type(wanted) ~= 'string' then
    return ('g:acp_python must be a string, not %s: ignored'):format(vim.inspect(wanted))
  end
end

---The name of the built-in agent.
M.DEMO = 'demo'

---All agents by name: the user's over the catalog, and the built-in one.
---@return string[]
function M.agents()
  local names = { [M.DEMO] = true }
  for name in pairs(require('acp.catalog').all()) do
    names[name] = true
  end
  for name in pairs(M.get().agents) do
    names[name] = true
  end
  local list = vim.tbl_keys(names)
  table.sort(list)
  return list
end

---@param name string
---@return acp.AgentConfig?
local function merged(name)
  local own, known = M.get().agents[name], require('acp.catalog').get(name)
  if name == M.DEMO and not own then
    return {}
  end
  if not own and not known then
    return nil
  end
  own = own or {}
  if not known then
    return own
  end
  local base = { command = known.command, quirks = known.quirks }
  if not own.command or own.command[1] == known.command[1] then
    base.install, base.login = known.install, known.login
  end
  local agent = vim.tbl_extend('force', base, own)
  agent.env = (known.env or own.env) and vim.tbl_extend('force', known.env or {}, own.env or {})
  local settled = known.note_unless and ((own.env or {})[known.note_unless] or vim.env[known.note_unless])
  agent.note = not settled and known.note or nil
  return agent
end

---The settings of one agent, the user's over the catalog's (variables of the environment one by one); nil if
---there is no such agent.
---@param name string
---@return acp.AgentConfig?
function M.agent(name)
  local agent = merged(name)
  return agent and vim.tbl_extend('keep', agent, { protocol = M.get().protocol })
end

---The same names in the order in which they help: what can be started, then the rest.
---@return string[]
function M.agents_found_first()
  local found, rest = {}, {}
  for _, name in ipairs(M.agents()) do
    table.insert(M.found(name) and found or rest, name)
  end
  return vim.list_extend(found, rest)
end

---Whether the agent's program is there. An agent that is reached over HTTP counts as found.
---@param name string
---@return boolean
function M.found(name)
  local agent = M.agent(name)
  if not agent then
    return false
  end
  if name == M.DEMO or agent.protocol == 'aap' then
    return true
  end
  -- With a PATH of its own only the host can tell.
  if agent.env and agent.env.PATH then
    return true
  end
  return agent.command ~= nil and require('acp.catalog').executable(agent.command)
end

return M
