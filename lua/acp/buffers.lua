--- Files in buffers, for the agent: what the user has now, and writes that keep undo, marks and cursors
--- (design.md section 5, Files; V1-162, V1-169 to V1-171).
local M = {}

local api, uv = vim.api, vim.uv
local exact = require('acp.buffers.exact')
local lines = require('acp.buffers.lines')
local disk = require('acp.buffers.reload')

---The real path: without links and `..`, also of a file that does not exist yet.
---@param path string absolute
---@return string
local function real(path)
  local head, rest = path, ''
  while true do
    local found = uv.fs_realpath(head)
    if found and rest == '' then return found end
    if found then return vim.fs.normalize(found .. rest, { expand_env = false }) end
    local parent = vim.fs.dirname(head)
    if parent == head or parent == '.' then return path end
    rest = '/' .. vim.fs.basename(head) .. rest
    head = parent
  end
end

---The loaded buffers of files, by number.
---@return {buf: integer, path: string}[]
local function loaded()
  local list = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
      local name = api.nvim_buf_get_name(buf)
      local file = name ~= '' and not name:find('^%a[%w+.-]+://')
      if file then table.insert(list, { buf = buf, path = real(name) }) end
    end
  end
  return list
end

---The loaded buffer of a file; of several, one with unsaved edits.
---@param path string
---@return integer? buf
local function find(path)
  local wanted, found = real(path), nil
  for _, item in ipairs(loaded()) do
    if item.path == wanted and (not found or vim.bo[item.buf].modified) then found = item.buf end
  end
  return found
end

---Set options of a buffer while `run` runs.
---@param buf integer
---@param options table<string, any>
---@param run fun()
---@return boolean ok, string? problem
local function with_options(buf, options, run)
  local before = {}
  for name, value in pairs(options) do
    before[name] = vim.bo[buf][name]
    if before[name] ~= value then vim.bo[buf][name] = value end
  end
  local ok, problem = pcall(run)
  for name, value in pairs(before) do
    if vim.bo[buf][name] ~= value then vim.bo[buf][name] = value end
  end
  return ok, problem
end

---Tell language servers that the file was saved, as `:write` would have: autocommands are off there.
---@param buf integer
---@param text string
local function tell_servers(buf, text)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    local sync = vim.tbl_get(client, 'server_capabilities', 'textDocumentSync')
    local save = type(sync) == 'table' and sync.save
    if save then
      local params = {
        textDocument = { uri = vim.uri_from_bufnr(buf) },
        text = type(save) == 'table' and save.includeText and text or nil,
      }
      if vim.fn.has('nvim-0.11') == 1 then
        client:notify('textDocument/didSave', params)
      else
        client.notify('textDocument/didSave', params)
      end
    end
  end
end

---@param message any
---@return string one line, without the place in our source
local function plain_error(message)
  return (tostring(message):gsub('^.-(E%d+:)', '%1'):gsub('%s*\n.*', ''))
end

---Write the buffer to its file, byte-exact, without a question and without autocommands.
---@param buf integer
---@return boolean ok, string? problem
local function save(buf)
  return with_options(buf, { fixendofline = false, readonly = false }, function()
    api.nvim_buf_call(buf, function()
      vim.fn.mkdir(vim.fn.fnamemodify(real(api.nvim_buf_get_name(buf)), ':h'), 'p')
      vim.cmd('silent noautocmd keepalt lockmarks write!')
    end)
  end)
end

---Bring a buffer up to date with the disk if nothing is lost by that.
---@param buf integer
---@param path string
---@return boolean reloaded
local function refresh(buf, path)
  if vim.bo[buf].modified or not uv.fs_stat(path) then return false end
  if not disk.reload(buf) then return false end
  local chat = require('acp.chat').current()
  if chat then require('acp.events').fire(chat.n, 'AcpFileChanged', { path = path, how = 'reload' }) end
  return true
end

---The text of a file if it is loaded: with unsaved edits, exactly as `:write` would write it.
---@param path string
---@return {loaded: boolean, modified: boolean?, text: string?, tick: integer?}
function M.read(path)
  local buf = find(path)
  if not buf then return { loaded = false } end
  refresh(buf, real(path))
  return {
    loaded = true,
    modified = vim.bo[buf].modified,
    text = exact.text(buf),
    tick = api.nvim_buf_get_changedtick(buf),
  }
end

---Write a file through its buffer. Only the lines that differ change, in one undo step; then the file is
---written. A buffer with unsaved edits is left alone (`why = 'modified'`), unless `options.tick` says that
---these very edits may go: into the undo history.
---@param path string
---@param text string
---@param options? {tick: integer?}
---@return {ok: boolean, loaded: boolean?, why: string?, error: string?}
function M.write(path, text, options)
  local buf = find(path)
  if not buf then return { ok = false, loaded = false } end
  local target = real(path)
  refresh(buf, target)
  local tick = api.nvim_buf_get_changedtick(buf)
  if vim.bo[buf].modified and tick ~= (options or {}).tick then return { ok = false, why = 'modified' } end
  if uv.fs_stat(target) and not uv.fs_access(target, 'W') then
    return { ok = false, why = 'error', error = 'the file is read-only' }
  end
  if not exact.encodable(buf, text) then
    local problem = ('the file is in %s, which cannot hold this text'):format(vim.bo[buf].fileencoding)
    return { ok = false, why = 'error', error = problem }
  end
  local new, how = exact.split(buf, text)
  local before = exact.ends(buf)
  local ok, problem = with_options(buf, { modifiable = true, readonly = false }, function()
    lines.edit(buf, new)
    exact.set_ends(buf, how)
  end)
  if ok then
    ok, problem = save(buf)
    if not ok then
      -- The disk has the old text: so has the buffer, again.
      with_options(buf, { modifiable = true, readonly = false }, function()
        if api.nvim_buf_get_changedtick(buf) ~= tick then
          api.nvim_buf_call(buf, function() vim.cmd('silent undo') end)
        end
        exact.set_ends(buf, before)
      end)
    end
  end
  if not ok then return { ok = false, why = 'error', error = plain_error(problem) } end
  tell_servers(buf, text)
  return { ok = true }
end

---Read changed files again, where nothing is lost by that: no prompt, undo history and cursors kept.
---@param paths? string[] nil: every loaded file
---@return string[] conflicts real paths of files found changed just now whose buffers have unsaved edits
function M.check(paths)
  local wanted ---@type table<string, true>?
  if type(paths) == 'table' then
    wanted = {}
    for _, path in ipairs(paths) do wanted[real(path)] = true end
  end
  local list = {}
  for _, item in ipairs(loaded()) do
    if not wanted or wanted[item.path] then
      if not vim.bo[item.buf].modified then
        refresh(item.buf, item.path)
      elseif uv.fs_stat(item.path) and disk.in_conflict(item.buf) then
        table.insert(list, item.path)
      end
    end
  end
  return list
end

return M
