--- The prompts that were sent in a folder, for `[[` and `:AcpHistory`: what the host has read from the
--- folder's file, and those of this Neovim, which are here even when no host lives.
local M = {}

local ENTRIES = 500 -- of this Neovim; the oldest go
local CELLS = 90 -- of a prompt in the list

local stored, own = {}, {} ---@type table<string, string[]>, table<string, string[]>

---@param cwd string
---@return string[] the oldest first, each text once
function M.list(cwd)
  local list, here = {}, {}
  for _, text in ipairs(own[cwd] or {}) do
    here[text] = true
  end
  for _, text in ipairs(stored[cwd] or {}) do
    if not here[text] then
      table.insert(list, text)
    end
  end
  return vim.list_extend(list, own[cwd] or {})
end

---@param cwd string
---@param text string
function M.add(cwd, text)
  local list = own[cwd] or {}
  own[cwd] = list
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

---The host tells what stands in the file of a folder.
---@param cwd string
---@param texts string[] the oldest first
function M.loaded(cwd, texts)
  stored[cwd] = texts
end

---@param text string
---@param words string[] in small letters
---@return boolean
local function has(text, words)
  local small = vim.fn.tolower(text)
  for _, word in ipairs(words) do
    if not small:find(word, 1, true) then
      return false
    end
  end
  return true
end

---Choose an older prompt that has all of these words; it comes into the prompt, the draft stays behind it.
---@param chat acp.Chat
---@param search string
---@return boolean|nil
---@return string? reason
function M.pick(chat, search)
  local obstacle = require('acp.cmdwin').obstacle()
  if obstacle then
    return nil, obstacle
  end
  -- For the next time: other Neovims may have sent more.
  require('acp.host').event('history', { cwd = chat.cwd })
  local words, found = vim.split(vim.fn.tolower(search), '%s+', { trimempty = true }), {}
  for _, text in ipairs(M.list(chat.cwd)) do
    if has(text, words) then
      table.insert(found, 1, text)
    end
  end
  local folder = vim.fn.fnamemodify(chat.cwd, ':~')
  if #found == 0 then
    return nil, ('no prompt%s was sent in %s'):format(#words > 0 and ' with these words' or '', folder)
  end
  local message = require('acp.message')
  require('acp.choose').one(found, {
    prompt = 'prompts sent in ' .. folder,
    kind = 'acp_history',
    format_item = function(text)
      return message.cut(message.plain(text), CELLS)
    end,
  }, function(text)
    if text and require('acp.chat').get(chat.n) then
      require('acp.chat.windows').open(chat, true)
      require('acp.chat.walk').to(chat, { text = text })
      require('acp.chat.prompt').refresh(chat.n)
    end
  end)
  return true
end

---Forget the prompts of a folder, here and in the file.
---@param cwd string
function M.clear(cwd)
  stored[cwd], own[cwd] = nil, nil
  require('acp.host').event('history_forget', { cwd = cwd })
  require('acp.message').info('the prompts sent in this folder are forgotten')
end

return M
