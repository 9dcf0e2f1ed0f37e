--- The files that are shown to the user without their having asked: loaded without events, given to the user
--- when they stay or are entered, and taken away again when neither happens.
local M = {}

local api, fn = vim.api, vim.fn
local quiet = require('acp.follow.quiet')

---@class acp.FollowFile a buffer we have loaded
---@field made boolean there was no such buffer before
---@field raw boolean its file events (BufReadPost and the like) are still due
---@field tick integer 'changedtick' when it was loaded
---@field swap boolean another swap file was there

local files = {} ---@type table<integer, acp.FollowFile>

---Whether a buffer is of this file, by whatever name.
---@param buf integer
---@param path string absolute
---@return boolean
function M.is(buf, path)
  local name = api.nvim_buf_get_name(buf)
  if name == path then
    return true
  end
  local real = name ~= '' and vim.bo[buf].buftype == '' and vim.uv.fs_realpath(name)
  return real ~= false and real ~= nil and real == vim.uv.fs_realpath(path)
end

---The buffer of a file, loaded or not.
---@param path string absolute
---@return integer?
function M.find(path)
  local bufs = api.nvim_list_bufs()
  for _, buf in ipairs(bufs) do
    if api.nvim_buf_get_name(buf) == path then
      return buf
    end
  end
  for _, buf in ipairs(bufs) do
    if api.nvim_buf_is_loaded(buf) and M.is(buf, path) then
      return buf
    end
  end
end

---The loaded buffer of a file that has other text than the disk, or no file.
---@param path string
---@return integer?
function M.unsaved(path)
  local real = vim.uv.fs_realpath(path)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' and (vim.bo[buf].modified or not real) then
      if M.is(buf, path) then
        return buf
      end
    end
  end
end

---Whether the buffer is ours: loaded by us, and the user has not entered it.
---@param buf integer
---@return boolean
function M.ours(buf)
  return files[buf] ~= nil
end

---The loaded buffer of a file. Only inside `quiet.run`.
---@param path string
---@return integer buf
function M.load(path)
  local last = fn.bufnr('$')
  -- By its short name, as `:edit` would: statuslines show that.
  local short = fn.fnamemodify(path, ':.')
  local buf = fn.bufadd(short:find('^[%w_.]') and short or path)
  if api.nvim_buf_is_loaded(buf) then
    return buf
  end
  local modelines = vim.o.modelines
  vim.o.modelines = 0
  local ok, problem = pcall(vim.cmd, ('silent call bufload(%d)'):format(buf))
  vim.o.modelines = modelines
  if not ok or not api.nvim_buf_is_loaded(buf) then
    if buf > last then
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
    error(problem or 'it cannot be read', 0)
  end
  vim.bo[buf].modeline = false -- Neovim would look at them again when the agent's changes are read
  local swap = fn.swapname(buf)
  files[buf] = {
    made = buf > last,
    raw = true,
    tick = api.nvim_buf_get_changedtick(buf),
    swap = swap ~= '' and not swap:find('%.swp$'),
  }
  return buf
end

---Fire the events that reading a file fires, so that filetype, syntax and language servers come. The views of
---the windows stay: autocommands like to go where the cursor once was.
---@param buf integer
local function fire(buf)
  local home, wins = api.nvim_get_current_win(), fn.win_findbuf(buf)
  local views = {} ---@type table<integer, table>
  for _, win in ipairs(wins) do
    views[win] = api.nvim_win_call(win, fn.winsaveview)
  end
  local function events()
    for _, event in ipairs({ 'BufReadPre', 'BufReadPost', #wins > 0 and 'BufWinEnter' or nil }) do
      if api.nvim_buf_is_valid(buf) then
        api.nvim_exec_autocmds(event, { buffer = buf, modeline = false })
      end
    end
  end
  if wins[1] == nil then
    api.nvim_buf_call(buf, events)
  elseif vim.tbl_contains(wins, home) then
    events()
  else
    api.nvim_win_call(wins[1], events)
  end
  if api.nvim_win_is_valid(home) and api.nvim_get_current_win() ~= home then
    api.nvim_set_current_win(home)
  end
  for win, view in pairs(views) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf then
      api.nvim_win_call(win, function()
        fn.winrestview(view)
      end)
    end
  end
end

---The file has stayed on the screen: it gets its events, but no modelines yet.
---@param buf integer
function M.stays(buf)
  local file = files[buf]
  if file and file.raw and api.nvim_buf_is_valid(buf) then
    file.raw = false
    fire(buf)
    file.tick = api.nvim_buf_is_valid(buf) and api.nvim_buf_get_changedtick(buf) or 0
  end
end

---The user has entered the buffer: it is theirs from now on, as if they had opened it.
---@param buf integer
function M.entered(buf)
  local file = files[buf]
  files[buf] = nil
  if not file or not api.nvim_buf_is_valid(buf) then
    return
  end
  vim.bo[buf].buflisted = true
  if file.raw then
    fire(buf)
  end
  if not api.nvim_buf_is_valid(buf) then
    return
  end
  vim.bo[buf].modeline = vim.go.modeline
  if vim.go.modeline and vim.o.modelines > 0 then
    -- There is no other way to have modelines read than after an event that somebody listens to.
    api.nvim_create_autocmd('User', { pattern = 'AcpFollowModelines', once = true, command = '' })
    api.nvim_buf_call(buf, function()
      api.nvim_exec_autocmds('User', { pattern = 'AcpFollowModelines', modeline = true })
    end)
  end
  if file.swap then
    local name = fn.fnamemodify(api.nvim_buf_get_name(buf), ':~:.')
    require('acp.message').warn(name .. ' has another swap file: is it open elsewhere? See :help swap-file')
  end
end

---The buffer is not followed any more. If no window shows it, it becomes what it was before.
---@param buf integer
function M.left(buf)
  local file = files[buf]
  if not file then
    return
  end
  if not api.nvim_buf_is_valid(buf) then
    files[buf] = nil
    return
  end
  if #fn.win_findbuf(buf) > 0 then
    return
  end
  if vim.bo[buf].modified then
    return M.entered(buf)
  end
  files[buf] = nil
  if file.raw then
    quiet.run(function()
      pcall(api.nvim_buf_delete, buf, file.made and {} or { unload = true })
    end)
  elseif file.made and api.nvim_buf_get_changedtick(buf) == file.tick then
    pcall(api.nvim_buf_delete, buf, {})
  else
    vim.bo[buf].modeline = vim.go.modeline -- the agent has changed it: its undo history is kept
  end
end

---Nothing is followed any more: what the user sees is theirs, the rest goes.
function M.release()
  for buf in pairs(vim.deepcopy(files)) do
    M.left(buf)
    if files[buf] then
      M.entered(buf)
    end
  end
end

return M
