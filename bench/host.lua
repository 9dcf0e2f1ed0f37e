-- acp.nvim as it is measured: chats beside a window in which a user types. For bench/measure.py.
local python, command = ...

vim.g.acp_python = python
require('acp').setup({ agents = { bench = { command = command } } })

BENCH = {}

local chats, written = {}, 0
local transcript = require('acp.chat.transcript')
local frame = transcript.frame
transcript.frame = function(...)
  local result = frame(...)
  written = written + result.lines
  return result
end

local function done()
  PROBE.done(written)
  written = 0
end

vim.api.nvim_create_autocmd('User', { pattern = 'AcpTurnEnd', callback = done })
-- A chat of its own process each: a session's folder decides which process it lives in.
function BENCH.open()
  local registry = require('acp.chat')
  local folder = ('%s/%d'):format(vim.fn.getcwd(), #chats + 1)
  vim.fn.mkdir(folder, 'p')
  local chat = registry.create('bench', folder, require('acp.chat.start').config_of('bench'))
  chats[#chats + 1] = chat
  require('acp').chat({ number = chat.n, focus = false })
end

function BENCH.count()
  return #chats
end

function BENCH.ready()
  for _, chat in ipairs(chats) do
    if require('acp.status').raw(chat.n).state ~= 'idle' then
      return false
    end
  end
  return true
end

function BENCH.send(n, text)
  require('acp').send(text, { chat = chats[n].n })
end

-- A chat of an old session, in the process of the first; over when its last words stand there.
function BENCH.load(session)
  require('acp.sessions').open_entry({
    agent = 'bench', cwd = chats[1].open.cwd, home = chats[1].open.home or chats[1].open.cwd, session = session,
    can = { open = true },
  })
  vim.cmd('wincmd t')
  local buf = require('acp.chat').last_of('bench').buf
  local timer = vim.uv.new_timer()
  timer:start(5, 5, vim.schedule_wrap(function()
    local lines = vim.api.nvim_buf_get_lines(buf, -6, -1, false)
    if not timer:is_closing() and table.concat(lines):find('All said.', 1, true) then
      timer:close()
      done()
    end
  end))
end

function BENCH.hide()
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
    if vim.startswith(name, 'acp://') then
      vim.api.nvim_win_close(win, true)
    end
  end
end
