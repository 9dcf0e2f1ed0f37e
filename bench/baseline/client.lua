-- The design this plugin is compared with: the editor reads, decodes and draws, all in Lua.
--   chunk    each message is drawn when it was decoded, as most in-editor clients do
--   batched  messages are collected and drawn every 33 ms
-- Highlighting is Neovim's own Markdown treesitter highlighter.
local M = {}

local api, uv = vim.api, vim.uv

local SHOWN, KEPT = 10, 65536 -- lines of a terminal that are shown, bytes that are kept

local clients, written = {}, 0
local ns = api.nvim_create_namespace('baseline')

local function follow(self, change)
  local at_end = api.nvim_win_get_cursor(self.win)[1] >= api.nvim_buf_line_count(self.buf)
  change()
  if at_end then api.nvim_win_set_cursor(self.win, { api.nvim_buf_line_count(self.buf), 0 }) end
end

local function append(self, text)
  local lines = vim.split(text, '\n', { plain = true })
  local row = api.nvim_buf_line_count(self.buf) - 1
  local col = #api.nvim_buf_get_lines(self.buf, row, row + 1, true)[1]
  api.nvim_buf_set_text(self.buf, row, col, row, col, lines)
  written = written + #lines
end

-- What stands below a tool call's row: the hunks of its diff, at most 200 lines, its text, or its terminal's end.
local function body(self, call, update)
  for _, item in ipairs(update.content or {}) do
    if item.type == 'diff' then
      local text = (vim.text and vim.text.diff or vim.diff)(item.oldText, item.newText, {})
      call.lines = vim.list_slice(vim.split(text, '\n', { plain = true, trimempty = true }), 1, 200)
    elseif item.type == 'content' then
      local lines = vim.split(item.content.text, '\n', { plain = true, trimempty = true })
      call.lines = vim.list_slice(lines, math.max(1, #lines - SHOWN + 1))
    elseif item.type == 'terminal' then
      self.terminals[item.terminalId].call = call
    end
  end
end

local function draw_call(self, call)
  local lines = { ('%s %s %s'):format(call.status, call.kind, call.title) }
  for _, line in ipairs(call.lines or {}) do lines[#lines + 1] = '  | ' .. line end
  local row = api.nvim_buf_get_extmark_by_id(self.buf, ns, call.mark, {})[1]
  api.nvim_buf_set_lines(self.buf, row, row + call.n, true, lines)
  call.n = #lines
  written = written + #lines
end

local function tool(self, update)
  local call = self.rows[update.toolCallId]
  if not call then
    append(self, '\n')
    local row = api.nvim_buf_line_count(self.buf) - 1
    call = { mark = api.nvim_buf_set_extmark(self.buf, ns, row, 0, { right_gravity = false }), n = 1 }
    self.rows[update.toolCallId] = call
    append(self, '\n')
  end
  for _, key in ipairs({ 'title', 'status', 'kind' }) do call[key] = update[key] or call[key] end
  body(self, call, update)
  draw_call(self, call)
end

local function reply(self, id, result)
  self.stdin:write(vim.json.encode({ jsonrpc = '2.0', id = id, result = result }) .. '\n')
end

-- A terminal: its output is kept, and its last lines are drawn with each piece, as with messages.
local function terminal(self, id, params)
  local made = { text = '' }
  self.terminals.t1 = made
  local stdout, env = uv.new_pipe(), {}
  for name, value in pairs(vim.fn.environ()) do env[#env + 1] = name .. '=' .. value end
  for _, each in ipairs(params.env) do env[#env + 1] = each.name .. '=' .. each.value end
  uv.spawn(params.command, { args = params.args, env = env, stdio = { nil, stdout, nil } }, function()
    made.over = true
    if made.waits then made.waits() end
  end)
  local function show()
    made.drawn = nil
    if not made.call then return end
    local lines = vim.split(made.text:gsub('[\27\7\r][^m]?', ''), '\n', { plain = true })
    made.call.lines = vim.list_slice(lines, math.max(1, #lines - SHOWN + 1))
    follow(self, function() draw_call(self, made.call) end)
  end
  stdout:read_start(function(_, data)
    if not data then return end
    made.text = (made.text .. data):sub(-KEPT)
    if self.mode == 'chunk' then
      vim.schedule(show)
    elseif not made.drawn then
      made.drawn = vim.defer_fn(show, 33)
    end
  end)
  reply(self, id, { terminalId = 't1' })
end

local function request(self, message)
  if message.method == 'terminal/create' then
    terminal(self, message.id, message.params)
  elseif message.method == 'terminal/wait_for_exit' then
    local made = self.terminals.t1
    local function over() reply(self, message.id, { exitCode = 0 }) end
    made.waits = over
    if made.over then over() end
  else
    reply(self, message.id, {})
  end
end

local TEXT = { agent_message_chunk = true, agent_thought_chunk = true, user_message_chunk = true }

local function draw(self, message)
  if message.method == 'session/update' then
    local update = message.params.update
    if TEXT[update.sessionUpdate] then
      follow(self, function() append(self, update.content.text) end)
    elseif update.toolCallId then
      follow(self, function() tool(self, update) end)
    end
  elseif message.method then
    request(self, message)
  elseif self.answered[message.id] then
    self.answered[message.id](message.result)
  end
end

-- Lines out of what the pipe gives, joined once a line.
local function reader(take)
  local parts = {}
  return function(_, data)
    if not data then return end
    local from = 1
    while true do
      local at = data:find('\n', from, true)
      if not at then break end
      parts[#parts + 1] = data:sub(from, at - 1)
      take(table.concat(parts))
      parts, from = {}, at + 1
    end
    parts[#parts + 1] = data:sub(from)
  end
end

local function ask(self, method, params, answered)
  self.count = self.count + 1
  self.answered[self.count] = answered
  self.stdin:write(vim.json.encode({ jsonrpc = '2.0', id = self.count, method = method, params = params }) .. '\n')
end

function M.start(command, mode, done)
  local self = { rows = {}, terminals = {}, answered = {}, count = 0, mode = mode, done = done }
  clients[#clients + 1] = self
  self.buf = api.nvim_create_buf(false, true)
  vim.bo[self.buf].undolevels = -1
  local split = #clients == 1 and { split = 'right', win = -1, width = 60 }
    or { split = 'below', win = clients[#clients - 1].win }
  self.win = api.nvim_open_win(self.buf, false, split)
  vim.wo[self.win].wrap, vim.wo[self.win].linebreak, vim.wo[self.win].breakindent = true, true, true
  vim.treesitter.start(self.buf, 'markdown')
  self.stdin = uv.new_pipe()
  local stdout, args = uv.new_pipe(), vim.list_slice(command, 2)
  uv.spawn(command[1], { args = args, stdio = { self.stdin, stdout, nil } }, function() end)
  local waiting = {}
  stdout:read_start(reader(mode == 'chunk' and vim.schedule_wrap(function(line)
    draw(self, vim.json.decode(line))
  end) or function(line) waiting[#waiting + 1] = line end))
  if mode == 'batched' then
    uv.new_timer():start(33, 33, vim.schedule_wrap(function()
      local lines = waiting
      waiting = {}
      for _, line in ipairs(lines) do draw(self, vim.json.decode(line)) end
    end))
  end
  ask(self, 'initialize', { protocolVersion = 1 }, function()
    ask(self, 'session/new', { cwd = '/', mcpServers = {} }, function() self.ready = true end)
  end)
end

function M.ready()
  return vim.iter(clients):all(function(self) return self.ready end)
end

local function over(self)
  self.done(written)
  written = 0
end

function M.send(text)
  for _, self in ipairs(clients) do
    local prompt = { { type = 'text', text = text } }
    ask(self, 'session/prompt', { sessionId = 'bench', prompt = prompt }, function() over(self) end)
  end
end

function M.load(session)
  local self = clients[1]
  ask(self, 'session/load', { sessionId = session, cwd = '/', mcpServers = {} }, function() over(self) end)
end

return M
