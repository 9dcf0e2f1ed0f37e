--- One message an error, on one line, never a hit-enter prompt (design.md section 3 rule 10).
local M = {}

---@class acp.Message
---@field level 'error'|'warning'|'info'
---@field text string
---@field details string[]
---@field time integer seconds since the epoch

local KEEP = 50
local groups = { error = 'ErrorMsg', warning = 'WarningMsg', info = 'None' }

---What was said lately, newest last; `:checkhealth acp` shows it in full.
---@type acp.Message[]
M.log = {}

local once = {} ---@type table<string, boolean>

---Cut a text to a number of screen cells.
---@param text string
---@param cells integer
---@return string
function M.cut(text, cells)
  if vim.fn.strdisplaywidth(text) <= cells then
    return text
  end
  local mark = require('acp.icons').get().cut
  local room = math.max(cells - vim.fn.strdisplaywidth(mark), 0)
  local n = math.min(vim.fn.strchars(text), room)
  local head = vim.fn.strcharpart(text, 0, n)
  while vim.fn.strdisplaywidth(head) > room do
    n = n - 1
    head = vim.fn.strcharpart(text, 0, n)
  end
  return head .. mark
end

---Make text of somebody else's fit to be shown on one line: no control characters.
---@param text string
---@return string
function M.plain(text)
  return (
    text
      :gsub('[%c\127]+', ' ')
      :gsub('\194[\128-\159]', ' ')
      :gsub('\226\128[\142\143\170-\174]', '')
      :gsub('\226\129[\166-\169]', '')
  )
end

---Show a message. A longer one than the command line is cut there and stands in full in `:checkhealth acp`.
---@param level 'error'|'warning'|'info'
---@param text string
---@param details? string[] lines for `:checkhealth acp`
function M.show(level, text, details)
  if vim.in_fast_event() then
    vim.schedule(function()
      M.show(level, text, details)
    end)
    return
  end
  text = M.plain(text)
  local last, now = M.log[#M.log], os.time()
  if last and last.text == text and now - last.time < 2 and not details then
    last.time = now
  else
    table.insert(M.log, { level = level, text = text, details = details or {}, time = now })
    if #M.log > KEEP then
      table.remove(M.log, 1)
    end
  end
  -- 12 cells are Vim's: showcmd and ruler stand there, and the last one must stay free.
  local room = math.max(vim.o.columns - 12, 20)
  local chunks = { { M.cut('acp: ' .. text, room), groups[level] } }
  if vim.o.cmdheight > 0 then
    vim.api.nvim_echo(chunks, level ~= 'info', {})
    return
  end
  -- Without a command line Neovim asks for a key, unless the typed command is off the screen first.
  vim.schedule(function()
    vim.cmd('redraw')
    vim.api.nvim_echo(chunks, level ~= 'info', {})
  end)
end

---@param text string
---@param details? string[]
function M.error(text, details)
  M.show('error', text, details)
end

---@param text string
---@param details? string[]
function M.warn(text, details)
  M.show('warning', text, details)
end

---@param text string
function M.info(text)
  M.show('info', text)
end

---A message that is shown once in this Neovim.
---@param key string
---@param level 'error'|'warning'|'info'
---@param text string
---@param details? string[]
function M.once(key, level, text, details)
  if once[key] then
    return
  end
  once[key] = true
  M.show(level, text, details)
end

return M
