--- The two windows of a chat: transcript above, prompt below (ui.md section 2). Nothing else is resized
--- after it was opened, no option of the user's windows is touched, and the pair closes together.
local M = {}

local api = vim.api
local set = require('acp.window').set
local size = require('acp.chat.size')

local PROMPT_LINES = 3

M.position = size.position

-- What both windows have besides what all of ours have. A new window inherits the values of the one it was
-- split from, so everything that could disturb is named.
local both = {
  winfixbuf = true,
  winfixwidth = true,
  colorcolumn = '',
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
    foldenable = true,
    foldlevel = 0,
    foldminlines = 0,
    foldtext = "v:lua.require'acp.chat.fold'.text()",
    smoothscroll = true, -- else a paragraph higher than the window vanishes above the last line
    winbar = require('acp.chat.bars').winbar,
    statusline = "%{%v:lua.require'acp.chat.winbar'.title()%}",
  },
  prompt = {
    winhighlight = '',
    foldenable = false,
    statusline = "%{%v:lua.require'acp.chat.winbar'.prompt()%}",
  },
}

---@param win integer
---@param kind 'transcript'|'prompt'
---@param chat acp.Chat
local function dress(win, kind, chat)
  set(win, require('acp.window').plain)
  set(win, both)
  set(win, kinds[kind])
  vim.w[win].acp_pair, vim.w[win].acp_kind = chat.n, kind
  if kind == 'transcript' then
    require('acp.chat.bars').keep()
    local transcript = require('acp.chat.blocks').of(chat.buf)
    if transcript and transcript.folded then
      require('acp.chat.fold').renew(win)
    end
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
  size.note_layout()
  local config = where == 'right' and { split = 'right', win = -1, width = size.width() }
    or { split = 'below', win = -1, height = size.height() }
  return api.nvim_open_win(chat.buf, false, config)
end

---@param chat acp.Chat
---@param win integer of the transcript
local function keep_view(chat, win)
  local at_end = api.nvim_win_get_cursor(win)[1] == api.nvim_buf_line_count(chat.buf)
  chat.view = not at_end and api.nvim_win_call(win, vim.fn.winsaveview) or nil
  require('acp.chat.fold').keep(win)
end

---@param win integer
---@param buf integer
local function put(win, buf)
  set(win, { winfixbuf = false })
  api.nvim_win_set_buf(win, buf)
end

---@param chat acp.Chat
---@param win integer
local function restore_view(chat, win)
  api.nvim_win_call(win, function()
    if chat.view then
      vim.fn.winrestview(chat.view)
    else
      require('acp.chat.view').end_here()
    end
  end)
end

---The windows of another chat of this tab page become those of this chat. The other one goes on, hidden.
---@param chat acp.Chat
---@return {transcript: integer?, prompt: integer?}
local function take_over(chat)
  for _, win in ipairs(size.ordinary_windows()) do
    local other = require('acp.chat').get(vim.w[win].acp_pair or 0)
    local pair = other and other ~= chat and M.find(other) or {}
    if other and pair.transcript and pair.prompt then
      keep_view(other, pair.transcript)
      put(pair.transcript, chat.buf)
      put(pair.prompt, chat.prompt)
      dress(pair.transcript, 'transcript', chat)
      dress(pair.prompt, 'prompt', chat)
      restore_view(chat, pair.transcript)
      M.fit(chat)
      return pair
    end
  end
  return {}
end

---Show a chat in this tab page: both windows, with the view it had. Without the focus unless asked for.
---@param chat acp.Chat
---@param focus boolean
function M.open(chat, focus)
  local home = api.nvim_get_current_win()
  local shown = M.find(chat)
  local before = api.nvim_get_current_tabpage()
  if not shown.transcript and not shown.prompt then
    shown = take_over(chat)
  end
  local whole = shown.transcript and shown.prompt
  local where = M.position()
  if not shown.transcript then
    shown.transcript = shown.prompt
        and api.nvim_open_win(chat.buf, false, { split = 'above', win = shown.prompt })
      or open_transcript(chat)
    dress(shown.transcript, 'transcript', chat)
  end
  if not shown.prompt then
    set(shown.transcript, { winfixheight = false })
    shown.prompt = api.nvim_open_win(chat.prompt, false, {
      split = 'below',
      win = shown.transcript,
      height = PROMPT_LINES,
    })
    dress(shown.prompt, 'prompt', chat)
  end
  if not whole then
    set(shown.prompt, { winfixheight = true })
    -- Below the code, 'equalalways' would change the transcript's height at the user's next split.
    -- Only now: the prompt's split takes its room from a window that may give some.
    set(shown.transcript, { winfixheight = where == 'below' })
    M.fit(chat)
    restore_view(chat, shown.transcript)
    size.note(shown, where)
  end
  if focus then
    api.nvim_set_current_win(shown.prompt)
  elseif api.nvim_get_current_tabpage() == before and api.nvim_win_is_valid(home) then
    api.nvim_set_current_win(home)
  end
  M.watch()
