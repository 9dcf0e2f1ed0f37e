--- Brings a place into a window: never the focus, never the mode, no trace in jumplist and alternate file but
--- the one entry at the start.
local M = {}

local api, fn = vim.api, vim.fn
local files = require('acp.follow.files')
local quiet = require('acp.follow.quiet')

---The user's place in a buffer of theirs that is shown for a while, so that it can be given back.
---@class acp.FollowBack
---@field win integer
---@field buf integer
---@field view table winsaveview()

---Where the cursor was put: as long as it is there, the user has not moved it.
---@class acp.FollowJump
---@field win integer
---@field buf integer
---@field lnum integer
---@field col integer
---@field tick integer 'changedtick'

---@param win integer
---@return acp.FollowJump
function M.here(win)
  local buf, cursor = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)
  local tick = api.nvim_buf_get_changedtick(buf)
  return { win = win, buf = buf, lnum = cursor[1], col = cursor[2], tick = tick }
end

---Open the folds over the cursor's line. No Normal mode command: the user may be in the midst of one.
---@param lnum integer
local function unfold(lnum)
  for _ = 1, 20 do
    if fn.foldclosed(lnum) == -1 then
      return
    end
    pcall(vim.cmd, ('silent! %dfoldopen'):format(lnum))
  end
end

---Put the cursor of the current window on a line, which is brought to the middle if it is not well in view.
---@param lnum integer
---@param new boolean another file is shown than before
local function go(lnum, new)
  local line = api.nvim_buf_get_lines(0, lnum - 1, lnum, false)[1] or ''
  unfold(lnum)
  local height, top, bottom = api.nvim_win_get_height(0), fn.line('w0'), fn.line('w$')
  local margin = math.min(vim.wo.scrolloff, math.floor((height - 1) / 2))
  local inside = not new
    and (lnum >= top + margin or top == 1)
    and (lnum <= bottom - margin or bottom == fn.line('$'))
    and lnum >= top
    and lnum <= bottom
  api.nvim_win_set_cursor(0, { lnum, (line:find('%S') or 1) - 1 })
  local view = { curswant = (line:find('%S') or 1) - 1 }
  if not inside then
    view.topline = math.max(1, lnum - math.floor(height / 2))
    view.leftcol = 0
  end
  fn.winrestview(view)
end

---While the user types a command Neovim does not draw windows by itself.
function M.redraw()
  if api.nvim_get_mode().mode:find('^c') then
    vim.cmd('redraw')
  end
end

---Show a place in a window. Raises what is wrong with the file.
---@param f acp.Followed
---@param visit acp.Visit
---@param win integer? nil: a split is made, if it may be
---@return integer? win
---@return integer? lnum
function M.show(f, visit, win)
  local left ---@type integer?
  local shown = quiet.run(function()
    local buf = files.load(visit.path)
    local new = false
    if not win then
      win = require('acp.follow.window').split(f, buf)
      new = true
      if not win then
        return nil
      end
      f.began = true
    end
    local before = api.nvim_win_get_buf(win)
    return api.nvim_win_call(win, function()
      if before ~= buf then
        local back = f.back
        if back and back.win == win and back.buf == before then
          fn.winrestview(back.view)
        end
        -- The first time the place before goes into the jumplist: <C-o> brings the user back at once.
        local keep = f.began and 'keepjumps ' or ''
        vim.cmd(('silent keepalt %shide buffer %d'):format(keep, buf))
        f.back = not files.ours(buf) and { win = win, buf = buf, view = fn.winsaveview() } or nil
        left, new = before, true
      elseif not f.began then
        fn.search([[\%#]], 'cs') -- m' without a Normal mode command: the user may be in Insert mode
      end
      f.began = true
      local lnum = visit.line or api.nvim_win_get_cursor(0)[1]
      lnum = math.max(1, math.min(lnum, api.nvim_buf_line_count(0)))
      if visit.line or new then
        go(lnum, new)
      end
      return lnum
    end)
  end)
  if left then
    files.left(left)
  end
  if not shown then
    local buf = files.find(visit.path)
    if buf then
      files.left(buf)
    end
    return nil
  end
  f.jump = M.here(win --[[@as integer]])
  return win, shown
end

---Whether the cursor of a window is where it was put. What the agent itself has changed there does not
---count as moved; edits of the user do.
---@param f acp.Followed
---@param win integer
---@return boolean
function M.unmoved(f, win)
  local jump = f.jump
  if not jump or jump.win ~= win or f.moved then
    return false
  end
  local now = M.here(win)
  if now.buf ~= jump.buf or (now.tick ~= jump.tick and vim.bo[now.buf].modified) then
    return false
  end
  if now.tick ~= jump.tick then
    f.jump = now
    return true
  end
  return now.lnum == jump.lnum and now.col == jump.col
end

return M
