--- Which loaded buffer is which file, whatever name leads to it.
local M = {}

local api, uv = vim.api, vim.uv

---The real path: without links and `..`, also of a file that does not exist yet.
---@param path string absolute
---@return string
function M.real(path)
  local head, rest = path, ''
  while true do
    local found = uv.fs_realpath(head)
    if found and rest == '' then
      return found
    end
    if found then
      return vim.fs.normalize(found .. rest, { expand_env = false })
    end
    local parent = vim.fs.dirname(head)
    if parent == head or parent == '.' then
      return path
    end
    rest = '/' .. vim.fs.basename(head) .. rest
    head = parent
  end
end

---What the system says of a path. Only of regular files: nothing else is read or written here.
---@param path string
---@return uv.fs_stat.result? stat
---@return string? other type of what is there instead
function M.stat(path)
  local stat = uv.fs_stat(path)
  if stat and stat.type ~= 'file' then
    return nil, stat.type
  end
  return stat
end

---Whether a buffer is loaded and that of a file.
---@param buf integer
---@return boolean
function M.is_file(buf)
  if not api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= '' then
    return false
  end
  local name = api.nvim_buf_get_name(buf)
  return name ~= '' and not name:find('^%a[%w+.-]+://')
end

---The loaded buffers of files, in their order.
---@return {buf: integer, path: string}[]
function M.loaded()
  local list = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if M.is_file(buf) then
      table.insert(list, { buf = buf, path = M.real(api.nvim_buf_get_name(buf)) })
    end
  end
  return list
end

---Whether two paths lead to one file: a disk may ignore case, be mounted twice, or have hard links.
---@param one uv.fs_stat.result?
---@param path string
---@return boolean
local function same_file(one, path)
  local other = one and uv.fs_stat(path)
  return other ~= nil and other.ino == one.ino and other.dev == one.dev
end

---The loaded buffer of a file; of several, one with unsaved edits.
---@param path string
---@return integer? buf
function M.find(path)
  local wanted = M.real(path)
  local stat, other = M.stat(wanted)
  if other then
    return nil
  end
  local found, rank
  for _, item in ipairs(M.loaded()) do
    local named = item.path == wanted
    if named or same_file(stat, item.path) then
      local now = (vim.bo[item.buf].modified and 2 or 0) + (named and 1 or 0)
      if not found or now > rank then
        found, rank = item.buf, now
      end
    end
  end
  return found
end

return M
