--- What differs between two texts, down to the characters: the least a buffer must change to hold the new
--- one. Pure.
local M = {}

local diff = (vim.text and vim.text.diff) or vim.diff

---Lines of both sides above which common ends are not looked at, but for so many lines next to what differs.
local MANY_LINES = 4000
local NEAR = 500
---Lines of both sides above which it is worth to look whether they have any line in common at all.
local HUGE = 10000
---Products of lines of two sides up to which it is looked for which line became which.
local PAIR_CELLS = 2500
---Bytes of the changed middles of two lines up to which it is looked for what stayed the same in them.
local MIDDLE_BYTES = 4000

---`count` lines from `first` on (from 1) become `new_count` lines of the new text, which stand there from
---`new_first` on. A count of 0: nothing, before line `first`.
---@class acp.Hunk
---@field first integer
---@field count integer
---@field new_first integer
---@field new_count integer

---@param lines string[]
---@param first integer
---@param last integer
local function join(lines, first, last)
  return first > last and '' or table.concat(lines, '\n', first, last) .. '\n'
end

---Parts of the old text outside of which nothing differs: {first, last}. What is behind the last line of a
---part is as long in both texts.
---@param old string[]
---@param new string[]
---@return integer[][]
local function parts(old, new)
  if #old + #new <= MANY_LINES then
    return { { 1, #old } }
  end
  local head, tail = 0, 0
  local shorter = math.min(#old, #new)
  while head < shorter and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  while tail < shorter - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  local list, first, last = {}, head + 1, #old - tail
  local same = 0
  -- As many lines went as came: most changes leave what is between them at its place.
  for lnum = first, #old == #new and last or 0 do
    if old[lnum] == new[lnum] then
      same = same + 1
    else
      if same > 2 * NEAR then
        table.insert(list, { first, lnum - same - 1 })
        first = lnum
      end
      same = 0
    end
  end
  table.insert(list, { first, last })
  return list
end

---Whether two ranges, which begin at the same line, have a line in common.
---@param old string[]
---@param new string[]
---@param first integer
---@param last integer
---@param new_last integer
---@return boolean
local function akin(old, new, first, last, new_last)
  local there = {}
  for i = first, last do
    there[old[i]] = true
  end
  for i = first, new_last do
    if there[new[i]] then
      return true
    end
  end
  return false
end

---The changed ranges between two lists of lines, in order. Lines that are there once on each side keep
---together (patience): closing brackets and empty lines must not decide what a line has become. In large
---texts, once near by is enough.
---@param old string[]
---@param new string[]
---@return acp.Hunk[]
function M.hunks(old, new)
  local list, longer = {}, #new - #old
  for _, part in ipairs(parts(old, new)) do
    local first, last = part[1], part[2]
    local count, new_count = last - first + 1, last - first + 1 + longer
    if count + new_count > HUGE and not akin(old, new, first, last, last + longer) then
      table.insert(list, { first = first, count = count, new_first = first, new_count = new_count })
    else
      local before = math.max(first - 1 - NEAR, 0)
      last = math.min(last + NEAR, #old)
      local a, b = join(old, before + 1, last), join(new, before + 1, last + longer)
      for _, found in ipairs(diff(a, b, { result_type = 'indices', algorithm = 'patience' })) do
        local from, gone, new_from, come = unpack(found --[[@as integer[] ]])
        table.insert(list, {
          -- An empty range is named by the line before it.
          first = before + from + (gone == 0 and 1 or 0),
          count = gone,
          new_first = before + new_from + (come == 0 and 1 or 0),
          new_count = come,
        })
      end
    end
  end
  return list
end

---Bytes two texts have in common at the beginning, and then at the end; no character is cut.
---@param a string
---@param b string
---@return integer head, integer tail
function M.common(a, b)
  local head, tail = 0, 0
  local shorter = math.min(#a, #b)
  while head < shorter and a:byte(head + 1) == b:byte(head + 1) do
    head = head + 1
  end
  local function inside(text, at)
    local byte = text:byte(at)
    return byte ~= nil and byte >= 0x80 and byte < 0xC0
  end
  while head > 0 and (inside(a, head + 1) or inside(b, head + 1)) do
    head = head - 1
  end
  while tail < shorter - head and a:byte(#a - tail) == b:byte(#b - tail) do
    tail = tail + 1
  end
  while tail > 0 and (inside(a, #a - tail + 1) or inside(b, #b - tail + 1)) do
    tail = tail - 1
  end
  return head, tail
end

---How much of two lines is the same, 0 to 1.
---@param a string
---@param b string
local function likeness(a, b)
  local longer = math.max(#a, #b)
  if longer == 0 then
    return 1
  end
  local head, tail = M.common(a, b)
  return (head + tail) / longer
end

---Whether the lines of a hunk become one another in order, without a look at them.
---@param hunk acp.Hunk
---@return boolean
function M.straight(hunk)
  return hunk.count * hunk.new_count > PAIR_CELLS or hunk.count == 1 and hunk.new_count == 1
end

---Which old line of a hunk became which new one; both rise. Likeness decides, but as many as can be have a
---partner: what stands at a line should stay at the line that replaces it; of equals the first one.
---@param old string[]
---@param new string[]
---@param hunk acp.Hunk
---@return integer[][] pairs {old line, new line}, from 1
function M.pairs(old, new, hunk)
  local n, m = hunk.count, hunk.new_count
  local list = {}
  if n == 0 or m == 0 then
    return list
  elseif M.straight(hunk) then
    for i = 0, math.min(n, m) - 1 do
      table.insert(list, { hunk.first + i, hunk.new_first + i })
    end
    return list
  end
  local best = { [0] = {} } ---@type table<integer, table<integer, number>>
  for j = 0, m do
    best[0][j] = 0
  end
  local value = {}
  for i = 1, n do
    best[i], value[i] = { [0] = 0 }, {}
    for j = 1, m do
      value[i][j] = 1 + 10 * likeness(old[hunk.first + i - 1], new[hunk.new_first + j - 1])
      best[i][j] = math.max(best[i - 1][j], best[i][j - 1], best[i - 1][j - 1] + value[i][j])
    end
  end
  local i, j = n, m
  while i > 0 and j > 0 do
    if best[i][j] == best[i - 1][j] then
      i = i - 1
    elseif best[i][j] == best[i][j - 1] then
      j = j - 1
    else
      table.insert(list, 1, { hunk.first + i - 1, hunk.new_first + j - 1 })
      i, j = i - 1, j - 1
    end
  end
  return list
end

---@param text string
---@return string[] words, single other characters, runs of blanks
local function tokens(text)
  local list, at = {}, 1
  while at <= #text do
    local _, last = text:find('^[%w_\128-\255]+', at)
    if not last then
      _, last = text:find('^%s+', at)
    end
    last = last or at
    table.insert(list, text:sub(at, last))
    at = last + 1
  end
  return list
end

---A part of a line that changes: from column `first` to before column `last` (bytes from 0) stands `text`.
---@class acp.Piece
---@field first integer
---@field last integer
---@field text string

---@param list acp.Piece[]
---@param at integer
---@param a string
---@param b string
local function put(list, at, a, b)
  local head, tail = M.common(a, b)
  table.insert(list, { first = at + head, last = at + #a - tail, text = b:sub(head + 1, #b - tail) })
end

---The parts of a line that change, in order.
---@param a string
---@param b string
---@return acp.Piece[]
function M.pieces(a, b)
  local list = {}
  if a == b then
    return list
  end
  local head, tail = M.common(a, b)
  local old, new = a:sub(head + 1, #a - tail), b:sub(head + 1, #b - tail)
  -- A newline (a NUL in the file) cannot be told from the end of a token here.
  if old == '' or new == '' or #old + #new > MIDDLE_BYTES or (old .. new):find('\n', 1, true) then
    table.insert(list, { first = head, last = #a - tail, text = new })
    return list
  end
  local ours, theirs = tokens(old), tokens(new)
  local ends = { [0] = head }
  for i, token in ipairs(ours) do
    ends[i] = ends[i - 1] + #token
  end
  for _, hunk in ipairs(M.hunks(ours, theirs)) do
    local was = table.concat(ours, '', hunk.first, hunk.first + hunk.count - 1)
    local now = table.concat(theirs, '', hunk.new_first, hunk.new_first + hunk.new_count - 1)
    put(list, ends[hunk.first - 1], was, now)
  end
  return list
end

return M
