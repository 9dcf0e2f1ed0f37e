--- The prompt of a chat: an ordinary buffer the user writes in, with a placeholder and what waits.
local M = {}

local api = vim.api
local ns = api.nvim_create_namespace('acp.prompt')

---@class acp.PromptState
---@field lines? string[] what stands in the prompt, for when its buffer is gone before us
---@field watched? boolean the lines are kept up to date

local states = {} ---@type table<integer, acp.PromptState>

---@param chat acp.Chat
---@return string
function M.text(chat)
  return table.concat(require('acp.chat.restored').lines(chat.prompt), '\n')
end

---Whether nothing stands in the prompt.
---@param chat acp.Chat
---@return boolean
function M.is_empty(chat)
  if not api.nvim_buf_is_loaded(chat.prompt) then
    return M.text(chat) == ''
  end
  local lines = api.nvim_buf_get_lines(chat.prompt, 0, 2, false)
  return #lines == 1 and lines[1] == ''
end

---Keep a copy of a prompt's lines. Only what a key has changed is read: reading all of 20,000 lines at each
---key would keep it waiting for 10 ms.
---@param chat acp.Chat
---@param state acp.PromptState
local function copy(chat, state)
  if state.watched then
    return
  end
  state.lines, state.watched = api.nvim_buf_get_lines(chat.prompt, 0, -1, false), true
  api.nvim_buf_attach(chat.prompt, false, {
    on_lines = function(_, buf, _, first, last, new_last)
      local lines = state.lines --[[@as string[] ]]
      local come = api.nvim_buf_get_lines(buf, first, new_last, false)
      if new_last ~= last then
        local count = #lines
        table.move(lines, last + 1, count, new_last + 1)
        for i = count + new_last - last + 1, count do
          lines[i] = nil
        end
      end
      table.move(come, 1, #come, first + 1, lines)
      require('acp.chat.draft').changed(chat.n)
    end,
    on_detach = function()
      state.watched = nil
    end,
  })
end

---Put the cursor after the text.
---@param chat acp.Chat
function M.go_to_end(chat)
  local last = api.nvim_buf_line_count(chat.prompt)
  for _, win in ipairs(vim.fn.win_findbuf(chat.prompt)) do
    api.nvim_win_set_cursor(win, { last, #api.nvim_buf_get_lines(chat.prompt, last - 1, last, false)[1] })
  end
end

---Let a text stand in the prompt, and nothing else.
---@param chat acp.Chat
---@param text string
function M.put(chat, text)
  api.nvim_buf_set_lines(chat.prompt, 0, -1, false, vim.split(text, '\n', { plain = true }))
  M.go_to_end(chat)
end

---The prompts that wait. As long as none was sent or told of, nothing has loaded what keeps them.
---@param n integer
---@return acp.Queued[]
local function waiting(n)
  if #require('acp.status').raw(n).sent == 0 and not package.loaded['acp.chat.queue'] then
    return {}
  end
  return require('acp.chat.queue').list(n)
end

---Number of queued prompts.
---@param n integer
---@return integer
function M.queued(n)
  return #waiting(n)
end

---@param chat acp.Chat
---@param width integer cells
---@return string
local function placeholder(chat, width)
  local entry = require('acp.status').raw(chat.n)
  local name = entry.label or chat.agent
  if entry.state == 'failed' then
    local never = require('acp.host').status().state == 'failed'
    return 'The agent is not running: '
      .. (never and ':AcpInstall' or entry.login and ':AcpLogin' or ':AcpRestart')
  end
  if entry.pending > 0 then
    local inserting = api.nvim_get_mode().mode:find('^i') and api.nvim_get_current_buf() == chat.prompt
    return inserting and 'Answer above: <Esc>, then :AcpPermit'
      or 'Answer above: <CR> on a question, or :AcpPermit'
  end
  if entry.state == 'running' then
    local text = ('%s is working. What you send now is queued.'):format(name)
    if entry.can_steer then
      local whole = text:gsub('%.$', '; :AcpSend! steers.')
      local short = ('%s is working. Sending queues, :AcpSend! steers.'):format(name)
      text = vim.fn.strdisplaywidth(whole) <= width and whole or short
    end
    return text
  end
  return ('Ask %s%s   @ adds a file   / lists commands'):format(name, require('acp.icons').get().cut)
end

---The widest text area of the prompt's windows, in cells.
---@param chat acp.Chat
local function cells(chat)
  local wins = vim.fn.win_findbuf(chat.prompt)
  return wins[1] and api.nvim_win_get_width(wins[1]) or 80
end

---@param i integer
---@param item acp.Queued
---@param here acp.Older? in the prompt
---@return string
local function queued_row(i, item, here)
  local what = item.steering and 'steering' or ('queued %d'):format(i)
  if here and here.id == item.id then
    what = what .. ' (in the prompt)'
  end
  return ('%s %s  %s'):format(require('acp.icons').get().queue, what, require('acp.message').plain(item.text))
end

---Draw placeholder, unsaved edits and queue again, and give the window the height they need.
---@param n integer chat
function M.refresh(n)
  local chat, state = require('acp.chat').get(n), states[n]
  if not chat or not state or not api.nvim_buf_is_loaded(chat.prompt) then
    return
  end
  local message = require('acp.message')
  api.nvim_buf_clear_namespace(chat.prompt, ns, 0, -1)
  local last = api.nvim_buf_line_count(chat.prompt) - 1
  copy(chat, state)
  local rows, width = {}, cells(chat)
  if M.is_empty(chat) then
    api.nvim_buf_set_extmark(chat.prompt, ns, 0, 0, {
      virt_text = { { message.plain(placeholder(chat, width)), 'AcpHint' } },
      virt_text_pos = 'overlay',
    })
  end
  local blind = require('acp.status').raw(n).blind
  local unsaved = blind
    and require('acp.chat.unsaved').row(chat, require('acp.chat.mentions').paths(n), width)
  if unsaved then
    table.insert(rows, unsaved)
  end
  for i, item in ipairs(waiting(n)) do
    local here = require('acp.chat.walk').here(n)
    table.insert(rows, { { message.cut(queued_row(i, item, here), width), 'AcpQueued' } })
  end
  if #rows > 0 then
    api.nvim_buf_set_extmark(chat.prompt, ns, last, 0, { virt_lines = rows })
  end
  require('acp.chat.windows').fit(chat)
  require('acp.chat.draft').changed(n)
end

---The host tells which prompts are queued.
---@param n integer
---@param list acp.Queued[]
---@param seen integer number of the last send or change the host has handled
function M.queue(n, list, seen)
  local chat = require('acp.chat').get(n)
  if not states[n] or not chat then
    return
  end
  require('acp.chat.queue').told(n, list, seen)
  require('acp.chat.walk').told(chat)
  M.refresh(n)
end

---What the user has changed of a queued prompt came when that had gone out already.
---@param n integer
---@param text string the changed text; empty: it was to be dropped, moved or sent at once
function M.missed(n, text)
  local back = text:find('%S') and '; your change is in the prompt, as a new one' or ''
  require('acp.message').warn('that prompt did not wait any more' .. back)
  if back ~= '' then
    M.restore(n, text)
  end
end

---What could not be sent goes back on top of what is in the prompt.
---@param n integer
---@param text string of these prompts
---@param ids? integer[]
function M.restore(n, text, ids)
  local chat = require('acp.chat').get(n)
  if not chat then
    return
  end
  local queue = require('acp.chat.queue')
  for _, id in ipairs(ids or {}) do
    text = queue.whole(n, id, text)
  end
  queue.arrived(n, ids or {})
  require('acp.chat.walk').stop(chat)
  local now = M.text(chat)
  if now == text then
    return
  end
  if now == '' then
    M.put(chat, text)
  else
    api.nvim_buf_set_lines(chat.prompt, 0, 0, false, vim.split(text, '\n', { plain = true }))
  end
  M.refresh(n)
  require('acp.chat.mentions').changed(chat)
end

---The host is gone: what was queued or on its way comes back.
---@param n integer
---@param sent {seq: integer, text: string}[] what it had not taken
---@return boolean whether there was something
function M.give_back(n, sent)
  local chat = require('acp.chat').get(n)
  if not states[n] or not chat then
    return false
  end
  local texts = require('acp.chat.queue').take(n, sent)
  require('acp.chat.walk').told(chat)
  if #texts > 0 then
    M.restore(n, table.concat(texts, '\n'))
  end
  M.refresh(n)
  return #texts > 0
end

---Lines that are in no file, as they stand in a prompt, with the name of where they are from.
---@param context acp.Context
---@return string
function M.quote(context)
  local fence = '```'
  while context.text:find(fence, 1, true) do
    fence = fence .. '`'
  end
  local from = context.source and ('From %s:\n'):format(context.source) or ''
  return ('%s%s\n%s\n%s'):format(from, fence, context.text, fence)
end

---Put lines into the prompt: a mention, if they are of a file, else their text. `first` nil: all lines.
---@param chat acp.Chat
---@param context acp.Context
function M.add_context(chat, context)
  local mention
  if context.path then
    local written = require('acp.chat.mentions').written
    mention = written(chat, context.path, context.first, context.last) .. ' '
  else
    mention = M.quote(context) .. '\n'
  end
  local now = M.text(chat)
  local gap = (now == '' or now:match('%s$')) and '' or context.path and ' ' or '\n'
  M.put(chat, now .. gap .. mention)
  M.refresh(chat.n)
  require('acp.chat.mentions').changed(chat)
end

---Send what is in the prompt: a queued one that was walked to takes its new text, and goes when it is empty.
---The text goes only when it was taken.
---@param chat acp.Chat
---@param now? boolean into the running turn, or instead of it
---@return boolean sent
function M.send(chat, now)
  local text, older = M.text(chat), require('acp.chat.walk').here(chat.n)
  local blank, queue = not text:find('%S'), require('acp.chat.queue')
  if older and older.id and queue.waits(chat.n, older.id) then
    if now or text ~= older.text then
      queue.change(chat, older.id, { text = text ~= older.text and text or nil, now = now and not blank })
    end
    if not blank then
      require('acp.chat.history').add(chat.cwd, text)
    else
      require('acp.message').info('taken out of the queue')
    end
  elseif blank then
    return false
  else
    if not require('acp').send(text, { now = now, chat = chat.n }) then
      return false
    end
  end
  require('acp.chat.walk').sent(chat)
  M.refresh(chat.n)
  require('acp.chat.windows').to_end(chat)
  return true
end

---Walk through the older prompts: those that wait, then those that were sent.
---@param chat acp.Chat
---@param step integer how many, negative: older
function M.walk(chat, step)
  require('acp.chat.walk').go(chat, step)
  M.refresh(chat.n)
  vim.cmd.redrawstatus()
end

---What the user has written and no agent has begun: the queue, and the text in the prompt.
---@param chat acp.Chat
---@return string
function M.unsent(chat)
  local state = states[chat.n]
  local text = M.text(chat)
  if text == '' and not api.nvim_buf_is_loaded(chat.prompt) then
    -- A Neovim that is killed, or whose terminal is closed, closes its buffers before it says that it leaves.
    text = table.concat(state.lines or {}, '\n')
  end
  return table.concat(require('acp.chat.walk').unsent(chat.n, text), '\n')
end

---Begin with a chat's prompt.
---@param chat acp.Chat
function M.attach(chat)
  states[chat.n] = {}
end

---The options of a prompt's buffer.
---@param chat acp.Chat
function M.equip(chat)
  local set = vim.bo[chat.prompt]
  if vim.fn.has('nvim-0.11') == 1 then
    set.completeopt = 'menuone,noselect,popup'
  end
  set.textwidth = 0
  set.omnifunc = "v:lua.require'acp.chat.complete'.omni"
  if vim.fn.exists('+autocomplete') == 1 and require('acp.chat.watch').automatic() then
    set.autocomplete = false -- its words would stand where ours are to come
  end
  M.refresh(chat.n)
end

---A chat ended.
---@param n integer
function M.drop(n)
  states[n] = nil
  require('acp.chat.queue').drop(n)
  require('acp.chat.walk').drop(n)
  require('acp.chat.complete').drop(n)
  require('acp.chat.mentions').drop(n)
end

return M
