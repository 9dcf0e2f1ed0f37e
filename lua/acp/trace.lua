--- `:AcpTrace`: what went over the wire, one line a message, in a tab page of its own.
local M = {}

local api = vim.api

---Bytes of a line above which its colours would hold up the editor for a second, or be an error (E363).
local LONG_LINE = 20000

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
  vim.bo[buf].filetype = filetype
  return buf
end

---@param buf integer
---@param lines string[]
local function fill(buf, lines)
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

---@param buf integer
---@param key string
---@param desc string
---@param run fun()
local function map(buf, key, desc, run)
  vim.keymap.set('n', key, run, { buffer = buf, nowait = true, desc = 'acp: ' .. desc })
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

---Open the trace of an agent and ask the host for it.
---@param agent string
---@return boolean|nil
---@return string? reason
function M.open_for(agent)
  local obstacle = require('acp.cmdwin').obstacle()
  if obstacle then
    return nil, obstacle
  end
  vim.cmd('stopinsert')
  local buf = scratch(('acp://%s/trace'):format(agent), 'acp-trace')
  local win = vim.fn.win_findbuf(buf)[1]
  if win then
    api.nvim_set_current_win(win)
  else
    vim.cmd('tab split')
    vim.wo[0][0].winfixbuf = false
    api.nvim_win_set_buf(0, buf)
    dress(0)
    api.nvim_set_option_value('winbar', (' trace of %s%%=<CR> whole message  q closes '):format(agent), {
      win = 0,
      scope = 'local',
    })
    map(buf, '<CR>', 'whole message', function()
      local row = api.nvim_win_get_cursor(0)[1]
      require('acp.host').event('trace_item', { agent = agent, buf = buf, row = row })
    end)
    map(buf, 'q', 'close', function()
      vim.cmd('bwipeout')
    end)
  end
  require('acp.host').event('trace', { agent = agent, buf = buf })
  return true
end

---The host fills the buffer. The cursor goes to the newest message the first time.
---@param buf integer
---@param lines string[]
function M.show(buf, lines)
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  local first = api.nvim_buf_line_count(buf) == 1
  fill(buf, #lines > 0 and lines or { 'nothing yet' })
  for _, win in ipairs(first and vim.fn.win_findbuf(buf) or {}) do
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(buf), 0 })
  end
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
  vim.bo[buf].filetype = long and '' or 'json'
  fill(buf, lines)
  local win = vim.fn.win_findbuf(buf)[1]
  if not win then
    local height = math.max(3, math.floor(api.nvim_win_get_height(home) / 2))
    win = api.nvim_open_win(buf, true, { split = 'below', win = home, height = height })
    dress(win)
    api.nvim_set_option_value('wrap', true, { win = win, scope = 'local' })
    map(buf, 'q', 'close', function()
      vim.cmd('bwipeout')
    end)
  else
    api.nvim_win_set_cursor(win, { 1, 0 })
    api.nvim_set_current_win(win)
  end
end

return M
