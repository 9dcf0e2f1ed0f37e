---What a transcript shows when the host has ended: nothing in it may go on looking alive, and one note says
---what happened and what to do. The host cannot draw this any more.
local M = {}

local api = vim.api
local blocks = require('acp.chat.blocks')
local transcript = require('acp.chat.transcript')

-- What stands at the end of a row that is not over yet.
local words = { '  waiting for you$', '  waiting for you %(%d+%)$', '  paused$' }

---A row that was running, pending or waiting gets its last state.
---@param line string
---@return string? line nil: it was over
---@return integer? stop bytes of the old line that are left
local function settled(line)
  local icons = require('acp.icons').get()
  for _, name in ipairs({ 'running', 'waiting', 'pending' }) do
    local icon = icons[name]
    if vim.startswith(line, icon .. ' ') then
      local rest = line:sub(#icon + 1)
      for _, word in ipairs(words) do
        rest = rest:gsub(word, '')
      end
      return icons.failed .. rest .. '  no answer', #icon + #rest
    end
  end
end

---The marks of a row that was settled: those of what was cut off go, icon and end tell of the failure.
---@param marks [integer, integer, integer, string][]?
---@param row integer
---@param old string
---@param new string
---@param stop integer
---@return [integer, integer, integer, string][]
local function marks_of(marks, row, old, new, stop)
  local icon, before = #new:match('^%S+'), #old:match('^%S+')
  local list = {}
  for _, mark in ipairs(marks or {}) do
    if mark[1] ~= row then
      table.insert(list, mark)
    elseif mark[2] >= before and mark[3] <= stop then
      table.insert(list, { row, mark[2] + icon - before, mark[3] + icon - before, mark[4] })
    end
  end
  table.insert(list, { row, 0, icon, 'AcpFailed' })
  table.insert(list, { row, #new - #'no answer', #new, 'AcpFailed' })
  return list
end

---@param t acp.Transcript
---@return table[] operations
local function settle(t)
  local ops = {}
  for place in transcript.blocks(t.buf) do
    local lines = api.nvim_buf_get_lines(t.buf, place.first, place.first + place.n, false)
    local changed = place.deco.spin ~= nil or place.deco.since ~= nil
    local deco, over = vim.deepcopy(place.deco), {}
    for i, line in ipairs(place.kind == 'row' and lines or {}) do
      local new, stop = settled(line)
      if new then
        deco.marks = marks_of(deco.marks, i - 1, line, new, stop)
        lines[i], over[i - 1], changed = new, true, true
      end
    end
    if changed then
      deco.spin, deco.since, deco.question = nil, nil, nil
      deco.folds = vim.tbl_map(function(fold)
        -- Its summary may tell of a row that runs; without one the first line is shown.
        return { fold.first, fold.last, fold.closed, not next(over) and fold.text or nil }
      end, deco.folds or {})
      ops[#ops + 1] = { 'set', place.id, lines, deco }
    end
  end
  return ops
end

---The first block id that is free: a new host must not write over what stands there.
---@param chat integer
---@return integer
function M.first_block(chat)
  local t = blocks.of_chat(chat)
  return t and (t.ids[#t.ids] or 0) + 1 or 1
end

---What helps: commands stand at the start of a line, where nothing wraps them.
---@param back boolean text went back into the prompt
---@return string[]
local function remedies(back)
  local lines = back and { 'Your text is back in the prompt.' } or {}
  if require('acp.host').status().state ~= 'failed' then
    table.insert(lines, ':AcpRestart starts it again')
  elseif require('acp.config').python() then
    table.insert(lines, 'It was named by g:acp_python, or by the setting. Without them')
    table.insert(lines, ':AcpInstall makes an environment; this chat goes on')
  else
    table.insert(lines, ':AcpInstall makes an environment; this chat goes on')
  end
  return lines
end

---The host has ended, or could not be started. Where nothing was said yet the head tells it, which the next
---host writes anew; else it is a note, once.
---@param chat integer
---@param reason string
---@param back boolean text went back into the prompt
function M.tell(chat, reason, back)
  local t = blocks.of_chat(chat)
  if not t or not api.nvim_buf_is_loaded(t.buf) then
    return
  end
  local icons = require('acp.icons').get()
  local lines = { ('%s %s'):format(icons.failed, reason) }
  for _, line in ipairs(remedies(back)) do
    table.insert(lines, ('  %s %s'):format(icons.bar, line))
  end
  table.insert(lines, '')
  local last = t.blocks[t.ids[#t.ids]]
  local first, stop = blocks.range(t, last)
  local id, deco = M.first_block(chat), { kind = 'note', tail = 1 }
  local above ---@type string?
  if last.id == 0 then
    id, deco.kind = 0, 'head'
    above = api.nvim_buf_get_lines(t.buf, first, first + 1, false)[1]
    deco.marks = vim.tbl_filter(function(mark)
      return mark[1] == 0
    end, last.deco.marks or {})
  elseif last.deco.kind == 'row' then
    above, deco.lead = '', 1
  end
  if above then
    table.insert(lines, 1, above)
  end
  local at = above and 1 or 0
  deco.marks = vim.list_extend(deco.marks or {}, { { at, 0, #lines[at + 1], 'AcpError' } })
  deco.body = { { at + 1, #lines - 2, 'output' } }
  local ops = settle(t)
  local before = api.nvim_buf_get_lines(t.buf, first + (last.deco.lead or 0), stop, false)
  if id == 0 or not vim.deep_equal(before, lines) then
    table.insert(ops, { 'set', id, lines, deco })
  end
  transcript.frame({ { chat, ops } })
end

return M
