--- The two windows of a chat: transcript above, prompt below (ui.md section 2). Nothing else is resized
--- after it was opened, no option of the user's windows is touched, and the pair closes together.
local M = {}

local api = vim.api

local PROMPT_MIN, PROMPT_MAX = 3, 10

-- What our windows have, each with local scope. A new window inherits the values of the one it was split
-- from, so everything that could disturb is named here.
local both = {
  winfixbuf = true,
  winfixwidth = true,
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  foldcolumn = '0',
  statuscolumn = '',
  colorcolumn = '',
  list = false,
  spell = false,
  wrap = true,
  linebreak = true,
  breakindent = true,
  breakindentopt = 'list:-1',
  showbreak = 'NONE',
  conceallevel = 0,
  fillchars = 'fold: ,eob: ',
  scrollbind = false,
  cursorbind = false,
  diff = false,
  scrolloff = 0,
  foldmethod = 'manual',
}
local kinds = {
  transcript = {
    winhighlight = 'Folded:AcpFolded',
    winbar = "%{%v:lua.require'acp.chat.winbar'.current()%}",
    statusline = "%{%v:lua.require'acp.chat.winbar'.title()%}",
  },
  prompt = {
    winhighlight = '',
    foldenable = false,
    statusline = "%{%v:lua.require'acp.chat.winbar'.prompt()%}",
  },
}

---Where a chat opens now.
---@return 'right'|'below'|'tab'
function M.position()
  local wanted = require('acp.config').get().chat.position
  if wanted ~= 'auto' then
    return wanted
  end
  return vim.o.columns >= 110 and 'right' or 'below'
end

---@return integer
local function width()
  local wanted = math.floor(vim.o.columns * require('acp.config').get().chat.width)
  return math.max(20, math.min(math.max(60, math.min(wanted, 100)), vim.o.columns - 20))
end

---@param win integer
---@param options table<string, any>
local function set(win, options)
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

---@param win integer
---@param kind 'transcript'|'prompt'
---@param chat acp.Chat
local function dress(win, kind, chat)
  set(win, both)
  set(win, kinds[kind])
  vim.w[win].acp_pair = chat.n
  if kind == 'transcript' then
    require('acp.chat.fold').setup_window(win)
  end
end

---The windows of a chat's pair in a tab page.
---@param chat acp.Chat
---@param tab? integer default: the current one
---@return {transcript: integer?, prompt: integer?}
function M.find(chat, tab)
  local found = {}
  for _, win in ipairs(api.nvim_tabpage_list_wins(tab or 0)) do
    if vim.w[win].acp_pair == chat.n then
      local buf = api.nvim_win_get_buf(win)
      if buf == chat.buf then
        found.transcript = found.transcript or win
      end
      if buf == chat.prompt then
        found.prompt = found.prompt or win
      end
    end
  end
  return found
end

---@return integer[]
local function ordinary_windows()
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_config(win).relative == ''
  end, api.nvim_tabpage_list_wins(0))
end

-- The user's layout before a pair was opened, by tab page.
local layouts = {} ---@type table<integer, {command: string, wins: integer[], size: integer[]}>

local function note_layout()
  layouts[api.nvim_get_current_tabpage()] = {
    command = vim.fn.winrestcmd(),
    wins = ordinary_windows(),
    size = { vim.o.columns, vim.o.lines, vim.o.cmdheight },
  }
end

local function restore_layout()
  local tab = api.nvim_get_current_tabpage()
  local was = layouts[tab]
  layouts[tab] = nil
  local same = was
    and vim.deep_equal(was.wins, ordinary_windows())
    and vim.deep_equal(was.size, { vim.o.columns, vim.o.lines, vim.o.cmdheight })
  if same then
    vim.cmd(was.command)
  end
end

