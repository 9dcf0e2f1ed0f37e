---Colours of one line of Markdown, without a parser: 3 µs a line (highlighting.md).
---
---The groups are those of Neovim's own Markdown queries, so colour schemes fit. Not known here: setext
---headings, indented code, emphasis over two source lines, entities. Time is linear in the line's length.
local M = {}

local byte, find, sub, match = string.byte, string.find, string.sub, string.match

---Bytes of a line that are looked at.
M.LIMIT = 4096

---Receives a span: first byte column, end column (exclusive), group.
---@alias acp.Emit fun(from: integer, to: integer, group: string)

local BREAK, MARKER = '@punctuation.special.markdown', '@markup.list.markdown'
local UNCHECKED, CHECKED = '@markup.list.unchecked.markdown', '@markup.list.checked.markdown'
local RAW, LINK = '@markup.raw.markdown_inline', '@markup.link.markdown_inline'
local LABEL, URL = '@markup.link.label.markdown_inline', '@markup.link.url.markdown_inline'
local ESCAPE, STRIKE = '@string.escape.markdown_inline', '@markup.strikethrough.markdown_inline'
local EMPHASIS = { '@markup.italic.markdown_inline', '@markup.strong.markdown_inline' }
local HEADING = {}
for level = 1, 6 do
  HEADING[level] = ('@markup.heading.%d.markdown'):format(level)
end

---What a byte is for the rules of emphasis: 0 blank or nothing, 1 punctuation, 2 part of a word.
---@param c integer?
---@return integer
local function class(c)
  if not c or c == 32 or c == 9 then
    return 0
  end
  if c >= 128 or (c >= 48 and c <= 57) or (c >= 65 and c <= 90) or (c >= 97 and c <= 122) then
    return 2
  end
  return 1
end

---A run of `*`, `_` or `~` that may open emphasis.
---@class acp.Run
---@field char integer
---@field pos integer first byte that is left of it, 1-based
---@field n integer how many are left

---@class acp.Scan
---@field s string
---@field emit acp.Emit
---@field stack acp.Run[]
---@field open table<integer, integer> runs on the stack by character
---@field ticks? table<integer, integer[]> starts of the runs of backticks by their length, last first
---@field bracket? integer a `[` that is open
---@field no_paren? boolean no `)` from here to the end
---@field steps integer

