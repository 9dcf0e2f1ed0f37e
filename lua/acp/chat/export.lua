--- `:w name.md` in a chat: the host writes all of it as Markdown. A range writes its lines as they stand.
local M = {}

local api = vim.api

local WAIT_MS = 2000 -- how long Neovim's end waits for a document that is being written

M.HINT = ':w {name}.md writes the chat as Markdown'

local pending = {} ---@type table<integer, string> paths by id
local count = 0

---@param path string
---@return string
local function name_of(path)
  return '"' .. require('acp.message').plain(vim.fn.fnamemodify(path, ':~:.')) .. '"'
end

---@param path string
---@param lines string[]
---@param note? string
local function write_lines(path, lines, note)
  local message = require('acp.message')
  local ok, reason = pcall(vim.fn.writefile, lines, path)
  if not ok then
    return message.error(('%s not written: %s'):format(name_of(path), (tostring(reason):gsub('^Vim:', ''))))
  end
  message.info(('%s written, %d lines%s'):format(name_of(path), #lines, note or ''))
end

---Neovim does not leave before a document is written.
local function wait_at_end()
  api.nvim_create_autocmd('VimLeavePre', {
    group = api.nvim_create_augroup('acp.export', {}),
    callback = function()
      vim.wait(WAIT_MS, function()
        return next(pending) == nil
      end, 10)
    end,
  })
end

---@param chat acp.Chat
---@param path string absolute
local function write_chat(chat, path)
  if require('acp.host').status().state ~= 'ready' then
    local lines = api.nvim_buf_get_lines(chat.buf, 0, -1, false)
    return write_lines(path, lines, ', as it stands here: the host, which has it in full, does not run')
  end
  count = count + 1
  pending[count] = path
  wait_at_end()
  require('acp.host').event('export', { chat = chat.n, id = count, path = path })
end

---The host tells how it went.
---@param id integer
---@param err string|false
---@param lines integer
function M.done(id, err, lines)
  local path = pending[id]
  if not path then
    return
  end
  pending[id] = nil
  if err then
    return require('acp.message').error(('%s not written: %s'):format(name_of(path), err))
  end
  require('acp.message').info(('%s written, %d lines'):format(name_of(path), lines))
end

---The host has ended: what it had to write is not written.
function M.host_lost()
  local lost = pending
  pending = {}
  for _, path in pairs(lost) do
    require('acp.message').error(name_of(path) .. ' not written: the host has ended; :w again')
  end
end

---The host asks for the text of blocks that another host has drawn: it knows nothing else of them.
---@param n integer chat
---@param first integer the first block of its own
---@return string
function M.earlier(n, first)
  local chat = require('acp.chat').get(n)
  local stop = 0
  for block in require('acp.chat.transcript').blocks(chat and chat.buf or -1) do
    if block.id ~= 0 and block.id < first then
      stop = math.max(stop, block.first + block.n)
    end
  end
  return chat and table.concat(api.nvim_buf_get_lines(chat.buf, 0, stop, false), '\n') or ''
end

---A command line is left: `:w` alone would say no more than E382.
function M.explain()
  if vim.fn.getcmdtype() == ':' and vim.fn.getcmdline():match('^%s*:?%s*w[rite]*!?%s*$') then
    local word = vim.fn.getcmdline():match('%a+')
    if ('write'):sub(1, #word) == word and not vim.v.event.abort then
      vim.cmd('let v:event.abort = v:true')
      vim.schedule(function()
        require('acp.message').info(M.HINT)
      end)
    end
  end
end

---Write what a command of the user's wants written.
---@param chat acp.Chat
---@param args {event: string, match: string, buf: integer} of BufWriteCmd, FileWriteCmd or FileAppendCmd
function M.write(chat, args)
  local path = vim.fn.fnamemodify(args.match, ':p')
  if args.event == 'BufWriteCmd' then
    require('acp.name').written(args.buf)
    write_chat(chat, path)
  elseif args.event == 'FileWriteCmd' then
    write_lines(path, api.nvim_buf_get_lines(args.buf, vim.fn.line("'[") - 1, vim.fn.line("']"), false))
  else
    require('acp.message').error('a chat is not appended to a file; ' .. M.HINT)
  end
end

return M
