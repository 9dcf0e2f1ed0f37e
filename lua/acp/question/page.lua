--- The float a form is filled in, one page at a time: a text above, and below it rows to choose from, or a
--- line to type in. The line is a window of its own inside the float, so that any way of editing works there.
local M = {}

local api = vim.api
local card = require('acp.question.card')
local keyboard = require('acp.question.keyboard')
local sheet = require('acp.question.sheet')

-- Rows of the window for typing.
local MOST_ROWS = 6
-- A key that sends counts only after the keyboard has rested so long: it may be meant for the page before.
local REST_MS = 250

---@class acp.Page
---@field spec acp.PageSpec
---@field chat integer
---@field buf integer
---@field win integer
---@field input_buf? integer
---@field input_win? integer
---@field from? integer the window it was entered from
---@field room? integer rows left free for it
---@field places table<integer, acp.PageRow> by line from 1

local page ---@type acp.Page?
local closing = false

---Called when a window of it was closed by somebody else.
M.on = { closed = function() end }

---@param win integer?
---@return boolean
local function valid(win)
  return win ~= nil and api.nvim_win_is_valid(win)
end

---@return acp.Page?
function M.get()
  return page and valid(page.win) and page or nil
end

---Whether it is in this tab page.
---@return boolean
function M.here()
  local now = M.get()
  return now ~= nil and api.nvim_win_get_tabpage(now.win) == api.nvim_get_current_tabpage()
end

---@return boolean
function M.focused()
  local now, win = M.get(), api.nvim_get_current_win()
  return now ~= nil and (win == now.win or win == now.input_win)
end

---Tell what stands in the line now: Neovim says so only when it waits for a key.
function M.flush()
  local now = page
  if now and now.input_buf and api.nvim_buf_is_valid(now.input_buf) then
    now.spec.input.changed(table.concat(api.nvim_buf_get_lines(now.input_buf, 0, -1, false), '\n'))
  end
end

---@param buf integer
---@param mode string
---@param keys table<string, fun()>
local function map(buf, mode, keys)
  for key, run in pairs(keys) do
    vim.keymap.set(mode, key, run, { buffer = buf, nowait = true, desc = 'acp: form' })
  end
end

---@param row acp.PageRow?
local function run(row)
  if not row or not row.run then
    return
  end
  if row.guard and (keyboard.gap < REST_MS or vim.fn.getchar(1) ~= 0) then
    return
  end
  row.run()
end

---@param chat integer
---@param spec acp.PageSpec
local function open(chat, spec)
  local config = {
    relative = 'editor',
    row = 0,
    col = 0,
    width = require('acp.question.place').box(chat, 1).width,
    height = 1,
    style = 'minimal',
    border = card.border(),
    title = spec.title,
    zindex = 60,
    noautocmd = true,
  }
  local buf = sheet.buffer(chat)
  local ok, win = pcall(api.nvim_open_win, buf, false, config)
  if not ok then
    config.border = 'rounded' -- a 'winborder' that cannot hold a title
    win = api.nvim_open_win(buf, false, config)
  end
  sheet.dress(win)
  require('acp.chat.show').name_float(win, 'question')
  page = { spec = spec, chat = chat, buf = buf, win = win, places = {} }
  local group = api.nvim_create_augroup('acp.page', {})
  api.nvim_create_autocmd('WinClosed', {
    group = group,
    callback = function(args)
      local id, now = tonumber(args.match), page
      if now and not closing and (id == now.win or id == now.input_win) then
        M.on.closed()
      end
    end,
  })
  keyboard.start()
end

---@param now acp.Page
local function close_input(now)
  local win = now.input_win
  now.input_win, now.input_buf = nil, nil
  if valid(win) then
    closing = true
    pcall(api.nvim_win_close, win --[[@as integer]], true)
    closing = false
  end
end

