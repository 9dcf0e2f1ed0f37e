--- The autocommands of chats. What they do is loaded when it is done: a new chat is to be on the screen soon.
local M = {}

local api = vim.api
local group = api.nvim_create_augroup('acp.chat', {})

local plugin ---@type string? the completion plugin that has our source

---A completion plugin has our source: it offers from now on.
---@param name string
function M.hand_over(name)
  plugin = name
end

---Whether items come up as the user types.
---@return boolean
function M.automatic()
  local how = require('acp.config').get().chat.complete
  return how == 'always' or (how == 'auto' and not plugin)
end

---@param events string|string[]
---@param pattern string?
---@param run fun(args: table)
local function anywhere(events, pattern, run)
  api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = run })
end

---@param buf integer
---@param events string|string[]
---@param run fun(args: table)
local function on(buf, events, run)
  api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = run })
end

local watching = false

---What is not about one chat, from the first chat on.
local function start()
  if watching then
    return
  end
  watching = true
  local spot = require('acp.spot')
  spot.note()
  anywhere({ 'BufEnter', 'WinEnter' }, nil, spot.note)
  anywhere({ 'FocusLost', 'FocusGained' }, nil, function(args)
    require('acp.notices').focus(args.event == 'FocusGained')
  end)
  anywhere('User', 'AcpTurnEnd', function(args)
    local chat = type(args.data) == 'table' and require('acp.chat').of(args.data.bufnr)
    if chat then
      require('acp.notices').turn_ended(chat, args.data)
    end
  end)
  -- What agents take is known when their sessions are: then look again at what was typed before.
  anywhere('User', 'AcpSession', function(args)
    local chat = require('acp.chat').of(args.data.bufnr)
    if chat then
      require('acp.chat.mentions').changed(chat)
    end
  end)
  anywhere(
    { 'BufModifiedSet', 'BufDelete', 'BufFilePost' },
    nil,
    vim.schedule_wrap(function()
      for _, chat in ipairs(require('acp.chat').list()) do
        if require('acp.status').raw(chat.n).blind and #vim.fn.win_findbuf(chat.prompt) > 0 then
          require('acp.chat.prompt').refresh(chat.n)
        end
      end
    end)
  )
end

---The text of a prompt may have changed, or what its notes speak of.
---@param chat acp.Chat
local function look(chat)
  local prompt = require('acp.chat.prompt')
  prompt.refresh(chat.n)
  if package.loaded['acp.chat.mentions'] or not prompt.is_empty(chat) then
    require('acp.chat.mentions').changed(chat)
  end
end

---@param chat acp.Chat
local function watch_prompt(chat)
  on(chat.prompt, { 'BufWinEnter', 'BufEnter' }, function()
    look(chat)
  end)
  on(chat.prompt, { 'TextChanged', 'TextChangedI', 'TextChangedP' }, function(args)
    look(chat)
    require('acp.chat.hint').draw(chat)
    if args.event ~= 'TextChanged' and M.automatic() then
      require('acp.chat.complete').changed(chat)
    end
  end)
  on(chat.prompt, 'CompleteDone', function()
    require('acp.chat.complete').done(chat)
  end)
  on(chat.prompt, 'InsertLeave', function()
    require('acp.chat.complete').left()
  end)
end

---@param chat acp.Chat
---@param buf integer its transcript, or its prompt
local function watch_both(chat, buf)
  on(buf, { 'BufEnter', 'WinEnter' }, function()
    require('acp.chat').focused(chat)
    vim.schedule(function()
      if buf == chat.buf and api.nvim_get_current_buf() == buf and api.nvim_get_mode().mode == 'i' then
        vim.cmd.stopinsert() -- from the prompt by mouse: nothing can be typed here
      end
    end)
  end)
  on(buf, 'BufWinEnter', function()
    require('acp.chat.windows').redirect(chat)
  end)
  on(buf, 'BufUnload', function()
    local restored = require('acp.chat.restored')
    restored.keep(chat, buf)
    vim.schedule(function()
      if require('acp.chat').get(chat.n) ~= chat then
        return
      end
      -- `:edit` has loaded it again; `:bdelete` closes the chat, and only `:bwipeout` ends it.
      if api.nvim_buf_is_valid(buf) then
        restored.revive(chat, buf)
      else
        require('acp.chat').finish(chat)
      end
    end)
  end)
  on(buf, { 'BufWriteCmd', 'FileWriteCmd', 'FileAppendCmd' }, function(args)
    require('acp.chat.export').write(chat, args)
  end)
  local own = api.nvim_buf_get_name(buf)
  on(buf, 'BufFilePost', function()
    require('acp.name').renamed(buf, own, require('acp.chat.export').HINT)
  end)
  on(buf, 'CmdlineLeave', function()
    require('acp.chat.export').explain()
  end)
end

---A chat's buffers are there.
---@param chat acp.Chat
function M.chat(chat)
  start()
  watch_prompt(chat)
  watch_both(chat, chat.buf)
  watch_both(chat, chat.prompt)
end

return M
