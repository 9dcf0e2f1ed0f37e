--- The mark where the agent is, and the flash when it comes there. No option of a window is touched.
local M = {}

local api, fn = vim.api, vim.fn

M.FLASH_MS = 600
local PRIORITY = 100 -- above diagnostics and version control

local ns = api.nvim_create_namespace('acp.follow')
local ns_flash = api.nvim_create_namespace('acp.follow.flash')

---@class acp.FollowMark
---@field buf integer
---@field id integer extmark

---Whether a sign in this window shifts no text.
---@param win integer
---@param buf integer
---@return boolean
local function has_sign_column(win, buf)
  local wanted = vim.wo[win].signcolumn
  if wanted:find('^yes') then
    return true
  end
  if wanted ~= 'auto' and wanted ~= 'auto:1' then
    return false
  end
  for _, sign in ipairs(api.nvim_buf_get_extmarks(buf, -1, 0, -1, { type = 'sign', details = true })) do
    if sign[4].sign_text and sign[4].ns_id ~= ns then
      return true
    end
  end
  return false
end

---How the mark is shown in all windows of a buffer: as a sign where there is a column for it, else on the
---number; without both the sign after all, or, where no sign can be, in the text after the line.
---@param buf integer
---@return 'sign'|'number'|'text'
local function how(buf)
  local columns, numbers, hidden = true, false, true
  for _, win in ipairs(fn.win_findbuf(buf)) do
    columns = columns and has_sign_column(win, buf)
    numbers = numbers or vim.wo[win].number or vim.wo[win].relativenumber
    hidden = hidden and vim.wo[win].signcolumn == 'no'
  end
  return columns and 'sign' or numbers and 'number' or hidden and 'text' or 'sign'
end

---Whether a text fits behind a line in the window, on the screen line the line ends on.
---@param win integer?
---@param buf integer
---@param lnum integer
---@param text string
---@return boolean
local function fits(win, buf, lnum, text)
  if not win or not api.nvim_win_is_valid(win) or api.nvim_win_get_buf(win) ~= buf then
    return true
  end
  local info = fn.getwininfo(win)[1]
  local cells = api.nvim_win_call(win, function()
    return fn.virtcol({ lnum, '$' }) - 1
  end)
  -- One cell more: Neovim leaves it free between a line and what stands behind it.
  return cells + 1 + fn.strdisplaywidth(text) <= info.width - info.textoff
end

---What the agent does, in the third person.
---@param verb string
---@return string
function M.does(verb)
  return verb .. (verb:find('ch$') and 'es' or 's')
end

---Put the mark of a chat on a line; it is taken away from where it was.
---@param f acp.Followed
---@param buf integer loaded
---@param lnum integer
function M.put(f, buf, lnum)
  local icons, visit = require('acp.icons').get(), f.last
  if not visit then
    return
  end
  M.clear(f)
  lnum = math.max(1, math.min(lnum, api.nvim_buf_line_count(buf)))
  local icon = f.paused and icons.paused or icons.mark
  local shown = how(buf)
  local said = require('acp.message').plain((' %s %s'):format(visit.label or 'agent', M.does(visit.verb)))
  local text = { { said, 'AcpHint' } }
  if shown == 'text' then
    text = { { ' ' .. icon, 'AcpFollowSign' }, { said, 'AcpHint' } }
    said = ' ' .. icon .. said
  end
  local id = api.nvim_buf_set_extmark(buf, ns, lnum - 1, 0, {
    sign_text = shown == 'sign' and icon or nil,
    sign_hl_group = shown == 'sign' and 'AcpFollowSign' or nil,
    number_hl_group = shown ~= 'sign' and 'AcpFollowSign' or nil,
    virt_text = fits(f.win, buf, lnum, said) and text or nil,
    virt_text_pos = 'eol',
    hl_mode = 'combine',
    priority = PRIORITY,
    strict = false,
  })
  f.mark = { buf = buf, id = id }
end

---The line the mark stands on, from 1; nil: it is in no loaded buffer.
---@param f acp.Followed
---@return integer?
function M.line(f)
  local mark = f.mark
  if not mark or not api.nvim_buf_is_loaded(mark.buf) then
    return nil
  end
  local at = api.nvim_buf_get_extmark_by_id(mark.buf, ns, mark.id, {})
  return at[1] and at[1] + 1
end

---@param f acp.Followed
function M.clear(f)
  local mark = f.mark
  f.mark = nil
  if mark and api.nvim_buf_is_valid(mark.buf) then
    api.nvim_buf_del_extmark(mark.buf, ns, mark.id)
  end
end

---@param f acp.Followed
function M.unflash(f)
  if f.timer then
    f.timer:stop()
    f.timer:close()
    f.timer = nil
  end
  local flash = f.flash
  f.flash = nil
  if flash and api.nvim_buf_is_valid(flash.buf) then
    api.nvim_buf_del_extmark(flash.buf, ns_flash, flash.id)
  end
end

---Light up a line for a moment.
---@param f acp.Followed
---@param buf integer
---@param lnum integer
function M.flash(f, buf, lnum)
  M.unflash(f)
  local id = api.nvim_buf_set_extmark(buf, ns_flash, lnum - 1, 0, {
    line_hl_group = 'AcpFollowLine',
    priority = PRIORITY,
    strict = false,
  })
  f.flash = { buf = buf, id = id }
  f.timer = assert(vim.uv.new_timer())
  f.timer:start(
    M.FLASH_MS,
    0,
    vim.schedule_wrap(function()
      if f.flash and f.flash.id == id and f.flash.buf == buf then
        M.unflash(f)
        require('acp.follow.view').redraw()
      end
    end)
  )
end

return M
