--- Sets the filetype of our buffers. What a configuration does for every filetype may fail for ours, as
--- starting treesitter without a parser does: the buffer is shown all the same, and it is told once.
local M = {}

---The buffer whose filetype is being set: what happens meanwhile is the configuration's doing.
---@type integer?
M.setting = nil

local FAILED = 'a FileType autocommand fails for %s; leave it out there: :checkhealth acp'

---@param buf integer
---@param filetype string
function M.set(buf, filetype)
  local before = vim.v.errmsg
  vim.v.errmsg = ''
  M.setting = buf
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent! setlocal filetype=' .. filetype) -- pcall() would not do: the error comes after it, too
  end)
  M.setting = nil
  local problem = vim.v.errmsg
  vim.v.errmsg = before
  if problem ~= '' then
    local text = FAILED:format(filetype)
    require('acp.message').once(text, 'warning', text, vim.split(problem, '\n'))
  end
end

return M
