--- The pickers of `:AcpOptions`: the options of a chat with their values, and the values of one.
local M = {}

local options = require('acp.options')

---@param texts string[]
---@return integer
local function widest(texts)
  local cells = 0
  for _, text in ipairs(texts) do
    cells = math.max(cells, vim.fn.strdisplaywidth(text))
  end
  return cells
end

---@param text string
---@param cells integer
---@return string
local function pad(text, cells)
  return text .. (' '):rep(cells - vim.fn.strdisplaywidth(text))
end

---@param items table[]
---@return fun(item: table, more: string?): string
---@return integer cells before the second column
local function in_columns(items)
  local width = math.min(
    widest(vim.tbl_map(function(item)
      return item.name
    end, items)),
    40
  )
  return function(item, more)
    return more and more ~= '' and ('%s  %s'):format(pad(item.name, width), more) or item.name
  end,
    width + 2
end

---Let the user type the value of an option; a secret is not shown, and empty input changes nothing of it.
---@param chat acp.Chat
---@param option acp.Option
local function type_value(chat, option)
  local prompt = ('%s: %s: '):format(chat.agent, option.name)
  if option.type == 'secret' then
    vim.fn.inputsave()
    local ok, text = pcall(vim.fn.inputsecret, prompt)
    vim.fn.inputrestore()
    if ok and text ~= '' then
      options.ask(chat, option, text)
    end
    return
  end
  vim.ui.input({ prompt = prompt, default = option.value }, function(text)
    if text and text ~= option.value then
      options.ask(chat, option, text)
    end
  end)
end

---Let the user choose the value of an option.
---@param chat acp.Chat
---@param option acp.Option
local function pick_value(chat, option)
  if option.type == 'text' or option.type == 'secret' then
    return type_value(chat, option)
  end
  local choices = option.choices
  if option.type == 'boolean' then
    choices = { { value = true, name = 'on' }, { value = false, name = 'off' } }
  end
  local icons, present = require('acp.icons').get(), nil
  local columns, second = in_columns(choices)
  for i, choice in ipairs(choices) do
    present = choice.value == option.value and i or present
  end
  require('acp.choose').one(choices, {
    prompt = ('%s: %s'):format(chat.agent, option.name),
    kind = 'acp_option_value',
    current = present,
    hang = second + 2, -- the icon and a blank
    group = function(choice)
      return choice.group
    end,
    format_item = function(choice)
      local icon = choice.value == option.value and icons.running or icons.pending
      return ('%s %s'):format(icon, columns(choice, choice.description))
    end,
  }, function(choice)
    if choice and choice.value ~= option.value then
      options.ask(chat, option, choice.value)
    end
  end)
end

---What stands behind an option's name in the list.
---@param chat acp.Chat
---@param option acp.Option
---@return string
local function present(chat, option)
  local wanted = options.asked(chat.n, option)
  return wanted == nil and option.label
    or ('%s (asked for: %s)'):format(option.label, options.label(option, wanted))
end

---Let the user choose an option, then its value. A boolean is switched at once.
---@param chat acp.Chat
local function pick(chat)
  local all = options.list(chat.n)
  local columns = in_columns(all)
  require('acp.choose').one(all, {
    prompt = ('%s: options'):format(chat.agent),
    kind = 'acp_option',
    format_item = function(option)
      return columns(option, present(chat, option))
    end,
  }, function(option)
    if option and option.type == 'boolean' then
      options.ask(chat, option, not option.value)
    elseif option then
      pick_value(chat, option)
    end
  end)
end

---Open the picker: of all options, or of the values of one.
---@param chat acp.Chat?
---@param id? string id or category
---@return boolean|nil
---@return string? reason
function M.open(chat, id)
  local reason = options.obstacle(chat) or require('acp.cmdwin').obstacle()
  if reason or not chat then
    return nil, reason
  end
  if not id then
    pick(chat)
    return true
  end
  local option, fault = options.demand(chat, id)
  if not option then
    return nil, fault
  end
  pick_value(chat, option)
  return true
end

return M
