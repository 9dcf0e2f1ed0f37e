--- What the keys of transcript, prompt, proposal and terminal do.
local M = {}

local api = vim.api
local tell = require('acp.message').refused

---@param chat acp.Chat
---@param how 'insert'|'append'|'line'
local function to_prompt(chat, how)
  require('acp.chat.windows').open(chat, true)
  local last = api.nvim_buf_line_count(chat.prompt)
  if how == 'line' and not require('acp.chat.prompt').is_empty(chat) then
    api.nvim_buf_set_lines(chat.prompt, last, last, false, { '' })
    api.nvim_win_set_cursor(0, { last + 1, 0 })
  elseif how == 'append' then
    api.nvim_win_set_cursor(0, { last, 0 })
    vim.cmd('startinsert!')
    return
  end
  vim.cmd('startinsert')
end

---Move to the user's prompt before or after the cursor.
---@param chat acp.Chat
---@param step integer how many, -1 is the one before
local function jump(chat, step)
  local row, before, after = api.nvim_win_get_cursor(0)[1] - 1, {}, {}
  for block in require('acp.chat.transcript').blocks(chat.buf, 'user') do
    local at = block.first + (block.deco.lead or 0)
    if at < row then
      table.insert(before, 1, at)
    elseif at > row then
      table.insert(after, at)
    end
  end
  local list = step < 0 and before or after
  local target = list[math.min(math.abs(step), #list)]
  if not target then
    return
  end
  vim.cmd("normal! m'")
  api.nvim_win_set_cursor(0, { target + 1, 0 })
end

---@param chat acp.Chat
---@param key string
---@return boolean whether there was a link
local function follow_link(chat, key)
  local row, col = unpack(api.nvim_win_get_cursor(0))
  local link = require('acp.chat.transcript').link_at(api.nvim_get_current_buf(), row - 1, col)
  if link and link.path then
    require('acp.chat.show').file(link.path, link.line)
    return true
  elseif link and link.item then
    require('acp.content').ask(chat, link, key == 'gf' and 'file' or 'open')
    return true
  elseif key == 'gf' then
    local path = vim.fn.expand('<cfile>')
    local full = vim.fs.normalize(vim.fs.joinpath(chat.cwd, path))
    if vim.startswith(path, '/') or vim.startswith(path, '~') then
      full = vim.fs.normalize(path)
    end
    if path == '' or vim.fn.filereadable(full) == 0 then
      return false
    end
    require('acp.chat.show').file(full, nil)
    return true
  end
  return false
end

---Whether the line under the cursor stands for content of the agent: a picture, a link.
---@return boolean
local function content_here()
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local link = require('acp.chat.transcript').link_at(api.nvim_get_current_buf(), row)
  return link ~= nil and link.item ~= nil
end

---@param choice string
local function permit(choice)
  return function()
    tell(require('acp.question').permit(choice, { key = true }))
  end
end

---@param id string?
local function pick_option(id)
  return function()
    require('acp.commands').options({ args = id or '' })
  end
end

local function cancel()
  require('acp.commands').cancel({})
end

---@param how 'insert'|'append'|'line'
---@param desc string
---@return acp.chat.Action
local function write(how, desc)
  return {
    desc = desc,
    modes = { 'n' },
    run = function(chat)
      to_prompt(chat, how)
    end,
  }
end

---@param group 'transcript'|'prompt'|'diff'|'terminal'
---@return acp.chat.Action
local function help(group)
  return {
    desc = 'these keys',
    modes = { 'n' },
    run = function()
      require('acp.chat.show').keys(group)
    end,
  }
end

---@class acp.chat.Action
---@field desc string
---@field modes string[]
---@field run fun(chat: acp.Chat)

---By the group of the settings' `keymaps`, and by name.
---@type table<string, table<string, acp.chat.Action>>
M.all = {
  transcript = {
    open = {
      desc = 'open what is here: question, file, details',
      modes = { 'n' },
      run = function(chat)
        local block = require('acp.chat.transcript').block_at(chat.buf, api.nvim_win_get_cursor(0)[1] - 1)
        local change = require('acp.diff.request').under_cursor(chat)
        if content_here() then
          follow_link(chat, '<CR>')
        elseif block and block.deco.question then
          require('acp.question').pick(block.deco.question)
        elseif change then
          require('acp.diff').show(change)
        elseif require('acp.terminal').under_cursor(chat) then
          require('acp.terminal').open(chat, require('acp.terminal').under_cursor(chat))
        elseif not follow_link(chat, '<CR>') then
          if vim.fn.foldclosed('.') ~= -1 then
            vim.cmd('normal! zo')
          else
            require('acp.chat.show').ask_details(chat)
          end
        end
      end,
    },
    file = {
      desc = 'open the file of this row',
      modes = { 'n' },
      run = function(chat)
        if not follow_link(chat, 'gf') then
          require('acp.message').info('no file here')
        end
      end,
    },
    url = {
      desc = 'open the address under the cursor (asks)',
      modes = { 'n' },
      run = function(chat)
        local col = api.nvim_win_get_cursor(0)[2] + 1
        local url = require('acp.url').at(api.nvim_get_current_line(), col)
        if content_here() then
          follow_link(chat, '<CR>')
        elseif url then
          require('acp.content').ask_address(chat, url)
        else
          require('acp.message').info('no address here')
        end
      end,
    },
    details = {
      desc = 'details of this block',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.show').ask_details(chat)
      end,
    },
    cancel_item = {
      desc = 'cancel what runs here, where the agent can',
      modes = { 'n' },
      run = function(chat)
        local block = require('acp.chat.transcript').block_at(chat.buf, api.nvim_win_get_cursor(0)[1] - 1)
        if block then
          require('acp.host').event('cancel_item', { chat = chat.n, block = block.id, row = block.row })
        end
      end,
    },
    previous = {
      desc = 'previous prompt',
      modes = { 'n', 'x' },
      run = function(chat)
        jump(chat, -vim.v.count1)
      end,
    },
    next = {
      desc = 'next prompt',
      modes = { 'n', 'x' },
      run = function(chat)
        jump(chat, vim.v.count1)
      end,
    },
    outline = {
      desc = 'list of prompts',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.show').outline(chat)
      end,
    },
    insert = write('insert', 'write in the prompt'),
    append = write('append', 'write at the end of the prompt'),
    line = write('line', 'write on a new line of the prompt'),
    close = {
      desc = 'close the chat; the session goes on',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.windows').close(chat)
      end,
    },
    help = help('transcript'),
  },
  prompt = {
    -- The undo breaks keep what is written before and after the send apart from it: `u` brings the text back.
    send = {
      desc = 'send',
      modes = { 'n', 'i' },
      run = function(chat)
        require('acp.chat.prompt').send(chat)
      end,
    },
    send_normal = {
      desc = 'send',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.prompt').send(chat)
      end,
    },
    send_now = {
      desc = 'send at once: into the running turn, or instead of it',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.prompt').send(chat, true)
      end,
    },
    previous = {
      desc = 'older prompt: what is queued first; sending it changes it there',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.prompt').walk(chat, -vim.v.count1)
      end,
    },
    next = {
      desc = 'newer prompt',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.prompt').walk(chat, vim.v.count1)
      end,
    },
    history = {
      desc = 'choose one of the older prompts of this folder',
      modes = { 'n' },
      run = function()
        require('acp.commands').history({ args = '' })
      end,
    },
    queue = {
      desc = 'the queue: change, order, send at once, take out',
      modes = { 'n' },
      run = function()
        require('acp.commands').queue({ args = '' })
      end,
    },
    write_unsaved = {
      desc = 'write what the agent does not see: unsaved edits',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.unsaved').write(chat)
      end,
    },
    attach_unsaved = {
      desc = 'attach what the agent does not see: unsaved edits',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.unsaved').attach(chat)
      end,
    },
    paste_image = {
      desc = 'put the picture of the clipboard in',
      modes = { 'n' },
      run = function(chat)
        require('acp.chat.mentions').paste(chat)
      end,
    },
    help = help('prompt'),
  },
  diff = {
    close = {
      desc = 'close the diff; the question stays open',
      modes = { 'n' },
      run = function()
        require('acp.diff').quit()
      end,
    },
    help = help('diff'),
  },
  terminal = {
    insert = write('insert', 'write in the prompt'),
    append = write('append', 'write at the end of the prompt'),
    close = {
      desc = 'close the terminal; the command goes on',
      modes = { 'n' },
      run = function()
        require('acp.terminal').close()
      end,
    },
    help = help('terminal'),
  },
  both = {
    allow_once = { desc = 'allow once', modes = { 'n' }, run = permit('allow_once') },
    allow_always = { desc = 'allow always', modes = { 'n' }, run = permit('allow_always') },
    reject_once = { desc = 'reject', modes = { 'n' }, run = permit('reject_once') },
    reject_always = { desc = 'reject always', modes = { 'n' }, run = permit('reject_always') },
    follow = {
      desc = 'follow the agent, or not',
      modes = { 'n' },
      run = function(chat)
        local follow = require('acp.follow')
        follow.set(chat, not follow.on(chat))
      end,
    },
    mode = { desc = 'choose the mode', modes = { 'n' }, run = pick_option('mode') },
    model = { desc = 'choose the model', modes = { 'n' }, run = pick_option('model') },
    options = { desc = 'choose an option', modes = { 'n' }, run = pick_option() },
    next_mode = {
      desc = 'the next mode',
      modes = { 'n', 'i' },
      run = function(chat)
        tell(require('acp.options').next_mode(chat))
      end,
    },
    cancel = { desc = 'cancel the turn', modes = { 'n' }, run = cancel },
    fork = {
      desc = 'ask something beside, in a session that knows this chat',
      modes = { 'n' },
      run = function(chat)
        tell(require('acp.sessions').fork(chat))
      end,
    },
    diff = {
      desc = 'the change as a diff; there, its next file',
      modes = { 'n' },
      run = function(chat)
        require('acp.diff').show(require('acp.diff.request').under_cursor(chat) or { chat = chat.n })
      end,
    },
  },
}

---The order in which `g?` lists them.
---@type table<string, string[]>
M.order = {
  transcript = {
    'open',
    'file',
    'url',
    'details',
    'cancel_item',
    'previous',
    'next',
    'outline',
    'insert',
    'append',
    'line',
    'close',
    'help',
  },
  diff = { 'close', 'help' },
  terminal = { 'insert', 'append', 'close', 'help' },
  prompt = {
    'send',
    'send_normal',
    'send_now',
    'previous',
    'next',
    'history',
    'queue',
    'write_unsaved',
    'attach_unsaved',
    'paste_image',
    'help',
  },
  both = {
    'allow_once',
    'allow_always',
    'reject_once',
    'reject_always',
    'cancel',
    'fork',
    'diff',
    'follow',
    'mode',
    'model',
    'options',
    'next_mode',
  },
}

---Those of `both` that answer a question.
M.kinds = { 'allow_once', 'allow_always', 'reject_once', 'reject_always' }

---Those of `both` that a proposal has.
M.answers = { 'allow_once', 'allow_always', 'reject_once', 'reject_always', 'diff' }

return M