---@param chat acp.Chat
---@return integer
local function open_transcript(chat)
  local where = M.position()
  if where == 'tab' then
    local switchbuf = vim.o.switchbuf
    vim.o.switchbuf = ''
    vim.cmd('tab sbuffer ' .. chat.buf)
    vim.o.switchbuf = switchbuf
    return api.nvim_get_current_win()
  end
  note_layout()
  local config = where == 'right' and { split = 'right', win = -1, width = width() }
    or { split = 'below', win = -1, height = math.max(6, math.floor(vim.o.lines * 0.65)) }
  return api.nvim_open_win(chat.buf, false, config)
end

---Show a chat in this tab page: both windows, with the view it had. Without the focus unless asked for.
---@param chat acp.Chat
---@param focus boolean
function M.open(chat, focus)
  local home = api.nvim_get_current_win()
  local shown = M.find(chat)
  local before = api.nvim_get_current_tabpage()
  if not shown.transcript then
    if shown.prompt then
      vim.w[shown.prompt].acp_pair = nil
      api.nvim_win_close(shown.prompt, true)
      shown.prompt = nil
    end
    shown.transcript = open_transcript(chat)
    dress(shown.transcript, 'transcript', chat)
  end
  if not shown.prompt then
    set(shown.transcript, { winfixheight = false })
    shown.prompt = api.nvim_open_win(chat.prompt, false, {
      split = 'below',
      win = shown.transcript,
      height = PROMPT_MIN,
    })
    dress(shown.prompt, 'prompt', chat)
    set(shown.prompt, { winfixheight = true })
    -- Below the code, 'equalalways' would change the transcript's height at the user's next split.
    -- Only now: the prompt's split takes its room from a window that may give some.
    set(shown.transcript, { winfixheight = M.position() == 'below' })
    M.fit(chat)
    M.restore_view(chat, shown.transcript)
  end
  if focus then
    api.nvim_set_current_win(shown.prompt)
  elseif api.nvim_get_current_tabpage() == before and api.nvim_win_is_valid(home) then
    api.nvim_set_current_win(home)
  end
  M.watch()
end

---@param chat acp.Chat
---@param win integer
function M.restore_view(chat, win)
  api.nvim_win_call(win, function()
    if chat.view then
      vim.fn.winrestview(chat.view)
    else
      vim.cmd('keepjumps normal! Gzb')
    end
  end)
end

---@param chat acp.Chat
---@param win integer of the transcript
local function keep_view(chat, win)
  local at_end = api.nvim_win_get_cursor(win)[1] == api.nvim_buf_line_count(chat.buf)
  chat.view = not at_end and api.nvim_win_call(win, vim.fn.winsaveview) or nil
end

---Close a window of ours. The last one of Neovim makes room for an empty buffer instead.
---@param win integer
local function close_window(win)
  if not api.nvim_win_is_valid(win) then
    return
  end
  vim.w[win].acp_pair = nil
  local tab = api.nvim_win_get_tabpage(win)
  local alone = #api.nvim_list_tabpages() == 1 and #ordinary_windows() == 1
  local list = vim.fn.getloclist(win, { winid = 0 }).winid
  if list and list ~= 0 then
    api.nvim_win_close(list, true)
  end
  if alone and tab == api.nvim_get_current_tabpage() then
    api.nvim_win_call(win, function()
      vim.cmd('noswapfile topleft new')
    end)
  end
  api.nvim_win_close(win, true)
end

---Close a chat's windows in this tab page. The session goes on.
---@param chat acp.Chat
function M.close(chat)
  local shown = M.find(chat)
  if shown.transcript then
    keep_view(chat, shown.transcript)
  end
  for _, win in ipairs({ shown.prompt, shown.transcript }) do
    close_window(win)
  end
  restore_layout()
end

