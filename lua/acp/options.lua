--- The options of a chat (mode, model and what else the agent offers): the list, pickers, `:AcpOptions`.
local M = {}

---@class acp.OptionChoice
---@field value string
---@field name string
---@field description? string
---@field group? string

---@class acp.Option
---@field id string
---@field name string
---@field type 'select'|'boolean'|'text'|'secret'
---@field value string|boolean of a secret nothing is known
---@field label string the value, for people
---@field choices acp.OptionChoice[] of a select
---@field description? string
---@field category? string `mode`, `model`, `model_config`, `thought_level`, or the agent's own

local lists = {} ---@type table<integer, acp.Option[]> by chat
local asked = {} ---@type table<integer, table<string, string|boolean>> values without an answer yet, by id

local BOOLEAN = { ['true'] = true, on = true, ['false'] = false, off = false }

---The host tells the options of a chat, all of them, after each change.
---@param chat integer
---@param rows acp.Option[]
function M.update(chat, rows)
  lists[chat] = rows
  require('acp.status').poke(chat)
end

---@param chat integer
---@return acp.Option[] never changed by the caller
function M.list(chat)
  return lists[chat] or {}
end

---The chat is gone.
---@param chat integer
function M.drop(chat)
  lists[chat], asked[chat] = nil, nil
end

---The host is gone, and with it all agents.
function M.reset()
  lists, asked = {}, {}
end

---What an option's value is called.
---@param option acp.Option
---@param value string|boolean
---@return string
function M.label(option, value)
  if option.type == 'boolean' then
    return value and 'on' or 'off'
  elseif option.type == 'secret' then
    return value ~= '' and 'a new value' or 'nothing'
  end
  for _, choice in ipairs(option.choices) do
    if choice.value == value then
      return choice.name
    end
  end
  return tostring(value)
end

---The option of an id, else of a category, else of a name in whatever case.
---@param chat integer
---@param id string
---@return acp.Option?
function M.find(chat, id)
  for _, key in ipairs({ 'id', 'category' }) do
    for _, option in ipairs(M.list(chat)) do
      if option[key] == id then
        return option
      end
    end
  end
  for _, option in ipairs(M.list(chat)) do
    if option.name:lower() == id:lower() then
      return option
    end
  end
end

---@param items table[]
---@param key string
---@return string
local function listed(items, key)
  return table.concat(
    vim.tbl_map(function(item)
      return item[key]
    end, items),
    ', '
  )
end

---The value a text stands for: exactly, else in whatever case, as a value or a name.
---@param option acp.Option
---@param text string|boolean
---@return string|boolean|nil
---@return string? reason
local function value_of(option, text)
  if option.type == 'boolean' then
    local value = BOOLEAN[tostring(text):lower()]
    if value == nil then
      return nil, ("%s is true or false, not '%s'"):format(option.id, tostring(text))
    end
    return value
  end
  text = tostring(text)
  if option.type == 'text' then
    return text
  elseif option.type == 'secret' then
    return nil, ('%s is a secret: :AcpOptions %s asks for it unseen'):format(option.id, option.id)
  end
  for _, same in ipairs({
    function(choice)
      return choice.value == text
    end,
    function(choice)
      return choice.value:lower() == text:lower() or choice.name:lower() == text:lower()
    end,
  }) do
    for _, choice in ipairs(option.choices) do
      if same(choice) then
        return choice.value
      end
    end
  end
  return nil, ("%s has no value '%s'; there are: %s"):format(option.id, text, listed(option.choices, 'value'))
end

---Why there are no options to be had, or nil.
---@param chat acp.Chat?
---@return string?
function M.obstacle(chat)
  if not chat then
    return 'there is no chat; :AcpChat opens one'
  end
  local state = require('acp.status').raw(chat.n).state
  if state == 'failed' or state == 'none' then
    return ('%s is not running; :AcpRestart'):format(chat.agent)
  elseif state == 'starting' then
    return ('%s is still starting; its options come with the session'):format(chat.agent)
  elseif #M.list(chat.n) == 0 then
    return ('%s offers no options'):format(chat.agent)
  end
