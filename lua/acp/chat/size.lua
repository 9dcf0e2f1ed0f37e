--- How large the windows of a chat are (ui.md section 2), also after the screen got another size, and the
--- sizes of the user's windows before a chat took its room.
local M = {}

local api = vim.api

local PROMPT_MIN, PROMPT_MAX = 3, 10

---@class acp.Sized what a transcript's window was made for, in `w:acp_sized`
---@field where 'right'|'below'|'tab'
---@field columns integer of the screen
---@field lines integer of the screen
---@field size integer columns at the right, lines below
---@field by_hand? boolean the user has resized it since

---Where a chat opens now.
---@return 'right'|'below'|'tab'
function M.position()
  local wanted = require('acp.config').get().chat.position
  if wanted ~= 'auto' then
    return wanted
  end
  return vim.o.columns >= 110 and 'right' or 'below'
end

---@return integer columns of a chat at the right
function M.width()
  local wanted = math.floor(vim.o.columns * require('acp.config').get().chat.width)
  return math.max(20, math.min(math.max(60, math.min(wanted, 100)), vim.o.columns - 20))
end

---@return integer lines of a chat below the code
function M.height()
  return math.max(6, math.floor(vim.o.lines * 0.65))
end

---@param win integer
---@param name string
---@param value any
local function set(win, name, value)
  api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
end

---Rows of the screen the prompt's text and queue take.
---@param win integer
---@param chat acp.Chat
---@return integer
local function wanted_height(win, chat)
  -- No line is less than a row: of a long prompt only so many are looked at, but where folds may hide them.
  local last = math.min(api.nvim_buf_line_count(chat.prompt), PROMPT_MAX) - 1
  local text = api.nvim_win_text_height(win, vim.wo[win].foldenable and {} or { end_row = last })
  local mentions = package.loaded['acp.chat.mentions'] -- else none was looked at yet
  local notes = mentions and mentions.rows(chat.n) or 0
  local rows = text.all - text.fill + require('acp.chat.prompt').queued(chat.n) + notes
  return math.max(PROMPT_MIN, math.min(rows, PROMPT_MAX))
end

---Make a prompt as high as its text and queue need, in its limits; the transcript gives the room.
---@param chat acp.Chat
---@param pair {transcript: integer?, prompt: integer?}
function M.fit(chat, pair)
  if not pair.prompt or not pair.transcript then
    return
  end
  local bar = vim.go.winbar ~= '' and 1 or 0
  local now = api.nvim_win_get_height(pair.prompt)
  local third = math.floor((now + api.nvim_win_get_height(pair.transcript)) / 3)
  local height = math.max(1, math.min(wanted_height(pair.prompt, chat), third)) + bar
  if height == now then
    return
  end
  local view = require('acp.chat.view')
  local views = view.note(chat.buf)
  local fixed = vim.wo[pair.transcript].winfixheight
  set(pair.transcript, 'winfixheight', false)
  api.nvim_win_set_height(pair.prompt, height)
  set(pair.transcript, 'winfixheight', fixed)
  view.follow(views) -- a smaller window shows only the cursor's line, the blank one at the end
  -- A shorter text again: lines that had been scrolled away come back.
  api.nvim_win_call(pair.prompt, function()
    if api.nvim_win_text_height(0, {}).all <= height then
      vim.fn.winrestview({ topline = 1 })
    end
  end)
end

---Columns at the right, lines below.
---@param where string
---@param pair {transcript: integer, prompt: integer}
---@return integer
local function measure(where, pair)
  if where == 'right' then
    return api.nvim_win_get_width(pair.transcript)
  end
  return api.nvim_win_get_height(pair.transcript) + 1 + api.nvim_win_get_height(pair.prompt)
end

---Remember for which screen a pair got its size.
---@param pair {transcript: integer, prompt: integer}
---@param where 'right'|'below'|'tab'
function M.note(pair, where)
  vim.w[pair.transcript].acp_sized = {
    where = where,
    columns = vim.o.columns,
    lines = vim.o.lines,
    size = measure(where, pair),
  }
end

---@param sized acp.Sized
---@return boolean
local function same_screen(sized)
  return sized.columns == vim.o.columns and sized.lines == vim.o.lines
