--- The `User` autocmds that other plugins and statuslines listen to (design.md section 4).
local M = {}

---Fire one. `data` always has `agent`, `session` and `bufnr`; Neovim reports a
---handler that fails, and we go on.
---@param chat integer
---@param name string e.g. 'AcpTurnEnd'
---@param data? table<string, any>
function M.fire(chat, name, data)
  local entry = require('acp.chat').get(chat)
  if not entry then
    return
  end
  local fields = vim.tbl_extend('force', type(data) == 'table' and data or {}, {
    agent = entry.agent,
    session = require('acp.status').raw(chat).session,
    bufnr = entry.buf,
  })
  vim.api.nvim_exec_autocmds('User', { pattern = name, data = fields, modeline = false })
end

return M
