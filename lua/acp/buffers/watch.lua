--- While an agent works: files it changes by itself, found before Neovim finds them and asks the user.
local M = {}

local api = vim.api

local roots = {} ---@type table<integer, string[]> real folders of the chats whose turn runs
local chats = {} ---@type table<integer, true> those of them that had a chat to begin with
local group ---@type integer?

---@param path string
---@param folder string
local function below(path, folder)
  folder = folder:gsub('/+$', '')
  return path == folder or path:sub(1, #folder + 1) == folder .. '/'
end

---Whether a turn can still be running: a host that died does not tell that it is over.
---@param chat integer
---@return boolean
local function alive(chat)
  local known = require('acp.chat').get(chat) ~= nil
  return known == (chats[chat] ~= nil) and require('acp.status').raw(chat).state ~= 'failed'
end

---The chat whose running turn a change of this file belongs to: the one it is said to be of, if the file is
---below its folders; else the one with the nearest folder.
---@param path string real
---@param said? integer
---@return integer?
function M.chat_of(path, said)
  local best, length = nil, -1
  for chat, folders in pairs(roots) do
    for _, folder in ipairs(folders) do
      if below(path, folder) and alive(chat) then
        if chat == said then
          return chat
        elseif #folder > length or (#folder == length and chat > best) then
          best, length = chat, #folder
        end
      end
    end
  end
  return best
end

---@param chat integer?
---@return boolean
function M.running(chat)
  return roots[chat or 0] ~= nil
end

---Look at the loaded files of running turns.
local function look()
  require('acp.buffers').refresh(nil, nil)
end

---Neovim has found a change by itself and would ask. We look at the file as soon as it lets us.
---@param args {buf: integer}
local function changed(args)
  local clock, files = require('acp.buffers.clock'), require('acp.buffers.files')
  if clock.looking then
    return
  end
  local path = files.real(api.nvim_buf_get_name(args.buf))
  if not M.chat_of(path) then
    -- As if we did not listen, unless somebody else does.
    if vim.v.fcs_choice == '' and not clock.overheard() then
      vim.v.fcs_choice = 'ask'
    end
    return
  end
  vim.v.fcs_choice = ''
  vim.schedule(function()
    require('acp.buffers').refresh({ path })
  end)
end

---A turn of a chat begins.
---@param chat integer
---@param folders string[] the session's roots
function M.start(chat, folders)
  local files, buffers = require('acp.buffers.files'), require('acp.buffers')
  roots[chat] = vim.tbl_map(files.real, folders)
  chats[chat] = require('acp.chat').get(chat) and true or nil
  local bufs = {}
  for _, item in ipairs(files.loaded()) do
    if M.chat_of(item.path) then
      table.insert(bufs, item.buf)
    end
  end
  buffers.learn(bufs)
  if group then
    return
  end
  group = api.nvim_create_augroup('AcpWatch', {})
  local function on(events, callback)
    -- Looking at a file needs events of its own.
    api.nvim_create_autocmd(events, { group = group, nested = true, callback = callback })
  end
  -- Autocommands come before Neovim's own check of the same moment.
  on({ 'FocusGained', 'VimResume', 'ShellCmdPost' }, look)
  on('FileChangedShell', changed)
  on('BufReadPost', function(args)
    if M.chat_of(files.real(args.file)) then
      buffers.learn({ args.buf })
    end
  end)
end

---It has ended, or the chat is gone.
---@param chat integer
function M.stop(chat)
  roots[chat], chats[chat] = nil, nil
  if group and not next(roots) then
    api.nvim_del_augroup_by_id(group)
    group = nil
  end
end

return M
