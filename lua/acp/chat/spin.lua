---What moves in a transcript: the spinner on the icons of running rows, and their seconds.
---
---One timer for all transcripts: eight times a second while data arrives, once a second while only seconds
---count, stopped when nothing runs or no transcript can be seen. The text below says `●`, nothing changes it.
local M = {}

local api, uv, fn = vim.api, vim.uv, vim.fn
local blocks = require('acp.chat.blocks')

local ns_icon = api.nvim_create_namespace('acp.spin')
local ns_since = api.nvim_create_namespace('acp.since')

local FRAME_MS, SECOND_MS = 125, 1000
local QUIET_MS = 60000 -- beside an open question, without data for so long, nothing turns any more

local timer ---@type uv.uv_timer_t?
local period = 0 ---@type integer ms; 0: the timer is stopped
local data = {} ---@type table<integer, integer> time of the last frame by chat

---@param passed integer seconds
---@return string
local function seconds(passed)
  if passed < 120 then
    return ('%d s'):format(passed)
  end
  return ('%d min %d s'):format(math.floor(passed / 60), passed % 60)
end

---@return integer ms since the epoch
local function now_ms()
  local s, us = uv.gettimeofday()
  return s * 1000 + math.floor(us / 1000)
end

---The group of a row's icon, so that the spinner has its colour.
---@param block acp.Block
---@param row integer
---@return string
local function group_at(block, row)
  for _, mark in ipairs(block.deco.marks or {}) do
    if mark[1] == row and mark[2] == 0 then
      return mark[4]
    end
  end
  return 'AcpRunning'
end

---Draw what moves in a block.
---@param t acp.Transcript
---@param block acp.Block
---@param first integer
---@param turning boolean
local function show(t, block, first, turning)
  if turning then
    for i, row in ipairs(block.deco.spin or {}) do
      api.nvim_buf_set_extmark(t.buf, ns_icon, first + row, 0, {
        id = block.id * 1000 + i,
        virt_text = { { require('acp.icons').frame(), group_at(block, row) } },
        virt_text_pos = 'overlay',
        priority = 200,
        strict = false,
      })
    end
  elseif block.deco.spin then
    api.nvim_buf_clear_namespace(t.buf, ns_icon, first, first + block.n)
  end
  for i, item in ipairs(block.deco.since or {}) do
    local passed = math.floor((now_ms() - item[2]) / 1000)
    if passed >= 1 then
      api.nvim_buf_set_extmark(t.buf, ns_since, first + item[1], 0, {
        id = block.id * 1000 + i,
        virt_text = { { ' ' .. seconds(passed), 'AcpNote' } },
        virt_text_pos = 'eol',
        strict = false,
      })
    end
  end
end

---Before a block is decorated anew: what moved in it stops.
---@param t acp.Transcript
---@param block acp.Block
---@param first integer
function M.take(t, block, first)
  if t.moving[block.id] then
    t.moving[block.id] = nil
    for _, ns in ipairs({ ns_icon, ns_since }) do
      api.nvim_buf_clear_namespace(t.buf, ns, first, first + block.n)
    end
  end
end

---A block was decorated: what moves in it starts.
---@param t acp.Transcript
---@param block acp.Block
---@param first integer
function M.put(t, block, first)
  if #(block.deco.spin or {}) + #(block.deco.since or {}) > 0 then
    t.moving[block.id] = block
    show(t, block, first, true)
  end
end

---Whether a transcript is shown in a window of the current tab page.
---@param t acp.Transcript
---@return boolean
local function shown(t)
  for _, win in ipairs(fn.win_findbuf(t.buf)) do
    if api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      return true
    end
  end
  return false
end

---How often something of this chat moves: each frame, each second, or not at all (0).
---@param t acp.Transcript
---@return integer period ms
local function pace(t)
  if not api.nvim_buf_is_loaded(t.buf) or not shown(t) then
    return 0
  end
  local status = require('acp.status').raw(t.chat)
  -- While a turn runs the host tells of the silence (`stall_s`); beside a question it does not watch.
  local quiet = status.silent or (status.state ~= 'running' and uv.now() - (data[t.chat] or 0) > QUIET_MS)
  local runs = status.state == 'running' or status.working or next(t.moving) ~= nil
  if not runs then
    return 0
  end
  return quiet and SECOND_MS or FRAME_MS
end

local function tick()
  local least = 0
  for chat, t in pairs(blocks.all()) do
    local every = pace(t)
    if every > 0 then
      least = least == 0 and every or math.min(least, every)
      for _, block in pairs(t.moving) do
        show(t, block, (blocks.range(t, block)), every == FRAME_MS)
      end
      require('acp.chat.winbar').tick(chat)
    end
  end
  if least ~= period then
    M.set_period(least)
  end
end

---@param ms integer 0 stops the timer
function M.set_period(ms)
  period = ms
  timer = timer or assert(uv.new_timer())
  timer:stop()
  if ms > 0 then
    timer:start(ms, ms, vim.schedule_wrap(tick))
  end
end

---Data came for a chat, its state changed, or its transcript was shown: things may move again.
---@param chat integer
function M.poke(chat)
  data[chat] = uv.now()
  local t = blocks.of_chat(chat)
  if period ~= FRAME_MS and t and pace(t) == FRAME_MS then
    M.set_period(FRAME_MS)
  end
end

---@param chat integer
function M.forget(chat)
  data[chat] = nil
end

---The timer's period in ms, 0 when it is stopped.
---@return integer
function M.period()
  return period
end

return M
