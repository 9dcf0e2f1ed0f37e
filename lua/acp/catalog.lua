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

local entries ---@type table<string, acp.CatalogEntry>?

local function folder()
  return vim.fs.joinpath(vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)), 'catalog')
end

---All entries by name. Read once; a broken file is an error of ours and raises.
---@return table<string, acp.CatalogEntry>
function M.all()
  if entries then
    return entries
  end
  entries = {}
  for name, kind in vim.fs.dir(folder()) do
    if kind ~= 'directory' and name:match('%.json$') then
      local file = assert(io.open(vim.fs.joinpath(folder(), name)))
      local entry = vim.json.decode(file:read('*a'))
      file:close()
      entries[entry.name] = entry
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
