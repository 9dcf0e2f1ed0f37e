---The views of the windows that show a transcript: at the end they follow it, elsewhere nothing moves (C35).
local M = {}

local api, fn = vim.api, vim.fn

---A window before a change.
---@class acp.View
---@field win integer
---@field follow boolean the cursor is on the last line

---Whether the user is selecting in this window: then its cursor is theirs. (While an operator waits for its
---motion Neovim takes no calls at all.)
---@param win integer
---@return boolean
local function busy(win)
  if win ~= api.nvim_get_current_win() then
    return false
  end
  return api.nvim_get_mode().mode:find('^[vVsS\22\19]') ~= nil
end

---Note which windows follow the end.
---@param buf integer
---@return acp.View[]
function M.note(buf)
  local views, last = {}, api.nvim_buf_line_count(buf)
  for i, win in ipairs(fn.win_findbuf(buf)) do
    views[i] = { win = win, follow = api.nvim_win_get_cursor(win)[1] >= last and not busy(win) }
  end
  return views
end

---In the current window, put the cursor on the last line and that line at the bottom.
---
---The rows are counted here because `zb` would be a Normal mode command in the midst of what the user types.
function M.end_here()
  local last, room = fn.line('$'), fn.winheight(0)
  local top, skip, lnum = last, 0, last
  while lnum >= 1 do
    local closed = fn.foldclosed(lnum)
    local first = closed > 0 and closed or lnum
    local height = closed > 0 and 1
      or api.nvim_win_text_height(0, { start_row = lnum - 1, end_row = lnum - 1 }).all
    if height > room then
      if top - lnum == 1 and room > 0 and vim.wo.smoothscroll then
        -- A paragraph higher than the window, above the blank line at the end: show its end.
        local info = fn.getwininfo(api.nvim_get_current_win())[1]
        top, skip = lnum, (height - room) * (info.width - info.textoff)
      end
      break
    end
    room, top, lnum = room - height, first, first - 1
  end
  fn.winrestview({ lnum = last, topline = top, skipcol = skip })
end

---After a change: windows that followed the end are at the end again.
---@param views acp.View[]
function M.follow(views)
  for _, view in ipairs(views) do
    if view.follow and api.nvim_win_is_valid(view.win) then
      api.nvim_win_call(view.win, M.end_here)
    end
  end
end

---Go to the end in every window that shows a buffer.
---@param buf integer
function M.to_end(buf)
  for _, win in ipairs(fn.win_findbuf(buf)) do
    if not busy(win) then
      api.nvim_win_call(win, M.end_here)
    end
  end
end

---Run `change`, which deletes rows [start, stop) and makes `count` new ones, and keep cursor and first line
---of windows where they are within those rows.
---@param views acp.View[]
---@param start integer
---@param stop integer
---@param count integer
---@param change fun()
function M.hold(views, start, stop, count, change)
  local held = {}
  local function place(lnum)
    if lnum > stop then
      return lnum + count - (stop - start)
    end
    return lnum <= start and lnum or math.min(lnum, start + count)
  end
  for _, view in ipairs(views) do
    local saved = api.nvim_win_call(view.win, fn.winsaveview)
    if (saved.topline > start and saved.topline <= stop) or (saved.lnum > start and saved.lnum <= stop) then
      saved.topline, saved.lnum = place(saved.topline), place(saved.lnum)
      held[view.win] = saved
    end
  end
  change()
  for win, saved in pairs(held) do
    api.nvim_win_call(win, function()
      fn.winrestview(saved)
    end)
  end
end

return M
