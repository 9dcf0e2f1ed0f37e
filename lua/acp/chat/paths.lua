--- The paths that a mention may mean: asked of the host, which answers when it can.
local M = {}

---A path as it is put into a prompt, and as it is shown.
---@alias acp.chat.PathRow [string, string]

---@class acp.chat.PathRequest
---@field id integer
---@field done fun(rows: acp.chat.PathRow[], ended: boolean) called once or more; the last time with `ended`

local RECENT = 100
local count = 0
local open = {} ---@type table<integer, acp.chat.PathRequest> the one that counts, by chat

---Where the user is and was, the latest first: the files of buffers, then those of earlier sessions.
---@return string[] absolute
local function recent()
  local buffers = vim.fn.getbufinfo({ buflisted = 1 })
  table.sort(buffers, function(a, b)
    return a.lastused > b.lastused or (a.lastused == b.lastused and a.bufnr > b.bufnr)
  end)
  local paths = {}
  for _, buffer in ipairs(buffers) do
    if #paths >= RECENT then
      break
    end
    if buffer.name ~= '' and vim.bo[buffer.bufnr].buftype == '' then
      table.insert(paths, vim.fs.normalize(buffer.name))
    end
  end
  for _, path in ipairs(vim.v.oldfiles) do
    if #paths >= RECENT then
      break
    end
    table.insert(paths, vim.fs.normalize(path))
  end
  return paths
end

---@param n integer chat
---@param id? integer that one alone
local function finish(n, id)
  local request = open[n]
  if request and (not id or request.id == id) then
    open[n] = nil
    request.done({}, true)
  end
end

---Ask for paths. What was asked for before in this chat is answered with nothing more.
---@param n integer chat
---@param typed string
---@param begins boolean a mention has just begun: the host looks if it still knows what is there
---@param done fun(rows: acp.chat.PathRow[], ended: boolean)
---@return fun() cancel
function M.ask(n, typed, begins, done)
  finish(n)
  local state = require('acp.host').status().state
  if state ~= 'ready' and state ~= 'starting' then
    done({}, true)
    return function() end
  end
  count = count + 1
  local id = count
  open[n] = { id = id, done = done }
  local where = begins and recent() or nil
  require('acp.host').event('complete', { chat = n, id = id, typed = typed, recent = where })
  return function()
    finish(n, id)
  end
end

---The host answers. `limits.cut`: a folder in which there is more than it keeps.
---@param id integer
---@param rows acp.chat.PathRow[]
---@param ended boolean
---@param limits {most: integer, cut: string?}
function M.answer(id, rows, ended, limits)
  for n, request in pairs(open) do
    if request.id == id then
      if ended then
        open[n] = nil
      end
      request.done(rows, ended)
      break
    end
  end
  if limits.cut then
    local folder = vim.fn.fnamemodify(limits.cut, ':~')
    local text = ('not all files of %s are offered after @ (%d at most); others can be typed'):format(
      folder,
      limits.most
    )
    require('acp.message').once('paths ' .. limits.cut, 'info', text)
  end
end

---A chat ended.
---@param n integer
function M.drop(n)
  open[n] = nil
end

return M