---@param now acp.Page
local function open_input(now)
  local input = assert(now.spec.input)
  local buf = sheet.buffer(now.chat)
  vim.b[buf].completion = false -- blink.cmp
  vim.bo[buf].undolevels = -1 -- what was filled in before is not undone
  api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(input.text, '\n', { plain = true }))
  vim.bo[buf].undolevels = -123456 -- the global value
  local win = api.nvim_open_win(buf, false, {
    relative = 'win',
    win = now.win,
    row = 0,
    col = 0,
    width = api.nvim_win_get_width(now.win),
    height = 1,
    style = 'minimal',
    border = 'none',
    zindex = 61,
    noautocmd = true,
  })
  sheet.dress(win)
  api.nvim_set_option_value('winhighlight', 'NormalFloat:AcpUserLine', { win = win, scope = 'local' })
  if input.secret then
    local icon = require('acp.icons').kind() == 'ascii' and '*' or '•'
    vim.fn.matchadd('Conceal', '.', 10, -1, { conceal = icon, window = win })
    api.nvim_set_option_value('conceallevel', 2, { win = win, scope = 'local' })
    api.nvim_set_option_value('concealcursor', 'nvic', { win = win, scope = 'local' })
  end
  now.input_buf, now.input_win = buf, win
  api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = buf,
    callback = function()
      M.flush()
      M.layout()
    end,
  })
  map(buf, 'n', now.spec.keys)
  map(buf, 'i', now.spec.insert_keys or {})
end

