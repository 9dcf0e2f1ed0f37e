--- Completion of the agent's commands in the prompt.
local M = {}

local api = vim.api

---@class acp.chat.Command
---@field name string
---@field description string?
---@field hint string?

local known = {} ---@type table<integer, acp.chat.Command[]> by chat

---Commands of the agent that begin with what stands in the first line.
---@param n integer
---@param typed string beginning with `/`
---@return table[] items for complete()
function M.matches(n, typed)
  local plain, items = require('acp.message').plain, {}
  local wanted = typed:sub(2):lower()
  for _, command in ipairs(known[n] or {}) do
    if vim.startswith(command.name:lower(), wanted) and command.name:lower() ~= wanted then
      local hint = command.hint and ('[%s]  '):format(plain(command.hint)) or ''
      table.insert(
        items,
        { word = '/' .. plain(command.name), menu = hint .. plain(command.description or '') }
      )
    end
  end
  return items
end

---Offer the agent's commands while the user types one at the start of the prompt.
---@param chat acp.Chat
---@param again? boolean there are other commands than those that are offered
local function offer(chat, again)
  local row, col = unpack(api.nvim_win_get_cursor(0))
  local line = api.nvim_get_current_line()
  if row ~= 1 or line:sub(1, 1) ~= '/' or col ~= #line or (vim.fn.pumvisible() == 1 and not again) then
    return
  end
  if vim.fn.mode() ~= 'i' then
    return
  end
  local items = M.matches(chat.n, line)
  if #items == 0 and not again then
    return
  end
  -- Without noselect Vim puts the first item into the text at once: let that be the text itself.
  if not vim.o.completeopt:find('noselect') and not vim.o.completeopt:find('noinsert') then
    table.insert(items, 1, { word = line })
  end
  vim.fn.complete(1, items)
end

---The commands are others now: what is offered is put right. An item that the user has gone to stays.
---@param chat acp.Chat
---@param before {name: string}[]
local function renew(chat, before)
  if api.nvim_get_current_buf() ~= chat.prompt or vim.fn.mode() ~= 'i' then
    return
  end
  local info, line = vim.fn.complete_info({ 'mode', 'selected', 'pum_visible' }), api.nvim_get_current_line()
  -- Without noselect the first item is selected from the beginning; it is the text itself, or not inserted.
  local ours = info.pum_visible == 1 and info.mode == 'eval' and info.selected <= 0
  for _, command in ipairs(before) do
    ours = ours and line ~= '/' .. command.name
  end
  if ours or info.pum_visible == 0 then
    pcall(offer, chat, ours) -- text may be locked: then the next key offers
  end
end

---The host tells which commands the agent has. It may do so at any time, also while they are offered.
---@param n integer
---@param commands acp.chat.Command[]
function M.commands(n, commands)
  local chat = require('acp.chat').get(n)
  if known[n] and chat then
    local before = known[n]
    known[n] = commands
    renew(chat, before)
  end
end

---Offer them in a chat's prompt buffer.
---@param chat acp.Chat
function M.attach(chat)
  known[chat.n] = {}
  api.nvim_create_autocmd('TextChangedI', {
    group = require('acp.chat').group,
    buffer = chat.prompt,
    callback = function()
      offer(chat)
    end,
  })
end

---A chat ended.
---@param n integer
function M.drop(n)
  known[n] = nil
end

return M
