--- Keys of a buffer that are ours for a while: what was mapped before comes back.
local M = {}

local api = vim.api

---Map keys in a buffer.
---@param buf integer
---@param modes string[]
---@param keys string[]
---@param run fun()
---@param desc string
---@return fun() undo does nothing the second time
function M.keys(buf, modes, keys, run, desc)
  local before = {} ---@type {mode: string, key: string, map?: table}[]
  api.nvim_buf_call(buf, function()
    for _, mode in ipairs(modes) do
      for _, key in ipairs(keys) do
        local map = vim.fn.maparg(key, mode, false, true)
        table.insert(before, { mode = mode, key = key, map = map.buffer == 1 and map or nil })
        vim.keymap.set(mode, key, run, { buffer = buf, nowait = true, desc = desc })
      end
    end
  end)
  return function()
    local list = before
    before = {}
    if not api.nvim_buf_is_valid(buf) then
      return
    end
    api.nvim_buf_call(buf, function()
      for _, item in ipairs(list) do
        pcall(vim.keymap.del, item.mode, item.key, { buffer = buf })
        if item.map then
          vim.fn.mapset(item.mode, false, item.map)
        end
      end
    end)
  end
end

return M
