--- Unsaved edits that an agent does not see, because it reads the files on disk by itself: named at the
--- prompt, with keys to write them or to send their text along.
local M = {}

local api = vim.api

---@class acp.Unsaved
---@field buf integer
---@field path string absolute
---@field name string as it is shown

---The modified buffers in the folders of a chat whose agent does not see them.
---@param chat acp.Chat
---@return acp.Unsaved[]
function M.list(chat)
  local found = {}
  local roots = require('acp.status').raw(chat.n).blind
  if type(roots) ~= 'table' then
    return found
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if vim.bo[buf].modified and vim.bo[buf].buftype == '' and api.nvim_buf_is_loaded(buf) then
      local path = vim.fs.normalize(api.nvim_buf_get_name(buf))
      for _, folder in ipairs(roots) do
        local root = vim.fs.normalize(folder):gsub('/$', '') .. '/'
        if vim.startswith(path, root) then
          local name = folder == roots[1] and path:sub(#root + 1) or vim.fn.fnamemodify(path, ':~')
          table.insert(found, { buf = buf, path = path, name = name })
          break
        end
      end
    end
  end
  return found
end

---What stands at the prompt; nil when there is nothing to say.
---@param chat acp.Chat
---@param sent table<string, true> paths whose text is sent along already
---@param width integer cells
---@return [string, string][]? chunks
function M.row(chat, sent, width)
  local names = {}
  for _, each in ipairs(M.list(chat)) do
    if not sent[each.path] then
      table.insert(names, require('acp.message').plain(each.name))
    end
  end
  if #names == 0 then
    return nil
  end
  local keys, hints = require('acp.chat.keys'), {}
  for _, action in ipairs({ { 'write_unsaved', 'writes' }, { 'attach_unsaved', 'attaches' } }) do
    local key = keys.lhs('prompt', action[1])
    if key then
      table.insert(hints, ('%s %s'):format(key, action[2]))
    end
  end
  local hint = #hints > 0 and '   ' .. table.concat(hints, ', ') or ''
  local room = math.max(width - vim.fn.strdisplaywidth('unsaved  ' .. hint), 12)
  return {
    { 'unsaved  ', 'AcpWarn' },
    { require('acp.message').cut(table.concat(names, ', '), room), 'AcpPath' },
    { hint, 'AcpHint' },
  }
end

---Write them all, as `:write` does.
---@param chat acp.Chat
function M.write(chat)
  for _, each in ipairs(M.list(chat)) do
    local ok, problem = pcall(api.nvim_buf_call, each.buf, function()
      vim.cmd('silent write')
    end)
    if not ok then
      local reason = tostring(problem):match('E%d+: ([^\n]*)') or tostring(problem)
      require('acp.message').warn(('%s was not written: %s'):format(each.name, reason))
    end
  end
  require('acp.chat.prompt').refresh(chat.n)
end

---Send their text along with the prompt that is being written.
---@param chat acp.Chat
function M.attach(chat)
  for _, each in ipairs(M.list(chat)) do
    require('acp.chat.prompt').add_context(chat, { path = each.path })
  end
end

return M
