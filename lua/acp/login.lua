---Choosing one of the ways an agent offers to log in.
local M = {}

---@class acp.LoginMethod
---@field id string
---@field name string
---@field description? string

---Called by the host: let the user choose, then tell the host. Closing the picker changes nothing.
---@param chat integer
---@param label string the agent's name
---@param methods acp.LoginMethod[]
function M.choose(chat, label, methods)
  require('acp.choose').one(methods, {
    prompt = ('Log in to %s'):format(label),
    kind = 'acp_login',
    format_item = function(method)
      return method.description and ('%s  (%s)'):format(method.name, method.description) or method.name
    end,
  }, function(method)
    if method then
      require('acp.host').event('login', { chat = chat, method = method.id })
    end
  end)
end

return M
