--- What is being written before the cursor of a prompt, if it is something that can be completed.
local M = {}

---@class acp.chat.Token
---@field kind 'command'|'mention'
---@field col integer bytes of the line before it
---@field text string from its first character to the cursor
---@field typed string what it says: the text without its `/`, `@` or `@"`

-- What may stand before an `@` that begins a mention: blanks, and what opens brackets and quotations.
local before = {}
for _, char in ipairs({ ' ', '\t', '(', '[', '{', '<', '"', "'", '“', '‘', '«' }) do
  before[char] = true
end

---@param line string
---@param at integer place of the `@`
---@return boolean
local function begins(line, at)
  if at == 1 or before[line:sub(at - 1, at - 1)] then
    return true
  end
  return before[line:sub(math.max(at - 2, 1), at - 1)]
    or before[line:sub(math.max(at - 3, 1), at - 1)]
    or false
end

-- Bytes of a mention, at most. This runs at each key, also on a line of a megabyte that was pasted.
local LONGEST = 1024

---@param head string the line before the cursor
---@return acp.chat.Token?
local function mention(head)
  local at = head:find('@', math.max(#head - LONGEST, 1), true)
  while at do
    local ends = at
    if begins(head, at) then
      local quoted = head:sub(at + 1, at + 1) == '"'
      local first = at + (quoted and 2 or 1)
      ends = head:find(quoted and '"' or '%s', first)
      if not ends then
        local typed = head:sub(first)
        -- The lines of a file are the user's to type.
        local lines = not quoted and typed:find(':%d*%-?%d*[%)%]}>"\',.;!?]*$')
        return not lines and { kind = 'mention', col = at - 1, text = head:sub(at), typed = typed } or nil
      end
    end
    at = head:find('@', ends + 1, true)
  end
end

---@param row integer from 1
---@param line string
---@param col integer bytes before the cursor
---@return acp.chat.Token?
function M.at(row, line, col)
  if row == 1 and line:sub(1, 1) == '/' and col == #line and col > 0 then
    return { kind = 'command', col = 0, text = line, typed = line:sub(2) }
  end
  local next = line:sub(col + 1, col + 1)
  if next ~= '' and not next:find('[%s%)%]}>"\',.;:!?]') then
    return nil -- in the middle of a word
  end
  return mention(line:sub(1, col))
end

return M
