--- Ask the user to pick one of a few names: their own `vim.ui.select` if they have one, else a float.
local M = {}

local api = vim.api

---@class acp.ChooseOpts
---@field prompt string
---@field kind string
---@field format_item? fun(item: any): string default: tostring

---Whether `vim.ui.select` is the user's. The built-in one blocks Neovim (0.10) and scrolls the screen up.
---@return boolean
function M.replaced()
  local source = debug.getinfo(vim.ui.select, 'S').source
  return not source:find('vim[/\\]ui%.lua$')
end

---@param items any[]
---@param opts acp.ChooseOpts
---@param done fun(item: any)
local function float(items, opts, done)
  local lines = {}
  for i, item in ipairs(items) do
    lines[i] = (' %d  %s '):format(i, require('acp.message').plain(opts.format_item(item)))
  end
  vim.cmd.stopinsert() -- a float entered from Insert mode would stay in it
  local footer = ('1-%d or <CR> picks · q leaves'):format(math.min(#items, 9))
  if require('acp.icons').kind() == 'ascii' then
    footer = footer:gsub(' ·', ',')
  end
  local win, buf = require('acp.chat.show').float(lines, opts.prompt, {
    enter = true,
    centre = true,
    footer = footer,
  })
  local answered = false
  local function answer(item)
    if answered then
      return
    end
    answered = true
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
    vim.schedule(function()
      done(item)
    end)
  end
  local function map(key, run)
    vim.keymap.set('n', key, run, { buffer = buf, nowait = true, desc = 'acp: choose' })
  end
  for i, item in ipairs(items) do
    if i < 10 then
      map(tostring(i), function()
        answer(item)
      end)
    end
  end
  map('<CR>', function()
    answer(items[api.nvim_win_get_cursor(win)[1]])
  end)
  for _, key in ipairs({ 'q', '<Esc>' }) do
    map(key, function()
      answer(nil)
    end)
  end
  api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    once = true,
    callback = function()
      answer(nil)
    end,
  })
end

---@param items any[]
---@param opts acp.ChooseOpts
---@param done fun(item: any) called once; nil: the user picked nothing
function M.one(items, opts, done)
  opts = vim.tbl_extend('keep', opts, { format_item = tostring })
  if M.replaced() then
    vim.ui.select(items, opts, done)
  else
    float(items, opts, done)
  end
end

return M
