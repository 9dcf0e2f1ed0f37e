--- The float a question is read in. It has no keys and no focus until it is entered (then it is the chooser,
--- `acp.question.chooser`). One at a time.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp.question')

---@class acp.Card
---@field question acp.Question
---@field buf integer
---@field win integer
---@field entered boolean
---@field count integer lines before the blank one and the options
---@field brief boolean its change is shown beside it as a diff

local card ---@type acp.Card?
local closing = false

---Called when the window was closed by somebody else, and when it was scrolled.
---@type {closed: fun(question: acp.Question, entered: boolean), moved: fun()}
M.on = { closed = function() end, moved = function() end }

---@return acp.Card?
function M.get()
  if card and not api.nvim_win_is_valid(card.win) then
    card = nil
  end
  return card
end

---Whether the question's change is on the screen as a diff: then the card does without its hunks.
---@param question acp.Question
---@return boolean
local function is_brief(question)
  return question.hunks ~= nil and require('acp.diff').here(question.id) ~= nil
end

---What the diff says better than the question: it has looked at the file.
---@param question acp.Question
---@param brief boolean
---@return {title: string, line: string, marks: acp.QuestionMark[]}?
local function better_words(question, brief)
  local view = brief and require('acp.diff').here(question.id)
  return view and view.card or nil
end

---@param question acp.Question
---@param brief boolean
---@return string[] lines
---@return table<integer, integer> rows where each line of the question stands, from 0
local function content(question, brief)
  local plain = require('acp.message').plain
  -- Byte for byte, so that the marks fit; a newline in a line would fail.
  local function whole(line)
    return (line:gsub('[%z\1-\8\10-\31\127]', ' '))
  end
  local lines, rows = {}, {}
  local better = better_words(question, brief)
  for i, line in ipairs(question.lines) do
    local left_out = false
    for _, range in ipairs(brief and question.hunks or {}) do
      left_out = left_out or (i - 1 >= range[1] and i - 1 <= range[2])
    end
    if not left_out then
      rows[i - 1] = #lines
      table.insert(lines, whole(i == 1 and better and better.line or line))
    end
  end
  table.insert(lines, '')
  local width = #tostring(#question.options)
  for i, option in ipairs(question.options) do
    local about = option.about and '  ' .. plain(option.about) or ''
    table.insert(
      lines,
      (' %' .. width .. 'd  %s%s'):format(i, plain(option.name), option.note or '') .. about
    )
  end
  if #question.options == 0 then
    table.insert(lines, ' No answer is offered. :AcpPermit cancel refuses.')
  end
  return lines, rows
end

