--- What the sources for completion plugins have in common: items as of the Language Server Protocol.
local M = {}

local FILE, FUNCTION = 17, 3 -- lsp.CompletionItemKind

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
  local called = false
  return require('acp.chat.complete').look(chat.n, token, token.typed == '', function(items, ended, rows)
    if called or (#rows == 0 and not ended) then
      return
    end
    called = true
    local list = {}
    for i, item in ipairs(items) do
      list[i] = {
        label = item.shown,
        labelDetails = item.note ~= '' and { description = item.note } or nil,
        kind = token.kind == 'command' and FUNCTION or FILE,
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
    callback(list)
  end)
end

return M
