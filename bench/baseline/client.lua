-- The design this plugin is compared with: the editor reads, decodes and draws, all in Lua.
--   chunk    each message is drawn when it was decoded, as most in-editor clients do
--   batched  messages are collected and drawn every 33 ms
-- Highlighting is Neovim's own Markdown treesitter highlighter.
local M = {}

local api, uv = vim.api, vim.uv

local buf, win, on_done, rows, call_ids
local written = 0
local ns = api.nvim_create_namespace('baseline')

local function follow(change)
  local at_end = api.nvim_win_get_cursor(win)[1] >= api.nvim_buf_line_count(buf)
  change()
  if at_end then api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(buf), 0 }) end
end

local function append(text)
  local lines = vim.split(text, '\n', { plain = true })
  local row = api.nvim_buf_line_count(buf) - 1
  local col = #api.nvim_buf_get_lines(buf, row, row + 1, true)[1]
  api.nvim_buf_set_text(buf, row, col, row, col, lines)
  written = written + #lines
end

-- A tool call: its row, and below it the hunks of its diff, at most 200 lines.
local function tool(update)
  local call = rows[update.toolCallId]
  if not call then
    append('\n')
    local row = api.nvim_buf_line_count(buf) - 1
    call = { mark = api.nvim_buf_set_extmark(buf, ns, row, 0, { right_gravity = false }), n = 1 }
    rows[update.toolCallId] = call
    append('\n')
  end
  for _, key in ipairs({ 'title', 'status', 'kind' }) do call[key] = update[key] or call[key] end
  for _, item in ipairs(update.content or {}) do
    if item.type == 'diff' then
      local text = (vim.text and vim.text.diff or vim.diff)(item.oldText, item.newText, {})
      call.hunks = vim.list_slice(vim.split(text, '\n', { plain = true, trimempty = true }), 1, 200)
    end
  end
  local lines = { ('%s %s %s'):format(call.status, call.kind, call.title) }
  for _, line in ipairs(call.hunks or {}) do lines[#lines + 1] = '  | ' .. line end
  local row = api.nvim_buf_get_extmark_by_id(buf, ns, call.mark, {})[1]
  api.nvim_buf_set_lines(buf, row, row + call.n, true, lines)
  call.n = #lines
  written = written + #lines
end

local function draw(message)
  if message.method == 'session/update' then
    local update = message.params.update
    if update.sessionUpdate == 'agent_message_chunk' then
      follow(function() append(update.content.text) end)
    elseif update.toolCallId then
      follow(function() tool(update) end)
    end
  elseif message.id and call_ids[message.id] then
    call_ids[message.id](message.result)
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

function M.start(command, mode, done)
  rows, call_ids, on_done = {}, {}, done
  buf = api.nvim_create_buf(false, true)
  vim.bo[buf].undolevels = -1
  win = api.nvim_open_win(buf, false, { split = 'right', win = -1, width = 60 })
  vim.wo[win].wrap, vim.wo[win].linebreak, vim.wo[win].breakindent = true, true, true
  vim.treesitter.start(buf, 'markdown')
  local stdin, stdout = uv.new_pipe(), uv.new_pipe()
  local args = vim.list_slice(command, 2)
  M.process = uv.spawn(command[1], { args = args, stdio = { stdin, stdout, nil } }, function() end)
  local waiting = {}
  stdout:read_start(reader(mode == 'chunk' and vim.schedule_wrap(function(line)
    draw(vim.json.decode(line))
  end) or function(line) waiting[#waiting + 1] = line end))
  if mode == 'batched' then
    uv.new_timer():start(33, 33, vim.schedule_wrap(function()
      local lines = waiting
      waiting = {}
      for _, line in ipairs(lines) do draw(vim.json.decode(line)) end
    end))
  end
  local count = 0
  function M.request(method, params, answered)
    count = count + 1
    call_ids[count] = answered
    stdin:write(vim.json.encode({ jsonrpc = '2.0', id = count, method = method, params = params }) .. '\n')
  end
  M.request('initialize', { protocolVersion = 1 }, function()
    M.request('session/new', { cwd = '/', mcpServers = {} }, function() M.ready = true end)
  end)
end

function M.send(text)
  local prompt = { { type = 'text', text = text } }
  M.request('session/prompt', { sessionId = 'bench', prompt = prompt }, function() on_done(written) end)
end

return M
