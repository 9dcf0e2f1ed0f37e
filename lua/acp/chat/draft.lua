--- What was written and not sent is kept when Neovim ends, or a chat's buffer is wiped. The next chat of that
--- agent in that folder gets it back into its prompt, and the file is gone.
local M = {}

local api, uv = vim.api, vim.uv

local LIMIT = 256 * 1024 -- bytes of one draft
local LARGEST = 6 * LIMIT + 64 -- bytes of its file: JSON may take six for one
local FILES = 50 -- the oldest go

local kept = {} ---@type table<string, string> drafts that could not be written, by their files

---@return string
local function folder()
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'acp.nvim')
end

---@param chat acp.Chat
---@return string
local function file_of(chat)
  local key = vim.fn.sha256(chat.cwd .. '\n' .. chat.agent):sub(1, 24)
  return ('%s/draft-%s.json'):format(folder(), key)
end

---Whether any chat left one. The first use of `sha256()` keeps Neovim busy with a test of itself for 3 ms,
---and a chat is to be on the screen in 10.
---@return boolean
local function any()
  local handle = uv.fs_scandir(folder())
  local name = handle and uv.fs_scandir_next(handle)
  while name do
    if vim.startswith(name, 'draft-') then
      return true
    end
    name = uv.fs_scandir_next(handle)
  end
  return false
end

---@param path string
---@return {text: string}?
local function read(path)
  local data = require('acp.own_file').read(path, LARGEST)
  local ok, draft = pcall(vim.json.decode, data or '')
  if not ok or type(draft) ~= 'table' or type(draft.text) ~= 'string' then
    return nil
  end
  return draft
end

---Written beside it and renamed: another Neovim never reads a half.
---@param path string
---@param data string
---@return boolean
local function write(path, data)
  local beside = ('%s.%d'):format(path, vim.fn.getpid())
  local fd = uv.fs_open(beside, 'w', 384) -- 0600
  if not fd then
    return false
  end
  local done = uv.fs_write(fd, data)
  local closed = uv.fs_close(fd)
  if done == #data and closed and uv.fs_rename(beside, path) then
    return true
  end
  uv.fs_unlink(beside)
  return false
end

---Remove the oldest drafts when there are too many.
local function tidy()
  local files = {}
  for name in vim.fs.dir(folder()) do
    if vim.startswith(name, 'draft-') then
      local path = folder() .. '/' .. name
      local stat = uv.fs_stat(path)
      table.insert(files, { path = path, time = stat and stat.mtime.sec + stat.mtime.nsec / 1e9 or 0 })
    end
  end
  table.sort(files, function(a, b)
    return a.time > b.time
  end)
  for i = FILES + 1, #files do
    uv.fs_unlink(files[i].path)
  end
end

---Keep what a chat has not sent. Nothing is written if there is nothing.
---@param chat acp.Chat
function M.save(chat)
  local text = require('acp.chat.prompt').unsent(chat)
  if text == '' then
    return
  end
  local path = file_of(chat)
  local earlier = read(path) or (kept[path] and { text = kept[path] })
  if earlier and not earlier.text:find(text, 1, true) then
    text = earlier.text .. '\n\n' .. text
  end
  if #text > LIMIT then
    text = text:sub(1, LIMIT + vim.str_utf_start(text, LIMIT + 1)) -- the end of a whole character
  end
  local data = vim.json.encode({ text = text })
  local made = pcall(vim.fn.mkdir, folder(), 'p', 448) -- 0700
  if not made or not write(path, data) then
    kept[path] = text
    local why = 'the text in the prompt could not be saved in ' .. folder()
    local remedy = '; until Neovim ends :AcpChat brings it back'
    require('acp.message').error(why .. (vim.v.exiting == vim.NIL and remedy or ''))
    return
  end
  kept[path] = nil
  tidy()
end

local watching = false

---A new chat gets what was not sent before. From now on drafts are kept when Neovim ends.
---@param chat acp.Chat
function M.start(chat)
  local path = (any() or next(kept)) and file_of(chat)
  local draft = path and read(path)
  local text = path and kept[path] or draft and draft.text
  if text then
    uv.fs_unlink(path)
    kept[path] = nil
    require('acp.chat.prompt').restore(chat.n, text)
  end
  if watching then
    return
  end
  watching = true
  api.nvim_create_autocmd('VimLeavePre', {
    group = api.nvim_create_augroup('acp.draft', {}),
    callback = function()
      local chats = require('acp.chat').list()
      for i = #chats, 1, -1 do -- the last used one comes last
        M.save(chats[i])
      end
    end,
  })
end

return M
