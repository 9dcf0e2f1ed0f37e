--- When a question may take the focus by itself: the user rests, in the right place, with nothing begun.
local M = {}

local api, fn = vim.api, vim.fn
local ns = api.nvim_create_namespace('acp.question.calm')

M.QUIET_MS = 400

local last = 0 -- milliseconds (uv.hrtime) of the last typed key
local poke ---@type fun()?

local function now()
  return vim.uv.hrtime() / 1e6
end

---Look at typed keys from now on. What was typed before is not known, so now counts as a key.
---@param on_key fun() called after each typed key
function M.start(on_key)
  if poke then
    return
  end
  poke, last = on_key, now()
  vim.on_key(function(_, typed)
    if typed == nil or typed == '' then
      return
    end
    last = now()
    if poke then
      poke()
    end
  end, ns)
end

---A key was typed that Neovim may not tell of.
function M.typed()
  last = now()
end

---Do not look at keys any more.
function M.stop()
  poke = nil
  vim.on_key(nil, ns)
end

---Milliseconds until the keyboard has rested long enough; 0: it has.
---@return integer
function M.remaining()
  return math.max(0, math.ceil(M.QUIET_MS - (now() - last)))
end

---Whether the user is in the middle of something: a command, a macro, a completion, a float. Operators show
---in the mode ('no'): `state()` says 'o' for all of Insert mode after `cc`.
---@return boolean
local function busy()
  return fn.reg_recording() ~= ''
    or fn.reg_executing() ~= ''
    or fn.pumvisible() == 1
    or fn.wildmenumode() == 1
    or fn.getcmdwintype() ~= ''
    or fn.state('ma') ~= ''
    or api.nvim_win_get_config(0).relative ~= ''
    or fn.getchar(1) ~= 0
end

---Whether the focus may go to a question of this chat now, the keyboard resting.
---@param chat acp.Chat
---@param open 'chat'|'always'|'never'
---@return boolean
function M.may_enter(chat, open)
  if open == 'never' then
    return false
  end
  local mode = api.nvim_get_mode()
  if mode.blocking or busy() then
    return false
  end
  local inside = require('acp.question.place').current() == chat.n
  if mode.mode == 'n' then
    return inside or open == 'always'
  end
  return mode.mode == 'i'
    and inside
    and api.nvim_get_current_buf() == chat.prompt
    and require('acp.chat.prompt').is_empty(chat)
end

return M
