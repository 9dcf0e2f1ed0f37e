---The blocks of the transcripts and where they are.
---
---Each block is one ranged extmark, so edits are relative to the block and rows above or below may come and
---go. Lookups ask for what overlaps a row (5 to 9 µs at any size); reverse lookups are slow on 0.11.
local M = {}

local api = vim.api

local ns = api.nvim_create_namespace('acp.block')

---Decoration of a block as the host sends it; rows are relative to the block, columns are bytes.
---@class acp.Deco
---@field kind string head, user, answer, think, row, plan, end, note
---@field lead? integer leading blank lines, 0 or 1
---@field tail? integer trailing blank lines, 0 or 1
---@field marks? [integer, integer, integer, string][]
---@field folds? acp.Fold[]
---@field fences? table[]
---@field spin? integer[]
---@field since? [integer, integer][]
---@field links? table[] {row, path, line?} or {row, {item = place of content}}
---@field body? [integer, integer, string][]
---@field terminals? [integer, integer, integer][] first and last row, number of the terminal
---@field question? string

---@class acp.Block
---@field id integer
---@field n integer number of lines
---@field deco acp.Deco
---@field fences? acp.Fence[] code fences of an answer
---@field by_row? table<integer, table[]> marks by row, made when the block is first drawn

---@class acp.Transcript
---@field chat integer
---@field buf integer
---@field blocks table<integer, acp.Block>
---@field ids integer[] in the order of the buffer
---@field waiting table[][] operations that came while text was locked
---@field moving table<integer, acp.Block> blocks with a spinner or seconds
---@field folded? boolean some block has had folds

---A block and where it is.
---@class acp.Place
---@field kind string
---@field id integer
---@field first integer buffer row of its first line
---@field n integer
---@field row integer the row asked for, relative to the block
---@field deco acp.Deco

local by_chat = {} ---@type table<integer, acp.Transcript>
local by_buf = {} ---@type table<integer, acp.Transcript>

---@param buf integer
---@return acp.Transcript?
function M.of(buf)
  return by_buf[buf]
end

---@return table<integer, acp.Transcript> by chat
function M.all()
  return by_chat
end

---@param chat integer
---@return acp.Transcript?
function M.of_chat(chat)
  return by_chat[chat]
end

---First row of a block, and the row after its last.
---@param t acp.Transcript
---@param block acp.Block
---@return integer first
---@return integer stop
function M.range(t, block)
  local mark = api.nvim_buf_get_extmark_by_id(t.buf, ns, block.id + 1, { details = true })
  return mark[1], mark[3].end_row
end

---@param t acp.Transcript
---@param block acp.Block
---@param first integer
---@param count integer number of lines
function M.place(t, block, first, count)
  block.n = count
  api.nvim_buf_set_extmark(t.buf, ns, first, 0, {
    id = block.id + 1,
    end_row = first + count,
    end_col = 0,
    strict = false,
  })
end

---The blocks that overlap rows, in order, each with its first row.
---@param t acp.Transcript
---@param from integer
---@param to integer last row
---@return {[1]: acp.Block, [2]: integer}[]
function M.overlapping(t, from, to)
  local found = {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(t.buf, ns, { from, 0 }, { to, 0 }, { overlap = true })) do
    local block = t.blocks[mark[1] - 1]
    if block and mark[2] <= to and mark[2] + block.n > from then
      found[#found + 1] = { block, mark[2] }
    end
  end
  return found
end

---@param block acp.Block
---@param first integer
---@param row integer buffer row
---@return acp.Place
local function where(block, first, row)
  local deco = block.deco
  return { kind = deco.kind, id = block.id, first = first, n = block.n, row = row - first, deco = deco }
end

---@param buf integer
---@param row integer 0-based
---@return acp.Place?
function M.at(buf, row)
  local t = by_buf[buf]
  local found = t and M.overlapping(t, row, row)[1]
  if found then
    local block, first = found[1], found[2]
    return where(block, first, row)
  end
end

---The blocks in order, those of one kind if `kind` is given.
---@param buf integer
---@param kind? string
---@return fun(): acp.Place?
function M.each(buf, kind)
  local t, i = by_buf[buf], 0
  return function()
    while t and t.ids[i + 1] do
      i = i + 1
      local block = t.blocks[t.ids[i]]
      if not kind or block.deco.kind == kind then
        local first = M.range(t, block)
        return where(block, first, first)
      end
    end
  end
end

---Whether a file is the one that is mentioned at a place in a line.
---@param line string
---@param col integer bytes
---@param path string
---@return boolean
local function mentioned(line, col, path)
  local first = line:sub(1, col + 1):match('.*()@')
  local last = first and (line:find('%s@', first) or #line)
  return first ~= nil and line:sub(first, last):find(vim.fs.basename(path), 1, true) ~= nil
end

---What `<CR>` opens on a row: a place in a file, content of the block, or a question. Of several files the
---first, or the one that is mentioned at `col`.
---@param buf integer
---@param row integer
---@param col? integer bytes
---@return {path?: string, line?: integer, item?: integer[], block: integer, question?: string}?
function M.link_at(buf, row, col)
  local block = M.at(buf, row)
  if not block then
    return nil
  end
  local line = col and api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  local found
  for _, link in ipairs(block.deco.links or {}) do
    if link[1] == block.row and type(link[2]) == 'table' then
      found = found or { item = link[2].item, block = block.id }
    elseif link[1] == block.row and (not found or line and found.path and mentioned(line, col, link[2])) then
      found = { path = link[2], line = link[3] ~= vim.NIL and link[3] or nil }
    end
  end
  if found then
    return found
  end
  return block.deco.question and { question = block.deco.question } or nil
end

---Make a buffer the transcript of a chat.
---@param chat integer
---@param buf integer
---@return acp.Transcript
function M.register(chat, buf)
  local t = { chat = chat, buf = buf, blocks = {}, ids = {}, waiting = {}, moving = {} }
  by_chat[chat], by_buf[buf] = t, t
  return t
end

---@param t acp.Transcript
function M.forget(t)
  by_chat[t.chat], by_buf[t.buf] = nil, nil
end

return M
