--- The prompts that were sent in a folder, for `[[`: here even when no host lives.
local M = {}

local ENTRIES = 500 -- the oldest go

local lists = {} ---@type table<string, string[]>

---@param list string[]
---@param text string
local function put(list, text)
  for i = #list, 1, -1 do
    if list[i] == text then
      table.remove(list, i)
    end
  end
  table.insert(list, text)
  if #list > ENTRIES then
    table.remove(list, 1)
  end
end

---@param cwd string
---@return string[] the oldest first, each text once
function M.list(cwd)
  return lists[cwd] or {}
end

---@param cwd string
---@param text string
function M.add(cwd, text)
  lists[cwd] = lists[cwd] or {}
  put(lists[cwd], text)
end

return M
