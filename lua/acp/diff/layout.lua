--- Where the windows of a diff go, and how the screen was before.
local M = {}

local api = vim.api
local sizes = require('acp.chat.size')

-- Columns that windows must have together to stand beside each other: two, three.
local BESIDE = { [2] = 101, [3] = 150 }

-- Rows of a window that must be seen beside the card: its winbar, and some of the change.
local SEEN = 3

---@class acp.DiffHome where the user was
---@field tab integer
---@field win integer
---@field insert boolean
---@field wins table<integer, {view: table, tick: integer, buf: integer}> windows of the tab page
---@field sizes string command that sets them again
---@field screen integer[]

---@return integer[]
local function screen()
  local tabline = vim.o.showtabline == 1 and #api.nvim_list_tabpages() > 1
  return { vim.o.columns, vim.o.lines, vim.o.cmdheight, tabline and 1 or 0 }
end

---Note where the user is.
---@param from {win: integer, insert: boolean}
---@return acp.DiffHome
function M.note(from)
  local wins = {}
  for _, win in ipairs(sizes.ordinary_windows()) do
    local buf = api.nvim_win_get_buf(win)
    wins[win] = {
      view = api.nvim_win_call(win, vim.fn.winsaveview),
      tick = api.nvim_buf_get_changedtick(buf),
      buf = buf,
    }
  end
  return {
    tab = api.nvim_get_current_tabpage(),
    win = from.win,
    insert = from.insert,
    wins = wins,
    sizes = sizes.command(),
    screen = screen(),
  }
end

---The user is back in the tab page: what the diff has changed there (a tab line takes a row) is as it was.
---@param home acp.DiffHome
function M.restore(home)
  if api.nvim_get_current_tabpage() ~= home.tab or not vim.deep_equal(home.screen, screen()) then
    return
  end
  local now = sizes.ordinary_windows()
  local same = #now == vim.tbl_count(home.wins)
  for _, win in ipairs(now) do
    same = same and home.wins[win] ~= nil
  end
  if not same then
    return
  end
  if sizes.command() ~= home.sizes then
    vim.cmd(home.sizes)
  end
  for win, was in pairs(home.wins) do
    local buf = api.nvim_win_get_buf(win)
    if buf == was.buf and api.nvim_buf_get_changedtick(buf) == was.tick then
      api.nvim_win_call(win, function()
        local view = vim.fn.winsaveview()
        if view.lnum == was.view.lnum and view.col == was.view.col then
          vim.fn.winrestview(was.view)
        end
      end)
    end
  end
end

---A window of this tab page that may give its room: the one before, else the largest with a file in it.
---@return integer?
local function code_window()
  local best, size = nil, 0
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  for _, win in ipairs(sizes.ordinary_windows()) do
    if vim.wo[win].diff then
      return nil -- ours would join that diff
    end
    local fits = not vim.w[win].acp_pair and vim.bo[api.nvim_win_get_buf(win)].buftype == ''
    local area = api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
    if fits and (win == before or area > size) then
      best, size = win, win == before and math.huge or area
    end
  end
  return best
end

---@param buf integer
---@return integer win in a new tab page
local function new_tab(buf)
  -- Not `tabnew`, which would leave an empty buffer, nor from a window that holds on to its buffer.
  local switchbuf = vim.o.switchbuf
  vim.o.switchbuf = ''
  local ok, problem = pcall(vim.cmd, ('noswapfile keepalt tab sbuffer %d'):format(buf))
  vim.o.switchbuf = switchbuf
  if not ok then
    error(problem, 0)
  end
  return api.nvim_get_current_win()
end

---The part of some rows that each of the windows in them gets, above the rows that are covered.
---@param rows integer
---@param count integer windows, one above the other
---@param covered integer
---@return integer
local function share(rows, count, covered)
  return math.floor((rows - covered - count + 1) / count)
end

---Whether something of each window is to be seen in a tab page of their own. If not, a question would be
---answered by who has not seen what is asked.
---@param count integer windows
---@param covered integer rows at the bottom that the card takes
---@return boolean
function M.fits(count, covered)
  local tabline = vim.o.showtabline > 0 and 1 or 0
  local rows = vim.o.lines - vim.o.cmdheight - tabline - (vim.o.laststatus > 0 and 1 or 0)
  local above = vim.o.columns < (BESIDE[count] or 0)
  return share(rows, above and count or 1, covered) >= SEEN
end

---Open the windows. The focus goes to the first.
---@param bufs integer[] one to three
---@param how 'auto'|'tab'|'split'
---@param covered integer rows at the bottom of the screen that the card takes
---@return integer[] wins
---@return boolean tab whether they are a tab page of their own
function M.open(bufs, how, covered)
  local code = how == 'split' and code_window() or nil
  local first
  if code then
    local height = math.max(1, math.floor(api.nvim_win_get_height(code) * 0.75))
    first = api.nvim_open_win(bufs[1], true, { split = 'above', win = code, height = height })
  else
    first = new_tab(bufs[1])
  end
  local wins = { first }
  if #bufs == 1 then
    return wins, code == nil
  end
  local beside = api.nvim_win_get_width(first) >= BESIDE[#bufs]
  if code or share(api.nvim_win_get_height(first), #bufs, covered) < SEEN then
    covered = 0
  end
  for i = 2, #bufs do
    local last, left = wins[i - 1], #bufs - i + 2 -- windows that share the room of the last
    local size = beside and api.nvim_win_get_width(last) or api.nvim_win_get_height(last)
    -- Each gets its part of what is left, and a separator or a statusline.
    size = size - share(size, left, beside and 0 or covered) - 1
    wins[i] = api.nvim_open_win(bufs[i], false, {
      split = beside and 'right' or 'below',
      win = last,
      width = beside and math.max(1, size) or nil,
      height = not beside and math.max(1, size) or nil,
    })
  end
  return wins, code == nil
end

---What a window that must stay can show: the user's file of the diff, else any file they have open.
---@param wins integer[]
---@return integer?
local function to_stay(wins)
  for _, buf in ipairs(vim.list_extend(vim.tbl_map(api.nvim_win_get_buf, wins), api.nvim_list_bufs())) do
    if vim.bo[buf].buflisted and vim.bo[buf].buftype == '' and api.nvim_buf_is_loaded(buf) then
      return buf
    end
  end
end

---Close the windows, without a way for the focus to go anywhere. Floats of others in the tab page do not
---matter: Neovim does not close the last window below them, but it closes the tab page.
---@param tab integer
---@param own boolean the tab page was made for them
---@param wins integer[]
function M.close(tab, own, wins)
  wins = vim.tbl_filter(api.nvim_win_is_valid, wins)
  if #wins == 0 then
    return
  end
  local others = 0
  for _, win in ipairs(api.nvim_tabpage_list_wins(tab)) do
    if api.nvim_win_get_config(win).relative == '' and not vim.tbl_contains(wins, win) then
      others = others + 1
    end
  end
  if others == 0 and #api.nvim_list_tabpages() == 1 then
    local buf = to_stay(wins)
    api.nvim_win_call(wins[1], function()
      vim.cmd(buf and ('topleft sbuffer %d'):format(buf) or 'noswapfile topleft new')
    end)
  elseif others == 0 and own then
    vim.cmd(('%dtabclose!'):format(api.nvim_tabpage_get_number(tab)))
    return
  end
  for _, win in ipairs(wins) do
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
  end
end

return M
