--- What all windows of ours have in common.
local M = {}

---Options of a window that shows no code.
M.plain = {
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  foldcolumn = '0',
  statuscolumn = '',
  list = false,
  spell = false,
}

---Set options of a window for the buffer it shows now: a buffer that is shown in it later has the user's.
---@param win integer
---@param options table<string, any>
function M.set(win, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

return M