---Emphasis: close what this run closes, then perhaps open.
---@param state acp.Scan
---@param from integer
---@param to integer
local function run(state, from, to)
  local s, stack, open = state.s, state.stack, state.open
  local char, n, pos = byte(s, from), to - from + 1, from
  if char == 126 and n ~= 2 then
    return
  end
  local before, after = class(byte(s, from - 1)), class(byte(s, to + 1))
  local opens = after ~= 0 and (after == 2 or before ~= 2)
  local closes = before ~= 0 and (before == 2 or after ~= 2)
  if char == 95 then -- not within words
    opens, closes = opens and before ~= 2, closes and after ~= 2
  end
  while closes and n > 0 and (open[char] or 0) > 0 do
    state.steps = state.steps + 1
    local top = stack[#stack]
    if top.char == char then
      local use = (top.n >= 2 and n >= 2) and 2 or 1
      top.n = top.n - use
      state.emit(top.pos + top.n - 1, pos + use - 1, char == 126 and STRIKE or EMPHASIS[use])
      n, pos = n - use, pos + use
    end
    if top.char ~= char or top.n == 0 then
      stack[#stack] = nil
      open[top.char] = open[top.char] - 1
    end
  end
  if opens and n > 0 then
    stack[#stack + 1] = { char = char, pos = pos, n = n }
    open[char] = (open[char] or 0) + 1
  end
end

---Code: from a run of backticks to the next one of the same length.
---@param state acp.Scan
---@param from integer
---@param to integer
---@return integer next byte to look at
local function code(state, from, to)
  if not state.ticks then
    local found, p, starts = {}, from, {}
    while true do
      local a, b = find(state.s, '`+', p)
      if not a then
        break
      end
      starts[#starts + 1] = { a, b - a + 1 }
      p = b + 1
    end
    for i = #starts, 1, -1 do
      local n = starts[i][2]
      found[n] = found[n] or {}
      table.insert(found[n], starts[i][1])
    end
    state.ticks, state.steps = found, state.steps + #starts
  end
  local n = to - from + 1
  local same = state.ticks[n] or {}
  while #same > 0 and same[#same] <= from do
    same[#same] = nil
    state.steps = state.steps + 1
  end
  local close = same[#same]
  if not close then
    return to + 1
  end
  state.emit(from - 1, close + n - 1, RAW)
  return close + n
end

---A `]`: the end of a link's text; what follows may be its target.
---@param state acp.Scan
---@param at integer
---@return integer next byte to look at
local function bracket(state, at)
  local from, emit = state.bracket, state.emit
  if not from or at == from + 1 then
    state.bracket = nil
    return at + 1
  end
  state.bracket = nil
  local image = byte(state.s, from - 1) == 33 and 1 or 0
  local close
  if byte(state.s, at + 1) == 40 and not state.no_paren then
    close = find(state.s, ')', at + 2, true)
    state.no_paren = not close
    if close and byte(state.s, close + 1) == 41 and find(sub(state.s, at + 2, close), '(', 1, true) then
      close = close + 1
    end
  end
  emit(from - 1 - image, from, LINK)
  emit(from, at - 1, LABEL)
  emit(at - 1, at, LINK)
  if not close then
    return at + 1
  end
  emit(at, at + 1, LINK)
  emit(at + 1, close - 1, URL)
  emit(close - 1, close, LINK)
  return close + 1
end

---@param s string at most LIMIT bytes
---@param p integer where to begin
---@param emit acp.Emit
---@param is_table boolean
---@return integer steps
local function inline(s, p, emit, is_table)
  local state = { s = s, emit = emit, stack = {}, open = {}, steps = 0 }
  local wanted = is_table and '[\\`*_%[%]~<h|]' or '[\\`*_%[%]~<h]'
  while true do
    p = find(s, wanted, p)
    if not p then
      return state.steps
    end
    state.steps = state.steps + 1
    local c = byte(s, p)
    if c == 42 or c == 95 or c == 126 then
      local _, to = find(s, c == 42 and '^%*+' or c == 95 and '^_+' or '^~+', p)
      run(state, p, to)
      p = to + 1
    elseif c == 96 then
      local _, to = find(s, '^`+', p)
      p = code(state, p, to)
    elseif c == 92 then
      if class(byte(s, p + 1)) == 1 then
        emit(p - 1, p + 1, ESCAPE)
        p = p + 1
      end
      p = p + 1
    elseif c == 91 then
      state.bracket = p
      p = p + 1
    elseif c == 93 then
      p = bracket(state, p)
    elseif c == 124 then
      emit(p - 1, p, BREAK)
      p = p + 1
    else -- < or h: an address
      local _, to = find(s, c == 60 and '^<%a[%w+.-]*:[^%s<>]+>' or '^https?://[^%s<>)%]|`*]+', p)
      if to and c == 104 then
        while to > p and find(sub(s, to, to), '[.,;:!?\'"]') do
          to = to - 1
        end
      end
      if to and (c == 60 or class(byte(s, p - 1)) ~= 2) then
        emit(p - 1, to, URL)
      end
      p = (to or p) + 1
    end
  end
end

---The cells of a table's head.
---@param s string
---@param emit acp.Emit
local function head(s, emit)
  for from, cell, to in s:gmatch('()([^|]+)()') do
    local a, b = find(cell, '%S.*%S')
    a = a or find(cell, '%S')
    if a then
      emit(from + a - 2, b and from + b - 1 or from + a - 1, '@markup.heading.markdown')
    end
    if to > #s then
      return
    end
  end
end

---@param s string?
---@return boolean
local function is_ruler(s)
  return s ~= nil
    and #s < 1000
    and find(s, '^%s*|?[%s:|-]+$') ~= nil
    and find(s, '-', 1, true) ~= nil
    and find(s, '|', 1, true) ~= nil
end

---Call `emit` for each coloured span of a line; of spans that overlap the later ones are on top.
---@param line string
---@param emit acp.Emit
---@param next_line? string tells that a line is the head of a table
---@return integer steps of the loops, for tests
function M.line(line, emit, next_line)
  local s = #line > M.LIMIT and sub(line, 1, M.LIMIT) or line
  local p, steps = 1, 0
  while true do -- quotes
    local _, to = find(s, '^ ? ? ?> ?', p)
    if not to then
      break
    end
    if p == 1 then
      emit(0, #s, '@markup.quote.markdown')
    end
    emit(find(s, '>', p, true) - 1, to, BREAK)
    p, steps = to + 1, steps + 1
  end
  local mark = match(s, '^%s*([-*_#|%d+])', p)
  if mark == '-' or mark == '*' or mark == '_' then
    local rule = match(s, '^ ? ? ?([-*_ \t]+)$', p)
    local bare = rule and rule:gsub('%s', '') or ''
    if #bare >= 3 and bare == mark:rep(#bare) then
      emit(p - 1, #s, BREAK)
      return steps
    end
  end
  if mark == '#' then
    local hashes = match(s, '^ ? ? ?(#+)[ \t]', p) or match(s, '^ ? ? ?(#+)$', p)
    if hashes and #hashes <= 6 then
      emit(p - 1, #s, HEADING[#hashes])
      return steps + inline(s, p, emit, false)
    end
  elseif mark and mark ~= '_' and mark ~= '|' then
    local from, to = match(s, '^%s*()[-+*]()%s', p)
    if not from then
      from, to = match(s, '^%s*()%d%d?%d?%d?%d?%d?%d?%d?%d?[.)]()%s', p)
    end
    if from then
      emit(from - 1, to - 1, MARKER)
      local box, state, after = match(s, '^ +()%[([ xX])%]()', to)
      if box then
        emit(box - 1, after - 1, state == ' ' and UNCHECKED or CHECKED)
        to = after
      end
      return steps + inline(s, to, emit, false)
    end
  end
  if mark and is_ruler(s) then
    emit(0, #s, BREAK)
    return steps
  end
  local under = is_ruler(next_line)
  if under then
    head(s, emit)
  end
  return steps + inline(s, p, emit, under or mark == '|')
end

return M
