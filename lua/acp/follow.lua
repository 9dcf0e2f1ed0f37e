--- Follow: a code window goes where the agent goes (design.md section 5, Follow). One switch a chat. The host
--- says where the agent works (`visit`) and what is not opened (`skip`); which window goes there, and whether
--- it may now, is decided here.
local M = {}

local api, fn = vim.api, vim.fn

-- A file that stays so long gets its file events: language servers, filetype, syntax.
M.STAY_MS = 300

---@class acp.Visit
---@field chat integer
---@field path string absolute
---@field line? integer from 1
---@field verb string 'read', 'edit' or 'search'
---@field label? string name of the agent

---A chat that is followed.
---@class acp.Followed
---@field chat integer
---@field order integer when it was turned on, on a counter
---@field tab integer
---@field home? integer window it was turned on in, if that shows a file
---@field win? integer window that goes along
---@field split? integer window that was made for it
---@field began boolean the jumplist has its entry
---@field paused boolean the mark moves, the view stays
---@field moved boolean the user has moved the cursor since the last jump
---@field jump? acp.FollowJump
---@field back? acp.FollowBack
---@field last? acp.Visit
---@field held? acp.Visit came while the command-line window was open
---@field mark? acp.FollowMark
---@field flash? acp.FollowMark
---@field timer? uv.uv_timer_t of the flash
---@field stay? uv.uv_timer_t

local followed = {} ---@type table<integer, acp.Followed>
local clock = 0

local function files()
  return require('acp.follow.files')
end

local function view()
  return require('acp.follow.view')
end

local function window()
  return require('acp.follow.window')
end

local function mark()
  return require('acp.follow.mark')
end

---@param f acp.Followed
---@param note? string
local function tell(f, note)
  local fields = { follow = true, follow_paused = f.paused, follow_note = note or vim.NIL }
  require('acp.status').put(f.chat, fields)
end

---@param f acp.Followed
local function unstay(f)
  if f.stay then
    f.stay:stop()
    f.stay:close()
    f.stay = nil
  end
end

---When the file is still there in a moment, it gets its events.
---@param f acp.Followed
---@param win integer
---@param buf integer
local function stay(f, win, buf)
  unstay(f)
  if not files().ours(buf) then
    return
  end
  f.stay = assert(vim.uv.new_timer())
  f.stay:start(
    M.STAY_MS,
    0,
    vim.schedule_wrap(function()
      if not f.stay or followed[f.chat] ~= f then
        return
      end
      unstay(f)
      if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf then
        files().stays(buf)
        if f.jump and f.jump.buf == buf then
          f.jump.tick = api.nvim_buf_get_changedtick(buf)
        end
      end
    end)
  )
end

---The mark moves on while the view stays. In a file that is not loaded it waits for the user to open it.
---@param f acp.Followed
local function put_mark(f)
  local buf = f.last and files().find(f.last.path)
  if buf and api.nvim_buf_is_loaded(buf) then
    mark().put(f, buf, f.last.line or mark().line(f) or 1)
  else
    mark().clear(f)
  end
end

---@param f acp.Followed
---@param paused boolean
local function set_paused(f, paused)
  if f.paused ~= paused then
    f.paused = paused
    put_mark(f)
    tell(f)
  end
end

---Go to a place, or let the mark go there alone.
---@param f acp.Followed
---@param visit acp.Visit
---@param asked boolean by the user, just now
---@return integer? line where it is now
local function go(f, visit, asked)
  local win = window().pick(f, files().find(visit.path), followed)
  local may = asked or win ~= api.nvim_get_current_win()
  local shown, lnum ---@type integer?, integer?
  if may or window().resting() and view().unmoved(f, win) then
    shown, lnum = view().show(f, visit, win)
  end
  f.paused = shown == nil
  if not shown then
    f.win = win or f.win
    put_mark(f)
    return visit.line
  end
  f.win, f.moved = shown, false
  local buf = api.nvim_win_get_buf(shown)
  mark().put(f, buf, lnum --[[@as integer]])
  mark().flash(f, buf, lnum --[[@as integer]])
  stay(f, shown, buf)
  return lnum
end

---@param message any
---@return string one line without the place in our source
local function plain_error(message)
  return (tostring(message):gsub('^.-(E%d+:)', '%1'):gsub('%s*\n.*', ''))
end

---Called by the host: the agent works here now.
---@param visit acp.Visit
function M.visit(visit)
  local f = followed[visit.chat]
  if not f then
    return
  end
  if fn.getcmdwintype() ~= '' then
    f.held = visit -- no other window may change now
    return
  end
  f.last, f.held = visit, nil
  local ok, line = pcall(go, f, visit, false)
  if not ok then
    M.skip({ chat = visit.chat, path = visit.path, verb = visit.verb, why = plain_error(line) })
    return
  end
  local stop = {
    path = visit.path,
    line = line --[[@as integer?]],
    verb = visit.verb,
  }
  require('acp.follow.trail').add(visit.chat, stop)
  tell(f)
  view().redraw()
  require('acp.events').fire(visit.chat, 'AcpFollow', { path = visit.path, line = line })
end

