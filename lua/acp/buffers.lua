--- Files in buffers, for the agent: what the user has now, and writes that keep undo, marks and cursors
--- (design.md section 5, Files; V1-162, V1-169 to V1-171).
local M = {}

local api, uv = vim.api, vim.uv
local clock = require('acp.buffers.clock')
local conflict = require('acp.buffers.conflict')
local disk = require('acp.buffers.disk')
local edit = require('acp.buffers.edit')
local exact = require('acp.buffers.exact')
local files = require('acp.buffers.files')
local scoped = require('acp.buffers.options')
local watch = require('acp.buffers.watch')

---Bytes above which a buffer is not handed out: it would be one line on the agent's pipe.
local MAX_BYTES = 64 * 1024 * 1024

---Buffers whose files were deleted, and the chat that is to tell.
local deleted = {} ---@type table<integer, integer>

---Buffers whose files were deleted and are not there again.
local missing = {} ---@type table<integer, true>

---Buffers whose files were deleted and then written, and the chat whose agent has done that.
local again = {} ---@type table<integer, integer>

---@return boolean
local function autocmds()
  return require('acp.config').get().files.write_autocmds == true
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

---The text of a buffer is on the disk now: who wants to know?
---@param buf integer
---@param wrote boolean by us
local function tell(buf, wrote)
  if wrote and autocmds() then
    -- Language clients listen to it too.
    api.nvim_exec_autocmds('BufWritePost', { buffer = buf, modeline = false })
  elseif #vim.lsp.get_clients({ bufnr = buf }) > 0 then
    tell_servers(buf, exact.text(buf))
  end
end

---@param message any
---@return string one line, without the place in our source
local function plain_error(message)
  return (tostring(message):gsub('^.-(E%d+:)', '%1'):gsub('%s*\n.*', ''))
end

---Whether a change of the buffer would go wrong: where a pending operator began, and where a search leads
---back to, Neovim keeps as line numbers.
---@param buf integer
---@return boolean
local function busy(buf)
  if api.nvim_get_current_buf() ~= buf then
    return false
  end
  return vim.fn.state('o') ~= '' or vim.fn.getcmdtype():find('[/?]') ~= nil
end

local later = {} ---@type table<integer, true>

---Look at the file of a buffer again as soon as it can be changed.
---@param buf integer
---@param path string
---@param chat integer
local function when_free(buf, path, chat)
  if later[buf] then
    return
  end
  later[buf] = true
  local id
  id = api.nvim_create_autocmd({ 'ModeChanged', 'BufLeave' }, {
    callback = function()
      vim.schedule(function()
        if later[buf] and not (api.nvim_buf_is_valid(buf) and busy(buf)) then
          pcall(api.nvim_del_autocmd, id)
          later[buf] = nil
          M.refresh({ path }, chat)
        end
      end)
    end,
  })
end

---Bring a buffer up to date with the disk if nothing is lost by that.
---@param buf integer
---@param path string real
---@param chat integer? whose agent may have changed it
---@return boolean reloaded
local function refresh(buf, path, chat)
  if vim.bo[buf].modified then
    return false
  end
  if busy(buf) then
    when_free(buf, path, chat or watch.chat_of(path) or 0)
    return false
  end
  local reloaded, stat = false, files.stat(path)
  scoped.uncollected(stat and stat.size or 0, function()
    reloaded = disk.reload(buf, path)
  end)
  if not reloaded then
    return false
  end
  conflict.clear(buf)
  tell(buf, false)
  local n = watch.chat_of(path, chat) or chat or (require('acp.chat').current() or {}).n
  if n then
    require('acp.events').fire(n, 'AcpFileChanged', { path = path, how = 'reload' })
  end
  return true
end

---The text of a file if it is loaded: with unsaved edits, exactly as `:write` would write it.
---@param path string
---@param chat integer?
---@return {loaded: boolean, modified: boolean?, text: string?, tick: integer?, large: boolean?}
function M.read(path, chat)
  local buf = files.find(path)
  if not buf then
    return { loaded = false }
  end
  refresh(buf, files.real(path), chat)
  local large = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) > MAX_BYTES
  return {
    loaded = true,
    modified = vim.bo[buf].modified,
    text = not large and exact.text(buf) or '',
    large = large or nil,
    tick = api.nvim_buf_get_changedtick(buf),
  }
end

---@param error_text string
local function failed(error_text)
  return { ok = false, why = 'error', error = error_text }
end

---Put the text into the buffer, and write it. What fails leaves both as they were.
---@param buf integer
---@param text string
---@return boolean ok, string? problem
local function put(buf, text)
  local before, tick = exact.ends(buf), api.nvim_buf_get_changedtick(buf)
  local encoding = vim.bo[buf].fileencoding
  local modified = vim.bo[buf].modified
  local ok, problem = disk.set(buf, text)
  if ok then
    ok, problem = disk.write(buf)
  end
  if not ok then
    scoped.of_buffer(buf, { modifiable = true, readonly = false }, function()
      if api.nvim_buf_get_changedtick(buf) ~= tick then
        api.nvim_buf_call(buf, function()
          vim.cmd('silent undo')
        end)
      end
      exact.set_ends(buf, before)
      vim.bo[buf].fileencoding = encoding
    end)
    vim.bo[buf].modified = modified
  end
  return ok, problem
end

---Look at the file of a buffer with unsaved edits.
---@param buf integer
---@param path string real
---@param chat integer?
local function compare(buf, path, chat)
  local new = clock.is_new(buf)
  if disk.in_conflict(buf, path) then
    conflict.mark(buf, path, chat or watch.chat_of(path), new)
  end
end

