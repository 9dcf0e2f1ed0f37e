---Code in fences: coloured by treesitter where it can be seen, with permanent marks.
---
---A closed fence is parsed in parts of 300 lines, each when it comes into view, and painted in steps, at most
---4 ms a draw. While a fence is open, 100 ms after a change its new whole lines are painted. Marks of the
---parts painted longest ago are forgotten: a mark takes 180 bytes, and code has 350 of them per KB.
local M = {}

local api, uv = vim.api, vim.uv
local blocks = require('acp.chat.blocks')
local lang_of = require('acp.chat.lang').get

local ns = api.nvim_create_namespace('acp.code')

local PART, BEFORE, AFTER = 300, 60, 30 -- lines; what is read before and after a part to understand it
local STEP = 8 -- lines painted between two looks at the clock
local MAX_TEXT, MAX_LINE = 32000, 1000 -- bytes; beyond (minified code) text stays plain
local BUDGET_NS, LATER_MS, LIVE_MS = 4e6, 10, 100
local KEPT = 200 -- painted parts

---A fence of a block. Rows are relative to the block.
---@class acp.Fence
---@field row integer of the line that opens it
---@field lang string
---@field close? integer row of the line that closes it
---@field parts? table<integer, acp.Part>

---@class acp.Part
---@field painted table<integer, boolean> by row of the code
---@field base? integer row of the code where `text` begins
---@field text? string nil: not parsed; '' : stays plain
---@field root? TSNode
---@field draw integer number of the draw that last showed it

---@type {t: acp.Transcript, block: acp.Block, fence: acp.Fence, i: integer}[]
local kept = {}
local draws = 0

M.failures = require('acp.chat.lang').failures

---@param list acp.Fence[]
---@param row integer
---@return integer index of the last fence that begins at `row` or above, 0: none
local function find(list, row)
  local low, high = 1, #list
  while low <= high do
    local middle = math.floor((low + high) / 2)
    if list[middle].row <= row then
      low = middle + 1
    else
      high = middle - 1
    end
  end
  return high
end

---What a row of an answer is.
---@param block acp.Block
---@param row integer relative to the block
---@return 'code'|'fence'|nil
function M.kind(block, row)
  local list = block.fences
  local fence = list and list[find(list, row)]
  if not fence or (fence.close and row > fence.close) then
    return nil
  end
  return (row == fence.row or row == fence.close) and 'fence' or 'code'
end