end

---@param chat acp.Chat
---@param id string
---@return acp.Option?
---@return string? reason
function M.demand(chat, id)
  local option = M.find(chat.n, id)
  if option then
    return option
  end
  return nil, ("%s has no option '%s'; there are: %s"):format(chat.agent, id, listed(M.list(chat.n), 'id'))
end

---Ask the agent for a value. Nothing is shown as changed before it has agreed.
---@param chat acp.Chat
---@param option acp.Option
---@param value string|boolean
function M.ask(chat, option, value)
  asked[chat.n] = asked[chat.n] or {}
  asked[chat.n][option.id] = value
  require('acp.host').event('option', { chat = chat.n, id = option.id, value = value })
end

---@param chat acp.Chat?
---@param id string
---@param value string|boolean
---@return boolean|nil
---@return string? reason
function M.set(chat, id, value)
  local reason = M.obstacle(chat)
  if reason or not chat then
    return nil, reason
  end
  local option, fault = M.demand(chat, id)
  if not option then
    return nil, fault
  end
  local wanted, wrong = value_of(option, value)
  if wanted == nil then
    return nil, wrong
  end
  M.ask(chat, option, wanted)
  return true
end

---The value of an option that was asked for and has no answer yet.
---@param chat integer
---@param option acp.Option
---@return string|boolean|nil
function M.asked(chat, option)
  return (asked[chat] or {})[option.id]
end

---Whether a change has no answer yet.
---@param chat integer
---@return boolean
function M.pending(chat)
  return next(asked[chat] or {}) ~= nil
end

---The host has the agent's answer to the last value that was asked for.
---@param n integer chat
---@param result {id: string, error: string?} error: why not; empty: it is told elsewhere
function M.done(n, result)
  local chat = require('acp.chat').get(n)
  local wanted = asked[n] and asked[n][result.id]
  if not chat or wanted == nil then
    return
  end
  asked[n][result.id] = nil
  local option = M.find(n, result.id)
  local name = option and option.name or result.id
  local message = require('acp.message')
  if result.error == '' then
    return
  elseif result.error then
    local value = option and M.label(option, wanted) or tostring(wanted)
    return message.error(('%s did not set %s to %s: %s'):format(chat.agent, name, value, result.error))
  end
  local category = option and option.category
  local in_winbar = (category == 'mode' or category == 'model') and require('acp.chat.windows').visible(chat)
  if option and not in_winbar and not vim.api.nvim_get_mode().mode:find('^[cr]') then
    message.info(('%s: %s'):format(name, option.label))
  end
end

---The host tells what the user has chosen in a chat: a host that takes its place will set it again.
---@param n integer chat
---@param values table<string, string|boolean> by the agent's ids, which only the host understands
function M.chosen(n, values)
  local chat = require('acp.chat').get(n)
  if chat then
    chat.open.chosen = values
  end
end

---The host: a change has no answer for a while.
---@param n integer chat
---@param what string option and value
function M.slow(n, what)
  local chat = require('acp.chat').get(n)
  if chat then
    require('acp.message').warn(
      ('%s has not answered yet (%s); :AcpCancel takes it back'):format(chat.agent, what)
    )
  end
end

---Ask for the mode after the one that is set, or asked for already.
---@param chat acp.Chat
---@return boolean|nil
---@return string? reason
function M.next_mode(chat)
  local reason = M.obstacle(chat)
  local option = M.find(chat.n, 'mode')
  if reason or not option or #option.choices == 0 then
    return nil, reason or ('%s has no modes'):format(chat.agent)
  end
  local now, at = M.asked(chat.n, option) or option.value, 0
  for i, choice in ipairs(option.choices) do
    if choice.value == now then
      at = i
    end
  end
  M.ask(chat, option, option.choices[at % #option.choices + 1].value)
  return true
end

return M
