--- Where the user was last in the code: the buffer, and what is selected there.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp.spot')

---@class acp.Spot where the user was last in the code
---@field buf integer
---@field first? integer of the last Visual selection there, from 1
---@field last? integer
---@field mark? integer an extmark over these lines: it moves along with them

local MARKS = 100 -- selections that were sent and are still known

local last_buf ---@type integer?

---@param buf integer
---@return boolean whether it is code of the user's: a file, or a buffer that may become one
local function is_code(buf)
  return api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].buftype == ''
    and not vim.startswith(api.nvim_buf_get_name(buf), 'acp://')
    and require('acp.chat').of(buf) == nil
end

---The buffer with code the user was last in.
---@return integer?
function M.buffer()
  if last_buf and api.nvim_buf_is_valid(last_buf) and is_code(last_buf) then
    return last_buf
  end
  local best, used
  for _, info in ipairs(vim.fn.getbufinfo({ bufloaded = 1, buflisted = 1 })) do
    local empty = info.name == '' and info.changed == 0
    if not empty and is_code(info.bufnr) and (not best or info.lastused >= used) then
      best, used = info.bufnr, info.lastused
    end
  end
  return best
end

---Note where the user is.
function M.note()
  local buf = api.nvim_get_current_buf()
  if api.nvim_win_get_config(0).relative == '' and is_code(buf) then
    last_buf = buf
  end
end

---Where the user is in the code, for a text with words that need it.
---@param text string
---@param fix? boolean it is sent: the lines stay the same, whatever is edited above them meanwhile
---@return acp.Spot?
function M.of(text, fix)
  local words = text:find('@buffer') or text:find('@selection') or text:find('@diagnostics')
  local buf = words and M.buffer()
  if not buf then
    return nil
  end
  local spot = { buf = buf } ---@type acp.Spot
  local first, last = api.nvim_buf_get_mark(buf, '<')[1], api.nvim_buf_get_mark(buf, '>')[1]
  local count = api.nvim_buf_line_count(buf)
  if first > 0 and last >= first and first <= count then
    spot.first, spot.last = first, math.min(last, count)
    if fix and text:find('@selection') then
      local marks = api.nvim_buf_get_extmarks(buf, ns, 0, -1, {})
      if #marks >= MARKS then
        api.nvim_buf_clear_namespace(buf, ns, 0, -1)
      end
      spot.mark = api.nvim_buf_set_extmark(buf, ns, first - 1, 0, {
        end_row = spot.last - 1,
        end_col = #api.nvim_buf_get_lines(buf, spot.last - 1, spot.last, false)[1],
      })
    end
  end
  return spot
end

---The lines of a selection, wherever they are now.
---@param spot acp.Spot
---@return integer? first
---@return integer? last
function M.lines(spot)
  local mark = spot.mark and api.nvim_buf_get_extmark_by_id(spot.buf, ns, spot.mark, { details = true }) or {}
  if mark[1] then
    return mark[1] + 1, mark[3].end_row + 1
  end
  return spot.first, spot.last
end

return M