---Called by the host: the agent works at something that is not opened.
---@param skip {chat: integer, path: string, verb: string, why: string}
function M.skip(skip)
  local f = followed[skip.chat]
  if not f then
    return
  end
  require('acp.follow.trail').add(skip.chat, { path = skip.path, verb = skip.verb, why = skip.why })
  tell(f, ('%s: %s'):format(fn.fnamemodify(skip.path, ':t'), skip.why))
end

---Called by the host: the text the user has of a file, where it is not that of the disk.
---@param path string
---@return {text: string?}
function M.unsaved(path)
  local buf = files().unsaved(path)
  if not buf then
    return vim.empty_dict()
  end
  return { text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), '\n') .. '\n' }
end

---The user has gone somewhere, or begun to type: what they are in is theirs now.
---@param event string
local function user_is_here(event)
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  for _, f in pairs(followed) do
    if f.jump and f.jump.win == win then
      local typing = event == 'InsertEnter'
      if typing or not view().unmoved(f, win) then
        f.moved = true
      end
      if f.paused and not typing and f.win == win and f.mark and f.mark.buf == buf then
        if mark().line(f) == api.nvim_win_get_cursor(win)[1] then
          f.moved, f.jump = false, view().here(win)
          set_paused(f, false)
        end
      end
      if not f.moved and event ~= 'BufEnter' and event ~= 'WinEnter' then
        return
      end
    end
  end
  if files().ours(buf) then
    files().entered(buf)
  end
end

---A followed file was read, or read again: the mark in it stands where it should.
---@param buf integer
local function remark(buf)
  for _, f in pairs(followed) do
    if f.last and (f.paused or f.mark) and files().is(buf, f.last.path) then
      put_mark(f)
    end
  end
end

local function watch()
  local group = api.nvim_create_augroup('acp.follow', {})
  local function on(events, callback)
    api.nvim_create_autocmd(events, { group = group, nested = true, callback = callback })
  end
  on({ 'BufEnter', 'WinEnter', 'CursorMoved', 'TextChanged', 'InsertEnter' }, function(args)
    user_is_here(args.event)
  end)
  on('WinLeave', function()
    for _, f in pairs(followed) do
      if f.win == api.nvim_get_current_win() then
        set_paused(f, false)
      end
    end
  end)
  on({ 'BufWinEnter', 'BufReadPost', 'FileChangedShellPost' }, function(args)
    remark(args.buf)
  end)
  on('CmdwinLeave', function()
    vim.schedule(function()
      for _, f in pairs(followed) do
        if f.held then
          M.visit(f.held)
        end
      end
    end)
  end)
end

---Follow a chat, or go on following it: in a window the user named, if that shows a file.
---@param chat acp.Chat
---@param win? integer
local function start(chat, win)
  local f = followed[chat.n]
  local last = f and f.last
  if f then
    mark().clear(f)
    mark().unflash(f)
    unstay(f)
  end
  clock = clock + 1
  f = {
    chat = chat.n,
    order = clock,
    tab = api.nvim_get_current_tabpage(),
    home = win and window().shows_file(win) and win or nil,
    win = f and f.win,
    split = f and f.split and api.nvim_win_is_valid(f.split) and f.split or nil,
    began = false,
    paused = false,
    moved = false,
    last = last,
  }
  f.jump = f.home and view().here(win) or nil
  if not next(followed) then
    watch()
  end
  followed[chat.n] = f
  if last then
    pcall(go, f, last, true)
  end
  tell(f)
end

---@param n integer
local function stop(n)
  local f = followed[n]
  if not f then
    return
  end
  followed[n] = nil
  mark().clear(f)
  mark().unflash(f)
  unstay(f)
  if not next(followed) then
    api.nvim_del_augroup_by_name('acp.follow')
    files().release()
  end
  require('acp.status').put(n, { follow = false, follow_paused = vim.NIL, follow_note = vim.NIL })
end

---Turn following a chat on or off. On again where it is on: go to the mark, and go on.
---@param chat acp.Chat
---@param on boolean
---@param home? integer window to use, if it shows a file; 0: none; default: the current one
function M.set(chat, on, home)
  local was = followed[chat.n] ~= nil
  if on then
    start(chat, home or api.nvim_get_current_win())
  else
    stop(chat.n)
  end
  if was ~= on then
    chat.open.follow = on -- what a new host is told
    require('acp.host').event('follow', { chat = chat.n, on = on })
  end
end

---@param chat acp.Chat
---@return boolean
function M.on(chat)
  return followed[chat.n] ~= nil
end

---The chat is gone.
---@param n integer
function M.drop(n)
  stop(n)
  require('acp.follow.trail').drop(n)
end

---`:AcpFollow [on|off|toggle|list]` for the current chat.
---@param what string
---@return boolean|nil
---@return string? reason
function M.command(what)
  if not vim.tbl_contains({ '', 'on', 'off', 'toggle', 'list' }, what) then
    what = require('acp.message').plain(what)
    return nil, (":AcpFollow takes on, off, toggle or list, not '%s'"):format(what)
  end
  local chat = require('acp.chat').current()
  if not chat then
    return nil, 'there is no chat to follow; :AcpChat opens one'
  end
  if what == 'list' then
    return require('acp.follow.trail').list(chat)
  end
  M.set(chat, what == 'on' or (what ~= 'off' and not M.on(chat)))
  return true
end

return M
