--- What the keys of transcript, prompt, proposal and terminal do: a function for each purpose of
--- `chat/purposes.lua`. Loaded with the first key.
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
---@return fun(chat: acp.Chat)
local function write(how)
  return function(chat)
    to_prompt(chat, how)
  end
end

---@param group 'transcript'|'prompt'|'diff'|'terminal'
---@return fun()
local function help(group)
  return function()
    require('acp.chat.show').keys(group)
  end
end

---By the group of the settings' `keymaps`, and by name.
---@type table<string, table<string, fun(chat: acp.Chat)>>
return {
  transcript = {
    open = function(chat)
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
    file = function(chat)
      if not follow_link(chat, 'gf') then
        require('acp.message').info('no file here')
      end
    end,
    url = function(chat)
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
    details = function(chat)
      require('acp.chat.show').ask_details(chat)
    end,
    cancel_item = function(chat)
      local block = require('acp.chat.transcript').block_at(chat.buf, api.nvim_win_get_cursor(0)[1] - 1)
      if block then
        require('acp.host').event('cancel_item', { chat = chat.n, block = block.id, row = block.row })
      end
    end,
    previous = function(chat)
      jump(chat, -vim.v.count1)
    end,
    next = function(chat)
      jump(chat, vim.v.count1)
    end,
    outline = function(chat)
      require('acp.chat.show').outline(chat)
    end,
    insert = write('insert'),
    append = write('append'),
    line = write('line'),
    close = function(chat)
      require('acp.chat.windows').close(chat)
    end,
    help = help('transcript'),
  },
  prompt = {
    send = function(chat)
      require('acp.chat.prompt').send(chat)
    end,
    send_normal = function(chat)
      require('acp.chat.prompt').send(chat)
    end,
    send_now = function(chat)
      require('acp.chat.prompt').send(chat, true)
    end,
    previous = function(chat)
      require('acp.chat.prompt').walk(chat, -vim.v.count1)
    end,
    next = function(chat)
      require('acp.chat.prompt').walk(chat, vim.v.count1)
    end,
    history = function()
      require('acp.commands').history({ args = '' })
    end,
    queue = function()
      require('acp.commands').queue({ args = '' })
    end,
    write_unsaved = function(chat)
      require('acp.chat.unsaved').write(chat)
    end,
    attach_unsaved = function(chat)
      require('acp.chat.unsaved').attach(chat)
    end,
    paste_image = function(chat)
      require('acp.chat.mentions').paste(chat)
    end,
    help = help('prompt'),
  },
  diff = {
    close = function()
      require('acp.diff').quit()
    end,
    help = help('diff'),
  },
  terminal = {
    insert = write('insert'),
    append = write('append'),
    close = function()
      require('acp.terminal').close()
    end,
    help = help('terminal'),
  },
  both = {
    allow_once = permit('allow_once'),
    allow_always = permit('allow_always'),
    reject_once = permit('reject_once'),
    reject_always = permit('reject_always'),
    follow = function(chat)
      local follow = require('acp.follow')
      follow.set(chat, not follow.on(chat))
    end,
    mode = pick_option('mode'),
    model = pick_option('model'),
    options = pick_option(),
    next_mode = function(chat)
      tell(require('acp.options').next_mode(chat))
    end,
    cancel = cancel,
    fork = function(chat)
      tell(require('acp.sessions').fork(chat))
    end,
    diff = function(chat)
      require('acp.diff').show(require('acp.diff.request').under_cursor(chat) or { chat = chat.n })
    end,
  },
}
