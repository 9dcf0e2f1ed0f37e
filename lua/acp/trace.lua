--- `:AcpTrace`: what went over the wire, one line a message, in a tab page of its own.
--- While it is on the screen, the host is asked for what is new; a trace that cannot be seen costs nothing.
local M = {}

local api = vim.api

---Bytes of a line above which its colours would hold up the editor for a second, or be an error (E363).
local LONG_LINE = 20000

---Milliseconds between two looks for what is new.
local INTERVAL = 500

---@class acp.Trace
---@field agent string
---@field session? string only of this session
---@field first boolean nothing was shown yet: the cursor goes to the newest message

local traces = {} ---@type table<integer, acp.Trace> by buffer
local timer ---@type uv.uv_timer_t?

---@param name string
---@param filetype string
---@return integer
local function scratch(name, filetype)
  local old = vim.fn.bufnr('^' .. vim.fn.escape(name, '[]*?{},\\') .. '$')
  if old ~= -1 and vim.b[old].acp_own then
    return old
  end
  local buf = api.nvim_create_buf(false, true)
  vim.b[buf].acp_own = true
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].swapfile = false
  vim.bo[buf].modeline = false
  api.nvim_buf_set_name(buf, name)
  require('acp.filetype').set(buf, filetype)
  return buf
end

---Replace the lines from `first` (from 0) on.
---@param buf integer
---@param first integer
---@param lines string[]
local function fill(buf, first, lines)
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, first, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

---@param win integer
local function dress(win)
  require('acp.window').set(win, {
    wrap = false,
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    list = false,
  })
end

---@param action string
---@return string? key as the user has it
local function key_of(action)
  return require('acp.chat.keys').lhs('trace', action)
end

---@param buf integer
local function set_winbar(buf)
  local trace = traces[buf]
  local what = trace.agent .. (trace.session and (', session %s only'):format(trace.session) or '')
  local hints = {}
  for _, hint in ipairs({ { 'open', 'whole message' }, { 'session', 'one session' }, { 'help', 'keys' } }) do
    local key = key_of(hint[1])
    if key then
      table.insert(hints, ('%s %s'):format(key, hint[2]))
    end
  end
  table.insert(hints, ':w file.jsonl')
  local title = (' trace of %s '):format(require('acp.message').plain(what))
  local cells = vim.fn.strdisplaywidth
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    -- What does not fit beside the title is left out: half a key tells nothing.
    local said = ''
    for _, hint in ipairs(hints) do
      if cells(title .. said .. hint) + 3 <= api.nvim_win_get_width(win) then
        said = said .. hint .. '  '
      end
    end
    local text = title:gsub('%%', '%%%%') .. '%<%=' .. said:gsub('%s$', ''):gsub('%%', '%%%%')
    api.nvim_set_option_value('winbar', text, { win = win, scope = 'local' })
  end
end

---@param name string
---@param buf integer
---@param row? integer
local function ask(name, buf, row)
  require('acp.host').event(name, { agent = traces[buf].agent, buf = buf, row = row })
end

---@param buf integer
---@return boolean
local function on_screen(buf)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == buf then
      return true
    end
  end
  return false
end

local function look()
  local any = false
  for buf in pairs(traces) do
    if on_screen(buf) then
      any = true
      ask('trace_more', buf)
    end
  end
  if not any and timer then
    timer:stop()
  end
end

---Look for what is new as long as a trace is on the screen.
local function watch()
  timer = timer or assert(vim.uv.new_timer())
  if not timer:is_active() then
    timer:start(0, INTERVAL, vim.schedule_wrap(look))
  end
end

