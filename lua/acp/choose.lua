--- Ask the user to pick one of a few names: their own `vim.ui.select` if they have one, else a float.
local M = {}

local api = vim.api

local NS = api.nvim_create_namespace('acp.choose')

---@class acp.ChooseOpts
---@field prompt string
---@field kind string
---@field lines? string[] what the user has to read first; then always our own float, which shows all of it
---@field format_item? fun(item: any): string default: tostring
---@field group? fun(item: any): string? heading above the items that have it in common
---@field hang? integer cells of an item's text below which its second line begins
---@field current? integer the item that holds now: the cursor begins there

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
  local plain = require('acp.message').plain
  local lines, at, row_of, group = {}, {}, {}, nil -- the item of each line; the line of each item
  for _, line in ipairs(opts.lines or {}) do
    table.insert(lines, plain(line))
  end
  if #lines > 0 then
    table.insert(lines, '')
  end
  local above = #lines
  for i, item in ipairs(items) do
    local heading = opts.group and opts.group(item) or nil
    if heading and heading ~= group then
      table.insert(lines, (' %s '):format(plain(heading)))
    end
    group = heading
    table.insert(lines, (' %' .. #tostring(#items) .. 'd  %s '):format(i, plain(opts.format_item(item))))
    at[#lines], row_of[i] = i, #lines
  end
  vim.cmd.stopinsert() -- a float entered from Insert mode would stay in it
  local searches = #items > 9 and ' · / searches' or ''
  local footer = ('1-%d or <CR> picks%s · q leaves'):format(math.min(#items, 9), searches)
  if require('acp.icons').kind() == 'ascii' then
    footer = footer:gsub(' ·', ',')
  end
  local win, buf = require('acp.chat.show').float(lines, opts.prompt, {
    enter = true,
    centre = true,
    footer = footer,
    hang = #tostring(#items) + 2 + (opts.hang or 0), -- beside the blank that each line begins with
  })
  if above == 0 then -- else nothing is chosen before it was read
    api.nvim_win_set_cursor(win, { row_of[opts.current or 1], 0 })
  end
  for row, line in ipairs(lines) do
    if row > above and not at[row] then
      api.nvim_buf_set_extmark(buf, NS, row - 1, 0, { end_col = #line, hl_group = 'AcpNote' })
    end
  end
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
        if vim.fn.line('w$', win) >= above then
          answer(item)
        else
          vim.cmd('normal! \6') -- the rest has to be read first
        end
      end)
    end
  end
  map('<CR>', function()
    local i = at[api.nvim_win_get_cursor(win)[1]]
    if i then
      answer(items[i])
    end
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
  if M.replaced() and not opts.lines then
    local format, group = opts.format_item, opts.group
    opts.group, opts.current, opts.hang = nil, nil, nil
    if group then
      opts.format_item = function(item)
        local heading = group(item)
        return heading and ('%s: %s'):format(heading, format(item)) or format(item)
      end
    end
    vim.ui.select(items, opts, done)
  else
    float(items, opts, done)
  end
end

return M
