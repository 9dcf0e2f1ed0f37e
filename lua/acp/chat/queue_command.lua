--- `:AcpQueue`: what is done to a queued prompt, chosen from lists or named by a word and its number.
local M = {}

local queue = require('acp.chat.queue')

local CELLS = 60 -- of a prompt in a list or a message

---@param text string
---@return string
local function short(text)
  local message = require('acp.message')
  return message.cut(message.plain(text), CELLS)
end

---@class acp.QueueAct
---@field name string
---@field words string
---@field run fun(chat: acp.Chat, item: acp.Queued, place: integer, list: acp.Queued[])

---@type acp.QueueAct[]
local acts = {
  {
    name = 'edit',
    words = 'change it in the prompt',
    run = function(chat, item)
      require('acp.chat.windows').open(chat, true)
      require('acp.chat.walk').to(chat, { text = item.text, id = item.id })
      require('acp.chat.prompt').refresh(chat.n)
    end,
  },
  {
    name = 'now',
    words = 'send it at once: into the running turn if the agent can take it, else instead of it',
    run = function(chat, item)
      queue.change(chat, item.id, { now = true })
    end,
  },
  {
    name = 'earlier',
    words = 'send it before the one above it',
    run = function(chat, item, place, list)
      if place > 1 then
        queue.change(chat, item.id, { before = list[place - 1].id })
      end
    end,
  },
  {
    name = 'later',
    words = 'send it after the one below it',
    run = function(chat, item, place, list)
      if place < #list then
        queue.change(chat, item.id, { before = list[place + 2] and list[place + 2].id or 0 })
      end
    end,
  },
  {
    name = 'drop',
    words = 'take it out',
    run = function(chat, item)
      queue.change(chat, item.id, { text = '' })
      require('acp.message').info('taken out of the queue: ' .. short(item.text))
    end,
  },
}

M.words = vim.tbl_map(function(act)
  return act.name
end, acts)

---@param chat acp.Chat
---@return acp.Queued[] that can still be changed
local function waiting(chat)
  return vim.tbl_filter(function(item)
    return not item.steering
  end, queue.list(chat.n))
end

---The prompt of an id may have moved, or gone out, since it was chosen.
---@param chat acp.Chat
---@param id integer
---@param act acp.QueueAct
local function act_on(chat, id, act)
  local list = waiting(chat)
  for place, item in ipairs(list) do
    if item.id == id then
      return act.run(chat, item, place, list)
    end
  end
  require('acp.message').warn('that prompt does not wait any more')
end

---@param chat acp.Chat
---@param item acp.Queued
local function choose_act(chat, item)
  require('acp.choose').one(acts, {
    prompt = short(item.text),
    kind = 'acp_queue_action',
    format_item = function(act)
      return act.words
    end,
  }, function(act)
    if act then
      act_on(chat, item.id, act)
    end
  end)
end

---@param chat acp.Chat
---@param done fun(item: acp.Queued)
local function choose(chat, done)
  local list = waiting(chat)
  if #list == 1 then
    return done(list[1])
  end
  require('acp.choose').one(list, {
    prompt = 'queued prompts, the next first',
    kind = 'acp_queue',
    format_item = function(item)
      return short(item.text)
    end,
  }, function(item)
    if item then
      done(item)
    end
  end)
end

---@param args string `[edit|now|earlier|later|drop [number]]`
---@return boolean|nil
---@return string? reason
function M.run(args)
  local name, number = vim.trim(args):match('^(%l*)%s*(%d*)$')
  if not name or (name == '' and number ~= '') or (name ~= '' and not vim.tbl_contains(M.words, name)) then
    local most, last = vim.list_slice(M.words, 1, #M.words - 1), M.words[#M.words]
    local takes = ":AcpQueue takes %s or %s, and a number, not '%s'"
    return nil, takes:format(table.concat(most, ', '), last, require('acp.message').plain(vim.trim(args)))
  end
  name, number = name ~= '' and name or nil, number ~= '' and number or nil
  local chat = require('acp.chat').current()
  if not chat then
    return nil, 'there is no chat; :AcpChat opens one'
  end
  local list = waiting(chat)
  if #list == 0 then
    return nil, 'nothing is queued'
  end
  local obstacle = (not number or name == 'edit') and require('acp.cmdwin').obstacle()
  if obstacle then
    return nil, obstacle
  end
  if not name then
    choose(chat, function(item)
      choose_act(chat, item)
    end)
    return true
  end
  local act = vim.iter(acts):find(function(each)
    return each.name == name
  end) --[[@as acp.QueueAct]]
  if not number then
    choose(chat, function(item)
      act_on(chat, item.id, act)
    end)
    return true
  end
  local item = list[tonumber(number)]
  if not item then
    local which = #list == 1 and 'there is one' or ('there are 1 to %d'):format(#list)
    return nil, ('no queued prompt %s: %s'):format(number, which)
  end
  act_on(chat, item.id, act)
  return true
end

return M
