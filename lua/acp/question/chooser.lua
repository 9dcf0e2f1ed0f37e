--- The keys of a card that was entered. Deaf at first, until the keyboard rests: what was typed for something
--- else answers nothing, and is not lost if it was text.
local M = {}

local api, uv = vim.api, vim.uv
local calm = require('acp.question.calm')
local ns = api.nvim_create_namespace('acp.chooser')

M.DEAF_MS = 250

---@class acp.ChooserActions
---@field answer fun(index: integer)
---@field permit fun(kind: string) the only option of this kind, or say why not
---@field dismiss fun()
---@field type? fun(keys: string): boolean takes a key typed while deaf, if it is text

-- By rows of the screen: reading down passes all of a line that is taller than the window.
local steps = {
  j = 'gj',
  k = 'gk',
  G = 'G',
  ['<Down>'] = 'gj',
  ['<Up>'] = 'gk',
  ['<C-n>'] = 'gj',
  ['<C-p>'] = 'gk',
  ['<LeftMouse>'] = '<LeftMouse>',
}

-- Keys of Normal mode that would only say that the text cannot be changed, or start something else here.
local useless = 'iIaAoOcCsSdDxXpPrRuUJ.~<>=!&Q@KZnN'

---@return string[] every key a hand may rest on
local function all_keys()
  local keys = { '<CR>', '<Esc>', '<Tab>', '<BS>', '<Del>', '<Up>', '<Down>', '<Left>', '<Right>', '<Space>' }
  for byte = 33, 126 do
    local char = string.char(byte)
    table.insert(keys, char == '<' and '<lt>' or char == '|' and '<Bar>' or char)
  end
  for byte = 97, 122 do
    if byte ~= 99 then
      table.insert(keys, ('<C-%s>'):format(string.char(byte)))
    end
  end
  return keys
end

---@param buf integer
---@param key string
---@param action fun()|string
---@param desc? string
local function map(buf, key, action, desc)
  vim.keymap.set('n', key, action, { buffer = buf, nowait = true, desc = desc and 'acp: ' .. desc })
end

---Tells what the key that is typed now can mean. Prose has digits in it, letters that move the cursor, and a
---`<CR>` at its end: so `<CR>` answers right after a step to an option, and other keys do so unless a letter
---came just before.
---@param buf integer
---@return fun(): boolean stepped
---@return fun(): boolean alone
local function meaning(buf)
  local own, last, before = {}, { keys = '', at = 0 }, { keys = '', at = 0 }
  for key in pairs(steps) do
    own[vim.keycode(key)] = true
  end
  vim.on_key(function(_, typed)
    if typed and typed ~= '' and vim.fn.keytrans(typed) ~= '<MouseMove>' then
      last, before = { keys = typed, at = uv.now() }, last
    end
  end, ns)
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    once = true,
    callback = function()
      vim.on_key(nil, ns)
    end,
  })
  return function()
    return own[before.keys] == true
  end, function()
    local text = before.keys:find('^[ -~]+$') and not own[before.keys]
    return not text or uv.now() - before.at >= calm.QUIET_MS
  end
end

---@param card acp.Card
---@param actions acp.ChooserActions
local function listen(card, actions)
  local buf, question = card.buf, card.question
  local stepped, alone = meaning(buf)
  for _, key in ipairs(all_keys()) do
    pcall(vim.keymap.del, 'n', key, { buffer = buf })
  end
  for char in useless:gmatch('.') do
    map(buf, char == '<' and '<lt>' or char, function() end) -- of <Nop> nobody would hear
  end
  map(buf, 'gx', '<Nop>') -- an address in a question is there to be read
  local function answer(index)
    require('acp.question.card').refresh()
    if question.whole and question.options[index] then
      actions.answer(index)
    end
  end
  require('acp.chat.keys').attach_chooser(buf, function(kind)
    require('acp.question.card').refresh()
    if question.whole and alone() then
      actions.permit(kind)
    end
  end)
  for i = 1, 9 do
    map(buf, tostring(i), function()
      if alone() then
        answer(i)
      end
    end, 'answer')
  end
  map(buf, '<CR>', function()
    if stepped() then
      answer(api.nvim_win_get_cursor(card.win)[1] - card.count - 1)
    end
  end, 'answer with this option')
  for key, step in pairs(steps) do
    map(buf, key, step)
  end
  map(buf, 'q', actions.dismiss, 'keep the question open')
  map(buf, '<Esc>', actions.dismiss, 'keep the question open')
  map(buf, '?', function()
    local help = require('acp.chat.show').float({
      ' 1-9      answer with this option ',
      ' j k <CR> go to an option, answer with it ',
      ' q <Esc>  keep the question open ',
      ' :AcpPermit cancel  refuse ',
    }, 'keys', { keys = { '?' } })
    api.nvim_win_set_config(help, { zindex = 70 })
  end, 'these keys')
end

---Deaf: a key does nothing, unless it is text that belongs elsewhere.
---@param buf integer
---@param actions acp.ChooserActions
local function listen_to_nothing(buf, actions)
  local waiting = '' -- characters that no mapping can stand for, typed and not looked at
  local function take(keys)
    calm.typed()
    keys, waiting = waiting .. keys, ''
    if keys ~= '' and actions.type then
      actions.type(keys)
    end
  end
  for _, key in ipairs(all_keys()) do
    local text = vim.keycode(key)
    map(buf, key, function()
      take(text:find('^[ -~]$') and text or '')
    end)
  end
  if not actions.type then
    return
  end
  vim.on_key(function(_, typed)
    if not typed or not typed:find('^[\194-\244]') or api.nvim_get_current_buf() ~= buf then
      return
    end
    -- In Normal mode it does nothing. Not here: nothing may be changed while a key is looked at.
    waiting = waiting .. typed:gsub('\128\254X', '\128')
    vim.schedule(function()
      if waiting ~= '' then
        take('')
      end
    end)
  end, ns)
end

---Called when the window has been entered.
---@param card acp.Card
---@param actions acp.ChooserActions
function M.enter(card, actions)
  local buf = card.buf
  listen_to_nothing(buf, actions)
  local blank = card.count + 1
  local fits = api.nvim_win_text_height(card.win, {}).all <= api.nvim_win_get_height(card.win)
  -- A long text is read from its beginning.
  api.nvim_win_set_cursor(card.win, { fits and blank or 1, 0 })
  local timer = assert(uv.new_timer())
  timer:start(
    M.DEAF_MS,
    20,
    vim.schedule_wrap(function()
      if timer:is_closing() then
        return
      end
      local gone = not api.nvim_buf_is_valid(buf)
      local here = not gone and api.nvim_get_current_buf() == buf
      -- Keys that came in meanwhile and have not been looked at yet are not for us either.
      if here and (calm.remaining() > 0 or vim.fn.getchar(1) ~= 0) then
        return
      end
      timer:stop()
      timer:close()
      vim.on_key(nil, ns)
      if here then
        listen(card, actions)
      end
    end)
  )
end

return M
