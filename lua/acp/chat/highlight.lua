---Colours of the transcript: one decoration provider for all of them.
---
---Only rows that Neovim is about to draw are looked at, and what is set for them is ephemeral: nothing is
---kept, nothing must be invalidated, text that scrolls past costs nothing.
local M = {}

local api = vim.api
local blocks = require('acp.chat.blocks')

local ns = api.nvim_create_namespace('acp.highlight')

local LINE_BYTES = 8192 -- of the longest line

---What the window that is being drawn shows.
---@type {t: acp.Transcript, found: {[1]: acp.Block, [2]: integer}[], i: integer}
local drawing

---@param buf integer
---@param row integer
---@param from integer
---@param to integer
---@param group string
local function mark(buf, row, from, to, group)
  api.nvim_buf_set_extmark(buf, ns, row, from, {
    end_col = to,
    hl_group = group,
    ephemeral = true,
    priority = 100,
    strict = false,
  })
end

---@param block acp.Block
---@return table<integer, table[]>
local function by_row(block)
  if not block.by_row then
    block.by_row = {}
    local function put(item)
      local list = block.by_row[item[1]]
      if list then
        list[#list + 1] = item
      else
        block.by_row[item[1]] = { item }
      end
    end
    for _, item in ipairs(block.deco.marks or {}) do
      put(item)
    end
    for _, link in ipairs(block.deco.kind == 'answer' and block.deco.links or {}) do
      put({ link[1], 0, LINE_BYTES, 'AcpContext' }) -- a line of ours between lines of Markdown
    end
  end
  return block.by_row
end

local DIFF = { ['+'] = 'AcpAdd', ['-'] = 'AcpDelete', ['@'] = 'AcpNote' }
local TEXT = { output = 'AcpOutput', think = 'AcpThought' }

---A body line: bar and text.
---@param buf integer
---@param row integer
---@param line string
---@param kind string
local function body_line(buf, row, line, kind)
  local from, to, text = line:match('^%s*()[^%s]+() ?()')
  if not from then
    return
  end
  mark(buf, row, from - 1, to - 1, 'AcpBar')
  local group = TEXT[kind]
  if kind == 'diff' then
    local sign = line:sub(text, text)
    group = (sign ~= '@' or line:sub(text, text + 1) == '@@') and DIFF[sign] or nil
  end
  if group and text <= #line then
    mark(buf, row, text - 1, #line, group)
  end
end

---A line of an answer that is no code.
---@param buf integer
---@param row integer
---@param is_fence boolean
local function answer_line(buf, row, is_fence)
  local two = api.nvim_buf_get_lines(buf, row, row + 2, false)
  local function emit(from, to, group)
    mark(buf, row, from, to, group)
  end
  if not is_fence then
    require('acp.chat.scan').line(two[1], emit, two[2])
    return
  end
  local from, to, rest = two[1]:match('^%s*()[`~]+()(.*)$')
  if from then
    emit(from - 1, to - 1, '@markup.raw.block.markdown')
    if rest ~= '' then
      emit(to - 1, #two[1], '@label.markdown')
    end
  end
end

---@param block acp.Block
---@param first integer
---@param buf integer
---@param row integer
local function draw(block, first, buf, row)
  local deco, at = block.deco, row - first
  if deco.kind == 'answer' then
    if not by_row(block)[at] and at >= (deco.lead or 0) and at < block.n - (deco.tail or 0) then
      local kind = block.fences and require('acp.chat.fence').kind(block, at)
      if kind ~= 'code' then
        answer_line(buf, row, kind == 'fence')
      end
    end
  end
  for _, range in ipairs(deco.body or {}) do
    if at >= range[1] and at <= range[2] then
      local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
      body_line(buf, row, line, range[3])
      break
    end
  end
  for _, item in ipairs(by_row(block)[at] or {}) do
    mark(buf, row, item[2], item[3], item[4])
  end
end

---@param buf integer
---@param top integer
---@param bot integer
---@return boolean
local function on_win(_, win, buf, top, bot)
  local t = blocks.of(buf)
  if not t then
    return false
  end
  drawing = { t = t, found = blocks.overlapping(t, top, bot + 1), i = 1 }
  for _, item in ipairs(drawing.found) do
    if item[1].fences then
      require('acp.chat.fence').paint_visible(t, win, drawing.found, top, bot + 1)
      break
    end
  end
  return true
end

local function on_line(_, _, buf, row)
  local found, i = drawing.found, drawing.i
  while found[i] and found[i][2] + found[i][1].n <= row do
    i = i + 1
  end
  if not found[i] or found[i][2] > row then -- below what Neovim thought it would draw
    drawing.found = blocks.overlapping(drawing.t, row, row)
    found, i = drawing.found, 1
  end
  drawing.i = i
  if found[i] then
    draw(found[i][1], found[i][2], buf, row)
  end
end

local started = false

---Begin to colour transcripts.
function M.start()
  if started then
    return
  end
  started = true
  api.nvim_set_decoration_provider(ns, { on_win = on_win, on_line = on_line })
end

return M