---@type {[1]: string, [2]: string, [3]: fun(buf: integer)}[] action, what it does, how
local actions
actions = {
  {
    'open',
    'the whole message',
    function(buf)
      ask('trace_item', buf, api.nvim_win_get_cursor(0)[1])
    end,
  },
  {
    'answer',
    'from a request to its answer, and back',
    function(buf)
      ask('trace_jump', buf, api.nvim_win_get_cursor(0)[1])
    end,
  },
  {
    'session',
    'only the session of this message, or all again',
    function(buf)
      ask('trace_session', buf, api.nvim_win_get_cursor(0)[1])
    end,
  },
  {
    'quit',
    'close',
    function(buf)
      api.nvim_buf_delete(buf, { force = true })
    end,
  },
  {
    'help',
    'these keys',
    function()
      local rows = {}
      for _, action in ipairs(actions) do
        local keys = require('acp.chat.keys').all('trace', action[1])
        if #keys > 0 then
          table.insert(rows, { table.concat(keys, ' '), action[2] })
        end
      end
      table.insert(rows, { '/', 'search' })
      table.insert(rows, { ':w file.jsonl', 'write it, secrets masked, to report a problem' })
      require('acp.chat.show').keys('trace', rows)
    end,
  },
}

---@param buf integer
---@param action string
---@param desc string
---@param run fun(buf: integer)
local function map(buf, action, desc, run)
  for _, key in ipairs(require('acp.chat.keys').all('trace', action)) do
    vim.keymap.set('n', key, function()
      run(buf)
    end, { buffer = buf, nowait = true, desc = 'acp: ' .. desc })
  end
end

---`:w`: the host writes the messages themselves, not these lines.
---@param buf integer
---@param event {event: string, file: string, match: string}
local function write(buf, event)
  local refused = require('acp.message').refused
  if event.event ~= 'BufWriteCmd' then
    return refused(nil, 'a trace is written as a whole to a file of its own: :w file.jsonl')
  end
  if vim.startswith(event.file, 'acp://') then
    return refused(nil, 'name a file for the trace: :w file.jsonl')
  end
  require('acp.name').written(buf)
  local path = vim.fn.fnamemodify(event.match, ':p')
  if vim.fn.isdirectory(path) == 1 then
    return refused(nil, ('%s is a folder; name a file in it'):format(path))
  end
  require('acp.host').event('trace_write', { agent = traces[buf].agent, buf = buf, path = path })
end

---@param buf integer
local function prepare(buf)
  vim.bo[buf].buftype = 'acwrite'
  vim.bo[buf].undolevels = -1 -- it grows all the time
  for _, action in ipairs(actions) do
    map(buf, action[1], action[2], action[3])
  end
  local group = api.nvim_create_augroup('acp.trace.' .. buf, {})
  api.nvim_create_autocmd({ 'BufWriteCmd', 'FileWriteCmd', 'FileAppendCmd' }, {
    group = group,
    buffer = buf,
    callback = function(event)
      write(buf, event)
      vim.bo[buf].modified = false
    end,
  })
  local own = api.nvim_buf_get_name(buf)
  api.nvim_create_autocmd('BufFilePost', {
    group = group,
    buffer = buf,
    callback = function()
      require('acp.name').renamed(buf, own, ':w file.jsonl writes the trace')
    end,
  })
  api.nvim_create_autocmd({ 'BufEnter', 'BufWinEnter' }, { group = group, buffer = buf, callback = watch })
  api.nvim_create_autocmd('TabEnter', { group = group, callback = watch })
  api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = buf,
    callback = function()
      ask('trace_closed', buf)
      traces[buf] = nil
      vim.schedule(function()
        pcall(api.nvim_del_augroup_by_id, group)
      end)
    end,
  })
end

---The sessions of an agent's chats, by the agent's ids.
---@param agent string
---@return string[]
function M.sessions(agent)
  local ids = {}
  for _, chat in ipairs(require('acp.chat').list()) do
    local id = chat.agent == agent and require('acp.status').raw(chat.n).session
    if id and not vim.tbl_contains(ids, id) then
      table.insert(ids, id)
    end
  end
  return ids
end

