---Change rows of a buffer without disturbing what hangs on the other rows.
---
---`nvim_buf_set_lines` and `nvim_buf_set_text` tell Neovim 0.11 and 0.12 that rows were deleted when none
---were: folds at the edited row, or right above it, are cut. `setbufline` and `appendbufline` do not, keep
---cursor and view of every window, and cost 1 to 3 µs. Measured on 0.10.4, 0.11.4 and 0.12.4.
local M = {}

local api, fn = vim.api, vim.fn

---A change of rows: `keep` old rows from `row` on are replaced one by one, the others inserted or deleted.
---@class acp.Edit
---@field row integer first row that differs, relative to the old lines, 0-based
---@field old integer number of old rows that differ
---@field lines string[] what stands there afterwards
---@field early boolean new rows go before the last differing old row, not after it (a fold then grows)

---Find what differs between two lists of lines.
---@param old string[]
---@param new string[]
---@return acp.Edit
function M.plan(old, new)
  local n, m = #old, #new
  local first = 0
  while first < n and first < m and old[first + 1] == new[first + 1] do
    first = first + 1
  end
  while n > first and m > first and old[n] == new[m] do
    n, m = n - 1, m - 1
  end
  return { row = first, old = n - first, lines = vim.list_slice(new, first + 1, m), early = false }
end

---Where a fold is after an edit, as Neovim moves it by itself.
---@param edit acp.Edit
---@param first integer fold's first row
---@param last integer fold's last row
---@return integer first
---@return integer last less than first: the fold is gone
function M.moved(edit, first, last)
  local more = #edit.lines - edit.old
  if more > 0 then
    local at = edit.row + edit.old - (edit.early and 1 or 0) -- rows are inserted before this one
    if at <= first then
      return first + more, last + more
    end
    return first, at <= last and last + more or last
  end
  local from, to = edit.row + #edit.lines, edit.row + edit.old -- [from, to) are deleted
  local function place(row)
    return row < from and row or (row < to and from or row + more)
  end
  return place(first), place(last + 1) - 1
end

---A window's first line, as it is: `line('w0')` would scroll first, to where the cursor is.
---@param win integer
---@return integer
local function topline(win)
  return fn.getwininfo(win)[1].topline
end

---Insert lines before a row, so that what windows show stays where it is.
---@param buf integer
---@param row integer
---@param lines string[]
local function insert(buf, row, lines)
  local tops = {}
  for _, win in ipairs(fn.win_findbuf(buf)) do
    tops[win] = topline(win)
  end
  if #lines == 1 and api.nvim_get_mode().mode:find('^[iR]') then
    -- In Insert mode, in whatever window, Neovim takes a single new line into the fold above it.
    fn.appendbufline(buf, row, { lines[1], '' })
    api.nvim_buf_set_lines(buf, row + 1, row + 2, true, {})
  else
    fn.appendbufline(buf, row, lines)
  end
  for win, top in pairs(tops) do
    -- Neovim does not move the window it uses for the change, nor one whose first line is just below.
    if top > row and topline(win) ~= top + #lines then
      api.nvim_win_call(win, function()
        fn.winrestview({ topline = top + #lines })
      end)
    end
  end
end

---Carry out a plan.
---@param buf integer
---@param start integer row of the first of the old lines
---@param old string[] the old lines
---@param edit acp.Edit
---@return integer written number of lines written
function M.apply(buf, start, old, edit)
  local new, at = edit.lines, start + edit.row
  local more = #new - edit.old
  local written = 0
  ---@param i integer index into the differing old lines
  ---@param text string
  local function put(i, text)
    if old[edit.row + i] ~= text then
      fn.setbufline(buf, at + i, text)
      written = written + 1
    end
  end
  if more > 0 and edit.early then
    put(edit.old, new[#new])
    for i = 1, edit.old - 1 do
      put(i, new[i])
    end
    insert(buf, at + edit.old - 1, vim.list_slice(new, edit.old, #new - 1))
  else
    for i = 1, math.min(edit.old, #new) do
      put(i, new[i])
    end
    if more > 0 then
      insert(buf, at + edit.old, vim.list_slice(new, edit.old + 1))
    elseif more < 0 then
      api.nvim_buf_set_lines(buf, at + #new, at + edit.old, true, {})
    end
  end
  return written + math.max(more, 0)
end

---Replace rows so that every fold on them is gone in every window: the new ones come first, then the old ones
---are deleted.
---@param buf integer
---@param start integer first old row
---@param stop integer row after the last old one
---@param lines string[]
---@return integer written
function M.renew(buf, start, stop, lines)
  insert(buf, stop, lines)
  api.nvim_buf_set_lines(buf, start, stop, true, {})
  return #lines
end

return M
