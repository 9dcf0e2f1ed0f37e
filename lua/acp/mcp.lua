--- The MCP servers of an agent's settings: checked, and made into the one form that the host takes.
local M = {}

---@class acp.McpServer
---@field name string
---@field type 'stdio'|'http'|'sse'
---@field command? string
---@field args? string[]
---@field env? table<string, string|{cmd: string[]}>
---@field url? string
---@field headers? table<string, string|{cmd: string[]}>

local FIELDS = { 'name', 'type', 'command', 'args', 'env', 'url', 'headers' }
-- Which of them a server may have, by how it is reached.
local PROGRAM, WEB = { command = true, args = true, env = true }, { url = true, headers = true }

---@param value any
---@return boolean
local function strings(value)
  if type(value) ~= 'table' or not vim.islist(value) then
    return false
  end
  for _, item in ipairs(value) do
    if type(item) ~= 'string' then
      return false
    end
  end
  return true
end

---@param value any
---@return boolean
local function secret(value)
  return type(value) == 'table' and strings(value.cmd) and #value.cmd > 0
end

---@param value any
---@return boolean
local function program(value)
  if strings(value) then
    value = value[1]
  end
  return type(value) == 'string' and value ~= ''
end

---Variables or headers: a table, or a list of `{ name =, value = }` as other programs write it.
---@param value any
---@param path string
---@param problems string[]
---@return table<string, string|{cmd: string[]}>?
local function pairs_of(value, path, problems)
  local found, list = {}, type(value) == 'table' and vim.islist(value)
  local bad = type(value) ~= 'table'
  for key, item in pairs(bad and {} or value) do
    local name, text = key, item
    if list then
      name, text = type(item) == 'table' and item.name, type(item) == 'table' and item.value
    end
    if type(name) ~= 'string' or name == '' then
      bad = true
    elseif type(text) == 'string' or secret(text) then
      found[name] = text
    else
      table.insert(
        problems,
        ("%s.%s must be a string or { cmd = { 'program', 'argument' } }"):format(path, name)
      )
    end
  end
  if bad then
    table.insert(problems, ("%s must be a table, as { NAME = 'value' }"):format(path))
    return nil
  end
  return found
end

---@param entry table
---@param path string
---@return string? problem
local function fault(entry, path)
  local function must(field, what)
    return ('%s.%s must be %s'):format(path, field, what)
  end
  local command, url, kind = entry.command, entry.url, entry.type
  if kind ~= nil and kind ~= 'stdio' and kind ~= 'http' and kind ~= 'sse' then
    return must('type', "'stdio', 'http', 'sse'")
  elseif command ~= nil and url ~= nil then
    return ('%s has a command and a url; it needs one of them'):format(path)
  elseif command == nil and url == nil then
    return ("%s needs a command, as 'npx', or a url"):format(path)
  elseif command ~= nil and (kind == 'http' or kind == 'sse') then
    return must('type', "'stdio', as it has a command")
  elseif url ~= nil and kind == 'stdio' then
    return must('type', "'http' or 'sse', as it has a url")
  elseif command ~= nil and not program(command) then
    return must('command', "a program, as 'npx', or a list with its arguments")
  elseif url ~= nil and (type(url) ~= 'string' or not url:find('^https?://.')) then
    return must('url', "a string that begins with 'http://' or 'https://'")
  elseif entry.args ~= nil and not strings(entry.args) then
    return must('args', "a list of strings, as { 'a', 'b' }")
  end
end

---@param name any the key, if the servers are given by name
---@param entry any
---@param path string
---@param problems string[]
---@return acp.McpServer?
local function server(name, entry, path, problems)
  if type(entry) ~= 'table' then
    table.insert(
      problems,
      ("%s must be a table, as { command = 'npx', args = { '-y', 'server' } }"):format(path)
    )
    return nil
  end
  if type(name) ~= 'string' then
    name = entry.name
  end
  if type(name) ~= 'string' or name == '' then
    table.insert(problems, ('%s needs a name'):format(path))
    return nil
  end
  local problem = fault(entry, path)
  if problem then
    table.insert(problems, problem)
    return nil
  end
  local own = entry.url and WEB or PROGRAM
  for key in pairs(entry) do
    if not vim.tbl_contains(FIELDS, key) then
      local known = table.concat(FIELDS, ', ')
      table.insert(problems, ('%s.%s is no setting: known are %s'):format(path, tostring(key), known))
    elseif key ~= 'name' and key ~= 'type' and not own[key] then
      local what = entry.url and 'url' or 'command'
      table.insert(problems, ('%s.%s means nothing for a server with a %s'):format(path, key, what))
    end
  end
  local made = { name = name, type = entry.type or (entry.url and 'http' or 'stdio') }
  if entry.url then
    made.url, made.headers = entry.url, pairs_of(entry.headers or {}, path .. '.headers', problems)
    return made
  end
  local words = type(entry.command) == 'table' and vim.list_slice(entry.command) or { entry.command }
  made.command = table.remove(words, 1)
  made.args = vim.list_extend(words, entry.args or {})
  made.env = pairs_of(entry.env or {}, path .. '.env', problems)
  return made
end

---Check the servers of an agent: a list with names, or a table by name. What is wrong is named and left out.
---@param value any
---@param path string
---@param problems string[]
---@return acp.McpServer[]?
function M.check(value, path, problems)
  if type(value) ~= 'table' then
    table.insert(problems, ("%s must be a table, as { name = { command = 'npx' } }"):format(path))
    return nil
  end
  local keys = vim.tbl_keys(value)
  table.sort(keys, function(a, b)
    if type(a) == type(b) then
      return a < b
    end
    return type(a) == 'number'
  end)
  local found, taken = {}, {}
  for _, key in ipairs(keys) do
    local where = ('%s.%s'):format(path, tostring(key))
    local made = server(key, value[key], where, problems)
    if made and taken[made.name] then
      table.insert(problems, ("%s: there is another server '%s'"):format(where, made.name))
    elseif made then
      taken[made.name] = true
      table.insert(found, made)
    end
  end
  return found
end

return M