---Open the trace of an agent and ask the host for it.
---@param agent string
---@param session? string only this one
---@return boolean|nil
---@return string? reason
function M.open_for(agent, session)
  local obstacle = require('acp.cmdwin').obstacle()
  if obstacle then
    return nil, obstacle
  end
  vim.cmd('stopinsert')
  local buf = scratch(('acp://%s/trace'):format(agent), 'acp-trace')
  local win = vim.fn.win_findbuf(buf)[1]
  if not traces[buf] then
    traces[buf] = { agent = agent, first = true }
    prepare(buf)
  end
  traces[buf].session = session
  if win then
    api.nvim_set_current_win(win)
  else
    vim.cmd('tab split')
    vim.wo[0][0].winfixbuf = false
    api.nvim_win_set_buf(0, buf)
    dress(0)
  end
  set_winbar(buf)
  require('acp.host').event('trace', { agent = agent, buf = buf, session = session })
  watch()
  return true
end

---The host gives lines from `first` (from 0) on; they replace all from there. Who looks at the newest message
---goes on looking at it.
---@param buf integer
---@param first integer
---@param lines string[]
---@param view {session: string}
function M.show(buf, first, lines, view)
  local trace = traces[buf]
  if not trace or not api.nvim_buf_is_loaded(buf) then
    return
  end
  local last, at_end = api.nvim_buf_line_count(buf), {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    at_end[win] = trace.first or api.nvim_win_get_cursor(win)[1] == last
  end
  fill(buf, first, lines)
  local session = view.session ~= '' and view.session or nil
  if trace.session ~= session then
    trace.session = session
    set_winbar(buf)
  end
  trace.first = false
  for win, wanted in pairs(at_end) do
    if wanted then
      api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(buf), 0 })
    end
  end
end

---The host knows the other line of an exchange.
---@param buf integer
---@param row integer from 1; 0: there is none
function M.jump(buf, row)
  if api.nvim_get_current_buf() ~= buf then
    return
  end
  if row == 0 or row > api.nvim_buf_line_count(buf) then
    return require('acp.message').info('this message has no answer, and is none')
  end
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(0, { row, 0 })
end

---The host has written the file, or could not.
---@param path string
---@param count integer messages
---@param problem string
function M.written(path, count, problem)
  local name = vim.fn.fnamemodify(path, ':~:.')
  if problem ~= '' then
    return require('acp.message').error(('the trace was not written: %s (%s)'):format(problem, name))
  end
  local said = 'secrets masked, prompts and files not: look before you send it (%d messages in %s)'
  require('acp.message').info(said:format(count, name))
end

---The host gives one message in full; it opens in a split below the trace.
---@param agent string
---@param lines string[]
function M.open(agent, lines)
  local trace = vim.fn.bufnr(('^acp://%s/trace$'):format(vim.fn.escape(agent, '[]*?{},\\')))
  local home = trace ~= -1 and vim.fn.win_findbuf(trace)[1]
  if not home or api.nvim_get_current_buf() ~= trace then
    return
  end
  local long = vim.iter(lines):any(function(line)
    return #line > LONG_LINE
  end)
  local buf = scratch(('acp://%s/trace/message'):format(agent), '')
  require('acp.filetype').set(buf, long and '' or 'json')
  fill(buf, 0, lines)
  local win = vim.fn.win_findbuf(buf)[1]
  if not win then
    local height = math.max(3, math.floor(api.nvim_win_get_height(home) / 2))
    win = api.nvim_open_win(buf, true, { split = 'below', win = home, height = height })
    dress(win)
    api.nvim_set_option_value('wrap', true, { win = win, scope = 'local' })
    vim.keymap.set('n', 'q', function()
      vim.cmd('bwipeout')
    end, { buffer = buf, nowait = true, desc = 'acp: close' })
  else
    api.nvim_win_set_cursor(win, { 1, 0 })
    api.nvim_set_current_win(win)
  end
end

return M
