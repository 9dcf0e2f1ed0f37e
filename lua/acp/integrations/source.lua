--- What the sources for completion plugins have in common: items as of the Language Server Protocol.
local M = {}

local FILE, KEYWORD = 17, 14 -- lsp.CompletionItemKind; a function would get brackets

-- A project that is listed for the first time answers in parts, and most plugins take one answer.
local PATIENCE_MS = 200

---Characters after which a plugin asks again. Without them it would stop at the first that is in no word.
M.triggers = { '@', '/', '"', '.', '-', '_', '~', '+', '[', '(' }

---@class acp.SourcePlace
---@field buf integer
---@field row integer from 1
---@field line string
---@field col integer bytes before the cursor

---Whether this is a prompt of ours.
---@param buf integer
---@return boolean
function M.enabled(buf)
  return vim.bo[buf].filetype == 'acp-prompt'
end

---The place of the cursor.
---@return acp.SourcePlace
function M.here()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local buf, line = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_line()
  return { buf = buf, row = row, col = col, line = line }
end

---@param place acp.SourcePlace
---@param token acp.chat.Token
---@param items acp.chat.Item[]
---@param filter fun(token: acp.chat.Token, item: acp.chat.Item): string
---@return table[]
local function for_protocol(place, token, items, filter)
  local list = {}
  for i, item in ipairs(items) do
    list[i] = {
      label = item.shown,
      labelDetails = item.note ~= '' and { description = item.note } or nil,
      kind = token.kind == 'command' and KEYWORD or FILE,
      filterText = filter(token, item),
      sortText = ('%04d'):format(i),
      textEdit = {
        newText = item.word,
        range = {
          start = { line = place.row - 1, character = token.col },
          ['end'] = { line = place.row - 1, character = place.col },
        },
      },
    }
  end
  return list
end

---Look up what may be meant at a place. `filter` tells what the plugin is to match an item by.
---@param place acp.SourcePlace
---@param filter fun(token: acp.chat.Token, item: acp.chat.Item): string
---@param callback fun(items: table[]) called once
---@return fun() cancel
function M.items(place, filter, callback)
  local chat = require('acp.chat').of(place.buf)
  local token = chat and require('acp.chat.token').at(place.row, place.line, place.col)
  if not chat or not token then
    callback({})
    return function() end
  end
  local called, latest = false, {} ---@type boolean, acp.chat.Item[]
  local function give()
    if not called then
      called = true
      callback(for_protocol(place, token, latest, filter))
    end
  end
  local cancel = require('acp.chat.complete').look(
    chat.n,
    token,
    token.typed == '',
    function(items, ended, rows)
      latest = (#rows > 0 or #latest == 0) and items or latest
      if ended then
        give()
      end
    end
  )
  if not called then
    vim.defer_fn(give, PATIENCE_MS)
  end
  return cancel
end

return M
