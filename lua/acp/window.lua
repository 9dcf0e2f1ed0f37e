--- What all windows of ours have in common.
local M = {}

local api = vim.api

---Options of a window that shows no code.
M.plain = {
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  foldcolumn = '0',
  statuscolumn = '',
  list = false,
  spell = false,
}

-- What `style = 'minimal'` sets, and sets again for every buffer that comes into such a float.
local minimal = vim.tbl_extend('force', M.plain, {
  colorcolumn = '',
  cursorcolumn = false,
  cursorline = false,
  fillchars = 'eob: ',
  signcolumn = 'auto',
  winhighlight = 'EndOfBuffer:',
})

---@class acp.Dress what we have set in a window
---@field bufs table<integer, true> buffers it was for
---@field values table<string, any>

local dressed = {} ---@type table<integer, acp.Dress>

---Give an option of a window its global value.
---@param win integer
---@param name string
local function reset(win, name)
  local info = api.nvim_get_option_info2(name, {})
  local value ---@type any
  if info.global_local then
    value = info.type == 'string' and '' or -1
  else
    value = api.nvim_get_option_value(name, { scope = 'global' })
  end
  api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
end

---Another buffer has come into a window of ours: it does not have what was set for the one before, and does
---not remember it. Neovim takes most of it back itself, but nothing that is about the window ('winfixbuf'),
---and in a float nothing at all.
---@param win integer
---@param dress acp.Dress
local function undress(win, dress)
  local values = dress.values
  local float = api.nvim_win_get_config(win).relative ~= ''
  if float then
    values = vim.tbl_extend('force', minimal, values)
  end
  for name, value in pairs(values) do
    -- What somebody else has set since stays, e.g. a file type plugin.
    if float or api.nvim_get_option_value(name, { win = win, scope = 'local' }) == value then
      reset(win, name)
    end
  end
end

local watching = false

local function watch()
  if watching then
    return
  end
  watching = true
  api.nvim_create_autocmd('BufWinEnter', {
    group = api.nvim_create_augroup('acp.dress', {}),
    callback = function()
      for win, dress in pairs(dressed) do
        if not api.nvim_win_is_valid(win) then
          dressed[win] = nil
        else
          local buf = api.nvim_win_get_buf(win)
          -- A chat in the window of another one goes from there, see `acp.chat.windows`.
          if not dress.bufs[buf] and not require('acp.chat').of(buf) then
            dressed[win] = nil
            undress(win, dress)
          end
        end
      end
    end,
  })
end

---Set options of a window for the buffer it shows now: a buffer that is shown in it later has the user's.
---@param win integer
---@param options table<string, any>
function M.set(win, options)
  local dress = dressed[win] or { bufs = {}, values = {} }
  dressed[win] = dress
  dress.bufs[api.nvim_win_get_buf(win)] = true
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
    dress.values[name] = value
  end
  watch()
end

---Put options of a window back to what they were before `set`.
---@param win integer
---@param options table<string, any>
function M.restore(win, options)
  dressed[win] = nil
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { win = win, scope = 'local' })
  end
end

return M
