--- `:AcpOptions [id [value]]`: what its words mean, and its completion.
local M = {}

local options = require('acp.options')

---The option a text begins with, and the rest of it. Ids may contain blanks: the longest counts.
---@param chat integer
---@param text string
---@return acp.Option?
---@return string? rest without the blanks before it
local function split(chat, text)
  local best, rest, length = nil, nil, 0
  for _, key in ipairs({ 'id', 'category', 'name' }) do
    for _, option in ipairs(options.list(chat)) do
      local name, words = option[key], text
      if key == 'name' then
        name, words = name:lower(), text:lower()
      end
      if name and #name > length and vim.startswith(words, name .. ' ') then
        best, rest, length = option, text:sub(#name + 1):gsub('^%s+', ''), #name
      end
    end
  end
  return best, rest
end

---@param text string the arguments
---@return boolean|nil
---@return string? reason
function M.run(text)
  local chat, picker = require('acp.chat').current(), require('acp.options.picker')
  text = vim.trim(text)
  local reason = options.obstacle(chat)
  if reason or not chat then
    return nil, reason
  elseif text == '' then
    return picker.open(chat)
  elseif options.find(chat.n, text) then
    return picker.open(chat, text)
  end
  local option, value = split(chat.n, text)
  if option and value ~= '' then
    return options.set(chat, option.id, value)
  end
  return picker.open(chat, option and option.id or text:match('^%S+'))
end

---Words for the command line: ids, then the values of the one that stands there. Vim replaces only the last
---piece of what is typed, so of a word with blanks the pieces before it are left out.
---@param lead string the last piece
---@param line string
---@param pos integer of the cursor
---@return string[]
function M.complete(lead, line, pos)
  local chat = require('acp.chat').current()
  local text = line:sub(1, pos):match('^.-%u%a*!?%s+(.*)$')
  if not chat or not text then
    return {}
  end
  local option, rest = split(chat.n, text)
  local words
  if not option then
    words = vim.tbl_map(function(each)
      return each.id
    end, options.list(chat.n))
  elseif option.type == 'boolean' then
    words = { 'true', 'false' }
  else
    words = vim.tbl_map(function(choice)
      return choice.value
    end, option.choices)
  end
  local typed = rest or text
  local found = {}
  for _, word in ipairs(words) do
    if vim.startswith(word:lower(), typed:lower()) then
      table.insert(found, word:sub(#typed - #lead + 1))
    end
  end
  return found
end

return M
