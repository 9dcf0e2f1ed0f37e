--- Where a question may stand on the screen.
local M = {}

local api = vim.api

---@class acp.Box
---@field row integer of the top border, 0-based screen cell
---@field col integer of the left border
---@field width integer of the text
---@field limit integer most lines of text

---The windows of a chat in this tab page.
---@param n integer
---@return {transcript: integer?, prompt: integer?}
function M.windows(n)
  local chat = require('acp.chat').get(n)
  return chat and require('acp.chat.windows').find(chat) or {}
end

---@param n integer
---@return boolean
function M.visible(n)
  local found = M.windows(n)
  return found.transcript ~= nil or found.prompt ~= nil
end

---The chat whose transcript or prompt has the cursor.
---@return integer?
function M.current()
  local chat = require('acp.chat').of(api.nvim_get_current_buf())
  if not chat then
    return nil
  end
  local found, win = M.windows(chat.n), api.nvim_get_current_win()
  return (win == found.transcript or win == found.prompt) and chat.n or nil
end

---Rows above all windows.
local function tabline()
  local tabs = #api.nvim_list_tabpages()
  return (vim.o.showtabline == 2 or (vim.o.showtabline == 1 and tabs > 1)) and 1 or 0
end

---The row below the last window, without its statusline.
---@return integer
function M.bottom()
  local wins = 0
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_config(win).relative == '' then
      wins = wins + 1
    end
  end
  local status = (vim.o.laststatus >= 2 or (vim.o.laststatus == 1 and wins > 1)) and 1 or 0
  return vim.o.lines - vim.o.cmdheight - status
end

---Rows of text a question gets beside a diff: it leaves the upper half, where the first change is.
---@param rows integer that it would like
---@return integer
function M.beside(rows)
  return math.min(rows, math.max(8, math.floor((M.bottom() - tabline() - 2) / 2)))
end

---The room for a question: as wide as its transcript, at its bottom edge; else at the bottom right.
---@param n integer chat
---@param rows integer lines of text that it would like
---@return acp.Box
function M.box(n, rows)
  local win = M.windows(n).transcript
  local top = tabline()
  local bottom, width = M.bottom(), 58
  local col, limit ---@type integer, integer
  if win and api.nvim_win_get_width(win) >= 24 then
    local at = api.nvim_win_get_position(win)
    local height = api.nvim_win_get_height(win)
    bottom, col, width = at[1] + height, at[2], api.nvim_win_get_width(win) - 2
    -- A low transcript is not enough to read a question in.
    limit = math.max(height - 2, math.min(12, bottom - top - 2))
  else
    width = math.max(1, math.min(width, vim.o.columns - 2))
    col = vim.o.columns - width - 2
    limit = bottom - top - 2
    if require('acp.diff').here() then
      limit = M.beside(limit)
    end
  end
  limit = math.max(1, limit)
  local shown = math.max(1, math.min(rows, limit))
  return { row = math.max(0, bottom - shown - 2), col = col, width = width, limit = limit }
end

return M
