--- What must not move while a buffer's text changes: views of its windows, marks, the selected text.
local M = {}

local api = vim.api

---@alias acp.Partner fun(lnum: integer): integer? the new line that a changed old one became

---Where a line of the old text is in the new one.
---@param lnum integer
---@param hunks acp.Hunk[]
---@param partner acp.Partner
---@return integer
function M.moved(lnum, hunks, partner)
  local became = partner(lnum)
  if became then
    return became
  end
  local shift = 0
  for _, hunk in ipairs(hunks) do
    if lnum < hunk.first then
      break
    elseif lnum < hunk.first + hunk.count then
      -- It is gone: the line after the last one before it that is still there.
      local before = lnum - 1
      while before >= hunk.first and not partner(before) do
        before = before - 1
      end
      return before >= hunk.first and partner(before) + 1 or hunk.new_first
    end
    shift = shift + hunk.new_count - hunk.count
  end
  return lnum + shift
end

---@class acp.Kept
---@field views table<integer, table>
---@field marks table[]
---@field visual {win: integer, lnum: integer, col: integer}?

---@param buf integer
---@return acp.Kept
function M.take(buf)
  local kept = { views = {}, marks = vim.fn.getmarklist(buf) }
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    kept.views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  if api.nvim_get_current_buf() == buf and api.nvim_get_mode().mode:find('^[vV\22sS\19]') then
    local start = vim.fn.getpos('v')
    kept.visual = { win = api.nvim_get_current_win(), lnum = start[2], col = start[3] - 1 }
  end
  return kept
end

---Neovim moves cursors with the text around them. What is left: top lines, marks of lines that were written
---anew, and where a selection began.
---@param buf integer
---@param kept acp.Kept
---@param place fun(lnum: integer): integer
function M.put_back(buf, kept, place)
  local count = api.nvim_buf_line_count(buf)
  local function line(lnum)
    return math.max(math.min(place(lnum), count), 1)
  end
  for win, view in pairs(kept.views) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf then
      api.nvim_win_call(win, function()
        local now = vim.fn.winsaveview()
        local lnum, top = line(view.lnum), line(view.topline)
        local same = now.lnum == lnum and now.topline == top and now.topfill == view.topfill
        if not same or now.leftcol ~= view.leftcol or now.skipcol ~= view.skipcol then
          view.topline = top
          if now.lnum == lnum then
            view.col, view.curswant = now.col, math.max(view.curswant, 0)
          end
          view.lnum = lnum
          vim.fn.winrestview(view)
        end
      end)
    end
  end
  for _, mark in ipairs(kept.marks) do
    local name, lnum = mark.mark:sub(2), line(mark.pos[2])
    if name:find('^%l$') and api.nvim_buf_get_mark(buf, name)[1] ~= lnum then
      pcall(api.nvim_buf_set_mark, buf, name, lnum, math.max(mark.pos[3] - 1, 0), {})
    end
  end
  local visual = kept.visual
  if visual and vim.fn.line('v') ~= line(visual.lnum) then
    local cursor = api.nvim_win_get_cursor(visual.win)
    -- `o` exchanges the two ends; there is no other way to set the one that is not the cursor.
    vim.cmd('noautocmd keepjumps normal! o')
    api.nvim_win_set_cursor(visual.win, { line(visual.lnum), visual.col })
    vim.cmd('noautocmd keepjumps normal! o')
    api.nvim_win_set_cursor(visual.win, cursor)
  end
end

return M
