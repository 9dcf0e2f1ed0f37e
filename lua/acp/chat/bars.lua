--- Keeps winbars ours that plugins with a winbar for every window (lualine, for one) would take away: that of
--- the transcript is the one place for the state of a session, those of a diff say which half is which.
--- What is set as the filetype of a transcript is set is the user's.
local M = {}

local api = vim.api

M.winbar = "%{%v:lua.require'acp.chat.winbar'.current()%}"

local started = false

---@param win integer
local function changed(win)
  if vim.w[win].acp_diff and require('acp.diff').at(win) then
    local own = require('acp.diff.bar').WINBAR
    if vim.wo[win].winbar ~= own then
      require('acp.window').set(win, { winbar = own })
    end
    return
  end
  if vim.w[win].acp_kind ~= 'transcript' or vim.w[win].acp_own_winbar then
    return
  end
  local chat = require('acp.chat').of(api.nvim_win_get_buf(win))
  if not chat or chat.buf ~= api.nvim_win_get_buf(win) or vim.wo[win].winbar == M.winbar then
    return
  end
  if require('acp.filetype').setting == chat.buf then
    vim.w[win].acp_own_winbar = true
  else
    require('acp.window').set(win, { winbar = M.winbar })
  end
end

---From the first chat on the screen, or its first diff, on.
function M.keep()
  if started then
    return
  end
  started = true
  api.nvim_create_autocmd('OptionSet', {
    group = api.nvim_create_augroup('acp.bars', {}),
    pattern = 'winbar',
    callback = function()
      changed(api.nvim_get_current_win()) -- the one it is set for, also from elsewhere
    end,
  })
end

return M
