--- The icons of the interface (ui.md section 8). The host has the same tables in `view/icons.py`.
local M = {}

---@class acp.Icons
---@field spinner string[] frames, one cell each

M.sets = {
  unicode = {
    pending = '○',
    running = '●',
    waiting = '?',
    done = '✓',
    failed = '✗',
    rejected = '⊘',
    cancelled = '–',
    user = '❯',
    bar = '│',
    rule = '──',
    think = '·',
    fold = '▸',
    cut = '…',
    mark = '◆',
    paused = '◇',
    queue = '⋯',
    incoming = '←',
    outgoing = '→',
    spinner = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' },
  },
  ascii = {
    pending = '.',
    running = '*',
    waiting = '?',
    done = '+',
    failed = '!',
    rejected = 'x',
    cancelled = '-',
    user = '>',
    bar = '|',
    rule = '--',
    think = ':',
    fold = '>',
    cut = '...',
    mark = '>',
    paused = '=',
    queue = '~',
    incoming = '<-',
    outgoing = '->',
    spinner = { '.', 'o', 'O', 'o' },
  },
}

---Which set is in use. `auto` is ASCII on the Linux console and with `ambiwidth=double`, where `●` takes
---two cells and `✓` one, so that columns would break.
---@return 'unicode'|'ascii'
function M.kind()
  local wanted = require('acp.config').get().icons
  if wanted == 'unicode' or wanted == 'ascii' then
    return wanted
  end
  return (vim.env.TERM == 'linux' or vim.o.ambiwidth == 'double') and 'ascii' or 'unicode'
end

local cache, made_for = {}, nil ---@type acp.Icons, string?

---The icons by name, with the user's own on top.
---@return acp.Icons
function M.get()
  local wanted, kind = require('acp.config').get().icons, M.kind()
  local key = kind .. tostring(wanted)
  if key ~= made_for then
    cache = vim.tbl_extend('force', M.sets[kind], type(wanted) == 'table' and wanted or {})
    if type(cache.spinner) == 'string' then
      cache.spinner = vim.fn.split(cache.spinner, '\\zs')
    end
    made_for = key
  end
  return cache
end

---What is wrong with an icon of the user's, or nil. Icons are one cell; the spinner is a text or a list.
---@param name any
---@param value any
---@return string?
function M.fault(name, value)
  local known = M.sets.unicode[name]
  if not known then
    return 'is no icon; there are ' .. table.concat(M.names(), ', ')
  end
  local cells = value
  if name == 'spinner' and type(value) == 'string' then
    cells = vim.fn.split(value, '\\zs')
  end
  if type(cells) ~= 'table' then
    cells = { cells }
  end
  for _, cell in ipairs(cells) do
    if type(cell) ~= 'string' or vim.fn.strdisplaywidth(cell) ~= 1 then
      return 'must be one cell wide'
    end
  end
  if #cells == 0 or (name ~= 'spinner' and type(value) ~= 'string') then
    return 'must be one cell wide'
  end
end

---@return string[]
function M.names()
  local names = vim.tbl_keys(M.sets.unicode)
  table.sort(names)
  return names
end

---The frame of the spinner that is due now (8 a second). Without a start, so all spinners agree.
---@return string
function M.frame()
  local frames = M.get().spinner
  return frames[math.floor(vim.uv.now() / 125) % #frames + 1]
end

return M