---Take over where fences were opened and closed.
---@param block acp.Block
---@param events table[] {row, lang} opened or {row} closed
function M.extend(block, events)
  block.fences = block.fences or {}
  for _, event in ipairs(events) do
    if event[2] then
      table.insert(block.fences, { row = event[1], lang = event[2] })
    elseif #block.fences > 0 then
      local fence = block.fences[#block.fences]
      fence.close, fence.parts = event[1], nil -- painted anew: parsed whole, its colours are right
    end
  end
end

---The block was rewritten.
---@param t acp.Transcript
---@param block acp.Block
---@param first integer
function M.reset(t, block, first)
  if block.fences then
    api.nvim_buf_clear_namespace(t.buf, ns, first, first + block.n)
    block.fences = nil
  end
  if block.deco.fences then
    M.extend(block, block.deco.fences)
  end
end

---@param t acp.Transcript
---@param lang acp.Lang
---@param code integer buffer row of the first line of code
---@param part acp.Part
---@param from integer row of the code
---@param to integer row of the code, exclusive
local function paint(t, lang, code, part, from, to)
  local buf, base = t.buf, part.base
  api.nvim_buf_clear_namespace(buf, ns, code + from, code + to)
  local pending ---@type table? of several captures of one range the last counts
  local function flush()
    if pending then
      api.nvim_buf_set_extmark(buf, ns, code + pending[1], pending[2], {
        end_row = code + pending[3],
        end_col = pending[4],
        hl_group = pending[5],
        priority = pending[6],
        strict = false,
      })
      pending = nil
    end
  end
  for id, node, meta in lang.query:iter_captures(part.root, part.text, from - base, to - base) do
    local group = lang.groups[id]
    if group ~= '' then
      local row, col, end_row, end_col = node:range()
      row, end_row = row + base, end_row + base
      if row < from then
        row, col = from, 0
      end
      if end_row >= to then
        end_row, end_col = to, 0
      end
      if
        pending
        and not (pending[1] == row and pending[2] == col and pending[3] == end_row and pending[4] == end_col)
      then
        flush()
      end
      pending = { row, col, end_row, end_col, group, tonumber(meta.priority) or 100 }
    end
  end
  flush()
end

---@param t acp.Transcript
---@param lang acp.Lang
---@param code integer
---@param part acp.Part
---@param base integer
---@param stop integer
local function parse(t, lang, code, part, base, stop)
  local lines = api.nvim_buf_get_lines(t.buf, code + base, code + stop, false)
  for i, line in ipairs(lines) do
    if #line > MAX_LINE then
      lines[i] = ''
      part.painted[base + i - 1] = true
    end
  end
  local text = table.concat(lines, '\n') .. '\n'
  part.base, part.text, part.root = base, text, nil
  if #text > MAX_TEXT then
    part.text = ''
    return
  end
  local parser = vim.treesitter.get_string_parser(text, lang.name, { injections = { [lang.name] = '' } })
  part.root = parser:parse()[1]:root()
end

---@param block acp.Block
---@param first integer of the block
---@param fence acp.Fence
---@return integer code buffer row of the first line of code
---@return integer stop number of whole lines of code
local function extent(block, first, fence)
  -- Without a closing line all but the last line, which may still grow.
  local stop = fence.close or block.n - (block.deco.tail or 0) - 1
  return first + fence.row + 1, stop - fence.row - 1
end

---Forget the marks of parts painted long ago and not seen now.
local function forget()
  for _ = 1, #kept - KEPT do
    local old = table.remove(kept, 1)
    local part = old.fence.parts and old.fence.parts[old.i]
    if part and part.draw == draws then
      kept[#kept + 1] = old
    elseif part and blocks.of(old.t.buf) == old.t and api.nvim_buf_is_loaded(old.t.buf) then
      old.fence.parts[old.i] = nil
      local first = blocks.range(old.t, old.block)
      local code, stop = extent(old.block, first, old.fence)
      local from = code + old.i * PART
      api.nvim_buf_clear_namespace(old.t.buf, ns, from, math.min(from + PART, code + stop))
    end
  end
end

---@param t acp.Transcript
---@param block acp.Block
---@param fence acp.Fence
---@param i integer
---@return acp.Part
local function part_of(t, block, fence, i)
  fence.parts = fence.parts or {}
  local part = fence.parts[i]
  if not part then
    part = { painted = {}, draw = draws }
    fence.parts[i] = part
    kept[#kept + 1] = { t = t, block = block, fence = fence, i = i }
  end
  part.draw = draws
  return part
end

---Paint what is visible of one fence.
---@param t acp.Transcript
---@param block acp.Block
---@param first integer of the block
---@param fence acp.Fence
---@param top integer buffer row
---@param bot integer buffer row, exclusive
---@param live boolean also a fence that is open
---@param deadline integer ns
---@param ready fun()
---@return integer? delay in ms until more is to be done
local function visible(t, block, first, fence, top, bot, live, deadline, ready)
  local lang = lang_of(fence.lang, ready)
  if not lang then
    return nil
  end
  local code, stop = extent(block, first, fence)
  local row, to = math.max(top - code, 0), math.min(bot - code, stop)
  while row < to do
    local i = math.floor(row / PART)
    local part = part_of(t, block, fence, i)
    local upto = math.min((i + 1) * PART, to)
    while row < upto and part.painted[row] do
      row = row + 1
    end
    if row < upto then
      if not fence.close and not live then
        return LIVE_MS
      elseif uv.hrtime() > deadline then
        return LATER_MS
      end
      if not fence.close then
        parse(t, lang, code, part, math.max(0, row - BEFORE), upto)
      elseif not part.text then
        parse(t, lang, code, part, math.max(0, i * PART - BEFORE), math.min((i + 1) * PART + AFTER, stop))
      end
      local till = fence.close and math.min(row + STEP, upto) or upto
      if part.root then
        paint(t, lang, code, part, row, till)
      end
      for r = row, till - 1 do
        part.painted[r] = true
      end
      row = till
    end
  end
end

local timed = {} ---@type table<integer, boolean> windows that will be painted again

---@param win integer
---@param delay integer ms
local function later(win, delay)
  if timed[win] then
    return
  end
  timed[win] = true
  vim.defer_fn(function()
    timed[win] = nil
    if not api.nvim_win_is_valid(win) then
      return
    end
    local t = blocks.of(api.nvim_win_get_buf(win))
    if t then
      local top, bot = vim.fn.line('w0', win) - 1, vim.fn.line('w$', win)
      M.paint_visible(t, win, blocks.overlapping(t, top, bot), top, bot, true)
    end
  end, delay)
end

---A language has become ready.
local function all_again()
  for _, t in pairs(blocks.all()) do
    for _, win in ipairs(vim.fn.win_findbuf(t.buf)) do
      later(win, 0)
    end
  end
end

---Paint the code a window shows. What takes too long comes later.
---@param t acp.Transcript
---@param win integer
---@param found {[1]: acp.Block, [2]: integer}[] the blocks in view
---@param top integer
---@param bot integer exclusive
---@param live? boolean also fences that are still open
function M.paint_visible(t, win, found, top, bot, live)
  local deadline = uv.hrtime() + BUDGET_NS
  draws = draws + 1
  for _, item in ipairs(found) do
    local block, first = item[1], item[2]
    local list = block.fences or {}
    for i = math.max(1, find(list, top - first)), #list do
      local fence = list[i]
      if first + fence.row >= bot then
        break
      end
      local ok, delay = pcall(visible, t, block, first, fence, top, bot, live or false, deadline, all_again)
      if not ok then
        local lang = lang_of(fence.lang, all_again)
        if lang then
          require('acp.chat.lang').fail(lang, delay)
        end
      elseif delay then
        later(win, delay)
      end
    end
  end
  if #kept > KEPT then
    forget()
  end
end

return M
