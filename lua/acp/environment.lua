--- Whether the plugin's own Python environment has what this version of the plugin needs.
local M = {}

--- What was installed, as tools/install.py notes it down.
local NOTE = 'acp-requirements.txt'

local source = vim.fs.normalize(debug.getinfo(1, 'S').source:sub(2)) -- <root>/lua/acp/environment.lua
local root = vim.fn.fnamemodify(source, ':p:h:h:h')

---The packages of a list with their versions, without remarks.
---@param path string
---@return string? nil: it cannot be read
local function pins(path)
  local file = io.open(path)
  if not file then
    return nil
  end
  local text = file:read('*a') or ''
  file:close()
  local found = {}
  for line in text:gmatch('[^\r\n]+') do
    local pin = line:match('^%s*([^#%s][^#]*)')
    if pin then
      table.insert(found, vim.trim(pin))
    end
  end
  return table.concat(found, '\n')
end

---Whether it was made for another version of the plugin, or before that was noted down.
---@return boolean
function M.outdated()
  local folder = require('acp.host').environment()
  local wanted = pins(root .. '/python/requirements.txt')
  return wanted ~= nil
    and vim.uv.fs_stat(folder .. '/bin/python') ~= nil
    and pins(folder .. '/' .. NOTE) ~= wanted
end

local told = false

---The host runs in it: say, once, if it is not as it should be. The host goes on as far as it gets.
function M.check()
  if told or not M.outdated() then
    return
  end
  told = true
  local chat = require('acp.chat').list()[1]
  if chat then -- a message would be gone with the next key: one types in a prompt
    return require('acp.host').event('outdated', { chat = chat.n })
  end
  require('acp.message').warn('the Python packages are outdated; :AcpInstall renews them')
end

return M
