--- Older prompts in the place of the draft: those that wait come first, then those that were sent. What the
--- user types meanwhile is kept with the prompt it was typed into, as a shell keeps changed lines.
local M = {}

local queue = require('acp.chat.queue')

---@class acp.Older
---@field text string
---@field id? integer of a prompt that waits

---@class acp.Walk
---@field older acp.Older[] the oldest first; those that wait come last
---@field at? integer place in `older`; nil: the draft is shown
---@field draft string
---@field changed table<string, string> by the prompt it was made from

local walks = {} ---@type table<integer, acp.Walk>

---@param older acp.Older
---@return string
local function key(older)
  return older.id and ('%d'):format(older.id) or ('=' .. older.text)
end

---@param chat acp.Chat
---@return acp.Older[]
local function all(chat)
  local list, waiting, texts = {}, {}, {}
  for _, item in ipairs(queue.list(chat.n)) do
    texts[item.text] = true
    if not item.steering then
      table.insert(waiting, { text = item.text, id = item.id })
    end
  end
  for _, text in ipairs(require('acp.chat.history').list(chat.cwd)) do
    if not texts[text] then
      table.insert(list, { text = text })
    end
  end
  return vim.list_extend(list, waiting)
end

---@param n integer
---@return acp.Older? the older prompt that stands in the prompt's buffer, changed or not
function M.here(n)
  local walk = walks[n]
  return walk and walk.at and walk.older[walk.at] or nil
end

---@param walk acp.Walk
---@param text string what stands in the buffer
local function keep(walk, text)
  local older = walk.at and walk.older[walk.at]
  if older then
    walk.changed[key(older)] = text ~= older.text and text or nil
  else
    walk.draft = text
  end
end

---@param chat acp.Chat
---@param walk acp.Walk
local function show(chat, walk)
  local older = walk.at and walk.older[walk.at]
  require('acp.chat.prompt').put(chat, older and (walk.changed[key(older)] or older.text) or walk.draft)
end

---@param chat acp.Chat
---@return acp.Walk with the prompts as they are now, unless one of them is shown
local function walk_of(chat)
  local walk = walks[chat.n] or { older = {}, draft = '', changed = {} }
  walks[chat.n] = walk
  if not walk.at then
    walk.older = all(chat)
  end
  return walk
end

---Walk to another prompt.
---@param chat acp.Chat
---@param step integer how many, negative: older
function M.go(chat, step)
  local walk = walk_of(chat)
  local at = walk.at or #walk.older + 1
  local to = math.min(math.max(at + step, 1), #walk.older + 1)
  if to == at then
    return
  end
  keep(walk, require('acp.chat.prompt').text(chat))
  walk.at = to <= #walk.older and to or nil
  show(chat, walk)
end

---Put one of the older prompts into the prompt.
---@param chat acp.Chat
---@param wanted acp.Older
function M.to(chat, wanted)
  local walk = walk_of(chat)
  keep(walk, require('acp.chat.prompt').text(chat))
  walk.older = all(chat)
  walk.at = nil
  for at, older in ipairs(walk.older) do
    if older.id == wanted.id and (older.id or older.text == wanted.text) then
      walk.at = at
    end
  end
  if not walk.at then
    table.insert(walk.older, { text = wanted.text })
    walk.at = #walk.older
  end
  show(chat, walk)
end

---What stands in the prompt was sent: the draft comes back.
---@param chat acp.Chat
function M.sent(chat)
  local walk, older = walks[chat.n], M.here(chat.n)
  if walk and older then
    walk.changed[key(older)] = nil
    walk.at = nil
    show(chat, walk)
    walk.draft = ''
  else
    require('acp.chat.prompt').put(chat, '')
  end
end

---Something else is about to come into the prompt: an older prompt that was only looked at gives way to the
---draft; one that was changed stays, above it.
---@param chat acp.Chat
function M.stop(chat)
  local walk, older = walks[chat.n], M.here(chat.n)
  if not (walk and older) then
    return
  end
  local prompt = require('acp.chat.prompt')
  local text = prompt.text(chat)
  local parts = vim.tbl_filter(function(part)
    return part:find('%S') ~= nil
  end, text ~= older.text and { text, walk.draft } or { walk.draft })
  walk.at, walk.draft, walk.changed[key(older)] = nil, '', nil
  prompt.put(chat, table.concat(parts, '\n'))
end

---Other prompts wait than before. The one in the buffer may not wait any more: then it is one that was sent.
---@param chat acp.Chat
function M.told(chat)
  local walk, here = walks[chat.n], M.here(chat.n)
  if not walk then
    return
  end
  local waits = {}
  for _, item in ipairs(queue.list(chat.n)) do
    waits[item.id] = not item.steering
  end
  for _, older in ipairs(walk.older) do
    if older.id and not waits[older.id] then
      local before = key(older)
      older.id = nil
      walk.changed[key(older)], walk.changed[before] = walk.changed[before] or walk.changed[key(older)], nil
      local seen = older == here and #vim.fn.win_findbuf(chat.prompt) > 0
      if older == here and require('acp.chat.prompt').text(chat) == older.text then
        if seen then
          require('acp.message').info('the prompt you look at does not wait any more')
        end
      elseif older == here then
        require('acp.message').warn(
          'the prompt you change does not wait any more; what you wrote stays here, as a new one'
        )
      end
    end
  end
end

---What the user has written and no agent has begun: what waits, as it is or was changed; what was made of
---older prompts; the draft.
---@param n integer
---@param text string what stands in the prompt
---@return string[]
function M.unsent(n, text)
  local walk = vim.deepcopy(walks[n] or { older = {}, draft = '', changed = {} }) ---@type acp.Walk
  keep(walk, text)
  local texts = {}
  for _, item in ipairs(queue.list(n)) do
    local id = key(item --[[@as acp.Older]])
    table.insert(texts, queue.whole(n, item.id, walk.changed[id] or item.text))
    walk.changed[id] = nil
  end
  local changed = vim.tbl_values(walk.changed)
  table.sort(changed)
  table.insert(changed, walk.draft)
  for _, each in ipairs(changed) do
    if each:find('%S') then
      table.insert(texts, each)
    end
  end
  return texts
end

---@param n integer a chat that has ended
function M.drop(n)
  walks[n] = nil
end

return M
