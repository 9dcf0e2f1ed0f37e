--- Checks what the user gave to `setup()`: what is unknown or wrong is named and left out, the rest is used.
local M = {}

---Returns the value to use; nil leaves it out.
---@alias acp.Check fun(value: any, path: string, problems: string[]): any

---@param problems string[]
---@param path string
---@param wanted string
---@param value any
local function wrong(problems, path, wanted, value)
  local shown = type(value) == 'string' and ("'%s'"):format(value) or 'a ' .. type(value)
  if type(value) == 'boolean' or type(value) == 'number' then
    shown = tostring(value)
  end
  table.insert(problems, ('%s must be %s, not %s'):format(path, wanted, shown))
end

---The known name that may be meant: the one with the longest beginning in common, three letters at least.
---@param name string
---@param known string[] sorted
---@return string?
local function nearest(name, known)
  local best, length = nil, 2
  for _, other in ipairs(known) do
    local same = 0
    while same < #name and name:sub(1, same + 1):lower() == other:sub(1, same + 1) do
      same = same + 1
    end
    if same > length then
      best, length = other, same
    end
  end
  return best
end

---@param type_name string
---@param words? string
---@return acp.Check
local function of(type_name, words)
  return function(value, path, problems)
    if type(value) == type_name then
      return value
    end
    wrong(problems, path, words or ('a ' .. type_name), value)
  end
end

---@param ... any allowed values
---@return acp.Check
local function one_of(...)
  local allowed = { ... }
  local words = {}
  for _, item in ipairs(allowed) do
    table.insert(words, type(item) == 'string' and ("'%s'"):format(item) or tostring(item))
  end
  return function(value, path, problems)
    if vim.tbl_contains(allowed, value) then
      return value
    end
    wrong(problems, path, table.concat(words, ', '), value)
  end
end

---@param value any
---@param path string
---@param problems string[]
local function strings(value, path, problems)
  local good = type(value) == 'table' and vim.islist(value)
  for _, item in ipairs(good and value or {}) do
    good = good and type(item) == 'string'
  end
  if good then
    return value
  end
  wrong(problems, path, "a list of strings, as { 'a', 'b' }", value)
end

---@param fields table<string, acp.Check>
---@return acp.Check
local function record(fields)
  return function(value, path, problems)
    if type(value) ~= 'table' then
      return wrong(problems, path == '' and 'the settings' or path, 'a table', value)
    end
    local known, taken = vim.tbl_keys(fields), {}
    table.sort(known)
    local given = vim.tbl_keys(value)
    table.sort(given, function(a, b)
      return tostring(a) < tostring(b)
    end)
    for _, key in ipairs(given) do
      local name = path == '' and tostring(key) or ('%s.%s'):format(path, tostring(key))
      if fields[key] then
        taken[key] = fields[key](value[key], name, problems)
      else
        local near = nearest(tostring(key), known)
        local advice = near and (' (did you mean %s?)'):format(near)
          or (': known are ' .. table.concat(known, ', '))
        table.insert(problems, ('%s is no setting%s'):format(name, advice))
      end
    end
    return taken
  end
end

---A table with any names of a pattern, each with a value of a kind.
---@param pattern string
---@param words string
---@param check acp.Check
---@return acp.Check
local function map(pattern, words, check)
  return function(value, path, problems)
    if type(value) ~= 'table' then
      return wrong(problems, path, 'a table', value)
    end
    local taken = {}
    for key, item in pairs(value) do
      local name = ('%s.%s'):format(path, tostring(key))
      if type(key) == 'string' and key:match(pattern) then
        taken[key] = check(item, name, problems)
      else
        table.insert(problems, ('%s: %s'):format(name, words))
      end
    end
    return taken
  end
end

local function command(value, path, problems)
  if type(value) == 'table' and #value == 0 then
    return wrong(problems, path, "a list of strings, as { 'my-agent', '--acp' }", value)
  end
  return strings(value, path, problems)
end

local function env_value(value, path, problems)
  if type(value) == 'string' then
    return value
  end
  if type(value) == 'table' and type(value.cmd) == 'table' and #value.cmd > 0 then
    return value
  end
  wrong(problems, path, "a string or { cmd = { 'program', 'argument' } }", value)
end

local function cwd(value, path, problems)
  if type(value) == 'string' or type(value) == 'function' then
    return value
  end
  wrong(problems, path, 'a string or a function', value)
end

local function directories(value, path, problems)
  local good = strings(value, path, problems)
  for i, folder in ipairs(good or {}) do
    if not folder:match('^[/~]') then
      return wrong(problems, ('%s[%d]'):format(path, i), 'an absolute path (~ is your home)', folder)
    end
  end
  return good
end

local function seconds(value, path, problems)
  if type(value) == 'number' and value > 0 then
    return value
  end
  wrong(problems, path, 'a number of seconds above 0', value)
end

local function option(value, path, problems)
  if type(value) == 'string' or type(value) == 'boolean' then
    return value
  end
  wrong(problems, path, 'a string, true or false', value)
end

local function share(value, path, problems)
  if type(value) == 'number' and value > 0 and value < 1 then
    return value
  end
  wrong(problems, path, 'a number between 0 and 1', value)
end

local function url(value, path, problems)
  if type(value) == 'string' and value:match('^https?://[^/]') then
    return value
  end
  wrong(problems, path, "an address, as 'https://host/v1'", value)
end