---Show a page, in the float that is there or in a new one. The focus follows only if it was there, or with
---`focus`.
---@param chat integer
---@param spec acp.PageSpec
---@param focus? boolean
function M.show(chat, spec, focus)
  focus = focus or M.focused()
  if not M.get() then
    open(chat, spec)
  end
  local now = assert(page)
  if now.input_win then
    if api.nvim_get_current_win() == now.input_win then
      api.nvim_set_current_win(now.win) -- else the focus would go to another window first
    end
    close_input(now)
  end
  now.spec, now.chat = spec, chat
  local lines, marks, places, start, numbered = sheet.content(spec)
  now.places = places
  local buf = sheet.buffer(chat)
  vim.wo[now.win].winfixbuf = false
  api.nvim_win_set_buf(now.win, buf)
  vim.wo[now.win].winfixbuf = true
  now.buf, now.room = buf, nil
  sheet.draw(buf, lines, marks)
  map(buf, 'n', spec.keys)
  for i, row in ipairs(numbered) do
    if i < 10 then
      map(buf, 'n', {
        [tostring(i)] = function()
          run(row)
        end,
      })
    end
  end
  map(buf, 'n', { gx = function() end })
  if #spec.rows > 0 then
    map(buf, 'n', vim.tbl_extend('keep', { ['<CR>'] = spec.keys['<CR>'] }, { ['<CR>'] = M.run }))
  end
  api.nvim_win_set_cursor(now.win, { math.min(start, #lines), 0 })
  if spec.input then
    open_input(now)
    map(now.input_buf --[[@as integer]], 'n', { gx = function() end })
  end
  M.layout()
  if focus then
    M.focus()
  end
end

---Draw rows again whose words have changed; the cursor stays.
---@param spec acp.PageSpec
function M.redraw(spec)
  local now = M.get()
  if now then
    now.spec = spec
    local lines, marks, places = sheet.content(spec)
    now.places = places
    sheet.draw(now.buf, lines, marks)
    M.layout()
  end
end

---Enter a window of ours. From there <C-w>p goes to where the user came from, not through our own windows.
---@param now acp.Page
---@param win integer
local function enter(now, win)
  if api.nvim_get_current_win() ~= now.from and valid(now.from) and M.focused() then
    require('acp.buffers.options').global({ eventignore = 'all' }, function()
      api.nvim_set_current_win(now.from)
    end)
  end
  api.nvim_set_current_win(win)
end

---Go there: to the line, ready to type, or to the rows.
function M.focus()
  local now = M.get()
  if not now then
    return
  end
  if not M.focused() then
    now.from = api.nvim_get_current_win()
  end
  if valid(now.input_win) then
    enter(now, now.input_win --[[@as integer]])
    local last = api.nvim_buf_line_count(now.input_buf)
    local text = api.nvim_buf_get_lines(now.input_buf, last - 1, last, false)[1]
    api.nvim_win_set_cursor(now.input_win, { last, #text })
    vim.cmd('startinsert!')
    return
  end
  enter(now, now.win)
  if api.nvim_get_mode().mode:find('^[iR]') then
    vim.cmd('stopinsert') -- a float entered from Insert mode would stay in it
  end
end

---Room for the window of the line at the end of the text.
---@param now acp.Page
---@param rows integer
local function make_room(now, rows)
  if now.room == rows then
    return
  end
  now.room = rows
  local lines, marks = sheet.content(now.spec)
  for _ = 0, rows do
    table.insert(lines, '')
  end
  sheet.draw(now.buf, lines, marks)
end

---Put it where it belongs, as high as its text needs.
function M.layout()
  local now = M.get()
  if not now then
    return
  end
  local input_win = valid(now.input_win) and now.input_win or nil -- it may just have been closed
  local place = require('acp.question.place')
  local width = place.box(now.chat, 1).width
  local spec, input_rows = now.spec, 0
  api.nvim_win_set_config(now.win, { width = width })
  if input_win then
    api.nvim_win_set_config(input_win, { width = width })
    input_rows = math.min(MOST_ROWS, api.nvim_win_text_height(input_win, {}).all)
    make_room(now, input_rows)
  end
  local rows = api.nvim_win_text_height(now.win, {}).all
  local box = place.box(now.chat, rows)
  local height = math.min(rows, box.limit)
  local message = require('acp.message')
  api.nvim_win_set_config(now.win, {
    relative = 'editor',
    row = box.row,
    col = box.col,
    width = box.width,
    height = height,
    title = ' ' .. message.cut(spec.title, math.max(box.width - 2, 1)) .. ' ',
    title_pos = 'left',
  })
  if rows <= height then
    api.nvim_win_call(now.win, function()
      vim.fn.winrestview({ topline = 1, skipcol = 0 }) -- it was lower, and scrolled
    end)
  end
  if input_win then
    api.nvim_win_set_config(input_win, {
      relative = 'win',
      win = now.win,
      row = math.max(height - input_rows, 0),
      col = 0,
      width = box.width,
      height = math.max(1, math.min(input_rows, height)),
    })
  end
  local parts, below = vim.list_slice(spec.footer), sheet.below(now.win, rows)
  if below > input_rows then
    table.insert(parts, 1, ('%d more lines'):format(below - input_rows))
  end
  api.nvim_win_set_config(now.win, { footer = card.join(parts, box.width), footer_pos = 'right' })
end

---Scroll the text above the line.
---@param keys string of Normal mode
function M.scroll(keys)
  local now = M.get()
  if now then
    api.nvim_win_call(now.win, function()
      vim.cmd.normal({ vim.keycode(keys), bang = true })
    end)
    M.layout()
  end
end

---What the row under the cursor does.
function M.run()
  local now = M.get()
  if now then
    run(now.places[api.nvim_win_get_cursor(now.win)[1]])
  end
end

---Leave the page as it is, but with these keys: they are all it still has.
---@param title string
---@param keys table<string, fun()> of Normal mode
function M.keep(title, keys)
  local now = M.get()
  if not now then
    return
  end
  now.spec.title, now.spec.footer = title, { 'q leaves' }
  now.spec.input.changed = function() end
  local buf = now.input_buf --[[@as integer]]
  for key in pairs(now.spec.keys) do
    pcall(vim.keymap.del, 'n', key, { buffer = buf })
  end
  for key in pairs(now.spec.insert_keys or {}) do
    pcall(vim.keymap.del, 'i', key, { buffer = buf })
  end
  map(buf, 'n', keys)
  M.layout()
end

---Take it away. In Insert mode there, Insert mode ends.
function M.close()
  local now = page
  keyboard.stop()
  if not now then
    return
  end
  local typing = M.focused() and api.nvim_get_mode().mode:find('^[iR]') ~= nil
  close_input(now)
  page, closing = nil, true
  pcall(api.nvim_win_close, now.win, true)
  closing = false
  if typing then
    vim.cmd('stopinsert')
  end
end

return M
