--- acp.nvim: work with coding agents inside Neovim. The public interface; everything works without `setup()`.
local M = {}

---@class acp.Context lines of a file that go with a prompt
---@field path? string absolute
---@field source? string where the lines are from, if they are in no file
---@field first? integer from 1; nil: all
---@field last? integer inclusive
---@field text? string

---@class acp.ChatOpts
---@field agent? string that agent's last chat, else a new one
---@field new? boolean always a new session
---@field number? integer this chat, as in `acp://<agent>/<number>`
---@field focus? boolean default true

---@class acp.SessionsOpts
---@field agent? string only of this agent
---@field all? boolean of all folders
---@field callback? fun(entries: acp.SessionEntry[], problems: string[])

---@class acp.SendOpts
---@field context? acp.Context[]
---@field now? boolean cancel the running turn and send, or steer where the agent can
---@field chat? integer number of the chat; default: the current one

---Change settings; what is wrong in them is named in one message and left out.
---@param settings? table
function M.setup(settings)
  require('acp.config').setup(settings)
  require('acp.config').tell_host()
end

---Show a chat: the last used of this tab page, else of this Neovim, else a new one.
---@param opts? acp.ChatOpts
---@return boolean|nil
---@return string? reason
function M.chat(opts)
  return require('acp.chat.start').show(opts or {})
end

---Send text to the agent. During a turn, and while the agent starts, it is queued.
---@param text string
---@param opts? acp.SendOpts
---@return boolean|nil taken nil with a reason when it was not taken
---@return string? reason
function M.send(text, opts)
  opts = opts or {}
  if type(text) ~= 'string' or not text:find('%S') then
    return nil, 'nothing to send'
  end
  local registry = require('acp.chat')
  local chat
  if opts.chat then
    chat = registry.get(opts.chat)
  else
    chat = registry.current()
  end
  if opts.chat and not chat then
    return nil, 'no such chat'
  end
  if not chat then
    require('acp.chat.start').show({ focus = false }, function(new)
      M.send(text, vim.tbl_extend('force', opts, { chat = new.n }))
    end)
    return true
  end
  require('acp.chat.history').add(chat.cwd, text)
  local seq, mentions = require('acp.status').sent(chat.n, text), {}
  local written = require('acp.chat.mentions').written
  for _, context in ipairs(opts.context or {}) do
    table.insert(mentions, written(chat, context.path, context.first, context.last))
  end
  if #mentions > 0 then
    require('acp.chat.queue').give(chat.n, seq, table.concat(mentions, ' '))
  end
  require('acp.host').event('send', {
    chat = chat.n,
    text = text,
    context = opts.context or {},
    now = opts.now or false,
    spot = require('acp.spot').of(text, true),
    seq = seq,
  })
  return true
end

---Put the picture that is in the clipboard into the prompt of the current chat: as a file, mentioned there.
---@return boolean|nil
---@return string? reason
function M.paste_image()
  local chat = require('acp.chat').current()
  if not chat then
    return nil, 'there is no chat; :AcpChat opens one'
  end
  require('acp.chat.mentions').paste(chat)
  return true
end

---Cancel the turn of the current chat.
---@param opts? {queue?: boolean} `queue`: drop the queued prompts too
---@return boolean|nil
---@return string? reason
function M.cancel(opts)
  local chat = require('acp.chat').current()
  if not chat then
    return nil, 'there is no chat; :AcpChat opens one'
  end
  local queue = opts ~= nil and opts.queue or false
  local status = require('acp.status').raw(chat.n)
  local asking = status.asking or require('acp.options').pending(chat.n)
  local idle = (status.state == 'idle' or status.state == 'failed') and not asking
  if idle and require('acp.chat.prompt').queued(chat.n) == 0 then
    return nil, 'nothing runs that could be cancelled'
  end
  require('acp.status').cancelled(chat.n, queue)
  require('acp.host').event('cancel', { chat = chat.n, queue = queue })
  return true
end

---Ask something beside, in a new session that knows what was said in the current chat. That one goes on
---undisturbed, also while its turn runs.
---@param opts? {text?: string} `text`: what is asked at once
---@return boolean|nil
---@return string? reason
function M.fork(opts)
  local chat = require('acp.chat').current()
  if not chat then
    return nil, 'there is no chat to fork; :AcpChat opens one'
  end
  return require('acp.sessions').fork(chat, opts and opts.text)
end

---Follow the agent of the current chat to the files it works at.
---@param on? boolean nil: the other of what it is
---@return boolean|nil
---@return string? reason
function M.follow(on)
  return require('acp.follow').command(on == nil and 'toggle' or on and 'on' or 'off')
end

---Show a change of the current chat as a diff: what is proposed for a file, or was last done to it.
---@param path? string nil: of the open question, of the row under the cursor, else the last one
---@return boolean|nil
---@return string? reason
function M.diff(path)
  local chat = require('acp.chat').current()
  if not chat then
    return nil, 'there is no chat; :AcpChat opens one'
  end
  local obstacle = require('acp.cmdwin').obstacle()
  if obstacle then
    return nil, obstacle
  end
  local request = { chat = chat.n } ---@type acp.DiffRequest
  if path and path ~= '' then
    request.path = require('acp.diff.request').absolute(chat, path)
  else
    request = require('acp.diff.request').under_cursor(chat) or request
  end
  require('acp.diff').show(request)
  return true
end

---The options of the current chat: mode, model and what else its agent offers.
---@return acp.Option[]|nil
---@return string? reason
function M.options()
  local chat = require('acp.chat').current()
  local reason = require('acp.options').obstacle(chat)
  if reason or not chat then
    return nil, reason
  end
  return vim.deepcopy(require('acp.options').list(chat.n))
end

---Ask the agent of the current chat for another value of an option.
---@param id string the option's id, or its category
---@param value string|boolean
---@return boolean|nil asked nil with a reason when there is no such value
---@return string? reason
function M.set_option(id, value)
  return require('acp.options').set(require('acp.chat').current(), id, value)
end

---Show the sessions of all agents: those that are open here, and those the agents know from elsewhere. With a
---`callback` nothing is shown: it gets them, each with `open()`, and a line for each agent that gave none.
---@param opts? acp.SessionsOpts
---@return boolean|nil
---@return string? reason
function M.sessions(opts)
  if opts and opts.callback then
    return require('acp.sessions').collect(opts)
  end
  return require('acp.sessions.list').open(opts)
end

---Answer the question that is shown, else the oldest of the current chat; without a choice: open the picker.
---@param choice? string|integer kind of option, its number, `cancel` or `hide`
---@return boolean|nil
---@return string? reason
function M.permit(choice)
  return require('acp.question').permit(choice)
end

---The state of the chat of a buffer (0 = this one), or of the current chat.
---@param bufnr? integer
---@return acp.Status
function M.status(bufnr)
  return require('acp.status').get(bufnr)
end

---A component for a statusline; empty without a chat.
---@return string
function M.statusline()
  return require('acp.status').statusline()
end

---The winbar of a transcript, for those who want to set their own.
---@return string
function M.winbar()
  return require('acp.chat.winbar').current()
end

return M
