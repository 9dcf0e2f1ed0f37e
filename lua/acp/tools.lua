--- What the user has before them, for tools of agents over HTTP (|acp-client-tools|). The host decides what
--- of it is told: here nothing is left out but what is no file.
local M = {}

local api, fn = vim.api, vim.fn

---Lines of a selection, and characters of it and of a diagnostic, that are handed out.
local MAX_LINES, MAX_CHARS, MAX_MESSAGE = 500, 64000, 500

---@param buf integer
---@return string? path nil: it is no file
local function file_of(buf)
  local name = api.nvim_buf_get_name(buf)
  if vim.bo[buf].buftype ~= '' or name == '' or name:find('^%a[%w+.-]+://') then
    return nil
  end
  return name
end

---@param win integer
---@return boolean
local function shows_code(win)
  return win ~= 0
    and api.nvim_win_is_valid(win)
    and api.nvim_win_get_config(win).relative == ''
    and file_of(api.nvim_win_get_buf(win)) ~= nil
end

---The window the user works in: this one, the one before, else the first that shows a file.
---@return integer?
local function code_window()
  local order = { api.nvim_get_current_win(), fn.win_getid(fn.winnr('#')) }
  vim.list_extend(order, api.nvim_tabpage_list_wins(0))
  for _, win in ipairs(order) do
    if shows_code(win) then
      return win
    end
  end
end

---Files in buffers.
---@return {path: string, modified: boolean, current: boolean, visible: boolean}[]
function M.buffers()
  local win, found = code_window(), {}
  local current = win and api.nvim_win_get_buf(win)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local path = vim.bo[buf].buflisted and file_of(buf)
    if path then
      table.insert(found, {
        path = path,
        modified = vim.bo[buf].modified,
        current = buf == current,
        visible = #fn.win_findbuf(buf) > 0,
      })
    end
  end
  return found
end

local SEVERITY = { 'error', 'warning', 'info', 'hint' }

---What is said of files that are open, the worst first.
---@param path string? real; nil: of all
---@param most integer
---@return {loaded: boolean, more: boolean, found: table[]}
function M.diagnostics(path, most)
  local buf = path and path ~= vim.NIL and require('acp.buffers.files').find(path) or nil
  if path and path ~= vim.NIL and not buf then
    return { loaded = false, more = false, found = {} }
  end
  local all = vim.diagnostic.get(buf)
  table.sort(all, function(a, b)
    if a.severity ~= b.severity then
      return a.severity < b.severity
    end
    if a.bufnr ~= b.bufnr then
      return a.bufnr < b.bufnr
    end
    return a.lnum < b.lnum
  end)
  local found = {}
  for _, each in ipairs(all) do
    local name = api.nvim_buf_is_valid(each.bufnr) and file_of(each.bufnr)
    if name and #found < most then
      table.insert(found, {
        path = name,
        line = each.lnum + 1,
        column = each.col + 1,
        severity = SEVERITY[each.severity],
        message = fn.strcharpart(each.message, 0, MAX_MESSAGE),
        source = each.source,
        code = each.code and tostring(each.code),
      })
    end
  end
  return { loaded = true, more = #all > most, found = found }
end

---@param buf integer
---@param mark integer[] line from 1, column from 0
---@return integer[] as getpos() has it, inside of the text
local function place(buf, mark)
  local line = math.min(math.max(mark[1], 1), api.nvim_buf_line_count(buf))
  local text = api.nvim_buf_get_lines(buf, line - 1, line, false)[1] or ''
  return { buf, line, math.min(mark[2] + 1, math.max(#text, 1)), 0 }
end

---The last selection in a buffer, or the one that the user makes now.
---@param win integer
---@param buf integer
---@return table? positions from and to, as getpos() has them
---@return string? kind v, V or CTRL-V
local function selected(win, buf)
  local mode = api.nvim_get_mode().mode:sub(1, 1)
  if win == api.nvim_get_current_win() and mode:find('[vV\22]') then
    local from, to = fn.getpos('v'), fn.getpos('.')
    return { place(buf, { from[2], from[3] - 1 }), place(buf, { to[2], to[3] - 1 }) }, mode
  end
  local from, to = api.nvim_buf_get_mark(buf, '<'), api.nvim_buf_get_mark(buf, '>')
  local kind = api.nvim_buf_call(buf, fn.visualmode)
  if from[1] == 0 or to[1] == 0 or kind == '' then
    return nil
  end
  return { place(buf, from), place(buf, to) }, kind
end

---Where the cursor is in the code, and what was last selected there.
---@return {path: string?, line: integer?, column: integer?, first: integer?, last: integer?, text: string?}
function M.selection()
  local win = code_window()
  if not win then
    return vim.empty_dict()
  end
  local buf, cursor = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)
  local found = {
    path = api.nvim_buf_get_name(buf),
    modified = vim.bo[buf].modified,
    line = cursor[1],
    column = cursor[2] + 1,
  }
  local ends, kind = selected(win, buf)
  if not ends then
    return found
  end
  table.sort(ends, function(a, b)
    return a[2] < b[2] or (a[2] == b[2] and a[3] < b[3])
  end)
  found.first, found.last = ends[1][2], ends[2][2]
  if found.last - found.first >= MAX_LINES then
    ends[2] = place(buf, { found.first + MAX_LINES - 1, math.huge })
    found.cut = true
  end
  local ok, lines = pcall(api.nvim_buf_call, buf, function()
    return fn.getregion(ends[1], ends[2], { type = kind })
  end)
  if not ok then
    lines = api.nvim_buf_get_lines(buf, found.first - 1, ends[2][2], false)
  end
  found.text = table.concat(lines, '\n')
  if #found.text > MAX_CHARS then
    found.text, found.cut = fn.strpart(found.text, 0, MAX_CHARS), true
  end
  return found
end

return M
