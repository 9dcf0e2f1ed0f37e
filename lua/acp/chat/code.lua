--- The user's own windows and files, beside a chat.
local M = {}

local api = vim.api

---A window of this tab page where a file may be opened: the one before, else any with a file, else a new one.
---@return integer
function M.window()
  local function fits(win)
    if win == 0 or not api.nvim_win_is_valid(win) then
      return false
    end
    local buf = api.nvim_win_get_buf(win)
    return api.nvim_win_get_config(win).relative == ''
      and vim.bo[buf].buftype == ''
      and not vim.wo[win].winfixbuf
      and not vim.wo[win].previewwindow
      and not vim.w[win].acp_pair
  end
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  if fits(before) then
    return before
  end
  for _, win in ipairs(require('acp.chat.size').ordinary_windows()) do
    if fits(win) then
      return win
    end
  end
  local side = require('acp.chat.size').position() == 'below' and 'above' or 'left'
  return api.nvim_open_win(api.nvim_create_buf(true, false), false, { split = side, win = -1 })
end

---The file the user used last, if any is left.
---@return integer? buf
function M.last_file()
  local best
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
    local empty = info.name == '' and info.changed == 0 and vim.bo[info.bufnr].buftype == ''
    if not empty and not require('acp.chat').of(info.bufnr) then
      best = (not best or info.lastused >= best.lastused) and info or best
    end
  end
  return best and best.bufnr
end

return M
