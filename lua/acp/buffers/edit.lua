--- Changing a loaded buffer by no more than must be, in one undo step: marks, extmarks, folds, cursors and
--- views stay at their text.
local M = {}

local api = vim.api
local keep = require('acp.buffers.keep')
local lines = require('acp.buffers.lines')

---Changes up to which each is made by itself. All who watch the buffer hear of each, and a language client
---reads all lines every time. Above, neighbours are made together.
local MOST_CHANGES = 2000
local MOST_LINES_TOLD = 2000000

---@class acp.Step
---@field row integer from 0: the line that changes, or the first to go; what comes is put before it
---@field count integer lines that go
---@field lines string[]? lines that come; nil: one line changes in parts
---@field pieces acp.Piece[]?

---Join hunks until there are few enough.
---@param hunks acp.Hunk[]
---@param most integer
---@return acp.Hunk[]
local function coarser(hunks, most)
  local gap = 1
  while #hunks > most do
    local joined = {} ---@type acp.Hunk[]
    for _, hunk in ipairs(hunks) do
      local last = joined[#joined]
      if last and hunk.first - (last.first + last.count) <= gap then
        last.count = hunk.first + hunk.count - last.first
        last.new_count = hunk.new_first + hunk.new_count - last.new_first
      else
        table.insert(joined, vim.deepcopy(hunk))
      end
    end
    hunks, gap = joined, gap * 2
  end
  return hunks
end

---The changes of a hunk, from its first line to its last.
---@param old string[]
---@param new string[]
---@param hunk acp.Hunk
---@param partner table<integer, integer> is filled: old line -> new line
---@return acp.Step[]
local function steps_of(old, new, hunk, partner)
  local list = {}
  local at, new_at = hunk.first, hunk.new_first
  ---Up to before these lines, nothing has a partner.
  local function rest(stop, new_stop)
    if stop > at or new_stop > new_at then
      local come = vim.list_slice(new, new_at, new_stop - 1)
      table.insert(list, { row = at - 1, count = stop - at, lines = come })
    end
  end
  for _, pair in ipairs(lines.pairs(old, new, hunk)) do
    local a, b = pair[1], pair[2]
    rest(a, b)
    partner[a] = b
    table.insert(list, { row = a - 1, count = 1, pieces = lines.pieces(old[a], new[b]) })
    at, new_at = a + 1, b + 1
  end
  rest(hunk.first + hunk.count, hunk.new_first + hunk.new_count)
  return list
end

---@param old string[]
---@param new string[]
---@param hunks acp.Hunk[]
---@param most integer
---@return acp.Step[] steps
---@return table<integer, integer> partner
local function plan(old, new, hunks, most)
  local partner, list = {}, {}
  for _, hunk in ipairs(hunks) do
    vim.list_extend(list, steps_of(old, new, hunk, partner))
  end
  local count = 0
  for _, step in ipairs(list) do
    count = count + (step.pieces and #step.pieces or 1)
  end
  if count <= most then
    return list, partner
  end
  list = {}
  for _, hunk in ipairs(coarser(hunks, most)) do
    local come = vim.list_slice(new, hunk.new_first, hunk.new_first + hunk.new_count - 1)
    table.insert(list, { row = hunk.first - 1, count = hunk.count, lines = come })
  end
  return list, partner
end

---Keep views, marks and the selection at their text while `run` changes a buffer, however often.
---@param buf integer
---@param run fun()
---@param idle? boolean do nothing: it is one change, which does that by itself
function M.keeping(buf, run, idle)
  if idle then
    return run()
  end
  local old, kept = api.nvim_buf_get_lines(buf, 0, -1, false), keep.take(buf)
  run()
  local new = api.nvim_buf_get_lines(buf, 0, -1, false)
  local hunks = lines.hunks(old, new)
  local _, partner = plan(old, new, hunks, MOST_CHANGES)
  keep.put_back(buf, kept, function(lnum)
    return keep.moved(lnum, hunks, partner)
  end)
end

---Change the text of a buffer, as one undo step.
---@param buf integer modifiable
---@param new string[]
---@param join? boolean with the last undo step
---@return boolean changed
function M.set(buf, new, join)
  local old = api.nvim_buf_get_lines(buf, 0, -1, false)
  local hunks = lines.hunks(old, new)
  -- An empty buffer and one with an empty line look the same, and are not.
  local empty_line = #new == 1 and new[1] == ''
  if #hunks == 0 and not empty_line then
    return false
  end
  local most = math.max(math.min(MOST_CHANGES, math.floor(MOST_LINES_TOLD / (#old + #new))), 20)
  local steps, partner = plan(old, new, hunks, most)
  local kept = keep.take(buf)
  api.nvim_buf_call(buf, function()
    local function step()
      vim.cmd('let &g:undolevels = &g:undolevels')
    end
    if join then
      pcall(vim.cmd, 'undojoin')
    else
      step()
    end
    for i = #steps, 1, -1 do
      local change = steps[i]
      local row = change.row
      if change.lines then
        api.nvim_buf_set_lines(buf, row, row + change.count, true, change.lines)
      else
        for k = #change.pieces, 1, -1 do
          local piece = change.pieces[k]
          api.nvim_buf_set_text(buf, row, piece.first, row, piece.last, { piece.text })
        end
      end
    end
    if empty_line then
      api.nvim_buf_set_lines(buf, 0, -1, true, new)
    end
    step()
  end)
  keep.put_back(buf, kept, function(lnum)
    return keep.moved(lnum, hunks, partner)
  end)
  return true
end

return M
