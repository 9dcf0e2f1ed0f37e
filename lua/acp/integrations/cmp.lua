--- A source for nvim-cmp: `require('cmp').register_source('acp', require('acp.integrations.cmp').new())`.
local M = {}

local source = require('acp.integrations.source')

---@return table
function M.new()
  require('acp.chat.watch').hand_over('nvim-cmp')
  return setmetatable({}, { __index = M })
end

---@return boolean
function M.is_available()
  return source.enabled(0)
end

---@return string
function M.get_debug_name()
  return 'acp'
end

---@return string
function M.get_position_encoding_kind()
  return 'utf-8'
end

---@return string[]
function M.get_trigger_characters()
  return source.triggers
end

---What it takes for one word: a command with its blanks, a mention in quotes, a mention.
---@return string
function M.get_keyword_pattern()
  return [[^/.*\|@"[^"]*\|@\S*]]
end

---Called as a method.
---@param _ table
---@param params {context: {bufnr: integer, cursor: {row: integer, col: integer}, cursor_line: string}}
---@param callback fun(response: table) called once
function M.complete(_, params, callback)
  local context = params.context
  local place = {
    buf = context.bufnr,
    row = context.cursor.row,
    col = context.cursor.col - 1,
    line = context.cursor_line,
  }
  -- It would leave out what does not fit by its own rules: everything fits as well as the text itself.
  local function filter(token)
    return token.text
  end
  local function ask(at)
    source.items(at, filter, function(items)
      -- It waits for the answer before it asks for what was typed meanwhile: that is answered here.
      local now = source.here()
      if now.buf == at.buf and now.row == at.row and now.line ~= at.line then
        return ask(now)
      end
      for _, item in ipairs(items) do
        item.textEdit.range['end'].character = place.col
      end
      callback({ items = items, isIncomplete = true })
    end)
  end
  ask(place)
end

return M
