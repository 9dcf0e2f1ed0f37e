--- The command-line window (`q:`): while it is open the focus can go nowhere else (E11), and a float that is
--- entered is an error, too.
local M = {}

---@return string? reason why no window can be opened or entered now; nil: it can
function M.obstacle()
  if vim.fn.getcmdwintype() ~= '' then
    return 'close the command-line window first (<C-c>)'
  end
end

return M