---Write a file through its buffer. Only what differs changes, in one undo step; then the file is written. A
---buffer with unsaved edits is left alone (`why = 'modified'`), unless `options.tick` says that these very
---edits may go: into the undo history. If the file has changed under them, too, `options.disk` has to be what
---was answered as `disk` then: its text would be gone. With `options.merged` the file gets `text`, the buffer
---that one: it has unsaved edits then.
---@param path string
---@param text string
---@param options? {tick: integer?, disk: string?, merged: string?, chat: integer?}
---@return {ok: boolean, loaded: boolean?, why: string?, disk: string?, error: string?, wrote: boolean?}
function M.write(path, text, options)
  options = options or {}
  local buf = files.find(path)
  if not buf then
    return { ok = false, loaded = false }
  end
  if busy(buf) then
    return { ok = false, why = 'busy' }
  end
  local target = files.real(path)
  refresh(buf, target, options.chat)
  local tick, modified = api.nvim_buf_get_changedtick(buf), vim.bo[buf].modified
  if modified then
    compare(buf, target, options.chat) -- a change is news once: who finds it has to tell
  end
  local behind = modified and disk.behind(buf) or nil
  if modified and (tick ~= options.tick or behind ~= options.disk) then
    return { ok = false, why = 'modified', disk = behind }
  end
  local stat, other = files.stat(target)
  local was_deleted = not stat and not other and (missing[buf] or disk.had(buf))
  if not modified and exact.is(buf, text) and disk.same(buf, target) then
    return { ok = true, wrote = false }
  end
  if stat and not uv.fs_access(target, 'W') then
    return failed('the file is read-only')
  end
  for _, each in ipairs({ text, options.merged }) do
    if not exact.encode(each, exact.encoding(buf)) then
      return failed(('the file is in %s, which cannot hold this text'):format(vim.bo[buf].fileencoding))
    end
  end
  local ok, problem
  scoped.uncollected(#text, function()
    edit.keeping(buf, function()
      ok, problem = put(buf, text)
      if ok and options.merged and options.merged ~= text then
        disk.set(buf, options.merged, nil, true)
      end
    end, options.merged == nil)
  end)
  if not ok then
    return failed(plain_error(problem))
  end
  conflict.clear(buf)
  missing[buf] = nil
  again[buf] = was_deleted and options.chat or again[buf]
  tell(buf, true)
  return { ok = true, wrote = true }
end

local waiting = {} ---@type integer[] buffers to be learned
local TURN_MS = 4

---Learn some of them now, the rest soon: many files must not keep a key waiting.
local function learn_some()
  local started = uv.hrtime()
  while #waiting > 0 and (uv.hrtime() - started) / 1e6 < TURN_MS do
    local buf = table.remove(waiting)
    if files.is_file(buf) then
      local path = files.real(api.nvim_buf_get_name(buf))
      -- The agent may have been faster, or be at it: what Neovim knows tells that later.
      if not disk.young(path) and not disk.trust(buf, path) then
        local look = vim.bo[buf].modified and compare or refresh
        look(buf, path)
      end
    end
  end
  if #waiting > 0 then
    vim.defer_fn(learn_some, 1)
  end
end

---Get to know the files of buffers as they are now, so that a change of them is recognized as one.
---@param bufs integer[]
function M.learn(bufs)
  disk.tidy()
  local idle = #waiting == 0
  vim.list_extend(waiting, bufs)
  if idle then
    vim.schedule(learn_some)
  end
end

---Look at files that may have changed on disk: those of unmodified buffers are read again, those of others
---are in conflict. No prompt; undo history, marks, folds and cursors are kept.
---@param paths? string[] nil: every loaded file
---@param chat? integer whose agent may have changed them; nil: only files below the folders of running turns
function M.refresh(paths, chat)
  chat = type(chat) == 'number' and chat or nil
  local wanted ---@type table<string, true>?
  if type(paths) == 'table' then
    wanted = {}
    for _, path in ipairs(paths) do
      wanted[files.real(path)] = true
    end
  end
  for _, item in ipairs(files.loaded()) do
    local buf, path = item.buf, item.path
    local owner = watch.chat_of(path)
    if (not wanted or wanted[path]) and (chat or owner) then
      local stat, other = files.stat(path)
      if not stat then
        if not other and disk.gone(buf) then
          deleted[buf], missing[buf] = owner or chat, true
        end
      elseif not vim.bo[buf].modified then
        refresh(buf, path, chat)
      elseif wanted or owner or not watch.running(chat) then
        compare(buf, path, chat)
      end
    end
  end
end

---The same for the host, which tells the user of the conflicts.
---@param paths? string[]
---@param chat? integer
---@return string[] conflicts real paths of files whose buffers have unsaved edits, and of which this chat has
---not been told yet
function M.check(paths, chat)
  M.refresh(paths, type(chat) == 'number' and chat or 0)
  return conflict.take(type(chat) == 'number' and chat or nil)
end

---The buffers that a chat is to tell of, once, as files.
---@param marked table<integer, integer>
---@param chat integer
---@param there boolean only files that are there; else only those that are not
---@return string[] paths real
local function take(marked, chat, there)
  local paths = {}
  for buf, of in pairs(marked) do
    if of == chat then
      marked[buf] = nil
      local path = files.is_file(buf) and files.real(api.nvim_buf_get_name(buf))
      if path and (uv.fs_stat(path) ~= nil) == there then
        table.insert(paths, path)
      end
    end
  end
  table.sort(paths)
  return paths
end

---Files that were deleted under their buffers, and of which this chat has not been told yet.
---@param chat integer
---@return string[] paths real
function M.deleted(chat)
  return take(deleted, chat, false)
end

---Files that were deleted under their buffers, and that the chat's agent has written again.
---@param chat integer
---@return string[] paths real
function M.again(chat)
  return take(again, chat, true)
end

return M
