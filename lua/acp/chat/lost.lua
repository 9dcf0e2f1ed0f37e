---What a transcript shows when the host has ended: nothing in it may go on looking alive, and one note says
---what happened and what to do. The host cannot draw this any more.
local M = {}

local api = vim.api
local blocks = require('acp.chat.blocks')
local transcript = require('acp.chat.transcript')

---Rows that were running, pending or waiting get their last state.
---@param line string
---@return string?
local function settled(line)
  local icons = require('acp.icons').get()
  for _, name in ipairs({ 'running', 'waiting', 'pending' }) do
    local icon = icons[name]
    if vim.startswith(line, icon .. ' ') then
      local rest = line:sub(#icon + 1):gsub('  waiting for you.*$', ''):gsub('  paused$', '')
      return icons.failed .. rest .. '  no answer'
    end
  end
end

---@param t acp.Transcript
---@return table[] operations
local function settle(t)
  local ops = {}
  for place in transcript.blocks(t.buf) do
    local lines = api.nvim_buf_get_lines(t.buf, place.first, place.first + place.n, false)
    local changed = place.deco.spin ~= nil or place.deco.since ~= nil
    for i, line in ipairs(place.kind == 'row' and lines or {}) do
      local new = settled(line)
      if new then
        lines[i], changed = new, true
      end
    end
    if changed then
      local deco = vim.deepcopy(place.deco)
      deco.spin, deco.since, deco.question = nil, nil, nil
      deco.folds = vim.tbl_map(function(fold)
        return { fold.first, fold.last, fold.closed, fold.text }
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

---The host has ended.
---@param chat integer
---@param reason string
---@param remedy string
function M.tell(chat, reason, remedy)
  local t = blocks.of_chat(chat)
  if not t or not api.nvim_buf_is_loaded(t.buf) then
    return
  end
  local ops = settle(t)
  local icons = require('acp.icons').get()
  local first = ('%s %s'):format(icons.failed, reason)
  local bar = '  ' .. icons.bar .. ' '
  local lines = { first, bar .. remedy, '' }
  if #t.ids > 0 and t.blocks[t.ids[#t.ids]].deco.kind == 'row' then
    table.insert(lines, 1, '')
  end
  local lead = #lines - 3
  ops[#ops + 1] = {
    'set',
    M.first_block(chat),
    lines,
    {
      kind = 'note',
      lead = lead,
      tail = 1,
      marks = { { lead, 0, #first, 'AcpError' } },
      body = { { lead + 1, lead + 1, 'output' } },
    },
  }
  transcript.frame({ { chat, ops } })
end

return M