---@param buf integer
---@param question acp.Question
---@param brief boolean
---@return integer count lines before the blank one
local function fill(buf, question, brief)
  local lines, rows = content(question, brief)
  local count = vim.tbl_count(rows)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  local better = better_words(question, brief)
  local marks = vim.tbl_filter(function(mark)
    return not better or mark[1] > 0
  end, question.marks)
  for _, mark in ipairs(vim.list_extend(marks, better and better.marks or {})) do
    local row, col, end_col, group = unpack(mark)
    local at = rows[row]
    local line = at and lines[at + 1]
    if line and col < #line then
      api.nvim_buf_set_extmark(buf, ns, at, col, { end_col = math.min(end_col, #line), hl_group = group })
    end
  end
  for i = 1, #question.options do
    local row = count + i
    local _, last = lines[row + 1]:find('^ *%d+')
    api.nvim_buf_set_extmark(buf, ns, row, 0, { end_col = last, hl_group = 'AcpKey' })
    if question.options[i].about then
      local from = #lines[row + 1] - #require('acp.message').plain(question.options[i].about)
      api.nvim_buf_set_extmark(buf, ns, row, from, { end_col = #lines[row + 1], hl_group = 'AcpNote' })
    end
    if question.options[i].kind:find('_always$') then
      api.nvim_buf_set_extmark(buf, ns, row, last + 2, { end_col = #lines[row + 1], hl_group = 'AcpWarn' })
    end
  end
  return count
end

---Rows of the screen a question takes at most beside its diff, where it does without the change.
---@param question acp.Question
---@return integer
function M.rows(question)
  return require('acp.question.place').beside(#content(question, true)) + 2
end

---Rows of the text that are below the window; 0 when its last line is on the screen.
---@return integer
function M.more()
  local now = M.get()
  if not now then
    return 0
  end
  local last = math.max(now.count - 1, 0)
  local view = api.nvim_win_call(now.win, vim.fn.winsaveview)
  if view.topline - 1 > last then
    return 0
  end
  -- Counted in rows of the screen: one line may be taller than the window.
  local below = { start_row = view.topline - 1, start_vcol = view.skipcol, end_row = last }
  return math.max(0, api.nvim_win_text_height(now.win, below).all - api.nvim_win_get_height(now.win))
end

---How a card is answered from where the user is: only what is true there.
---@param question acp.Question
---@return string[]
local function ways(question)
  local keys, found = require('acp.chat.keys'), {}
  if api.nvim_get_mode().mode ~= 'n' or not question.whole then
    return { ':AcpPermit answers' }
  end
  local function add(group, action, text)
    local key = keys.lhs(group, action)
    local mapped = key and vim.fn.maparg(key, 'n', false, true)
    if mapped and mapped.buffer == 1 and (mapped.desc or ''):find('^acp: ') then
      table.insert(found, key .. text)
    end
  end
  for kind, text in vim.spairs({ allow_once = ' allows', reject_once = ' rejects' }) do
    local count = #vim.tbl_filter(function(option)
      return option.kind == kind
    end, question.options)
    if count == 1 then
      add('both', kind, text)
    end
  end
  local chat = require('acp.chat').get(question.chat)
  if chat and chat.buf == api.nvim_get_current_buf() then
    add('transcript', 'open', ' on the row opens')
  end
  if #found == 0 then
    return { ':AcpPermit answers' }
  end
  return found
end

---A footer of parts, as many as fit.
---@param parts string[] the most important first
---@param width integer
---@return string
function M.join(parts, width)
  local between = require('acp.icons').kind() == 'ascii' and ' - ' or ' · '
  local text
  repeat
    text = ' ' .. table.concat(parts, between) .. ' '
    table.remove(parts)
  until vim.fn.strdisplaywidth(text) <= width or #parts == 0
  return text
end

---@param now acp.Card
---@param width integer
---@return string
local function footer(now, width)
  local count, more = math.min(#now.question.options, 9), M.more()
  local parts = {}
  if more > 0 then
    table.insert(parts, more == 1 and '1 more line' or more .. ' more lines')
  end
  if not now.entered then
    vim.list_extend(parts, ways(now.question))
  else
    local digits = count == 1 and '1' or '1-' .. count
    if more == 0 and count > 0 then
      table.insert(parts, digits .. (now.brief and '' or ' answers'))
    end
    if now.brief then
      table.insert(parts, '<C-w>w to the diff')
    end
    table.insert(parts, now.brief and 'q keeps open' or 'q keeps it open')
  end
  local all = require('acp.question.queue').of(now.question.chat)
  if #all > 1 then
    for i, question in ipairs(all) do
      if question == now.question then
        table.insert(parts, ('%d of %d'):format(i, #all))
      end
    end
  end
  return M.join(parts, width)
end

---@param question acp.Question
---@param brief boolean
---@param width integer
---@return string cut at its end: Neovim would cut its beginning
local function title(question, brief, width)
  local message = require('acp.message')
  local words = require('acp.question.words').of(question, (better_words(question, brief) or question).title)
  return ' ' .. message.cut(words, math.max(width - 2, 1)) .. ' '
end

---@return string|string[]
function M.border()
  local wanted = vim.fn.exists('+winborder') == 1 and vim.o.winborder or ''
  -- Title and footer need a place.
  if wanted == 'none' or wanted == 'shadow' then
    return 'solid'
  end
  if wanted ~= '' then
    local parts = vim.split(wanted, ',', { plain = true })
    return #parts > 1 and parts or wanted
  end
  return require('acp.icons').kind() == 'ascii' and { '+', '-', '+', '|', '+', '-', '+', '|' } or 'rounded'
end

M.options = {
  wrap = true,
  linebreak = false,
  breakindent = true,
  breakindentopt = '',
  smoothscroll = true,
  foldenable = false,
  scrolloff = 0,
  list = false,
  winfixbuf = true,
  winhighlight = 'NormalFloat:Normal,FloatBorder:Normal',
}

---Put the window where it belongs, as high as its text needs, with the footer of this moment.
function M.layout()
  local now = M.get()
  if not now then
    return
  end
  local place = require('acp.question.place')
  local width = place.box(now.question.chat, 1).width
  api.nvim_win_set_config(now.win, { width = width })
  local rows = api.nvim_win_text_height(now.win, {}).all
  local box = place.box(now.question.chat, rows)
  api.nvim_win_set_config(now.win, {
    relative = 'editor',
    row = box.row,
    col = box.col,
    width = box.width,
    height = math.min(rows, box.limit),
    title = title(now.question, now.brief, box.width),
    title_pos = 'left',
  })
  if rows <= box.limit then
    api.nvim_win_call(now.win, function()
      vim.fn.winrestview({ topline = 1, skipcol = 0 })
    end)
  end
  M.refresh()
end

---The footer again: the window was scrolled or entered, or another question came.
function M.refresh()
  local now = M.get()
  if not now then
    return
  end
  if M.more() == 0 then
    now.question.whole = true
  end
  api.nvim_win_set_config(now.win, {
    footer = footer(now, api.nvim_win_get_width(now.win)),
    footer_pos = 'right',
    focusable = now.entered or now.question.put_off or false,
    -- Under the user's own floats (a picker beside it) until it is entered.
    zindex = now.entered and 60 or 40,
  })
end

---Neovim may have made an ordinary window of a card (`:tabdo only`): nothing of it stays there.
---@param buf integer
local function wipe(buf)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_delete(buf, { force = true })
  end
end

---@param now acp.Card
local function watch(now)
  local group = api.nvim_create_augroup('acp.card', {})
  api.nvim_create_autocmd('WinClosed', {
    group = group,
    pattern = tostring(now.win),
    callback = function()
      if not closing and card == now then
        card = nil
        vim.schedule(function()
          wipe(now.buf)
        end)
        M.on.closed(now.question, now.entered)
      end
    end,
  })
  api.nvim_create_autocmd('WinScrolled', {
    group = group,
    pattern = tostring(now.win),
    callback = function()
      M.on.moved()
    end,
  })
end

---Show a question without taking the focus.
---@param question acp.Question
---@return acp.Card
function M.show(question)
  local now = M.get()
  local brief = is_brief(question)
  if now and now.question == question and now.brief == brief then
    M.layout()
    return now
  end
  M.close()
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.b[buf].acp_chat = question.chat
  local count = fill(buf, question, brief)
  local width = require('acp.question.place').box(question.chat, 1).width
  local config = {
    relative = 'editor',
    row = 0,
    col = 0,
    width = width,
    height = 1,
    style = 'minimal',
    border = M.border(),
    title = title(question, brief, width),
    title_pos = 'left',
    focusable = false,
    zindex = 40,
    noautocmd = true,
  }
  local ok, win = pcall(api.nvim_open_win, buf, false, config)
  if not ok then
    config.border = 'rounded' -- a 'winborder' that cannot hold a title
    win = api.nvim_open_win(buf, false, config)
  end
  require('acp.window').set(win, M.options)
  require('acp.chat.show').name_float(win, 'question')
  card = { question = question, buf = buf, win = win, entered = false, count = count, brief = brief }
  watch(card)
  M.layout()
  question.since = question.since or vim.uv.hrtime() / 1e6
  return card
end

---Take the window away.
function M.close()
  local now = M.get()
  card = nil
  if not now then
    return
  end
  closing = true
  pcall(api.nvim_win_close, now.win, true)
  wipe(now.buf)
  closing = false
end

return M
