--- The agents we know: one JSON file each in `catalog/`, read by Lua and Python alike.
local M = {}

---@class acp.CatalogEntry
---@field name string
---@field title string the name for people
---@field command string[]
---@field install string shell command that installs it
---@field login string shell command that logs in, or starts where one logs in
---@field home string address of its documentation
---@field env? table<string, string> what its environment needs, as no update in the middle of a turn
---@field quirks? table<string, string> what the host has to do otherwise for this agent
---@field note? string what the user should know, as the setting without which it does not ask
---@field note_unless? string the variable of the environment that makes the note needless

local known = {} ---@type table<string, acp.CatalogEntry|false> looked up already; false: there is none

local function folder()
  return vim.fs.joinpath(vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)), 'catalog')
end

---The entry of a name. Its file is read once; a broken one is an error of ours and raises.
---@param name string
---@return acp.CatalogEntry?
function M.get(name)
  if known[name] == nil then
    local file = name:find('^[%w_.-]+$') and io.open(('%s/%s.json'):format(folder(), name))
    local entry = file and vim.json.decode(file:read('*a'))
    if file then
      file:close()
    end
    known[name] = entry and entry.name == name and entry or false -- file systems may ignore case
  end
  return known[name] or nil
end

---All entries by name.
---@return table<string, acp.CatalogEntry>
function M.all()
  local entries = {}
  for name, kind in vim.fs.dir(folder()) do
    local own = kind ~= 'directory' and name:match('^(.*)%.json$')
    if own then
      entries[own] = M.get(own)
    end
  end
  return entries
end

---Whether a command can be run.
---@param command string[]
---@return boolean
function M.executable(command)
  return vim.fn.executable(command[1]) == 1
end

return M
