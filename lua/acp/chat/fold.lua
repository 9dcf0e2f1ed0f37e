---Manual folds of the transcript: thoughts, groups, bodies.
---
---Folds belong to windows. A block knows where its folds are (`deco.folds`, rows of the block); each window
---keeps for itself which are open. With `foldexpr`, folds of text that arrives while the user is in Insert
---mode (in the prompt) would not appear.
local M = {}

local api, fn = vim.api, vim.fn
local blocks = require('acp.chat.blocks')

---@class acp.Fold
---@field first integer row of the block, 0-based
---@field last integer
---@field closed? boolean
---@field text? [string, string][] what a closed fold shows

---Open (true), closed (false) or absent (nil) per fold, for one window.
---@alias acp.FoldStates table<integer, boolean>

---A window has got its options: 'foldlevel' has closed the folds that were made when the buffer came into it.
---@param win integer
function M.renew(win)
  api.nvim_win_call(win, require('acp.unfold').all)
  M.rebuild(win)
end

---Make a fold in the current window.
---@param first integer buffer row
---@param last integer buffer row
---@param open boolean
local function make(first, last, open)
  local range = { first + 1, last + 1 }
  api.nvim_cmd({ cmd = 'fold', range = range }, {})
  if open then
    api.nvim_cmd({ cmd = 'foldopen', range = range }, {})
  end
end

---Whether a fold starts at this row in the current window, and is open.
---@param row integer buffer row
---@return boolean? open nil: no fold
local function state_at(row)
  if fn.foldlevel(row + 1) == 0 then
    return nil
  end
  return fn.foldclosed(row + 1) == -1
end

---Note which folds of a block are open, in each window.
---@param views acp.View[]
---@param start integer first row of the block
---@param folds acp.Fold[]
---@return table<integer, acp.FoldStates> states by window
function M.states(views, start, folds)
  local states = {}
  for _, view in ipairs(views) do
    states[view.win] = api.nvim_win_call(view.win, function()
      local here = {}
      for i, fold in ipairs(folds) do
        here[i] = state_at(start + fold.first)
      end
      return here
    end)
  end
  return states
end

---Make a block's folds from number `from` on in each window.
---@param views acp.View[]
---@param start integer
---@param folds acp.Fold[]
---@param from integer
---@param states? table<integer, acp.FoldStates> what was open before; others are as the host says
function M.make(views, start, folds, from, states)
  for _, view in ipairs(views) do
    local known = states and states[view.win] or {}
    api.nvim_win_call(view.win, function()
      if vim.wo.foldmethod ~= 'manual' then
        return
      end
      for i = from, #folds do
        local fold, open = folds[i], known[i]
        if open == nil then
          open = fold.closed == false
        end
        make(start + fold.first, start + fold.last, open)
      end
    end)
  end
end

---Whether rewriting moved the folds to where they should be, without our doing.
---@param plan acp.Edit
---@param old acp.Fold[]
---@param new acp.Fold[]
---@return boolean
function M.fits(plan, old, new)
  if #new < #old then
    return false
  end
  for i, fold in ipairs(old) do
    local first, last = require('acp.chat.edit').moved(plan, fold.first, fold.last)
    if first ~= new[i].first or last ~= new[i].last then
      return false
    end
  end
  return true
end

---Make all folds of a window anew. What is open stays open; folds that Neovim kept from an earlier time the
---window showed the buffer, and which lines have moved away from since, go.
---@param win integer
function M.rebuild(win)
  local t = blocks.of(api.nvim_win_get_buf(win))
  if not t then
    return
  end
  api.nvim_win_call(win, function()
    if vim.wo.foldmethod ~= 'manual' then
      return
    end
    local todo, right = {}, true
    for _, id in ipairs(t.ids) do
      local block = t.blocks[id]
      local start = block.deco.folds and #block.deco.folds > 0 and blocks.range(t, block)
      for _, fold in ipairs(start and block.deco.folds or {}) do
        local first, last = start + fold.first, start + fold.last
        local open = state_at(first)
        right = right and open ~= nil and (open or fn.foldclosedend(first + 1) == last + 1)
        if open == nil then
          open = fold.closed == false
        end
        todo[#todo + 1] = { first, last, open }
      end
    end
    if right and #todo > 0 then
      return -- a window that was split from another one has them already
    end
    local view = fn.winsaveview()
    require('acp.unfold').all()
    for _, fold in ipairs(todo) do
      make(unpack(fold))
    end
    fn.winrestview(view)
  end)
end

---The window is about to close, or to lose its text: what is open in it will be open in the next one.
---@param win integer
function M.keep(win)
  local t = blocks.of(api.nvim_win_get_buf(win))
  if not t then
    return
  end
  api.nvim_win_call(win, function()
    for _, id in ipairs(vim.wo.foldmethod == 'manual' and t.ids or {}) do
      local block = t.blocks[id]
      local start = block.deco.folds and #block.deco.folds > 0 and blocks.range(t, block)
      for _, fold in ipairs(start and block.deco.folds or {}) do
        local open = state_at(start + fold.first)
        if open ~= nil then
          fold.closed = not open
        end
      end
    end
  end)
end

---One row of a block as chunks of text and highlight group.
---@param line string
---@param marks [integer, integer, integer, string][]
---@param row integer row of the block
---@return [string, string][]
local function chunks(line, marks, row)
  local found = {}
  for _, mark in ipairs(marks) do
    if mark[1] == row then
      found[#found + 1] = mark
    end
  end
  table.sort(found, function(a, b)
    return a[2] < b[2]
  end)
  local list, at = {}, 0
  for _, mark in ipairs(found) do
    local from, to = math.max(mark[2], at), math.min(mark[3], #line)
    if from < to then
      if from > at then
        list[#list + 1] = { line:sub(at + 1, from), 'AcpFolded' }
      end
      list[#list + 1] = { line:sub(from + 1, to), mark[4] }
      at = to
    end
  end
  if at < #line then
    list[#list + 1] = { line:sub(at + 1), 'AcpFolded' }
  end
  return list
end

---'foldtext': the summary the host gave, or the first line, and the sign that there is more.
---@return [string, string][]|string
function M.text()
  local buf, row = api.nvim_get_current_buf(), vim.v.foldstart - 1
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local block = blocks.at(buf, row)
  local list
  if block then
    for _, fold in ipairs(block.deco.folds or {}) do
      if fold.first == block.row and fold.text then
        list = vim.list_slice(fold.text)
      end
    end
    list = list or chunks(line, block.deco.marks or {}, block.row)
  else
    list = { { line, 'AcpFolded' } }
  end
  list[#list + 1] = { ' ' .. require('acp.icons').get().fold, 'AcpMore' }
  return list
end

return M
