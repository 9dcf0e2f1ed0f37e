--- Files of ours, read at once: what stands in their place must not keep Neovim waiting.
local M = {}

local uv = vim.uv

---@param path string
---@param limit integer bytes that are read at most
---@return string? data nil: there is no regular file (a FIFO would stop Neovim for ever)
function M.read(path, limit)
  local stat = uv.fs_stat(path)
  local file = stat and stat.type == 'file' and io.open(path, 'rb')
  if not file then
    return nil
  end
  local data = file:read(limit)
  file:close()
  return data or ''
end

return M
