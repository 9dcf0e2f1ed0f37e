--- The end of Insert mode. `ModeChanged` alone does not tell of it: a `:normal` that any plugin runs in the
--- meantime makes Neovim believe that it has told already, and then it is silent when the user leaves.
local M = {}

local api = vim.api

---Leave Insert, Replace or Terminal mode, and call a function in Normal mode.
---@param run fun()
function M.leave(run)
  local group = api.nvim_create_augroup('', {})
  local function left()
    if group then
      api.nvim_del_augroup_by_id(group)
      group = nil
      vim.schedule(run)
    end
  end
  api.nvim_create_autocmd('ModeChanged', { group = group, pattern = '*:n*', callback = left })
  api.nvim_create_autocmd({ 'InsertLeave', 'TermLeave' }, { group = group, callback = left })
  vim.cmd('stopinsert')
end

return M
