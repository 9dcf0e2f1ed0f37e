--- Which window goes where the agent goes, and whether it may now (design.md section 5, Follow).
local M = {}

local api, fn = vim.api, vim.fn

---A split of ours goes to the right of a window at least this wide, else below it.
local WIDE = 160

---Whether a window may show another file: an ordinary one, in which the user would open files.
---@param win integer?
---@param target integer? buffer it is to show
---@return boolean
function M.usable(win, target)
  if not win or not api.nvim_win_is_valid(win) then
    return false
  end
  local config = api.nvim_win_get_config(win)
  local buf = api.nvim_win_get_buf(win)
  local wo, bo = vim.wo[win], vim.bo[buf]
  if config.relative ~= '' or config.external or vim.w[win].acp_pair then
    return false
  end
  if wo.winfixbuf or wo.previewwindow or wo.diff then
    return false
  end
  if bo.buftype ~= '' or api.nvim_buf_get_name(buf):find('^%a[%w+.-]+://') then
    return false
  end
  if buf == target then
    return true
  end
  if bo.bufhidden ~= '' and bo.bufhidden ~= 'hide' then
    return false -- the user's buffer would be gone
  end
  local kept = vim.o.hidden or bo.bufhidden == 'hide' or #fn.win_findbuf(buf) > 1
  return kept or not bo.modified
end

---Whether a window shows a file: what makes it the home of follow.
---@param win integer
---@return boolean
function M.shows_file(win)
  return M.usable(win) and api.nvim_buf_get_name(api.nvim_win_get_buf(win)) ~= ''
end

---Windows that other followed chats have. Of two that were told to use one window the later has it.
---@param f acp.Followed
---@param all table<integer, acp.Followed>
---@return table<integer, true>
local function taken(f, all)
  local wins = {}
  for _, other in pairs(all) do
    local win = other.win or other.home
    if other ~= f and win and not (win == f.home and f.order > other.order) then
      wins[win] = true
    end
  end
  return wins
end

---The window for a file; nil: there is none, a split may be made.
---@param f acp.Followed
---@param target integer? buffer of the file
---@param all table<integer, acp.Followed>
---@return integer?
function M.pick(f, target, all)
  if not api.nvim_tabpage_is_valid(f.tab) then
    f.tab = api.nvim_get_current_tabpage()
  end
  local current = api.nvim_get_current_win()
  for _, others in ipairs({ taken(f, all), {} }) do
    for _, win in ipairs({ f.home or 0, f.win or 0 }) do
      if win ~= 0 and not others[win] and M.usable(win, target) then
        return win
      end
    end
    for _, win in ipairs(api.nvim_tabpage_list_wins(f.tab)) do
      if win ~= current and not others[win] and M.usable(win, target) then
        return win
      end
    end
  end
end

-- What a window must not inherit from one of ours that it is split from.
local own = 'winfixbuf winfixwidth winfixheight number relativenumber signcolumn foldcolumn statuscolumn '
  .. 'colorcolumn list spell wrap linebreak breakindent breakindentopt showbreak conceallevel fillchars '
  .. 'scrollbind cursorbind diff scrolloff foldmethod foldenable foldtext winhighlight winbar statusline'

---@param win integer
local function reset(win)
  api.nvim_win_call(win, function()
    for name in own:gmatch('%S+') do
      vim.cmd(('setlocal %s<'):format(name))
    end
  end)
end

---Split off a window for the file, once: if the user closes it, that is an answer. Only in `quiet.run`.
---@param f acp.Followed
---@param buf integer
---@return integer?
function M.split(f, buf)
  if f.split then
    return nil
  end
  local file, any ---@type integer?, integer?
  for _, win in ipairs(api.nvim_tabpage_list_wins(f.tab)) do
    if api.nvim_win_get_config(win).relative == '' then
      any = any or win
      if not file and vim.bo[api.nvim_win_get_buf(win)].buftype == '' and not vim.w[win].acp_pair then
        file = win
      end
    end
  end
  local config ---@type table
  -- With a size of its own no other window is made equal to it.
  if file and api.nvim_win_get_width(file) >= WIDE then
    config = { split = 'right', win = file, width = math.floor(api.nvim_win_get_width(file) / 2) }
  elseif file then
    config = { split = 'below', win = file, height = math.floor(api.nvim_win_get_height(file) / 2) }
  elseif require('acp.chat.windows').position() == 'below' then
    config = { split = 'above', height = math.floor(vim.o.lines * 0.35) }
  else
    config = { split = 'left', width = math.floor(vim.o.columns * 0.6) }
  end
  if not config.win then
    config.win = f.tab == api.nvim_get_current_tabpage() and -1 or any
  end
  local ok, win = pcall(api.nvim_open_win, buf, false, config)
  if not ok or win == 0 then
    return nil -- not enough room
  end
  f.split = win
  if not file then
    reset(win)
  end
  return win
end

---Whether the user rests in Normal mode with nothing begun: no count, register, operator, macro, completion.
---@return boolean
function M.resting()
  local mode = api.nvim_get_mode()
  local register = vim.v.register
  return mode.mode == 'n'
    and not mode.blocking
    and vim.v.count == 0
    and (register == '"' or register == '+' or register == '*')
    and fn.reg_recording() == ''
    and fn.reg_executing() == ''
    and fn.state('moa') == ''
end

return M