end

---Windows got another size: by the user, if the screen is the same.
---@param pair {transcript: integer, prompt: integer}
function M.resized(pair)
  local sized = vim.w[pair.transcript].acp_sized
  if sized and same_screen(sized) and sized.size ~= measure(sized.where, pair) then
    sized.by_hand = true
    vim.w[pair.transcript].acp_sized = sized
  end
end

---The screen got another size: the chat gets the one it would be opened with, unless the user has chosen one.
---@param chat acp.Chat
---@param pair {transcript: integer, prompt: integer}
function M.screen_resized(chat, pair)
  local sized = vim.w[pair.transcript].acp_sized
  if not sized or same_screen(sized) then
    return
  end
  sized.columns, sized.lines = vim.o.columns, vim.o.lines
  if not sized.by_hand and sized.where == 'right' then
    -- On a screen on which it would open below it stays at the right, and leaves the code a half.
    local limit = M.position() == 'right' and vim.o.columns or math.floor(vim.o.columns / 2)
    api.nvim_win_set_width(pair.transcript, math.min(M.width(), limit))
  elseif not sized.by_hand and sized.where == 'below' then
    local rest = measure('below', pair) - api.nvim_win_get_height(pair.transcript)
    api.nvim_win_set_height(pair.transcript, math.max(1, M.height() - rest))
  end
  M.fit(chat, pair)
  sized.size = measure(sized.where, pair)
  vim.w[pair.transcript].acp_sized = sized
end

---@return integer[] windows of this tab page that are no floats
function M.ordinary_windows()
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_config(win).relative == ''
  end, api.nvim_tabpage_list_wins(0))
end

---As winrestcmd(), but without floats: one that is gone would be taken for the last window.
---@return string
function M.command()
  local parts = {}
  for _, win in ipairs(M.ordinary_windows()) do
    local n, height, width = vim.fn.win_id2win(win), api.nvim_win_get_height(win), api.nvim_win_get_width(win)
    table.insert(parts, ('%dresize %d|vert %dresize %d'):format(n, height, n, width))
  end
  local command = table.concat(parts, '|')
  return command .. '|' .. command -- the first may have been in the way of the last
end

---Note the sizes of this tab page's windows before a window of ours is opened in it for a while.
---@return fun() restore for when it is closed: they are as they were, if they still are the same
function M.keep()
  local command, wins, sized = M.command(), M.ordinary_windows(), {}
  local screen = { vim.o.columns, vim.o.lines, vim.o.cmdheight }
  for _, win in ipairs(wins) do
    sized[win] = vim.w[win].acp_sized
  end
  return function()
    local now = { vim.o.columns, vim.o.lines, vim.o.cmdheight }
    if vim.deep_equal(wins, M.ordinary_windows()) and vim.deep_equal(screen, now) then
      vim.cmd(command)
    end
    for win, before in pairs(sized) do
      if api.nvim_win_is_valid(win) then
        vim.w[win].acp_sized = before -- it was not the user who has resized it
      end
    end
  end
end

-- The user's layout before a pair was opened, by tab page.
local layouts = {} ---@type table<integer, {command: string, wins: integer[], size: integer[]}>

---A pair is about to be opened in this tab page.
function M.note_layout()
  layouts[api.nvim_get_current_tabpage()] = {
    command = M.command(),
    wins = M.ordinary_windows(),
    size = { vim.o.columns, vim.o.lines, vim.o.cmdheight },
  }
end

---The pair is gone: the user's windows are as they were, if they still are the same.
function M.restore_layout()
  local tab = api.nvim_get_current_tabpage()
  local was = layouts[tab]
  layouts[tab] = nil
  local same = was
    and vim.deep_equal(was.wins, M.ordinary_windows())
    and vim.deep_equal(was.size, { vim.o.columns, vim.o.lines, vim.o.cmdheight })
  if same then
    vim.cmd(was.command)
  end
end

---A tab page was closed.
function M.forget_layouts()
  for tab in pairs(layouts) do
    if not api.nvim_tabpage_is_valid(tab) then
      layouts[tab] = nil
    end
  end
end

return M
