--- What the words of a prompt mean that are no files: the buffer the user was last in, its selection, its
--- diagnostics, the quickfix list. And which files have unsaved edits. The host asks (client/context.py).
local M = {}

local api = vim.api

local ITEMS = 500 -- of a list
local ITEM_BYTES = 2000

---Which of these files are in buffers with unsaved edits, and how large those are.
---@param paths string[] absolute
---@return ({lines: integer, bytes: integer}|false)[] one for each path
function M.unsaved(paths)
  local files, known = require('acp.buffers.files'), {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if vim.bo[buf].modified and files.is_file(buf) then
      known[files.real(api.nvim_buf_get_name(buf))] = buf
    end
  end
  return vim.tbl_map(function(path)
    local buf = next(known) and known[files.real(path)]
    return buf and { lines = api.nvim_buf_line_count(buf), bytes = require('acp.buffers.exact').size(buf) }
      or false
  end, paths)
end

---@param buf integer
---@return string? path nil: the buffer is of no file
---@return string name for people
local function names(buf, cwd)
  local name = api.nvim_buf_get_name(buf)
  if not require('acp.buffers.files').is_file(buf) then
    return nil, name ~= '' and vim.fs.basename(name) or ('buffer %d'):format(buf)
  end
  local path = vim.fs.normalize(name, { expand_env = false })
  local root = vim.fs.normalize(cwd, { expand_env = false }):gsub('/$', '') .. '/'
  return path, require('acp.message').plain(vim.startswith(path, root) and path:sub(#root + 1) or path)
end

---@param text string
---@param limit integer bytes
---@return string
---@return boolean cut
local function cut(text, limit)
  if #text <= limit then
    return text, false
  end
  return text:sub(1, limit + vim.str_utf_start(text, limit + 1)), true
end

---@class acp.AskedWord
---@field word 'buffer'|'selection'|'diagnostics'|'quickfix'
---@field all? boolean diagnostics of all buffers
---@field first? integer
---@field last? integer
---@field spot? acp.Spot
---@field cwd string
---@field limit integer bytes
---@field whole boolean the text is wanted, too

---@param asked acp.AskedWord
---@return table
local function of_buffer(asked)
  local buf = asked.spot and asked.spot.buf
  if not buf or not api.nvim_buf_is_valid(buf) or not api.nvim_buf_is_loaded(buf) then
    return { none = 'no buffer' }
  end
  local first, last = asked.first, asked.last
  local count = api.nvim_buf_line_count(buf)
  if asked.word == 'selection' and not first then
    first, last = require('acp.spot').lines(asked.spot)
    if not first then
      return { none = 'nothing selected' }
    end
  end
  if first and first > count then
    return { none = ('only %d line%s'):format(count, count == 1 and '' or 's') }
  end
  local path, name = names(buf, asked.cwd)
  local told = { path = path, unsaved = path ~= nil and vim.bo[buf].modified }
  local exact = require('acp.buffers.exact')
  if first then
    last = math.min(last or first, count)
    local lines = api.nvim_buf_get_lines(buf, first - 1, last, false)
    local text = table.concat(lines, '\n')
    told.first, told.last, told.lines, told.bytes = first, last, #lines, #text
    told.text = asked.whole and text or nil
    name = ('%s:%d%s'):format(name, first, last > first and '-' .. last or '')
  else
    told.lines, told.bytes = count, exact.size(buf)
    told.text = asked.whole and told.bytes <= asked.limit * 4 and exact.text(buf) or nil
  end
  told.cut = (told.bytes or 0) > asked.limit
  told.text = told.text and cut(told.text, asked.limit)
  told.name = name
  return told
end

local severities = { 'error', 'warning', 'info', 'hint' }

---@param rows string[]
---@param name string
---@param asked acp.AskedWord
---@return table
local function list(rows, name, asked)
  local text, long = cut(table.concat(vim.list_slice(rows, 1, ITEMS), '\n'), asked.limit)
  return {
    count = #rows,
    bytes = #text,
    name = name,
    cut = long or #rows > ITEMS,
    text = asked.whole and text or nil,
  }
end

---@param message any
---@return string one line
local function short(message)
  return (tostring(message):sub(1, ITEM_BYTES):gsub('%s+', ' '))
end

---@param asked acp.AskedWord
---@return table
local function of_diagnostics(asked)
  local buf = asked.spot and asked.spot.buf
  if not asked.all and (not buf or not api.nvim_buf_is_valid(buf)) then
    return { none = 'no buffer' }
  end
  local found = vim.diagnostic.get(not asked.all and buf or nil)
  table.sort(found, function(a, b)
    if a.bufnr ~= b.bufnr then
      return a.bufnr < b.bufnr
    end
    return a.lnum < b.lnum or (a.lnum == b.lnum and a.col < b.col)
  end)
  local rows = {}
  for _, each in ipairs(found) do
    if api.nvim_buf_is_valid(each.bufnr) then
      local _, name = names(each.bufnr, asked.cwd)
      local from = each.source and (' [%s]'):format(short(each.source)) or ''
      local row = ('%s:%d:%d: %s: %s%s'):format(
        name,
        each.lnum + 1,
        each.col + 1,
        severities[each.severity] or 'error',
        short(each.message),
        from
      )
      table.insert(rows, row)
    end
  end
  if #rows == 0 then
    return { none = 'no diagnostics' }
  end
  return list(rows, 'Diagnostics', asked)
end

---@param asked acp.AskedWord
---@return table
local function of_quickfix(asked)
  local qf = vim.fn.getqflist({ items = 1, title = 1 })
  local rows = {}
  for _, item in ipairs(qf.items) do
    local row = short(item.text)
    if item.bufnr > 0 and api.nvim_buf_is_valid(item.bufnr) then
      local _, name = names(item.bufnr, asked.cwd)
      row = ('%s:%d:%d: %s'):format(name, item.lnum, item.col, row)
    end
    table.insert(rows, row)
  end
  if #rows == 0 then
    return { none = 'the quickfix list is empty' }
  end
  return list(rows, 'Quickfix list: ' .. short(qf.title), asked)
end

local by_word = {
  buffer = of_buffer,
  selection = of_buffer,
  diagnostics = of_diagnostics,
  quickfix = of_quickfix,
}

---What a word stands for now. `none` says why there is nothing.
---@param asked acp.AskedWord
---@return table
function M.of(asked)
  return by_word[asked.word](asked)
end

return M