---A window is about to close: its partner follows. With `:only` in the partner it gets a new one instead.
---@param win integer
local function closing(win)
  local chat = require('acp.chat').get(vim.w[win].acp_pair or 0)
  if not chat then
    return
  end
  local tab = api.nvim_win_get_tabpage(win)
  local shown = M.find(chat, tab)
  if win == shown.transcript then
    keep_view(chat, win)
  end
  local partner = win == shown.transcript and shown.prompt or shown.transcript
  local by_partner = partner ~= nil and api.nvim_get_current_win() == partner
  vim.w[win].acp_pair = nil
  vim.schedule(function()
    if not partner or not api.nvim_win_is_valid(partner) then
      return
    end
    local same_tab = api.nvim_get_current_tabpage() == tab
    if by_partner and same_tab and #ordinary_windows() == 1 and api.nvim_win_get_buf(partner) == chat.buf then
      M.open(chat, false)
      return
    end
    if partner == M.find(chat, tab).transcript then
      keep_view(chat, partner)
    end
    close_window(partner)
    if same_tab then
      restore_layout()
    end
  end)
end

---Rows of the screen the prompt's text and queue take.
---@param win integer
---@param chat acp.Chat
---@return integer
local function wanted_height(win, chat)
  local text = api.nvim_win_text_height(win, {})
  local rows = text.all - text.fill + require('acp.chat.prompt').queued(chat.n)
  return math.max(PROMPT_MIN, math.min(rows, PROMPT_MAX))
end

---Make the prompt as high as its text and queue need, in its limits; the transcript gives the room.
---@param chat acp.Chat
function M.fit(chat)
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    local shown = M.find(chat, tab)
    if shown.prompt and shown.transcript then
      local bar = vim.o.winbar ~= '' and 1 or 0
      local now = api.nvim_win_get_height(shown.prompt)
      local third = math.floor((now + api.nvim_win_get_height(shown.transcript)) / 3)
      local height = math.max(1, math.min(wanted_height(shown.prompt, chat), third)) + bar
      if height ~= now then
        local view = require('acp.chat.view')
        local views = view.note(chat.buf)
        local fixed = vim.wo[shown.transcript].winfixheight
        set(shown.transcript, { winfixheight = false })
        api.nvim_win_set_height(shown.prompt, height)
        set(shown.transcript, { winfixheight = fixed })
        view.follow(views) -- a smaller window shows only the cursor's line, the blank one at the end
        -- A shorter text again: lines that had been scrolled away come back.
        api.nvim_win_call(shown.prompt, function()
          if api.nvim_win_text_height(0, {}).all <= height then
            vim.fn.winrestview({ topline = 1 })
          end
        end)
      end
    end
  end
end

local watching = false

---Begin to watch windows: closing one of a pair closes both; another size of the screen, another prompt.
function M.watch()
  if watching then
    return
  end
  watching = true
  local group = api.nvim_create_augroup('acp.windows', {})
  api.nvim_create_autocmd('WinClosed', {
    group = group,
    callback = function(args)
      local win = tonumber(args.match)
      if win and api.nvim_win_is_valid(win) then
        closing(win)
      end
    end,
  })
  api.nvim_create_autocmd('TabClosed', {
    group = group,
    callback = function()
      for tab in pairs(layouts) do
        if not api.nvim_tabpage_is_valid(tab) then
          layouts[tab] = nil
        end
      end
    end,
  })
end

---A window of this tab page where a file may be opened: the one before, else any with a file, else a new one.
---@return integer
function M.code_window()
  local function fits(win)
    if win == 0 or not api.nvim_win_is_valid(win) then
      return false
    end
    local buf = api.nvim_win_get_buf(win)
    return api.nvim_win_get_config(win).relative == ''
      and vim.bo[buf].buftype == ''
      and not vim.wo[win].winfixbuf
      and not vim.wo[win].previewwindow
      and not vim.w[win].acp_pair
  end
  local before = vim.fn.win_getid(vim.fn.winnr('#'))
  if fits(before) then
    return before
  end
  for _, win in ipairs(ordinary_windows()) do
    if fits(win) then
      return win
    end
  end
  local side = M.position() == 'below' and 'above' or 'left'
  return api.nvim_open_win(api.nvim_create_buf(true, false), false, { split = side, win = -1 })
end

return M
