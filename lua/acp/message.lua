--- One message an error, on one line, never a hit-enter prompt (design.md section 3 rule 10).
local M = {}

---@class acp.Message
---@field level 'error'|'warning'|'info'
---@field text string
---@field details string[]
---@field time integer seconds since the epoch

local KEEP = 50
local groups = { error = 'ErrorMsg', warning = 'WarningMsg', info = 'None' }

---What was said lately, newest last, for `:checkhealth acp`.
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

-- What is not seen, or turns the direction of writing, in bytes; `text/sanitise.py` has the same characters.
local UNSEEN = {
  '\194\173', -- U+00AD
  '\205\143', -- U+034F
  '\216\156', -- U+061C
  '\225\133[\159\160]', -- U+115F
  '\225\158[\180\181]', -- U+17B4
  '\225\160\142', -- U+180E
  '\226\128[\139\142\143\168-\174]', -- U+200B, U+200E, U+2028
  '\226\129[\160-\175]', -- U+2060
  '\227\133\164', -- U+3164
  '\239\187\191', -- U+FEFF
  '\239\190\160', -- U+FFA0
  '\239\191[\176-\187\190\191]', -- U+FFF0
  '\240\157\133[\179-\186]', -- U+1D173
  '\243\160[\128-\131][\128-\191]', -- U+E0000
  '\243\160[\136-\191][\128-\191]', -- U+E0200
}

---Make text of somebody else's fit to be shown on one line: no control characters, nothing that is not seen.
---Joiners and variation selectors stay where emoji and scripts need them.
---@param text string
---@return string
function M.plain(text)
  text = text:gsub('[%c\127]+', ' '):gsub('\194[\128-\159]', ' ')
  if not text:find('[\128-\255]') then
    return text
  end
  for _, unseen in ipairs(UNSEEN) do
    text = text:gsub(unseen, '')
  end
  -- Behind ASCII nothing needs a joiner (U+200C, U+200D) or a variation selector (U+E0100).
  text =
    text:gsub('%f[\128-\255]\226\128[\140\141]', ''):gsub('%f[\128-\255]\243\160[\132-\135][\128-\191]', '')
  return text
end

---Make a message fit on one line: the command that helps stays whole, what comes before it is cut.
---@param text string
---@param cells integer
---@return string
function M.fit(text, cells)
  local width = vim.fn.strdisplaywidth
  local at = math.min(text:find(':Acp%u%l+') or #text, text:find(':checkhealth acp', 1, true) or #text)
  local head, remedy = text:sub(1, at - 1):gsub('%s+$', ''), text:sub(at)
  if width(text) <= cells or at == #text then
    return M.cut(text, cells)
  end
  local least = math.min(width(head), 16) -- who speaks, and of what
  if width(remedy) + 1 + least > cells then
    remedy = remedy:match('^[^,;.(]+') .. require('acp.icons').get().cut
  end
  if width(remedy) + 1 + least > cells then
    return M.cut(text, cells)
  end
  return M.cut(head, cells - width(remedy) - 1) .. ' ' .. remedy
end

---Put a text into the history in lines that fit on the command line: Neovim asks for a key after a longer
---one, and outside of a typed command it does so before a redraw could take it from the screen.
---@param level 'error'|'warning'|'info'
---@param text string
local function record(level, text)
  local more = vim.o.more
  vim.o.more = false
  local room = math.max(vim.o.columns - 12, 20)
  if vim.fn.strdisplaywidth(text) > vim.fn.strchars(text) then
    room = math.floor(room / 2) -- some take two cells
  end
  local from, chars = 0, math.min(vim.fn.strchars(text), 4000)
  while from < chars do
    local piece = vim.fn.strcharpart(text, from, room)
    from = from + vim.fn.strchars(piece)
    vim.api.nvim_echo({ { piece, groups[level] } }, true, {})
    vim.cmd('redraw')
  end
  vim.o.more = more
end

---Put a message on the command line. What does not fit there stands in full in `:messages`.
---@param level 'error'|'warning'|'info'
---@param text string
local function echo(level, text)
  -- 12 cells are Vim's: showcmd and ruler stand there, and the last one must stay free.
  local short = M.fit(text, math.max(vim.o.columns - 12, 20))
  local keep = level ~= 'info'
  if keep and short ~= text then
    record(level, text)
    keep = false
  end
  vim.api.nvim_echo({ { short, groups[level] } }, keep, {})
end

---Show a message, on one line. It stands in full in `:messages` and `:checkhealth acp`.
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
  if vim.o.cmdheight > 0 then
    return echo(level, 'acp: ' .. text)
  end
  -- Without a command line Neovim asks for a key, unless the typed command is off the screen first.
  vim.schedule(function()
    vim.cmd('redraw')
    echo(level, 'acp: ' .. text)
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

---Say why something was not done, after a function that tells so in its results.
---@param ok any
---@param reason string?
function M.refused(ok, reason)
  if not ok and reason then
    M.warn(reason)
  end
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
