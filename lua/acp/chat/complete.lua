--- Completion in the prompt: the agent's commands after `/`, what can be mentioned after `@`. As you type, by
--- `<C-x><C-o>`, and as a source for completion plugins.
local M = {}

local api = vim.api

---@class acp.chat.Command
---@field name string
---@field description string?
---@field hint string?

---@class acp.chat.Item
---@field word string what is put in for the token
---@field shown string
---@field note string what it is, for people; may be empty
---@field more boolean? a folder: what is in it can be completed after it

---@class acp.chat.Asked
---@field buf integer
---@field row integer
---@field col integer where its token begins
---@field text string of the line before the cursor
---@field rows acp.chat.PathRow[]? the last answer

-- Longer than the host takes for an answer, shorter than it takes people to wonder.
local PATIENCE_MS = 80

---What can be mentioned besides files, and what goes along for it.
local words = {
  { 'buffer', 'the file you come from, as it is in the editor' },
  { 'selection', 'what you selected last' },
  { 'diagnostics', 'what linters and language servers say of that file' },
  { 'diagnostics:all', 'what they say of all files' },
  { 'quickfix', 'the quickfix list' },
  { 'diff', 'what git says has changed' },
}

local known = {} ---@type table<integer, acp.chat.Command[]> by chat
local asked ---@type acp.chat.Asked? what was looked up last
local accepted ---@type string? the last word that was taken

---Commands of the agent that begin with what is typed, except the one that stands there in full.
---@param n integer
---@param typed string without its `/`
---@return acp.chat.Item[]
function M.commands_for(n, typed)
  local plain, items, wanted = require('acp.message').plain, {}, typed:lower()
  for _, command in ipairs(known[n] or {}) do
    local name = command.name:lower()
    if vim.startswith(name, wanted) and name ~= wanted then
      local hint = command.hint and ('[%s]  '):format(plain(command.hint)) or ''
      local word = '/' .. plain(command.name)
      table.insert(items, { word = word, shown = word, note = hint .. plain(command.description or '') })
    end
  end
  return items
end

---The argument that a command takes, as its agent describes it; nil if `line` is not just the command.
---@param n integer
---@param line string
---@return string?
function M.hint(n, line)
  for _, command in ipairs(known[n] or {}) do
    if command.hint and line == '/' .. command.name .. ' ' then
      return require('acp.message').plain(command.hint)
    end
  end
end

---@param token acp.chat.Token
---@param rows acp.chat.PathRow[]
---@return acp.chat.Item[]
local function mentions(token, rows)
  local items, quoted = {}, token.text:sub(2, 2) == '"'
  for _, word in ipairs(quoted and {} or words) do
    if vim.startswith(word[1], token.typed) and word[1] ~= token.typed then
      table.insert(items, { word = '@' .. word[1], shown = '@' .. word[1], note = word[2] })
    end
  end
  for _, row in ipairs(rows) do
    local path = row[1]:match('^@"(.*)"$') or row[1]:sub(2)
    local item = { word = row[1], shown = row[2], note = '', more = path:sub(-1) == '/' }
    if path ~= token.typed then
      if item.more then
        item.word = item.word:gsub('"$', '') -- what is in it comes next, within the quotes
      end
      table.insert(items, item)
    elseif quoted then
      table.insert(items, item) -- puts the quote after it
    end
  end
  return items
end

---Rows of an earlier answer that still fit, until there is a new one.
---@param rows acp.chat.PathRow[]
---@param typed string
---@return acp.chat.PathRow[]
local function still(rows, typed)
  local exact = typed ~= typed:lower()
  return vim.tbl_filter(function(row)
    local path, at = exact and row[1] or row[1]:lower(), 1
    for i = 1, #typed do
      at = path:find(typed:sub(i, i), at + 1, true)
      if not at then
        return false
      end
    end
    return true
  end, rows)
end

---Look up what a token may be. `take` gets items once or more; the last time with `ended`.
---@param n integer chat
---@param token acp.chat.Token
---@param begins boolean it has just begun
---@param take fun(items: acp.chat.Item[], ended: boolean, rows: acp.chat.PathRow[])
---@return fun() cancel
function M.look(n, token, begins, take)
  if token.kind == 'command' then
    take(M.commands_for(n, token.typed), true, {})
    return function() end
  end
  return require('acp.chat.paths').ask(n, token.typed, begins, function(rows, ended)
    take(mentions(token, rows), ended, rows)
  end)
end

---@return acp.chat.Asked
local function here()
  local row, col = unpack(api.nvim_win_get_cursor(0))
  local text = api.nvim_get_current_line():sub(1, col)
  return { buf = api.nvim_get_current_buf(), row = row, col = 0, text = text }
end

---@return acp.chat.Token?
local function token_here()
  local row, col = unpack(api.nvim_win_get_cursor(0))
  return require('acp.chat.token').at(row, api.nvim_get_current_line(), col)
end

---@param a acp.chat.Asked?
---@param b acp.chat.Asked
---@return boolean
local function same(a, b)
  return a ~= nil and a.buf == b.buf and a.row == b.row and a.text == b.text
end

---Whether the user has gone to an item, which now stands in the text; or completes something else.
---@return boolean
local function busy()
  local info = vim.fn.complete_info({ 'mode', 'selected', 'items', 'pum_visible' })
  if info.pum_visible == 0 then
    return false
  end
  local item = info.items[info.selected + 1]
  return info.mode ~= 'eval'
    or (item ~= nil and vim.endswith(here().text, item.word) and not same(asked, here()))
