--- What the host has written of sessions that were used from here, read for what cannot wait for the host.
local M = {}

local LIMIT = 1024 * 1024 -- bytes; a larger file is none of ours

---@return string
function M.path()
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'acp.nvim', 'sessions.json')
end

---All that is remembered and fits; nothing of a file that cannot be read, which the host complains about.
---@return acp.RememberedSession[]
local function read()
  if not require('acp.config').get().sessions.remember then
    return {}
  end
  local data = require('acp.own_file').read(M.path(), LIMIT + 1)
  local ok, found = pcall(vim.json.decode, data or '')
  local list = ok and type(found) == 'table' and type(found.sessions) == 'table' and found.sessions or {}
  return vim.tbl_filter(function(each)
    return type(each) == 'table'
      and type(each.agent) == 'string'
      and type(each.id) == 'string'
      and type(each.cwd) == 'string'
      and type(each.home) == 'string'
      and type(each.title) == 'string'
      and type(each.time) == 'number'
  end, vim.islist(list) and list or {})
end

---The ids of an agent's sessions, the last used first.
---@param agent string
---@return string[]
function M.ids(agent)
  local list = vim.tbl_filter(function(each)
    return each.agent == agent
  end, read())
  table.sort(list, function(a, b)
    return a.time > b.time
  end)
  return vim.tbl_map(function(each)
    return each.id
  end, list)
end

---The session that a buffer `acp://<agent>/<n>` showed in this folder: the last used one of that number,
---else of that agent.
---@param agent string
---@param number integer
---@param cwd string
---@return acp.RememberedSession?
function M.of(agent, number, cwd)
  local best ---@type table?
  for _, each in ipairs(read()) do
    if each.agent == agent and each.cwd == cwd then
      local better = not best
        or (each.chat == number) ~= (best.chat == number) and each.chat == number
        or (each.chat == number) == (best.chat == number) and each.time > best.time
      best = better and each or best
    end
  end
  return best
end

return M
