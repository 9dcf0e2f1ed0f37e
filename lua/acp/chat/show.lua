--- What a key of the chat shows beside it: a file, the details of a block, the prompts, the keys.
local M = {}

local api = vim.api

---Open a file in a code window of this tab page and go there.
---@param path string
---@param line? integer from 1
function M.file(path, line)
  local buf = vim.fn.bufadd(path)
  local win
  for _, other in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(other) == buf and not vim.w[other].acp_pair then
      win = other
    end
  end
  vim.cmd("normal! m'")
  win = win or require('acp.chat.windows').code_window()
  api.nvim_set_current_win(win)
  if api.nvim_win_get_buf(win) ~= buf then
    vim.bo[buf].buflisted = true
    local keep = vim.bo.modified
      and not vim.o.hidden
      and vim.bo.bufhidden == ''
      and #vim.fn.win_findbuf(0) < 2
    vim.cmd((keep and 'sbuffer ' or 'buffer ') .. buf)
  end
  if line then
    local last = api.nvim_buf_line_count(0)
    api.nvim_win_set_cursor(0, { math.min(math.max(line, 1), last), 0 })
    vim.cmd('normal! zvzz')
  end
end

---A float with text at the cursor. Closes when the cursor moves on; entered, `q` or `<Esc>` closes it.
---@param lines string[]
---@param title string
---@return integer win, integer buf
function M.float(lines, title)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].modifiable = false
  local widest = vim.fn.strdisplaywidth(title) + 2
  for _, line in ipairs(lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  local ascii = require('acp.icons').kind() == 'ascii'
  local border = vim.fn.exists('+winborder') == 1 and vim.o.winborder ~= '' and vim.o.winborder
    or (ascii and { '+', '-', '+', '|', '+', '-', '+', '|' } or 'rounded')
  local win = api.nvim_open_win(buf, false, {
    relative = 'cursor',
    row = 1,
    col = 0,
    width = math.max(10, math.min(widest, vim.o.columns - 4)),
    height = math.max(1, math.min(#lines, math.floor(vim.o.lines * 0.7))),
    style = 'minimal',
    border = border,
    title = ' ' .. title .. ' ',
  })
  api.nvim_set_option_value('wrap', true, { win = win, scope = 'local' })
  local function close()
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
  end
  for _, key in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', key, close, { buffer = buf, nowait = true, desc = 'acp: close' })
  end
  -- Scheduled: the key that opened it may still move the cursor.
  vim.schedule(function()
    if not api.nvim_win_is_valid(win) then
      return
    end
    api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI', 'InsertEnter', 'WinScrolled', 'BufLeave' }, {
      callback = function(args)
        if not api.nvim_win_is_valid(win) then
          return true
        end
        if args.event == 'WinScrolled' and tonumber(args.match) == win then
          return
        end
        if api.nvim_get_current_win() == win then
          return
        end
        vim.schedule(function()
          if api.nvim_win_is_valid(win) and api.nvim_get_current_win() ~= win then
            close()
          end
        end)
        return true
      end,
    })
  end)
  return win, buf
end

local details = {} ---@type {chat: integer?, block: integer?, win: integer?}

---Ask the host for the details of the block under the cursor. A second time: enter the float.
---@param chat acp.Chat
function M.ask_details(chat)
  if details.win and api.nvim_win_is_valid(details.win) then
    api.nvim_set_current_win(details.win)
    return
  end
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local block = require('acp.chat.transcript').block_at(chat.buf, row)
  if not block then
    return
  end
  details = { chat = chat.n, block = block.id }
  require('acp.host').event('details', { chat = chat.n, block = block.id, row = block.row })
end

---The host answers. Too late when the user has gone elsewhere.
---@param n integer chat
---@param lines string[]
function M.details(n, lines)
  local chat = require('acp.chat').get(n)
  if not chat or details.chat ~= n or api.nvim_get_current_buf() ~= chat.buf then
    return
  end
  local block = require('acp.chat.transcript').block_at(chat.buf, api.nvim_win_get_cursor(0)[1] - 1)
  if not block or block.id ~= details.block or #lines == 0 then
    return
  end
  details.chat = nil
  details.win = M.float(lines, 'details')
end

---The keys of a buffer in a float.
---@param group 'transcript'|'prompt'|'diff'
function M.keys(group)
  local rows, width = require('acp.chat.keys').help(group), 0
  for _, row in ipairs(rows) do
    width = math.max(width, vim.fn.strdisplaywidth(row[1]))
  end
  local lines = {}
  for _, row in ipairs(rows) do
    table.insert(
      lines,
      (' %s%s  %s '):format(row[1], (' '):rep(width - vim.fn.strdisplaywidth(row[1])), row[2])
    )
  end
  local _, buf = M.float(lines, 'keys')
  local ns = api.nvim_create_namespace('acp.keys')
  for i, row in ipairs(rows) do
    api.nvim_buf_set_extmark(buf, ns, i - 1, 1, { end_col = 1 + #row[1], hl_group = 'AcpKey' })
  end
end

---The prompts of a chat in the location list.
---@param chat acp.Chat
function M.outline(chat)
  local items = {}
  for block in require('acp.chat.transcript').blocks(chat.buf, 'user') do
    local row = block.first + (block.deco.lead or 0)
    local text = api.nvim_buf_get_lines(chat.buf, row, row + 1, false)[1] or ''
    table.insert(items, { bufnr = chat.buf, lnum = row + 1, col = 1, text = text })
  end
  if #items == 0 then
    require('acp.message').info('no prompt was sent in this chat')
    return
  end
  vim.fn.setloclist(0, {}, ' ', { title = 'acp: prompts', items = items })
  vim.cmd('lopen')
end

return M
