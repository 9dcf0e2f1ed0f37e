--- Files that changed on disk under their buffers: read again without a question, or found to be in conflict.
local M = {}

local api = vim.api
local lines = require('acp.buffers.lines')

---Whether a buffer was made for a file that did not exist then. `:checktime` would ask the user in a dialog
---(W13) once the file is there, and neither 'autoread' nor FileChangedShell keeps it from that.
---@param buf integer
---@return boolean
local function is_new(buf)
  return api
    .nvim_buf_call(buf, function()
      return vim.fn.execute('file')
    end)
    :find('[New', 1, true) ~= nil
end

---Let Neovim read a changed file again: no prompt, undo kept, cursors and marks at the lines they were at.
---@param buf integer unmodified
---@return boolean changed
function M.reload(buf)
  if is_new(buf) then
    if not vim.uv.fs_stat(api.nvim_buf_get_name(buf)) then
      return false
    end
    api.nvim_buf_call(buf, function()
      vim.cmd('silent! keepalt keepjumps edit!')
    end)
    return true
  end
  local before = api.nvim_buf_get_lines(buf, 0, -1, false)
  local tick = api.nvim_buf_get_changedtick(buf)
  local views = {} ---@type table<integer, table>
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = api.nvim_win_call(win, vim.fn.winsaveview)
  end
  local marks = vim.fn.getmarklist(buf)
  local undoreload = vim.o.undoreload
  -- With 'autoread' Neovim asks nobody, FileChangedShell autocommands of others included.
  local own = vim.bo[buf].autoread -- nil: not set here
  vim.o.undoreload = -1
  vim.bo[buf].autoread = true
  pcall(vim.cmd, ('silent checktime %d'):format(buf))
  vim.o.undoreload = undoreload
  if not api.nvim_buf_is_valid(buf) then
    return true
  end
  vim.bo[buf].autoread = own
  if api.nvim_buf_get_changedtick(buf) == tick then
    return false
  end
  local changes = lines.hunks(before, api.nvim_buf_get_lines(buf, 0, -1, false))
  if #changes == 0 then
    return true
  end
  local last = api.nvim_buf_line_count(buf)
  local function place(lnum)
    return math.min(lines.moved(lnum, changes), last)
  end
  for win, view in pairs(views) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf then
      view.lnum, view.topline = place(view.lnum), place(view.topline)
      api.nvim_win_call(win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
  for _, mark in ipairs(marks) do
    local name = mark.mark:sub(2)
    if name:find('^%l$') then
      pcall(api.nvim_buf_set_mark, buf, name, place(mark.pos[2]), math.max(mark.pos[3] - 1, 0), {})
    end
  end
  return true
end

---Whether the file of a buffer with unsaved edits has changed on disk since it was read. Nobody is asked
---now; `:write` still warns the user.
---@param buf integer
---@return boolean
function M.in_conflict(buf)
  if is_new(buf) then
    local known = vim.b[buf].acp_appeared
    vim.b[buf].acp_appeared = true
    return not known
  end
  local reason
  local id = api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      reason = vim.v.fcs_reason
      vim.v.fcs_choice = ''
    end,
  })
  pcall(vim.cmd, ('silent checktime %d'):format(buf))
  pcall(api.nvim_del_autocmd, id)
  return reason == 'conflict' or reason == 'changed'
end

return M
