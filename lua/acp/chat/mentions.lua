--- What is mentioned in a prompt (`@path:7-13`), said beside it: the host is asked a moment after the last
--- key, and what it answers to an older text is dropped. Pictures of the clipboard become mentions.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp.mentions')
local ns_paste = api.nvim_create_namespace('acp.paste')

local DELAY_MS = 120
local MOST = 256 * 1024 -- bytes of a prompt that are looked at
local SLICE = 500 -- lines that are read at a time

---@class acp.ShownMention
---@field row integer from 0
---@field col integer bytes
---@field stop integer
---@field note string
---@field warn boolean
---@field path? string absolute, of what goes along as text

---@class acp.MentionState
---@field seq integer of the newest question
---@field tick integer of the prompt's text when it was asked
---@field timer? uv.uv_timer_t
---@field shown acp.ShownMention[]
---@field below integer notes that stand on a line of their own
---@field problem? {id: integer, rows: integer} what stands there of a picture that did not come

local states = {} ---@type table<integer, acp.MentionState>
local pastes = 0

---@param n integer
---@return acp.MentionState
local function state_of(n)
  states[n] = states[n] or { seq = 0, tick = -1, shown = {}, below = 0 }
  return states[n]
end

---What is said of a row: behind its text if there is room, else below it.
---@param line string
---@param notes [string, string][] chunks
---@param width integer cells
---@return vim.api.keyset.set_extmark
---@return integer rows below
local function said(line, notes, width)
  local cells, rows, used = vim.fn.strdisplaywidth, {}, 0
  local between = require('acp.icons').kind() == 'ascii' and ' - ' or ' · '
  for _, note in ipairs(notes) do
    local size = cells(note[1]) + 3
    if #rows == 0 or used + size > width then
      table.insert(rows, { { '   ', 'AcpHint' }, note })
      used = size
    else
      vim.list_extend(rows[#rows], { { between, 'AcpHint' }, note })
      used = used + size
    end
  end
  if #rows == 1 and cells(line) + used <= width then
    rows[1][1] = { '  ', 'AcpHint' } -- Neovim puts a blank before it
    return { virt_text = rows[1], virt_text_pos = 'eol' }, 0
  end
  return { virt_lines = rows }, #rows
end

---@param chat acp.Chat
---@param items acp.ShownMention[]
local function draw(chat, items)
  local state, below = state_of(chat.n), 0
  local win = vim.fn.win_findbuf(chat.prompt)[1]
  local width = win and api.nvim_win_get_width(win) or 80
  api.nvim_buf_clear_namespace(chat.prompt, ns, 0, -1)
  local notes = {} ---@type table<integer, [string, string][]> by row
  for _, item in ipairs(items) do
    notes[item.row] = notes[item.row] or {}
    table.insert(notes[item.row], { item.note, item.warn and 'AcpWarn' or 'AcpHint' })
  end
  for _, item in ipairs(items) do
    local line = api.nvim_buf_get_lines(chat.prompt, item.row, item.row + 1, false)[1]
    local mark = { end_col = item.stop, hl_group = 'AcpContext', invalidate = true, undo_restore = false }
    if notes[item.row] then
      local more, rows = said(line, notes[item.row], width)
      mark = vim.tbl_extend('force', mark, more)
      below, notes[item.row] = below + rows, nil
    end
    api.nvim_buf_set_extmark(chat.prompt, ns, item.row, item.col, mark)
  end
  state.shown, state.below = items, below
  require('acp.chat.prompt').refresh(chat.n)
end

---Say in the prompt why there is no picture: in Insert mode a message would not be seen. A key takes it away.
---@param chat acp.Chat
---@param id integer of the extmark at its place
---@param problem string
local function complain(chat, id, problem)
  local at = api.nvim_buf_get_extmark_by_id(chat.prompt, ns_paste, id, {})
  local win = vim.fn.win_findbuf(chat.prompt)[1]
  if not at[1] or not win then
    return
  end
  local line = api.nvim_buf_get_lines(chat.prompt, at[1], at[1] + 1, false)[1]
  local width = api.nvim_win_get_width(win)
  local text = require('acp.message').cut(require('acp.message').plain(problem), width - 3)
  local mark, rows = said(line, { { text, 'AcpWarn' } }, width)
  mark.id = id
  api.nvim_buf_set_extmark(chat.prompt, ns_paste, at[1], at[2], mark)
  state_of(chat.n).problem = { id = id, rows = rows }
  require('acp.chat.prompt').refresh(chat.n)
end

---What is looked at of a prompt. However long it is, not more is read.
---@param chat acp.Chat
---@return string
local function beginning(chat)
  local parts, size, first = {}, 0, 0
  local count = api.nvim_buf_line_count(chat.prompt)
  while first < count and size <= MOST do
    local part = table.concat(api.nvim_buf_get_lines(chat.prompt, first, first + SLICE, false), '\n')
    table.insert(parts, part)
    size, first = size + #part + 1, first + SLICE
  end
  local text = table.concat(parts, '\n')
  if #text > MOST then
    text = text:sub(1, MOST + vim.str_utf_start(text, MOST + 1))
  end
  return text
end

---@param chat acp.Chat
local function ask(chat)
  local state = state_of(chat.n)
  if require('acp.chat').get(chat.n) ~= chat or not api.nvim_buf_is_loaded(chat.prompt) then
    return
  end
  local text = beginning(chat)
  state.seq = state.seq + 1
  state.tick = api.nvim_buf_get_changedtick(chat.prompt)
  if not text:find('@', 1, true) then
    if #state.shown > 0 then
      draw(chat, {})
    end
    return
  end
  local spot = require('acp.spot').of(text)
  require('acp.host').event('mentions', { chat = chat.n, seq = state.seq, text = text, spot = spot })
end

---The text of a prompt may have changed, or what it speaks of. Costs the same however long it is.
---@param chat acp.Chat
function M.changed(chat)
  local state = state_of(chat.n)
  if state.problem then
    api.nvim_buf_del_extmark(chat.prompt, ns_paste, state.problem.id)
    state.problem = nil
    require('acp.chat.prompt').refresh(chat.n)
  end
  state.timer = state.timer or assert(vim.uv.new_timer())
  state.timer:start(
    DELAY_MS,
    0,
    vim.schedule_wrap(function()
      ask(chat)
    end)
  )
end

---The host tells what the mentions are.
---@param n integer
---@param seq integer
---@param items acp.ShownMention[]
function M.show(n, seq, items)
  local chat, state = require('acp.chat').get(n), states[n]
  if not chat or not state or seq ~= state.seq or not api.nvim_buf_is_loaded(chat.prompt) then
    return
  end
  if api.nvim_buf_get_changedtick(chat.prompt) == state.tick then
    draw(chat, items)
  end
end

---Files whose text goes along, as they are mentioned now.
---@param n integer
---@return table<string, true> paths
function M.paths(n)
  local paths = {}
  for _, item in ipairs(states[n] and states[n].shown or {}) do
    if item.path then
      paths[vim.fs.normalize(item.path, { expand_env = false })] = true
    end
  end
  return paths
end

---Rows of the screen that notes take which do not fit behind their line.
---@param n integer
---@return integer
function M.rows(n)
  local state = states[n]
  return state and state.below + (state.problem and state.problem.rows or 0) or 0
end

local words = { buffer = true, selection = true, diagnostics = true, quickfix = true, diff = true }

---The mention of a file, as text: as the host would write it (text/mentions.py).
---@param chat acp.Chat
---@param path string absolute
---@param first? integer
---@param last? integer
---@return string
function M.written(chat, path, first, last)
  path = vim.fs.normalize(path, { expand_env = false })
  local root = vim.fs.normalize(chat.cwd, { expand_env = false }):gsub('(.)/$', '%1')
  local home = vim.fs.normalize('~')
  if vim.startswith(path, root .. '/') then
    path = path:sub(#root + 2)
  elseif vim.startswith(path, home .. '/') then
    path = '~' .. path:sub(#home + 1)
  end
  if words[path] then
    path = './' .. path
  end
  local lines = not first and ''
    or last and last ~= first and (':%d-%d'):format(first, last)
    or (':%d'):format(first)
  local odd = path:find('[%s"`]')
    or path:find("[.,;:!?)%]}>']$")
    or path:find(':%d+$')
    or path:find(':%d+%-%d+$')
  return odd and ('@"%s"%s'):format(path, lines) or ('@%s%s'):format(path, lines)
end

---Ask for the picture in the clipboard: it will be mentioned where the cursor is now.
---@param chat acp.Chat
function M.paste(chat)
  local row, col = api.nvim_buf_line_count(chat.prompt) - 1, nil
  if api.nvim_get_current_buf() == chat.prompt then
    local cursor = api.nvim_win_get_cursor(0)
    row, col = cursor[1] - 1, cursor[2]
    if api.nvim_get_mode().mode:find('^n') and #api.nvim_get_current_line() > 0 then
      col = col + vim.str_utf_end(api.nvim_get_current_line(), col + 1) + 1 -- behind it, as `p` does
    end
  end
  col = col or #api.nvim_buf_get_lines(chat.prompt, row, row + 1, false)[1]
  pastes = pastes + 1
  api.nvim_buf_set_extmark(chat.prompt, ns_paste, row, col, { id = pastes })
  require('acp.host').event('paste_image', { chat = chat.n, id = pastes })
end

---The host has the picture, or tells why not.
---@param n integer
---@param id integer
---@param path string absolute; empty: there is a problem
---@param problem string
function M.pasted(n, id, path, problem)
  local chat = require('acp.chat').get(n)
  if path == '' then
    require('acp.message').warn(problem)
    if chat and api.nvim_buf_is_loaded(chat.prompt) and api.nvim_get_mode().mode:find('^i') then
      complain(chat, id, problem)
    end
    return
  end
  if not chat or not api.nvim_buf_is_loaded(chat.prompt) then
    return
  end
  local at = api.nvim_buf_get_extmark_by_id(chat.prompt, ns_paste, id, {})
  api.nvim_buf_del_extmark(chat.prompt, ns_paste, id)
  local row = at[1] or api.nvim_buf_line_count(chat.prompt) - 1
  local line = api.nvim_buf_get_lines(chat.prompt, row, row + 1, false)[1]
  local col = at[2] or #line
  local mention = M.written(chat, path)
  local before = line:sub(1, col)
  mention = ((before == '' or before:find('%s$')) and '' or ' ') .. mention .. ' '
  local win = api.nvim_get_current_win()
  local cursor = api.nvim_win_get_buf(win) == chat.prompt and api.nvim_win_get_cursor(win)
  api.nvim_buf_set_text(chat.prompt, row, col, row, col, { mention })
  if cursor and cursor[1] - 1 == row and cursor[2] >= col then
    api.nvim_win_set_cursor(win, { row + 1, cursor[2] + #mention })
  end
  M.changed(chat)
  require('acp.chat.prompt').refresh(n)
end

---A chat ended.
---@param n integer
function M.drop(n)
  local timer = states[n] and states[n].timer
  if timer then
    timer:stop()
    timer:close()
  end
  states[n] = nil
end

return M
