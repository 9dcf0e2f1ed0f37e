--- Changing a loaded buffer by no more than must be, in one undo step: marks, extmarks, folds, cursors and
--- views stay at their text.
local M = {}

local api = vim.api
local folds = require('acp.buffers.folds')
local keep = require('acp.buffers.keep')
local lines = require('acp.buffers.lines')

---Changed lines up to which each is changed by itself; above, neighbours are written together. All who watch
---the buffer hear of each change, and language clients read all lines every time: so many lines at most.
local MOST_CHANGES = 2000
local MOST_LINES_READ = 2000000

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
        local first, new_first = hunk.first, hunk.new_first
        local copy = { first = first, count = hunk.count, new_first = new_first, new_count = hunk.new_count }
        table.insert(joined, copy)
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
---@return acp.Step[]
local function steps_of(old, new, hunk)
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
    table.insert(list, { row = a - 1, count = 1, pieces = lines.pieces(old[a], new[b]) })
    at, new_at = a + 1, b + 1
  end
  rest(hunk.first + hunk.count, hunk.new_first + hunk.new_count)
  return list
end

---The hunk that has an old line.
---@param hunks acp.Hunk[] in order
---@param lnum integer
---@return acp.Hunk?
local function hunk_at(hunks, lnum)
  local low, high = 1, #hunks
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local hunk = hunks[middle]
    if lnum < hunk.first then
      high = middle - 1
    elseif lnum >= hunk.first + hunk.count then
      low = middle + 1
    else
      return hunk
    end
  end
end

---Which old lines became which: found out for a hunk when somebody asks. It costs much where many lines
---changed, and what stands at lines that are asked for is little.
---@param old string[]
---@param new string[]
---@param hunks acp.Hunk[]
---@return acp.Partner
local function partners(old, new, hunks)
  local known, done = {}, {} ---@type table<integer, integer>, table<acp.Hunk, true>
  return function(lnum)
    local hunk = hunk_at(hunks, lnum)
    if not hunk then
      return nil
    elseif lines.straight(hunk) then
      local at = lnum - hunk.first
      return at < hunk.new_count and hunk.new_first + at or nil
    elseif not done[hunk] then
      done[hunk] = true
      for _, pair in ipairs(lines.pairs(old, new, hunk)) do
        known[pair[1]] = pair[2]
      end
    end
    return known[lnum]
  end
end

---@param old string[]
---@param new string[]
---@param hunks acp.Hunk[]
---@param most integer
---@return acp.Step[]
local function plan(old, new, hunks, most)
  local list, count = {}, 0
  for _, hunk in ipairs(hunks) do
    count = count + math.max(hunk.count, hunk.new_count)
  end
  if count <= most then
    for _, hunk in ipairs(hunks) do
      vim.list_extend(list, steps_of(old, new, hunk))
    end
    return list
  end
  for _, hunk in ipairs(coarser(hunks, most)) do
    local come = vim.list_slice(new, hunk.new_first, hunk.new_first + hunk.new_count - 1)
    table.insert(list, { row = hunk.first - 1, count = hunk.count, lines = come })
  end
  return list
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
  local partner = partners(old, new, hunks)
  keep.put_back(buf, kept, function(lnum)
    return keep.moved(lnum, hunks, partner)
  end)
end

---Change the text of a buffer, as one undo step.
---
---In one go, although a key waits for it. In parts, between which keys are taken, it was tried: a `u` in
---between takes back the first part only, and then `:undojoin` fails; an edit of the user's in between is
---joined with the second part, and one `u` takes both; and a plugin that saves by itself writes half of an
---agent's text to the disk. Language servers would read the halves, too.
---
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
  local most = MOST_CHANGES
  if #vim.lsp.get_clients({ bufnr = buf }) > 0 then
    most = math.max(math.min(most, math.floor(MOST_LINES_READ / (#old + #new))), 20)
  end
  local steps, partner = plan(old, new, hunks, most), partners(old, new, hunks)
  local kept, folded = keep.take(buf), folds.take(buf, hunks)
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
  local function place(lnum)
    return keep.moved(lnum, hunks, partner)
  end
  folds.put_back(folded, place, function(lnum)
    return hunk_at(hunks, lnum) ~= nil and not partner(lnum)
  end)
  keep.put_back(buf, kept, place)
  return true
end

return M
