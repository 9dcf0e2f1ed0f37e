--- The Neovim of a replay (`python -m acp_nvim.replay`): does what the recorded user did, when it is told to.
--- Nothing of this is loaded in a user's Neovim.
local M = {}

local api = vim.api

---Milliseconds between two looks, and how often one looks for something that is to come.
local INTERVAL, TRIES = 20, 1000

---Milliseconds without a change after which a transcript is complete: at the end, and within a turn.
local QUIET, QUIET_BUSY = 400, 2000

---@class acp.ReplayOptions
---@field name string of the agent
---@field agent acp.AgentConfig
---@field socket string where acts come in
---@field old? {load: string} an old session to begin with
---@field title string
---@field out? string the transcript's text goes there, and Neovim ends
---@field facts string[]

local options ---@type acp.ReplayOptions
local server ---@type uv.uv_pipe_t?

---@param text string
local function hint(text)
  local shown = require('acp.message').plain(('%s   %s   :qa ends'):format(options.title, text))
  vim.o.tabline = '%#TabLineSel# ' .. shown:gsub('%%', '%%%%') .. ' %#TabLineFill#'
end

---Do something as soon as it can be done.
---@param try fun(): boolean|nil|any
---@param tries? integer
local function soon(try, tries)
  tries = tries or TRIES
  if tries > 0 and not try() then
    vim.defer_fn(function()
      soon(try, tries - 1)
    end, INTERVAL)
  end
end

---The chat of a session, else the newest.
---@param session string?
---@return acp.Chat?
local function chat_of(session)
  local newest
  for _, chat in ipairs(require('acp.chat').list()) do
    if session and require('acp.status').raw(chat.n).session == session then
      return chat
    end
    newest = (not newest or chat.n > newest.n) and chat or newest
  end
  return newest
end

---@param load string? an old session
local function open(load)
  local start = require('acp.chat.start')
  if not load then
    return start.show({ agent = options.name, new = true, focus = true })
  end
  local cwd = assert(start.folder(options.name))
  local config, demo = start.config_of(options.name)
  local chat = require('acp.chat').create(options.name, cwd, config, demo, { load = load, home = cwd })
  start.show({ number = chat.n })
end

---@param act table
---@return boolean
local function answer(act)
  local chat = chat_of(act.session)
  for _, question in ipairs(chat and require('acp.question.queue').of(chat.n) or {}) do
    for index, option in ipairs(question.options) do
      if option.id == act.option or option.kind == act.option then
        if question.form and option.id == 'accept' then
          local values = next(act.content or {}) and act.content or vim.empty_dict()
          require('acp.host').event('form', { id = question.id, seq = 0, values = values, send = true })
          return true
        end
        return require('acp.question.stage').answer(question, index)
      end
    end
  end
  return false
end

---@return string text of all transcripts
---@return boolean busy something still goes on
local function transcripts()
  local parts, busy = {}, false
  local chats = require('acp.chat').list()
  table.sort(chats, function(a, b)
    return a.n < b.n
  end)
  for _, chat in ipairs(chats) do
    local status = require('acp.status').raw(chat.n)
    busy = busy or (status.state ~= 'idle' and status.state ~= 'failed')
    if #chats > 1 then
      table.insert(parts, ('== chat %d'):format(chat.n))
    end
    vim.list_extend(parts, api.nvim_buf_get_lines(chat.buf, 0, -1, false))
  end
  return table.concat(parts, '\n') .. '\n', busy
end

---Write the text when nothing changes any more, and end. A recording may end in the middle of a turn.
local function finish()
  local last, since, tries = nil, 0, 0
  soon(function()
    local text, busy = transcripts()
    tries = tries + 1
    if text ~= last then
      last, since = text, vim.uv.now()
    end
    if tries < TRIES - 1 and vim.uv.now() - since < (busy and QUIET_BUSY or QUIET) then
      return false
    end
    local file = assert(io.open(options.out, 'w'))
    file:write(text, busy and '(the recording ends here; something went on)\n' or '')
    file:close()
    vim.cmd('qall!')
    return true
  end)
end

---@type table<string, fun(act: table)>
local acts = {
  prompt = function(act)
    soon(function()
      local chat = chat_of(act.session)
      return chat and require('acp').send(act.text, { chat = chat.n })
    end)
  end,
  cancel = function(act)
    soon(function()
      local chat = chat_of(act.session)
      if chat then
        require('acp.status').cancelled(chat.n, false)
        require('acp.host').event('cancel', { chat = chat.n, queue = false })
      end
      return chat
    end)
  end,
  answer = function(act)
    soon(function()
      return answer(act)
    end)
  end,
  option = function(act)
    soon(function()
      return require('acp.options').set(chat_of(act.session), act.id, act.value)
    end, 50)
  end,
  open = function(act)
    open(act.load)
  end,
  restart = function()
    vim.cmd('AcpRestart')
  end,
  hint = function(act)
    hint(act.text)
  end,
}
acts['end'] = function()
  hint('the recording ends here')
  if options.out then
    finish()
  end
end

---@param line string
local function take(line)
  local ok, act = pcall(vim.json.decode, line, { luanil = { object = true, array = true } })
  if ok and type(act) == 'table' and acts[act.act] then
    acts[act.act](act)
  end
end

---Listen for what the recorded user did.
local function listen()
  server = assert(vim.uv.new_pipe(false))
  assert(server:bind(options.socket))
  server:listen(8, function(problem)
    assert(not problem, problem)
    local client = assert(vim.uv.new_pipe(false))
    server:accept(client)
    local rest = ''
    client:read_start(function(_, data)
      if not data then
        return client:close()
      end
      rest = rest .. data
      for line in rest:gmatch('([^\n]*)\n') do
        vim.schedule(function()
          take(line)
        end)
      end
      rest = rest:match('[^\n]*$')
    end)
  end)
end

---Called by the replay's init file.
---@param given acp.ReplayOptions
function M.start(given)
  options = given
  if options.old == vim.NIL then
    options.old = nil
  end
  options.out = options.out ~= vim.NIL and options.out or nil
  listen() -- before the agent can be there
  vim.o.showtabline = 2
  vim.ui.open = function(what)
    hint('not opened in a replay: ' .. what)
    return nil, 'a replay opens nothing'
  end
  require('acp').setup({ agents = { [options.name] = options.agent }, default_agent = options.name })
  hint(table.concat(options.facts, ', '))
  api.nvim_create_autocmd('VimEnter', {
    once = true,
    callback = vim.schedule_wrap(function()
      open(options.old and options.old.load)
    end),
  })
end

return M
