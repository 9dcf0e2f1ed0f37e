--- The chats of this Neovim: which there are, which is the current one, how they begin and end.
local M = {}

local api = vim.api

---@class acp.Chat
---@field n integer 1, 2, … in this Neovim
---@field agent string
---@field demo boolean
---@field buf integer transcript
---@field prompt integer buffer of the prompt
---@field cwd string
---@field used integer when it was last focused, on a counter
---@field open table what the host was told of it; acp.host keeps the same table
---@field view? table winsaveview() of the transcript when it was last closed; nil: at the end

---A session the chat takes up, or goes on from (`fork`).
---@class acp.OldSession
---@field load string the agent's id of it
---@field fork? boolean
---@field home string the folder of the process that has it
---@field title? string
---@field time? integer seconds since the epoch
---@field directories? string[]

local chats = {} ---@type table<integer, acp.Chat>
local by_buf = {} ---@type table<integer, acp.Chat>
local last_in_tab = {} ---@type table<integer, integer>
local count, clock = 0, 0

---@param n integer
---@return acp.Chat?
function M.get(n)
  return chats[n]
end

---The chat a buffer belongs to. Buffers of later parts (diffs, terminals) say so in `b:acp_chat`.
---@param buf integer
---@return acp.Chat?
function M.of(buf)
  if by_buf[buf] then
    return by_buf[buf]
  end
  if not api.nvim_buf_is_valid(buf) then
    return nil
  end
  return chats[vim.b[buf].acp_chat or 0]
end

---All chats, the last used first.
---@return acp.Chat[]
function M.list()
  local list = vim.tbl_values(chats)
  table.sort(list, function(a, b)
    return a.used > b.used
  end)
  return list
end

---The current chat: of this buffer, else the last focused in this tab page, else the last focused at all.
---@return acp.Chat?
function M.current()
  return M.of(api.nvim_get_current_buf())
    or chats[last_in_tab[api.nvim_get_current_tabpage()] or 0]
    or M.list()[1]
end

---The last used chat of an agent.
---@param agent string
---@return acp.Chat?
function M.last_of(agent)
  for _, chat in ipairs(M.list()) do
    if chat.agent == agent then
      return chat
    end
  end
end

---Note that a chat has the focus.
---@param chat acp.Chat
function M.focused(chat)
  clock = clock + 1
  chat.used = clock
  last_in_tab[api.nvim_get_current_tabpage()] = chat.n
end

---@param n integer
---@param session string?
function M.set_session(n, session)
  local chat = chats[n]
  if chat and api.nvim_buf_is_valid(chat.buf) then
    vim.b[chat.buf].acp_session = session
  end
end

---@param n integer
---@param title string?
function M.set_title(n, title)
  local chat = chats[n]
  if chat and api.nvim_buf_is_valid(chat.buf) then
    vim.b[chat.buf].acp_title = title
  end
end

---Give a chat's buffer its options, variables and keys: a new one, and one that `:bdelete` took them from.
---@param chat acp.Chat
---@param buf integer
function M.equip(chat, buf)
  by_buf[buf] = chat
  vim.b[buf].acp_chat = chat.n
  local function set(option, value)
    api.nvim_set_option_value(option, value, { buf = buf })
  end
  set('buftype', 'nofile')
  set('bufhidden', 'hide')
  set('swapfile', false)
  set('modeline', false)
  set('buflisted', false)
  if buf == chat.prompt then
    require('acp.chat.prompt').equip(chat)
  else
    set('undolevels', -1)
    -- The hints of the demo hang below their words in a narrow window, as the items of a list do.
    set('formatlistpat', vim.go.formatlistpat .. [[\|^  \%(try it\|get one\|have one?\)\s\+]])
    local status = require('acp.status').raw(chat.n)
    vim.b[buf].acp_session, vim.b[buf].acp_title = status.session, status.title
  end
  require('acp.chat.keys').attach(chat, buf)
end

