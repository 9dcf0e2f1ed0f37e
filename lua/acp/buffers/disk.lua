--- Buffers and what is on the disk under them: read again without a question, written exactly.
local M = {}

local api, uv = vim.api, vim.uv
local clock = require('acp.buffers.clock')
local edit = require('acp.buffers.edit')
local exact = require('acp.buffers.exact')
local files = require('acp.buffers.files')
local options = require('acp.buffers.options')

---Bytes up to which a file is known by its digest, which takes 1 ms for 100 kB; a larger one by its time.
local DIGESTED = 512 * 1024

---Seconds. Clocks of file systems tick slowly, and programs write in pieces.
local YOUNG = 0.1

---What is known of the file under a buffer. `stamp`: how it looked last, nil when that is not to be relied
---on. `digest`: of its bytes then. `behind`: the buffer had unsaved edits when it changed, and was not read
---again. `foreign`: the buffer shows something else than the bytes (unpacked, decrypted).
---@class acp.Known
---@field stamp string?
---@field digest string
---@field behind boolean?
---@field foreign boolean?

local known = {} ---@type table<integer, acp.Known>

---@param stat uv.fs_stat.result
---@return string
local function stamp_of(stat)
  local time = stat.mtime
  return ('%d.%d:%d:%d:%d'):format(time.sec, time.nsec, stat.size, stat.ino, stat.mode)
end

---@param stat uv.fs_stat.result
---@param size integer bytes
---@return string
local function time_of(stat, size)
  return ('%d.%d:%d'):format(stat.mtime.sec, stat.mtime.nsec, size)
end

