--- How much of everything the host holds. For the soak and its test, and for who looks for a leak.
local M = {}

---@type {tasks: integer, chats: integer, connections: integer, sessions: integer, questions: integer}?
M.last = nil

---Ask the host; `last` is nil until it has answered.
function M.ask()
  M.last = nil
  require('acp.host').event('counts', vim.empty_dict())
end

---@param counts table
function M.told(counts)
  M.last = counts
end

return M
