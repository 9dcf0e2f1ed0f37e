--- The files of what was not sent, for the user alone. A chat has its own, named after its Neovim too. When
--- the chat ends, or that Neovim in peace, there is one of the agent and the folder (`plain`). That one, and
--- those of Neovims that do not live any more, are loose: the next chat takes them.
local M = {}

local uv = vim.uv

local LIMIT = 2 * 1024 * 1024 -- bytes of one draft
local LARGEST = 6 * LIMIT + 64 -- bytes of its file: JSON may take six for one
local FILES = 50 -- loose ones; the oldest go

---@class acp.LooseDraft
---@field key string
---@field path string

---@return string
function M.folder()
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'acp.nvim')
end

---The first use of `sha256()` keeps Neovim busy with a test of itself for 3 ms.
---@param chat acp.Chat
---@return string key with which the names of the files of an agent and a folder begin
function M.key(chat)
  return 'draft-' .. vim.fn.sha256(chat.cwd .. '\n' .. chat.agent):sub(1, 24)
end

---@param key string
---@return string
function M.plain(key)
  return ('%s/%s.json'):format(M.folder(), key)
end

---When a process began, in ticks since the machine did. See proc_pid_stat(5).
---@param pid string
---@return string? ticks nil: there is none, or the system does not tell (macOS)
local function born(pid)
  local stat = require('acp.own_file').read(('/proc/%s/stat'):format(pid), 4096) or ''
  local state, ticks = stat:match('^.*%) (%a) ' .. ('%S+ '):rep(18) .. '(%d+)')
  return (state == 'Z' or state == 'X') and 'ended' or ticks
end

---Whether the Neovim that a file bears the name of lives: another process may have its number by now.
---@param path string
---@param pid string
---@param begun string what `born` said of it; 0: nothing
---@return boolean
local function lives(path, pid, begun)
  local _, _, why = uv.kill(tonumber(pid) --[[@as integer]], 0)
  if why == 'ESRCH' then
    return false
  end
  local now = born(pid)
  if now and begun ~= '0' then
    return now == begun
  end
  local stat = uv.fs_stat(path)
  return stat ~= nil and stat.mtime.sec > os.time() - uv.uptime() - 60 -- else the machine was off since
end

local me ---@type string? this Neovim in the names of its files
local count = 0

---@param key string
---@return string path of a file that is not there yet, of this Neovim
function M.own(key)
  me = me or ('%d-%s'):format(uv.os_getpid(), born('self') or '0')
  count = count + 1
  return ('%s/%s.of-%s-%d.json'):format(M.folder(), key, me, count)
end

---The files that no chat has. What a Neovim was writing when it was killed is removed.
---@return acp.LooseDraft[]
function M.loose()
  local folder, list = M.folder(), {}
  local handle = uv.fs_scandir(folder)
  local name = handle and uv.fs_scandir_next(handle)
  while name do
    local path = folder .. '/' .. name
    local key, pid, begun, half = name:match('^(draft%-%x+)%.of%-(%d+)%-(%d+)%-%d+%.json(.*)$')
    if not key then
      key = name:match('^(draft%-%x+)%.json$')
      table.insert(list, key and { key = key, path = path })
    elseif not lives(path, pid, begun) then
      if half == '' then
        table.insert(list, { key = key, path = path })
      else
        uv.fs_unlink(path)
      end
    end
    name = uv.fs_scandir_next(handle)
  end
  return list
end

---@param path string
---@return string? text
function M.read(path)
  local data = require('acp.own_file').read(path, LARGEST)
  local ok, draft = pcall(vim.json.decode, data or '')
  if not ok or type(draft) ~= 'table' or type(draft.text) ~= 'string' then
    return nil
  end
  return draft.text
end

---@param paths string[]
function M.remove(paths)
  for _, path in ipairs(paths) do
    uv.fs_unlink(path)
  end
end

---@param path string
---@return number seconds since the epoch
local function changed(path)
  local stat = uv.fs_lstat(path)
  return stat and stat.mtime.sec + stat.mtime.nsec / 1e9 or 0
end

---@param list acp.LooseDraft[]
---@return acp.LooseDraft[] the oldest first
local function by_age(list)
  for _, each in ipairs(list) do
    each.time = changed(each.path)
  end
  table.sort(list, function(a, b)
    return a.time < b.time
  end)
  return list
end

---Make loose files ours. Other Neovims may be about to do so: who has renamed a file has it.
---@param key string
---@param loose acp.LooseDraft[]
---@return {path: string?, text: string}[] taken the oldest first; without a path: it had to stay where it is
function M.take(key, loose)
  local taken = {}
  local wanted = vim.tbl_filter(function(each)
    return each.key == key
  end, loose)
  for _, each in ipairs(by_age(wanted)) do
    local stat = uv.fs_lstat(each.path)
    if stat and stat.type == 'file' and uv.fs_access(each.path, 'R') then
      local own = M.own(key)
      local path = uv.fs_rename(each.path, own) and own or nil
      local text = M.read(path or each.path)
      if text then
        table.insert(taken, { path = path, text = text })
      else
        M.remove({ path })
      end
    end
  end
  return taken
end

---Remove the oldest of too many.
function M.tidy()
  local loose = M.loose()
  if #loose > FILES then
    loose = by_age(loose)
    for i = 1, #loose - FILES do
      uv.fs_unlink(loose[i].path)
    end
  end
end

---@param text string
---@return string text as much of it as is kept
function M.cut(text)
  -- to the end of a whole character
  return #text > LIMIT and text:sub(1, LIMIT + vim.str_utf_start(text, LIMIT + 1)) or text
end

---@param path string of a new file, which no link or FIFO takes the place of
---@param text string
---@return integer? fd nil: it failed, and there is no file
local function create(path, text)
  pcall(vim.fn.mkdir, M.folder(), 'p', 448) -- 0700
  uv.fs_unlink(path)
  local fd = uv.fs_open(path, 'wx', 384) -- 0600
  local data = vim.json.encode({ text = text })
  if fd and uv.fs_write(fd, data) ~= #data then
    uv.fs_close(fd)
    uv.fs_unlink(path)
    return nil
  end
  return fd
end

---Write a text for the next chat. It is written beside and renamed: another Neovim never reads a half.
---@param key string
---@param text string
---@return boolean
function M.leave(key, text)
  local beside = M.own(key) .. '.new'
  local fd = create(beside, text)
  if fd and uv.fs_close(fd) and uv.fs_rename(beside, M.plain(key)) then
    return true
  end
  uv.fs_unlink(beside)
  return false
end

---Write the file of a chat in the same way. Nobody waits until it is on the disk, which may take long.
---@param path string of ours
---@param text string
---@param done fun(ok: boolean)
---@return fun()? stop nil: it failed
function M.write(path, text, done)
  local beside, wanted = path .. '.new', true
  local fd = create(beside, text)
  if not fd then
    return nil
  end
  uv.fs_fsync(fd, function(problem)
    local closed = uv.fs_close(fd)
    if not wanted then
      return
    end
    wanted = false
    local ok = not problem and closed and uv.fs_rename(beside, path)
    if not ok then
      uv.fs_unlink(beside)
    end
    vim.schedule(function()
      done(ok == true)
    end)
  end)
  return function()
    if wanted then
      wanted = false
      uv.fs_unlink(beside)
    end
  end
end

return M