---The head while the agent starts. One block; the host rewrites it when it knows more.
---@param chat acp.Chat
local function show_start(chat)
  local folder = vim.fn.fnamemodify(chat.cwd, ':~')
  local first = ('%s in %s'):format(chat.agent, folder)
  local second = 'Starting. You can type already; the prompt is sent when the agent is ready.'
  require('acp.chat.transcript').set_head(chat.n, { first, second, '' }, {
    kind = 'head',
    tail = 1,
    marks = { { 0, #chat.agent + 4, #first, 'AcpPath' }, { 1, 0, #second, 'AcpNote' } },
  })
end

---Remove buffers of chats that are gone (acp.chat.restored): a new one takes their place, perhaps their name.
local function wipe_dead()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local named = vim.startswith(api.nvim_buf_get_name(buf), 'acp://')
    local dead = named and (vim.b[buf].acp_dead or not api.nvim_buf_is_loaded(buf))
    if dead and not M.of(buf) then
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
  end
end

---Make a chat: its two buffers, with the first lines in them. Does not wait for anything.
---@param agent string
---@param cwd string
---@param config acp.AgentConfig
---@param demo boolean the built-in agent
---@param old? acp.OldSession
---@return acp.Chat
function M.create(agent, cwd, config, demo, old)
  wipe_dead()
  repeat
    count = count + 1
    local taken = vim.fn.bufexists(('acp://%s/%d'):format(agent, count))
  until taken == 0
  clock = clock + 1
  local chat = { n = count, agent = agent, demo = demo, cwd = cwd, used = clock }
  chat.buf, chat.prompt, chat.open = 0, 0, {}
  chats[chat.n] = chat
  chat.buf = api.nvim_create_buf(false, true)
  chat.prompt = api.nvim_create_buf(false, true)
  local name = ('acp://%s/%d'):format(agent, chat.n)
  require('acp.status').start(chat.n, agent)
  require('acp.chat.prompt').attach(chat)
  for buf, own in pairs({ [chat.buf] = name, [chat.prompt] = name .. '/prompt' }) do
    M.equip(chat, buf)
    assert(require('acp.name').set(buf, own))
  end
  require('acp.chat.watch').chat(chat)
  require('acp.chat.transcript').attach(chat.n, chat.buf)
  show_start(chat)
  require('acp.chat.draft').start(chat)
  chat.open = vim.tbl_extend('force', old or {}, {
    chat = chat.n,
    agent = agent,
    buf = chat.buf,
    cwd = cwd,
    demo = demo,
    config = config,
  })
  require('acp.host').event('open', chat.open)
  if require('acp.config').get().follow.enabled then
    require('acp.follow').set(chat, true, 0) -- the user named no window
  end
  return chat
end

---The agent of a chat is started again, with the settings of now; another host gets them too.
---@param chat acp.Chat
---@param config acp.AgentConfig
---@param demo boolean
function M.configure(chat, config, demo)
  chat.open.config, chat.open.demo, chat.demo = config, demo, demo
end

---@param buf integer
---@param filetype string
local function set_filetype(buf, filetype)
  if api.nvim_buf_is_loaded(buf) and #vim.fn.win_findbuf(buf) > 0 and vim.bo[buf].filetype == '' then
    require('acp.filetype').set(buf, filetype)
  end
end

---Set the filetype of a prompt that is on the screen for the first time: before Insert mode begins in it, as
---completion plugins look then what they have to do there.
---@param chat acp.Chat
function M.set_prompt_filetype(chat)
  set_filetype(chat.prompt, 'acp-prompt')
end

---Set the filetypes of buffers that are on the screen for the first time: what the user's ftplugin does, to
---buffers and windows, comes on top of ours. Once they are drawn: Neovim looks for such files in all folders
---of all plugins, and who knows what is in them.
---@param chat acp.Chat
function M.set_filetypes(chat)
  set_filetype(chat.buf, 'acp-chat')
  M.set_prompt_filetype(chat)
end

---A chat's buffer was wiped by the user: the session ends with it. What was not sent is for the next chat.
---@param chat acp.Chat
function M.finish(chat)
  if chats[chat.n] ~= chat then
    return
  end
  chats[chat.n] = nil
  require('acp.chat.draft').save(chat)
  require('acp.status').drop(chat.n)
  if package.loaded['acp.options'] then
    require('acp.options').drop(chat.n)
  end
  if package.loaded['acp.follow'] then
    require('acp.follow').drop(chat.n)
  end
  require('acp.chat.prompt').drop(chat.n)
  if package.loaded['acp.sessions.list'] then
    require('acp.sessions.list').refresh()
  end
  if require('acp.host').status().state ~= 'off' then
    require('acp.host').event('close', { chat = chat.n })
  end
  for _, buf in ipairs({ chat.buf, chat.prompt }) do
    by_buf[buf] = nil
    if api.nvim_buf_is_valid(buf) then
      api.nvim_buf_delete(buf, { force = true })
    end
    require('acp.chat.restored').forget(buf)
  end
end

return M
