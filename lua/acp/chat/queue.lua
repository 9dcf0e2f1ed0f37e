--- The prompts of a chat that wait: what the host has told of them, and what the user has changed since.
local M = {}

---@class acp.Queued
---@field id integer the `seq` of its send
---@field text string
---@field steering? boolean the agent is asked to take it into the running turn: nothing can be changed of it

---@class acp.QueueChange
---@field text? string the new one; blank: it is dropped
---@field before? integer the id of the prompt it goes before; 0: it is the last
---@field now? boolean it is sent at once

---@class acp.QueueState
---@field told acp.Queued[]
---@field changes {seq: integer, id: integer, change: acp.QueueChange}[] that the host has not seen yet
---@field dropped table<integer, true> ids of those the user has taken out of the queue all at once
---@field seen integer number of the last send or change the host has handled
---@field going {id: integer, text: string}[] that do not wait any more, and are not in the transcript yet

local states = {} ---@type table<integer, acp.QueueState>

-- By chat and id: mentions of the files whose lines were given with a prompt, for when it comes back.
local given = {} ---@type table<integer, table<integer, string>>

---@param n integer chat
---@return acp.QueueState
local function state_of(n)
  return states[n] or { told = {}, changes = {}, going = {}, dropped = {}, seen = 0 }
end

---@param text string
---@return boolean
local function blank(text)
  return not text:find('%S')
end

---@param list acp.Queued[]
---@param id integer
---@return integer? place
local function find(list, id)
  for place, item in ipairs(list) do
    if item.id == id and not item.steering then
      return place
    end
  end
end

---@param list acp.Queued[]
---@param id integer
---@param change acp.QueueChange
---@return boolean whether it was there
local function apply(list, id, change)
  local place = find(list, id)
  if not place then
    return false
  end
  local item = table.remove(list, place)
  if change.text and blank(change.text) then
    return true
  end
  item.text = change.text or item.text
  if change.now then
    place = 1
  elseif change.before then
    place = find(list, change.before) or #list + 1
  end
  table.insert(list, place, item)
  return true
end

---@param n integer
---@param sent {seq: integer, text: string}[] that the host has not taken
---@return acp.Queued[]
---@return string[] texts of changes to prompts that are not there
local function settled(n, sent)
  local state, lost = state_of(n), {}
  local list = vim.deepcopy(state.told)
  for _, item in ipairs(sent) do
    if item.seq > state.seen then
      table.insert(list, { id = item.seq, text = item.text })
    end
  end
  for _, each in ipairs(state.changes) do
    local there = apply(list, each.id, each.change)
    if not there and each.change.text and not blank(each.change.text) then
      table.insert(lost, each.change.text)
    end
  end
  return list, lost
end

---The prompts that wait, the next first: what the host has told, and what a host that starts has not taken.
---@param n integer chat
---@return acp.Queued[]
function M.list(n)
  local starting = require('acp.host').status().state ~= 'ready'
  return (settled(n, starting and require('acp.status').raw(n).sent or {}))
end

---@param n integer
---@param id integer
---@return boolean whether this prompt can still be changed
function M.waits(n, id)
  return find(M.list(n), id) ~= nil
end

---Lines of files go along with a prompt.
---@param n integer
---@param id integer
---@param mentions string that stand for them
function M.give(n, id, mentions)
  given[n] = given[n] or {}
  given[n][id] = mentions
end

---A prompt as it comes back: what was given with it is mentioned.
---@param n integer
---@param id integer
---@param text string
---@return string
function M.whole(n, id, text)
  local mentions = given[n] and given[n][id]
  return mentions and ('%s\n%s'):format(text, mentions) or text
end

---The host tells what waits.
---@param n integer
---@param list acp.Queued[]
---@param seen integer number of the last send or change the host has handled
function M.told(n, list, seen)
  local before = state_of(n)
  local changes = vim.tbl_filter(function(each)
    return each.seq > seen
  end, before.changes)
  local known = {} ---@type table<integer, true> ids of what waits, was dropped, or is going already
  for _, item in ipairs(vim.list_extend(vim.list_extend({}, list), before.going)) do
    known[item.id] = true
  end
  for id in pairs(before.dropped) do
    known[id] = true
  end
  for _, each in ipairs(before.changes) do
    known[each.id] = known[each.id] or each.change.text and blank(each.change.text)
  end
  local going = before.going
  local function gone(id, text)
    if not known[id] then
      table.insert(going, { id = id, text = text })
      known[id] = true
    end
  end
  for _, item in ipairs(before.told) do
    if not item.steering then
      gone(item.id, item.text)
    end
  end
  for _, item in ipairs(require('acp.status').raw(n).sent or {}) do
    if item.seq > before.seen and item.seq <= seen then
      gone(item.seq, item.text)
    end
  end
  states[n] = { told = list, changes = changes, going = going, dropped = before.dropped, seen = seen }
end

---The user wants nothing of the queue any more.
---@param n integer
function M.emptied(n)
  local state = state_of(n)
  states[n] = state
  for _, item in ipairs(state.told) do
    state.dropped[item.id] = true
  end
  for _, item in ipairs(require('acp.status').raw(n).sent or {}) do
    state.dropped[item.seq] = true
  end
end

---Prompts are where the user sees them: all that went out in the transcript, or these in the prompt.
---@param n integer
---@param ids? integer[] nil: all
function M.arrived(n, ids)
  local state = states[n]
  if not state or #state.going == 0 then
    return
  end
  state.going = ids
      and vim.tbl_filter(function(item)
        return not vim.list_contains(ids, item.id)
      end, state.going)
    or {}
end

---Change a prompt that waits. It shows at once; if it has gone out meanwhile, the host gives the text back.
---@param chat acp.Chat
---@param id integer
---@param change acp.QueueChange
function M.change(chat, id, change)
  local dropped = change.text ~= nil and blank(change.text)
  local seq = require('acp.status').queue_changed(chat.n, dropped)
  states[chat.n] = state_of(chat.n)
  table.insert(states[chat.n].changes, { seq = seq, id = id, change = change })
  require('acp.host').event('queued', {
    chat = chat.n,
    id = id,
    seq = seq,
    text = change.text,
    before = change.before,
    now = change.now or false,
    spot = change.text and require('acp.spot').of(change.text, true),
  })
  require('acp.chat.prompt').refresh(chat.n)
end

---The host is gone: nothing waits any more.
---@param n integer
---@param sent {seq: integer, text: string}[] that it had not taken
---@return string[] what the user has written, in order
function M.take(n, sent)
  local list, lost = settled(n, sent)
  local texts = vim.tbl_map(function(item)
    return M.whole(n, item.id, item.text)
  end, vim.list_extend(state_of(n).going, list))
  states[n], given[n] = nil, nil
  return vim.list_extend(texts, lost)
end

---@param n integer a chat that has ended
function M.drop(n)
  states[n], given[n] = nil, nil
end

return M
