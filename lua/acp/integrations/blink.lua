--- A source for blink.cmp: `providers.acp = { name = 'acp', module = 'acp.integrations.blink' }`.
local M = {}

local source = require('acp.integrations.source')

---@return table
function M.new()
  require('acp.chat.watch').hand_over('blink.cmp')
  return setmetatable({}, { __index = M })
end

---@return boolean
function M.enabled()
  return source.enabled(0)
end

---@return string[]
function M.get_trigger_characters()
  return source.triggers
end

---Called as a method.
---@param _ table
---@param context {bufnr: integer, cursor: integer[], line: string}
---@param callback fun(response: table) called once
---@return fun() cancel
function M.get_completions(_, context, callback)
  local row, col = unpack(context.cursor)
  local place = { buf = context.bufnr, row = row, col = col, line = context.line }
  -- It matches the word before the cursor, which is scattered in what we found; the order stays ours.
  local function filter(_, item)
    return item.word
  end
  return source.items(place, filter, function(items)
    for i, item in ipairs(items) do
      item.score_offset = (#items - i) * 20
    end
    callback({ items = items, is_incomplete_forward = true, is_incomplete_backward = true })
  end)
end

return M
