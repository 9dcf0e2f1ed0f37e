--- The agent's own login in a terminal: a window of its own below, which the user asked for. It goes when the
--- login has succeeded; otherwise what it says stays until the user closes it.
local M = {}

local api = vim.api

---@class acp.LoginRequest
---@field id integer
---@field title string agent and method, for the winbar
---@field argv string[]
---@field cwd string
---@field env table<string, string> the whole environment
---@field enter boolean whether the cursor goes there

---@class acp.LoginTerminal
---@field buf integer
---@field job integer
---@field home integer window the cursor came from
---@field ended boolean
---@field closed boolean the user has closed it, or the host has
---@field restore? fun() the windows' sizes as they were before it was opened

local terminals = {} ---@type table<integer, acp.LoginTerminal>

-- Neovim sets $NVIM for every job, whatever its environment is. No word of the agent is in this script.
local LAUNCHER = { '/bin/sh', '-c', 'unset NVIM NVIM_LISTEN_ADDRESS; exec "$@"', 'sh' }

---@param win integer
---@param title string
local function dress(win, title)
  local text = require('acp.message').plain(title):gsub('%%', '%%%%')
  local window = require('acp.window')
  window.set(win, window.plain)
  window.set(win, { winfixheight = true, winbar = (' login  %s%%=:q ends it '):format(text) })
end

---Name the buffer as all of ours are. Neovim keeps the old name in another buffer: that one goes.
---@param buf integer
---@param name string
local function rename(buf, name)
  local old = api.nvim_buf_get_name(buf)
  vim.b[buf].acp_own = true -- acp.chat.restored leaves it alone
  api.nvim_buf_set_name(buf, name)
  for _, other in ipairs(api.nvim_list_bufs()) do
    if other ~= buf and old ~= '' and api.nvim_buf_get_name(other) == old then
      pcall(api.nvim_buf_delete, other, { force = true })
    end
  end
end

---@param terminal acp.LoginTerminal
---@return boolean
local function inside(terminal)
  return api.nvim_get_current_buf() == terminal.buf
end

---Take a terminal down. Who stands in it goes back to where they were.
---@param terminal acp.LoginTerminal
local function wipe(terminal)
  if not api.nvim_buf_is_valid(terminal.buf) then
    return
  end
  if inside(terminal) then
    vim.cmd.stopinsert()
    if api.nvim_win_is_valid(terminal.home) then
      api.nvim_set_current_win(terminal.home)
    end
  end
  pcall(api.nvim_buf_delete, terminal.buf, { force = true })
end

---End the process of a terminal that is not wanted any more, and the terminal with it.
---@param terminal acp.LoginTerminal
local function cancel(terminal)
  if terminal.closed then
    return
  end
  terminal.closed = true
  vim.fn.jobstop(terminal.job)
  wipe(terminal)
end

---@param id integer
---@param code integer
local function on_exit(id, code)
  local terminal = terminals[id]
  if not terminal or vim.v.exiting ~= vim.NIL then
    return
  end
  terminal.ended = true
  local gone = terminal.closed or not api.nvim_buf_is_valid(terminal.buf)
  if gone then
    terminals[id] = nil
  elseif code ~= 0 then
    -- In Terminal mode the next key would wipe what it said.
    if inside(terminal) then
      vim.cmd.stopinsert()
    end
    vim.bo[terminal.buf].bufhidden = 'wipe'
  end
  require('acp.host').event('login_ended', { id = id, code = code, closed = gone })
end

---@param id integer
---@param terminal acp.LoginTerminal
local function watch(id, terminal)
  -- A login nobody can see is a login nobody ends: leaving its last window cancels it.
  api.nvim_create_autocmd({ 'BufWinLeave', 'BufUnload' }, {
    buffer = terminal.buf,
    callback = function()
      vim.schedule(function()
        local shown = api.nvim_buf_is_valid(terminal.buf) and #vim.fn.win_findbuf(terminal.buf) > 0
        if shown then
          return
        end
        if terminal.restore then
          terminal.restore()
          terminal.restore = nil
        end
        if terminals[id] ~= terminal then
          return
        end
        if terminal.ended then
          terminals[id] = nil
        else
          cancel(terminal)
        end
      end)
    end,
  })
end

---@param request acp.LoginRequest
---@return integer job
local function start(request)
  local options = {
    cwd = request.cwd,
    env = request.env,
    clear_env = true,
    on_exit = function(_, code)
      on_exit(request.id, code)
    end,
  }
  local command = vim.list_extend(vim.list_extend({}, LAUNCHER), request.argv)
  if vim.fn.has('nvim-0.11') == 1 then
    options.term = true
    return vim.fn.jobstart(command, options)
  end
  return vim.fn.termopen(command, options)
end

---Called by the host: run a login in a terminal.
---@param n integer chat
---@param request acp.LoginRequest
---@return integer|string pid, or why there is none
function M.open(n, request)
  local chat = require('acp.chat').get(n)
  if not chat then
    return 'the chat is closed'
  end
  if vim.fn.getcmdwintype() ~= '' then
    return 'the command-line window is open'
  end
  local home = api.nvim_get_current_win()
  local buf = api.nvim_create_buf(false, false)
  vim.bo[buf].bufhidden = 'hide' -- a running one is ended first, see `watch`
  local height = math.max(10, math.floor(vim.o.lines * 0.4))
  local restore = require('acp.chat.size').keep()
  local shown, win = pcall(api.nvim_open_win, buf, false, { split = 'below', win = -1, height = height })
  if not shown then
    api.nvim_buf_delete(buf, { force = true })
    return tostring(win)
  end
  dress(win, request.title)
  local terminal = { buf = buf, job = 0, home = home, ended = false, closed = false, restore = restore }
  local ok, job = pcall(api.nvim_win_call, win, function()
    return start(request)
  end)
  if not ok or job <= 0 then
    api.nvim_buf_delete(buf, { force = true })
    return ok and 'it cannot be started' or tostring(job)
  end
  terminal.job = job
  terminals[request.id] = terminal
  vim.b[buf].acp_chat = n
  rename(buf, ('acp://%s/%d/login/%d'):format(chat.agent, n, request.id))
  watch(request.id, terminal)
  if request.enter then
    api.nvim_set_current_win(win)
    vim.cmd.startinsert()
  end
  return vim.fn.jobpid(job)
end

---Called by the host: the user has cancelled the login otherwise.
---@param id integer
function M.stop(id)
  local terminal = terminals[id]
  if terminal and not terminal.ended then
    cancel(terminal)
  end
end

---Called by the host: the login has succeeded.
---@param id integer
function M.close(id)
  local terminal = terminals[id]
  terminals[id] = nil
  if terminal then
    wipe(terminal)
  end
end

return M
