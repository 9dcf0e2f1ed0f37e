--- What Neovim believes about the file of a buffer: asked without a prompt, and set right.
local M = {}

local api = vim.api
local options = require('acp.buffers.options')

---Whether a buffer was made for a file that did not exist then. `:checktime` would ask the user in a dialog
---(W13) once the file is there, and neither 'autoread' nor FileChangedShell keeps it from that.
---@param buf integer
---@return boolean
function M.is_new(buf)
  return api
    .nvim_buf_call(buf, function()
      return vim.fn.execute('file')
    end)
    :find('[New', 1, true) ~= nil
end

---Make Neovim take the file as it is now for the one the buffer was read from: no question at the next check
---or write, and no new file any more. A BufWriteCmd does that: Neovim thinks that it has written the file.
---@param buf integer
---@param keep_modified? boolean
function M.accept(buf, keep_modified)
  local id = api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    callback = function()
      if not keep_modified then
        vim.bo[buf].modified = false
      end
    end,
  })
  options.only_event('BufWriteCmd', function()
    -- Where autocommands do not nest, this type keeps `:write` from writing.
    options.of_buffer(buf, { buftype = 'acwrite' }, function()
      api.nvim_buf_call(buf, function()
        vim.cmd('silent! keepalt lockmarks write!')
      end)
    end)
  end)
  pcall(api.nvim_del_autocmd, id)
end

---Whether we are looking: what FileChangedShell tells is for nobody else then.
M.looking = false

---Let Neovim look at the file now; whatever it finds, it does nothing, and does not ask later either.
---`:write` still warns.
---@param buf integer not new
---@return string? reason `v:fcs_reason`, or nil: it has found no change
function M.look(buf)
  local reason
  -- The last one that sets the choice is obeyed.
  local id = api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      reason = vim.v.fcs_reason
      vim.v.fcs_choice = ''
    end,
  })
  local own = vim.bo[buf].autoread -- nil: not set here
  vim.bo[buf].autoread = false
  M.looking = true
  options.only_event('FileChangedShell', function()
    pcall(vim.cmd, ('silent checktime %d'):format(buf))
  end)
  M.looking = false
  pcall(api.nvim_del_autocmd, id)
  if api.nvim_buf_is_valid(buf) then
    vim.bo[buf].autoread = own
  end
  return reason
end

---Whether anybody else is told by FileChangedShell, so that looking would be heard.
---@return boolean
function M.overheard()
  for _, each in ipairs(api.nvim_get_autocmds({ event = 'FileChangedShell' })) do
    if each.group_name ~= 'AcpWatch' then
      return true
    end
  end
  return false
end

---Let Neovim read the file again in its own way, undo kept.
---@param buf integer unmodified
---@return boolean changed
function M.read_again(buf)
  local tick = api.nvim_buf_get_changedtick(buf)
  local own = vim.bo[buf].autoread
  -- With 'autoread' Neovim asks nobody, FileChangedShell autocommands of others included.
  vim.bo[buf].autoread = true
  options.global({ undoreload = -1 }, function()
    pcall(vim.cmd, ('silent checktime %d'):format(buf))
  end)
  if not api.nvim_buf_is_valid(buf) then
    return true
  end
  vim.bo[buf].autoread = own
  return api.nvim_buf_get_changedtick(buf) ~= tick
end

return M