end

---The transcript is at its end, in every window, and follows it again: the user has sent something.
---@param chat acp.Chat
function M.to_end(chat)
  chat.view = nil
  if api.nvim_buf_is_loaded(chat.buf) then
    require('acp.chat.view').to_end(chat.buf)
  end
end

---Whether a chat is on the screen.
---@param chat acp.Chat
---@return boolean
function M.visible(chat)
  return M.find(chat).transcript ~= nil
end

local quitting = false -- the user said `:quit`, not `:close`

---Close a window of ours. The last one of Neovim makes room for the file used last. Is there none, `:quit`
---leaves Neovim, as in the last window with a file, and an empty buffer comes for anything else.
---@param win integer
local function close_window(win)
  if not api.nvim_win_is_valid(win) then
    return
  end
  vim.w[win].acp_pair = nil
  local tab = api.nvim_win_get_tabpage(win)
  local alone = #api.nvim_list_tabpages() == 1 and #size.ordinary_windows() == 1
  local list = vim.fn.getloclist(win, { winid = 0 }).winid
  if list and list ~= 0 then
    api.nvim_win_close(list, true)
  end
  if alone and tab == api.nvim_get_current_tabpage() then
    local file = require('acp.chat.code').last_file()
    api.nvim_set_current_win(win)
    if not file and quitting and pcall(vim.cmd.quit) then
      return
    end
    api.nvim_open_win(file or api.nvim_create_buf(true, false), true, { split = 'above', win = -1 })
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
  size.restore_layout()
end

---A window is about to close: its partner follows. With `:only` in the partner it comes back instead.
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
    local now = M.find(chat, tab)
    if now.transcript and now.prompt then
      return -- it was opened again meanwhile
    end
    local same_tab = api.nvim_get_current_tabpage() == tab
    if by_partner and same_tab and #size.ordinary_windows() == 1 then
      M.open(chat, false)
      return
    end
    if partner == now.transcript then
      keep_view(chat, partner)
    end
    close_window(partner)
    if same_tab then
      size.restore_layout()
    end
  end)
end

---A buffer of a chat came into a window that is not the chat's (`:b acp://…`): the window gets back what it
---showed, and the chat is shown where chats are.
---@param chat acp.Chat
function M.redirect(chat)
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  vim.schedule(function()
    local gone = not api.nvim_win_is_valid(win) or api.nvim_win_get_buf(win) ~= buf
    if gone or vim.w[win].acp_pair == chat.n or vim.fn.win_gettype(win) ~= '' then
      return
    end
    local here = win == api.nvim_get_current_win()
    local owner = require('acp.chat').get(vim.w[win].acp_pair or 0)
    local other = api.nvim_win_call(win, function()
      return vim.fn.bufnr('#')
    end)
    if owner then
      put(win, vim.w[win].acp_kind == 'prompt' and owner.prompt or owner.buf)
      set(win, { winfixbuf = true })
    elseif other > 0 and api.nvim_buf_is_loaded(other) and not require('acp.chat').of(other) then
      api.nvim_win_set_buf(win, other)
    end
    M.open(chat, false)
    local pair = M.find(chat)
    if here then
      api.nvim_set_current_win(buf == chat.buf and pair.transcript or pair.prompt)
    end
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf then
      pcall(api.nvim_win_close, win, true)
    end
  end)
end

---Make the prompt as high as its text and queue need.
---@param chat acp.Chat
function M.fit(chat)
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    size.fit(chat, M.find(chat, tab))
  end
end

---Do something for each pair of this tab page.
---@param run fun(chat: acp.Chat, pair: {transcript: integer, prompt: integer})
local function each_pair(run)
  for _, chat in ipairs(require('acp.chat').list()) do
    local pair = M.find(chat)
    if pair.transcript and pair.prompt then
      run(chat, pair)
    end
  end
end

local watching = false

---Begin to watch windows: closing one of a pair closes both; another size of the screen, another chat.
function M.watch()
  if watching then
    return
  end
  watching = true
  local group = api.nvim_create_augroup('acp.windows', {})
  local function watch(event, callback)
    api.nvim_create_autocmd(event, { group = group, callback = callback })
  end
  watch('WinClosed', function(args)
    local win = tonumber(args.match)
    if win and api.nvim_win_is_valid(win) then
      closing(win)
    end
  end)
  watch('QuitPre', function()
    quitting = true
    vim.schedule(function()
      vim.schedule(function() -- after the windows have been seen to
        quitting = false
      end)
    end)
  end)
  watch('TabClosed', size.forget_layouts)
  watch('WinResized', function()
    each_pair(function(chat, pair)
      size.resized(pair)
      if vim.tbl_contains(vim.v.event.windows, pair.transcript) then
        local view = require('acp.chat.view')
        view.follow(view.note(chat.buf)) -- else a smaller window shows the cursor's line alone, a blank one
      end
    end)
  end)
  watch({ 'VimResized', 'TabEnter' }, function()
    each_pair(size.screen_resized)
  end)
end

return M
