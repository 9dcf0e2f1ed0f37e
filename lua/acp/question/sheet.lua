--- What a page of a form is made of, and how it stands in a buffer.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp.question.page')

---@class acp.PageRow
---@field lines string[] fit to be shown
---@field marks? acp.QuestionMark[] rows from 0
---@field run? fun() what <CR> on it does, and its number
---@field number? boolean it has one
---@field beside? boolean it has none, and stands in line with those that have
---@field guard? boolean its key must not follow another closely

---@class acp.PageSpec
---@field title string
---@field lines string[]
---@field marks acp.QuestionMark[]
---@field rows acp.PageRow[]
---@field at? integer the row the cursor starts on; nil: the blank line before the last numbered ones
---@field input? {text: string, secret: boolean, changed: fun(text: string)}
---@field footer string[]
---@field keys table<string, fun()> of Normal mode
---@field insert_keys? table<string, fun()>

---The lines of a page, and which row of it each belongs to.
---@param spec acp.PageSpec
---@return string[] lines
---@return acp.QuestionMark[] marks
---@return table<integer, acp.PageRow> places
---@return integer start line of the cursor
---@return acp.PageRow[] numbered
function M.content(spec)
  local lines, marks = vim.list_slice(spec.lines), vim.list_slice(spec.marks)
  local places, numbered, start = {}, {}, 1
  if #spec.rows > 0 then
    table.insert(lines, '')
    start = #lines
  end
  local total = #vim.tbl_filter(function(row)
    return row.number
  end, spec.rows)
  for i, row in ipairs(spec.rows) do
    local first, indent = #lines, ''
    if row.number then
      table.insert(numbered, row)
      indent = (' %' .. #tostring(total) .. 'd  '):format(#numbered)
      table.insert(marks, { first, 0, #indent - 2, 'AcpKey' })
    elseif row.beside then
      indent = (' '):rep(#tostring(total) + 3)
    end
    for n, line in ipairs(row.lines) do
      table.insert(lines, (n == 1 and indent or (' '):rep(#indent)) .. line)
      places[#lines] = row
    end
    for _, mark in ipairs(row.marks or {}) do
      table.insert(marks, { first + mark[1], #indent + mark[2], #indent + mark[3], mark[4] })
    end
    if spec.at == i then
      start = first + 1
    elseif not spec.at and not row.run and #row.lines > 0 and row.lines[1] == '' then
      start = first + 1
    end
  end
  return lines, marks, places, start, numbered
end

---@param buf integer
---@param lines string[]
---@param marks acp.QuestionMark[]
function M.draw(buf, lines, marks)
  vim.bo[buf].modifiable = true
  api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  for _, mark in ipairs(marks) do
    local row, col, end_col, group = unpack(mark)
    local line = lines[row + 1]
    if line and col < #line then
      api.nvim_buf_set_extmark(buf, ns, row, col, { end_col = math.min(end_col, #line), hl_group = group })
    end
  end
end

---@param chat integer
---@return integer
function M.buffer(chat)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].swapfile = false
  vim.bo[buf].modeline = false
  vim.b[buf].acp_chat = chat
  return buf
end

---@param win integer
function M.dress(win)
  require('acp.window').set(win, require('acp.question.card').options)
end

---Rows of the text that are below the window.
---@param win integer
---@param rows integer rows of the whole buffer
---@return integer
function M.below(win, rows)
  local view = api.nvim_win_call(win, vim.fn.winsaveview)
  local height = api.nvim_win_get_height(win)
  if rows <= height then
    return 0
  end
  local below = { start_row = view.topline - 1, start_vcol = view.skipcol }
  return math.max(0, api.nvim_win_text_height(win, below).all - height)
end

return M