end

---Cells for an item at a token, up to the edge of the screen: Vim would cut off there what tells most.
---@param token acp.chat.Token
---@return integer
local function room(token)
  local place = vim.fn.screenpos(0, api.nvim_win_get_cursor(0)[1], token.col + 1)
  return math.max(vim.o.columns - math.max(place.col, 1) - 1, 15)
end

---Cut the beginning of a path to fit.
---@param path string
---@param cells integer
---@return string
local function tail(path, cells)
  if vim.fn.strdisplaywidth(path) <= cells then
    return path
  end
  local mark, from = require('acp.icons').get().cut, 1
  local width = cells - vim.fn.strdisplaywidth(mark)
  while vim.fn.strdisplaywidth(vim.fn.strcharpart(path, from)) > width do
    from = from + 1
  end
  return mark .. vim.fn.strcharpart(path, from)
end

---Show items at a token, in the place of those that are shown.
---@param token acp.chat.Token
---@param items acp.chat.Item[]
local function offer(token, items)
  if #items == 0 and vim.fn.pumvisible() == 0 then
    return
  end
  local entries, cells = {}, room(token)
  for _, item in ipairs(items) do
    local abbr = token.kind == 'mention' and tail(item.shown, cells) or item.shown
    -- equal: Vim would leave out what does not begin with the text.
    local equal = token.kind == 'mention' and 1 or 0
    table.insert(
      entries,
      { word = item.word, abbr = abbr, menu = item.note, equal = equal, dup = 1, user_data = 'acp' }
    )
  end
  -- Without noselect Vim puts the first item into the text at once: let that be the text itself.
  if not vim.o.completeopt:find('noselect') and not vim.o.completeopt:find('noinsert') then
    table.insert(entries, 1, { word = token.text, equal = 1 })
  end
  pcall(vim.fn.complete, token.col + 1, entries) -- text may be locked: then the next key offers
end

---Look up and offer, for as long as the text stays as it is.
---@param chat acp.Chat
---@param token acp.chat.Token
local function start(chat, token)
  local mine, before, answered = here(), asked, false
  mine.col = token.col
  local goes_on = before ~= nil
    and before.buf == mine.buf
    and before.row == mine.row
    and before.col == mine.col
  asked = mine
  if goes_on and before and before.rows then
    mine.rows = still(before.rows, token.typed)
    -- A character that is in no keyword has made Vim close what was shown.
    if #mine.rows > 0 and vim.fn.pumvisible() == 0 then
      offer(token, mentions(token, mine.rows))
    end
  end
  local function wanted()
    return asked == mine and same(mine, here()) and vim.fn.mode() == 'i' and not busy()
  end
  M.look(chat.n, token, not (goes_on and before and before.rows), function(items, ended, rows)
    if not wanted() or (#rows == 0 and not ended) then
      return
    end
    answered, mine.rows = true, rows
    offer(token, items)
  end)
  if token.kind == 'mention' and not mine.rows then
    vim.defer_fn(function()
      if not answered and wanted() then
        offer(token, mentions(token, {}))
      end
    end, PATIENCE_MS)
  end
end

---The text has changed, by a key or by going to an item.
---@param chat acp.Chat
function M.changed(chat)
  if vim.fn.mode() ~= 'i' or api.nvim_get_current_buf() ~= chat.prompt then
    return
  end
  if same(asked, here()) or busy() then
    return -- <CTRL-E> has brought back the text; or an item stands there, which may be left again
  end
  local token = token_here()
  if not token or (token.text == accepted and token.text:sub(-1) ~= '/') then
    asked = nil
    return
  end
  start(chat, token)
end

---The `omnifunc` of prompts. What is found comes later, as with language servers.
---@param findstart integer
---@return integer|table
function M.omni(findstart)
  if findstart ~= 1 then
    return {}
  end
  local chat, token = require('acp.chat').of(api.nvim_get_current_buf()), token_here()
  if not chat or not token then
    return -3
  end
  vim.schedule(function()
    if vim.fn.mode() == 'i' and api.nvim_get_current_buf() == chat.prompt then
      asked = nil
      start(chat, token)
    end
  end)
  return -2
end

---The host tells which commands the agent has. It may do so at any time, also while they are offered.
---@param n integer
---@param commands acp.chat.Command[]
function M.commands(n, commands)
  local chat = require('acp.chat').get(n)
  if not chat then
    return
  end
  known[n] = commands
  if
    api.nvim_get_current_buf() ~= chat.prompt
    or vim.fn.mode() ~= 'i'
    or not require('acp.chat.watch').automatic()
  then
    return
  end
  local token = token_here()
  if
    token
    and token.kind == 'command'
    and not busy()
    and (same(asked, here()) or vim.fn.pumvisible() == 0)
  then
    start(chat, token)
  end
end

---Completion has ended.
---@param chat acp.Chat
function M.done(chat)
  local item = vim.v.completed_item
  if item.user_data ~= 'acp' then
    return
  end
  accepted = item.word
  if accepted:sub(-1) == '/' and require('acp.chat.watch').automatic() then
    vim.schedule(function()
      M.changed(chat)
    end)
  end
end

---Insert mode has ended.
function M.left()
  asked, accepted = nil, nil
end

---A chat ended.
---@param n integer
function M.drop(n)
  known[n] = nil
  require('acp.chat.paths').drop(n)
end

return M