---@param stat uv.fs_stat.result
---@param bytes string
---@return string
local function digest_of(stat, bytes)
  if #bytes > DIGESTED then
    return time_of(stat, #bytes)
  elseif not bytes:find('\0', 1, true) then
    return vim.fn.sha256(bytes)
  end
  -- A string with a NUL is none to Vim functions.
  return 'NUL' .. vim.fn.sha256((bytes:gsub('[%z\1]', { ['\0'] = '\1\1', ['\1'] = '\1\2' })))
end

---Whether a file was changed a moment ago: it may be half written, or change again and look the same.
---@param stat uv.fs_stat.result
---@return boolean
local function is_young(stat)
  local seconds, microseconds = uv.gettimeofday()
  local age = seconds + microseconds / 1e6 - (stat.mtime.sec + stat.mtime.nsec / 1e9)
  return math.abs(age) < YOUNG
end

---@param path string
---@return boolean
function M.young(path)
  local stat = files.stat(path)
  return stat ~= nil and is_young(stat)
end

-- What the user writes is no change of somebody else's: what was known before is forgotten. Our own writing
-- has no autocommands.
api.nvim_create_autocmd('BufWritePost', {
  group = api.nvim_create_augroup('acp.disk', {}),
  callback = function(args)
    local name = known[args.buf] and api.nvim_buf_get_name(args.buf)
    if name and files.real(vim.fn.fnamemodify(args.file, ':p')) == files.real(name) then
      known[args.buf] = nil
    end
  end,
})

---Note what the file is like now.
---@param buf integer
---@param stat uv.fs_stat.result
---@param bytes string
---@param more? {behind: boolean?, foreign: boolean?}
local function note(buf, stat, bytes, more)
  known[buf] = {
    stamp = not is_young(stat) and stamp_of(stat) or nil,
    digest = digest_of(stat, bytes),
    behind = more and more.behind,
    foreign = more and more.foreign,
  }
end

---@param path string
---@return string?
local function read(path)
  local file = io.open(path, 'rb')
  local bytes = file and file:read('*a')
  if file then
    file:close()
  end
  return bytes
end

---Get to know a large file without reading it, which would keep a key waiting: Neovim has seen no change
---since it has read it, and the buffer has as many bytes (a file that was unpacked or decrypted has others).
---@param buf integer
---@param path string
---@return boolean known false: it has to be read
function M.trust(buf, path)
  local stat, bo = files.stat(path), vim.bo[buf]
  if known[buf] or not stat or stat.size <= DIGESTED or bo.modified then
    return false
  end
  if not exact.is_utf8(buf) or exact.size(buf) ~= stat.size or clock.is_new(buf) or clock.overheard() then
    return false
  end
  if clock.look(buf) then
    return false
  end
  known[buf] = { stamp = not is_young(stat) and stamp_of(stat) or nil, digest = time_of(stat, stat.size) }
  return true
end

---Forget buffers that are gone.
function M.tidy()
  for buf in pairs(known) do
    if not api.nvim_buf_is_loaded(buf) then
      known[buf] = nil
    end
  end
end

---The file under a buffer if it may have changed since it was last looked at.
---@param buf integer
---@param path string
---@return uv.fs_stat.result? stat
---@return string bytes
local function touched(buf, path)
  local stat = files.stat(path)
  local before = known[buf]
  if not stat or (before and before.stamp == stamp_of(stat) and not before.behind) then
    return nil, ''
  end
  local bytes = read(path)
  return bytes and stat, bytes or ''
end

---Keep the undo history of a buffer on disk, as writing it would have done.
---@param buf integer
local function write_undo(buf)
  local path = vim.bo[buf].undofile and vim.fn.undofile(api.nvim_buf_get_name(buf)) or ''
  if path ~= '' then
    api.nvim_buf_call(buf, function()
      pcall(vim.cmd, 'silent! wundo! ' .. vim.fn.fnameescape(path))
    end)
  end
end

---Give a buffer the text, exactly; without writing it.
---@param buf integer
---@param text string
---@param encoding? string to change to
---@param join? boolean with the last undo step
---@return boolean ok, string? problem
function M.set(buf, text, encoding, join)
  local new, how = exact.split(buf, text)
  return options.of_buffer(buf, { modifiable = true, readonly = false }, function()
    edit.set(buf, new, join)
    exact.set_ends(buf, how)
    if encoding and encoding ~= vim.bo[buf].fileencoding then
      vim.bo[buf].fileencoding = encoding
    end
  end)
end

---Bring an unmodified buffer up to date with the disk.
---
---Neovim's own reading (`:checktime`) replaces all lines: extmarks, folds and marks stay at their line
---numbers, and one undo step holds the whole text twice. So it is an edit of what differs.
---@param buf integer
---@param path string
---@return boolean changed
function M.reload(buf, path)
  local stat, bytes = touched(buf, path)
  if not stat then
    return false
  end
  local before = known[buf]
  if exact.is_bytes(buf, bytes) then
    clock.accept(buf)
    note(buf, stat, bytes)
    return false
  end
  -- What is unpacked or decrypted for reading is not for us to read. Not looked at before: bytes tell.
  local packed = not before and bytes:find('\0', 1, true) and not (exact.bytes(buf) or ''):find('\0', 1, true)
  if packed or (before and before.foreign) then
    note(buf, stat, bytes, { foreign = true })
    return clock.read_again(buf)
  end
  if not before and not clock.is_new(buf) and not clock.overheard() and not clock.look(buf) then
    -- It differs from the disk, which has not changed: the buffer never had these bytes.
    note(buf, stat, bytes, { foreign = true })
    return false
  end
  if not M.set(buf, exact.decode(buf, bytes)) then
    return false
  end
  clock.accept(buf)
  write_undo(buf)
  note(buf, stat, bytes)
  return true
end

---Whether the file of a buffer with unsaved edits has changed on disk since this was last asked. Nobody is
---asked now, and not by Neovim's own checks either; `:write` warns the user.
---@param buf integer
---@param path string
---@return boolean
function M.in_conflict(buf, path)
  local stat, bytes = touched(buf, path)
  if not stat then
    return false
  end
  if exact.is_bytes(buf, bytes) then
    clock.accept(buf)
    note(buf, stat, bytes)
    return false
  end
  local before, new = known[buf], clock.is_new(buf)
  local changed = new
  if before then
    changed = before.digest ~= digest_of(stat, bytes)
  end
  if new then
    clock.accept(buf, true)
  else
    local reason = clock.look(buf)
    changed = changed or (not before and (reason == 'conflict' or reason == 'changed'))
  end
  note(buf, stat, bytes, { behind = changed or (before or {}).behind, foreign = (before or {}).foreign })
  return changed
end

---How the file of a buffer with unsaved edits looked last, if it has changed since the buffer had its text:
---what it holds is nowhere else. nil: it has not.
---@param buf integer
---@return string?
function M.behind(buf)
  local now = known[buf]
  return now and now.behind and now.digest or nil
end

---Whether the file of a buffer is known to have been there.
---@param buf integer
---@return boolean
function M.had(buf)
  return known[buf] ~= nil
end

---The file is gone from under its buffer: the text stays, and Neovim does not complain.
---@param buf integer
---@return boolean news
function M.gone(buf)
  if not known[buf] then
    return false
  end
  known[buf] = nil
  clock.look(buf)
  return true
end

---Write the buffer to its file, byte-exact, without a question and without autocommands; never without a
---backup until the new text is there, and links stay links.
---@param buf integer
---@return boolean ok, string? problem
function M.write(buf)
  local path = files.real(api.nvim_buf_get_name(buf))
  local how = vim.bo[buf].backupcopy
  how = how == '' and vim.go.backupcopy or how
  local own = { fixendofline = false, readonly = false }
  if how:find('no', 1, true) or how:find('break', 1, true) then
    own.backupcopy = 'auto'
  end
  local ok, problem
  options.global({ writebackup = true, backupskip = '', fsync = true }, function()
    ok, problem = options.of_buffer(buf, own, function()
      api.nvim_buf_call(buf, function()
        vim.fn.mkdir(vim.fn.fnamemodify(path, ':h'), 'p')
        vim.cmd('silent noautocmd keepalt lockmarks write!')
      end)
    end)
  end)
  local stat = ok and files.stat(path)
  if stat and stat.size > DIGESTED and exact.is_utf8(buf) then
    -- The digest of so many bytes is how many there are: ours, others may have written since.
    local stamp = not is_young(stat) and stamp_of(stat) or nil
    known[buf] = { stamp = stamp, digest = time_of(stat, exact.size(buf)) }
  elseif stat then
    local bytes = exact.bytes(buf)
    if bytes then
      note(buf, stat, bytes)
    end
  end
  return ok == true, problem
end

---Whether the file already is what the buffer would write.
---@param buf integer
---@param path string
---@return boolean
function M.same(buf, path)
  local bytes = files.stat(path) and read(path)
  return bytes ~= nil and exact.is_bytes(buf, bytes)
end

return M
