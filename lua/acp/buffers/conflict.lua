--- Buffers with unsaved edits whose file has changed on disk: marked, and listed once for each chat.
local M = {}

local api = vim.api

local space = api.nvim_create_namespace('acp-conflict')
local group = api.nvim_create_augroup('AcpConflict', {})
local untold = {} ---@type {buf: integer, path: string, chat: integer?}[]

---The buffer and the disk are one again, or the buffer is gone: there is nothing to tell any more.
---@param buf integer
function M.clear(buf)
  untold = vim.tbl_filter(function(item)
    return item.buf ~= buf
  end, untold)
  if api.nvim_buf_is_valid(buf) and vim.b[buf].acp_conflict then
    vim.b[buf].acp_conflict = nil
    api.nvim_buf_clear_namespace(buf, space, 0, -1)
  end
  api.nvim_clear_autocmds({ group = group, buffer = buf })
end

---@param buf integer
---@param path string
---@param chat integer? whose agent changed it
---@param new boolean the file did not exist before, so that Neovim would not warn at `:write`
function M.mark(buf, path, chat, new)
  M.clear(buf)
  vim.b[buf].acp_conflict = true
  local words = '  changed on disk: :e! takes it, :w! keeps yours'
  api.nvim_buf_set_extmark(buf, space, 0, 0, { virt_text = { { words, 'AcpWarn' } }, virt_text_pos = 'eol' })
  -- `:e!` reads, `:w!` writes; `:w` alone is Neovim's to ask about.
  api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost', 'BufUnload' }, {
    group = group,
    buffer = buf,
    callback = function()
      M.clear(buf)
    end,
  })
  if new then
    -- Only an exception keeps `:write` from writing.
    local words_new = 'the file exists on disk now: :e! takes it, :w! keeps yours'
    api.nvim_create_autocmd('BufWritePre', {
      group = group,
      buffer = buf,
      command = "if !v:cmdbang && expand('<afile>:p') ==# fnamemodify(bufname(+expand('<abuf>')), ':p')"
        .. (" | throw '%s' | endif"):format(words_new),
    })
  end
  table.insert(untold, { buf = buf, path = path, chat = chat })
end

---The conflicts a chat has not been told of, or that are nobody's.
---@param chat integer?
---@return string[] paths
function M.take(chat)
  local list, rest = {}, {}
  for _, item in ipairs(untold) do
    local mine = chat == nil or item.chat == nil or item.chat == chat
    if not mine then
      table.insert(rest, item)
    else
      table.insert(list, item.path)
    end
  end
  untold = rest
  return list
end

return M
