--- The places an agent was followed to, for the quickfix list. Kept when follow is off, gone with the chat.
local M = {}

M.MOST = 1000

---@class acp.Stop
---@field path string
---@field line? integer
---@field verb string
---@field time string
---@field why? string it was not opened

local trails = {} ---@type table<integer, acp.Stop[]>

---@param chat integer
---@param stop {path: string, line: integer?, verb: string, why: string?}
function M.add(chat, stop)
  local trail = trails[chat] or {}
  trails[chat] = trail
  local last = trail[#trail]
  local new = { path = stop.path, line = stop.line, verb = stop.verb, why = stop.why }
  new.time = last and last.time
  if vim.deep_equal(new, last) then
    table.remove(trail)
  end
  new.time = os.date('%H:%M:%S') --[[@as string]]
  table.insert(trail, new)
  if #trail > M.MOST then
    table.remove(trail, 1)
  end
end

---@param chat integer
function M.drop(chat)
  trails[chat] = nil
end

---Fill the quickfix list, newest last, and show it.
---@param chat acp.Chat
---@return boolean|nil
---@return string? reason
function M.list(chat)
  local trail = trails[chat.n]
  if not trail then
    return nil, 'nothing was followed yet in this chat; :AcpFollow on'
  end
  local obstacle = require('acp.cmdwin').obstacle()
  if obstacle then
    return nil, obstacle
  end
  local plain, items = require('acp.message').plain, {}
  for _, stop in ipairs(trail) do
    local text = ('%s  %s'):format(stop.time, stop.verb)
    if stop.why then
      local name = vim.fn.fnamemodify(stop.path, ':~:.')
      text = ('%s  %s  not opened: %s'):format(text, name, stop.why)
      table.insert(items, { text = plain(text), valid = 0 })
    else
      table.insert(items, { filename = stop.path, lnum = stop.line or 1, text = text, valid = 1 })
    end
  end
  vim.fn.setqflist({}, ' ', {
    title = ('acp: where %s was'):format(chat.agent),
    items = items,
    idx = #items,
  })
  vim.cmd('botright copen')
  return true
end

return M
