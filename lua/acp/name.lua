--- Buffers of ours that keep their name, whatever file they are written to (`:saveas`, `:file`).
--- As the buffer of a file, a chat would get what an agent writes to that file.
local M = {}

local api = vim.api

---Name a buffer. For everybody else nothing has changed: no autocommand is to take it for a file that is
---called otherwise now, as editorconfig would.
---@param buf integer
---@param name string
---@return boolean ok, string? problem
function M.set(buf, name)
  return require('acp.buffers.options').global({ eventignore = 'all' }, function()
    api.nvim_buf_set_name(buf, name)
  end)
end

---Take the buffer away that Neovim has made for the other name.
---@param name string
---@param keep integer
---@param mine boolean the name is one of ours: whatever is in that buffer
local function forget(name, keep, mine)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= keep and api.nvim_buf_get_name(buf) == name then
      if mine or not (api.nvim_buf_is_loaded(buf) or vim.bo[buf].buflisted) then
        api.nvim_buf_delete(buf, { force = true })
      end
    end
  end
end

local written = {} ---@type table<integer, true> buffers that were written since they got another name

---A buffer is written to a file: whoever gave it the name of that file has got what they wanted.
---@param buf integer
function M.written(buf)
  written[buf] = true
end

---A buffer has got another name: give it its own again.
---@param buf integer
---@param own string
---@param hint string what to do instead of `:file`
function M.renamed(buf, own, hint)
  written[buf] = nil
  -- Later: `:saveas` has yet to write, to the name of the buffer.
  vim.schedule(function()
    local other = api.nvim_buf_is_valid(buf) and api.nvim_buf_get_name(buf) or own
    local done = written[buf]
    written[buf] = nil
    if other == own then
      return
    end
    vim.bo[buf].buflisted = false
    forget(own, buf, true)
    M.set(buf, own)
    forget(other, buf, false)
    if not done then
      require('acp.message').info('this buffer keeps its name; ' .. hint)
    end
  end)
end

return M