local function variable(value, path, problems)
  if type(value) == 'string' and value:match('^[%a_][%w_]*$') then
    return value
  end
  wrong(problems, path, "the name of a variable of the environment, as 'AAP_KEY'", value)
end

---Tools of the editor that an agent over HTTP may have (|acp-client-tools|).
M.client_tools = {
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'search_files',
  'run_command',
  'open_buffers',
  'diagnostics',
  'selection',
}

---@param value any
---@param path string
---@param problems string[]
local function client_tools(value, path, problems)
  if type(value) ~= 'table' or not vim.islist(value) then
    return wrong(problems, path, "a list of names of tools, as { 'read_file', 'edit_file' }", value)
  end
  if #value == 0 then
    return nil
  end
  local taken, unknown = {}, {}
  for _, name in ipairs(value) do
    if vim.tbl_contains(M.client_tools, name) then
      table.insert(taken, name)
    else
      table.insert(unknown, type(name) == 'string' and ("'%s'"):format(name) or 'a ' .. type(name))
    end
  end
  if #unknown > 0 then
    local known = table.concat(M.client_tools, ', ')
    local none = #unknown > 1 and 'are no tools' or 'is no tool'
    table.insert(problems, ('%s: %s %s; there are %s'):format(path, table.concat(unknown, ', '), none, known))
  end
  return taken
end

---@param value any
---@param path string
---@param problems string[]
local function rules(value, path, problems)
  return require('acp.rules').check(value, path, problems)
end

local agent_fields = record({
  command = command,
  env = map('^[^=]+$', 'no name of an environment variable', env_value),
  cwd = cwd,
  protocol = one_of('acp-v1', 'acp-v2', 'auto', 'aap'),
  batches = of('boolean', 'true or false'),
  mcp_servers = function(value, path, problems)
    return require('acp.mcp').check(value, path, problems)
  end,
  directories = directories,
  options = map('.', 'options are named by their id or category, as model', option),
  stall_s = seconds,
  url = url,
  agent = of('string'),
  api_key_env = variable,
  client_tools = client_tools,
})

---@param value any
---@param path string
---@param problems string[]
local function agent(value, path, problems)
  local taken = agent_fields(value, path, problems)
  if not taken then
    return nil
  end
  local over_http = { url = true, agent = true, api_key_env = true, client_tools = true }
  local local_only = { command = true, mcp_servers = true, directories = true }
  for key in vim.spairs(vim.deepcopy(taken)) do
    if taken.protocol == 'aap' and local_only[key] then
      table.insert(problems, ("%s.%s is nothing for an agent over HTTP (protocol 'aap')"):format(path, key))
      taken[key] = nil
    elseif taken.protocol ~= 'aap' and over_http[key] then
      table.insert(problems, ("%s.%s is for agents with protocol = 'aap' alone"):format(path, key))
      taken[key] = nil
    end
  end
  return taken
end

local function icons(value, path, problems)
  if type(value) ~= 'table' then
    return one_of('auto', 'unicode', 'ascii')(value, path, problems)
  end
  local taken = {}
  for name, icon in pairs(value) do
    local fault = require('acp.icons').fault(name, icon)
    if fault then
      table.insert(problems, ('%s.%s %s'):format(path, tostring(name), fault))
    else
      taken[name] = icon
    end
  end
  return taken
end

local function key(value, path, problems)
  if value == false or (type(value) == 'string' and value ~= '') then
    return value
  end
  if type(value) == 'table' then
    return strings(value, path, problems)
  end
  wrong(problems, path, 'a key, a list of keys, or false', value)
end

---@return acp.Check
local function keymaps()
  local groups = {}
  for group, actions in pairs(require('acp.chat.keymaps')) do
    local fields = {}
    for action in pairs(actions) do
      fields[action] = key
    end
    local check = record(fields)
    groups[group] = function(value, path, problems)
      if value == false then
        return false
      end
      return check(value, path, problems)
    end
  end
  return record(groups)
end

---Check settings.
---@param settings any what the user gave
---@return table taken the part that is good
---@return string[] problems sentences for people
function M.check(settings)
  local problems = {}
  local taken = record({
    default_agent = of('string'),
    python = of('string', 'a string (the path of an interpreter)'),
    protocol = one_of('acp-v1', 'acp-v2', 'auto'),
    agents = map('^[%w_.-]+$', 'names of agents are made of letters, digits and _ . -', agent),
    permission = record({
      ui = one_of('auto', 'select', 'float'),
      open = one_of('chat', 'always', 'never'),
      dismiss = one_of('keep', 'cancel', 'reject'),
      terminal = one_of('allow', 'ask'),
      rules = rules,
    }),
    follow = record({ enabled = of('boolean', 'true or false') }),
    diff = record({ layout = one_of('auto', 'tab', 'split', 'none') }),
    terminal = record({ layout = one_of('split', 'tab') }),
    chat = record({
      position = one_of('auto', 'right', 'below', 'tab'),
      width = share,
      complete = one_of('auto', 'always', 'never'),
    }),
    files = record({ protected = strings, write_autocmds = of('boolean', 'true or false') }),
    notify = record({
      question = one_of('float', 'notify', 'bell', false),
      turn_end = one_of('notify', 'bell', false),
    }),
    sessions = record({ remember = of('boolean', 'true or false') }),
    history = record({ remember = of('boolean', 'true or false') }),
    icons = icons,
    keymaps = keymaps(),
  })(settings, '', problems)
  return taken or {}, problems
end

return M
