--- Options and events out of the way for a moment.
local M = {}

local api = vim.api

---Set options of a buffer while `run` runs.
---@param buf integer
---@param options table<string, any>
---@param run fun()
---@return boolean ok, string? problem
function M.of_buffer(buf, options, run)
  local before = {}
  for name, value in pairs(options) do
    before[name] = vim.bo[buf][name]
    if before[name] ~= value then
      vim.bo[buf][name] = value
    end
  end
  local ok, problem = pcall(run)
  for name, value in pairs(before) do
    if api.nvim_buf_is_valid(buf) and vim.bo[buf][name] ~= value then
      vim.bo[buf][name] = value
    end
  end
  return ok, problem
end

---Set global options while `run` runs.
---@param options table<string, any>
---@param run fun()
---@return boolean ok, string? problem
function M.global(options, run)
  local before = {}
  for name, value in pairs(options) do
    before[name] = vim.go[name]
    if before[name] ~= value then
      vim.go[name] = value
    end
  end
  local ok, problem = pcall(run)
  for name, value in pairs(before) do
    if vim.go[name] ~= value then
      vim.go[name] = value
    end
  end
  return ok, problem
end

---Bytes of a text from which on it pays to keep Lua's garbage collector away.
local LARGE = 4 * 1024 * 1024

local paused = false

---Run without Lua's garbage collector where a text is large. Its lines are as many strings, and looking
---through them again and again while they are made is 40 % of what a key waits for 430,000 of them. What is
---garbage then goes later, in small steps.
---@param size integer bytes
---@param run fun()
function M.uncollected(size, run)
  if paused or size < LARGE then
    return run()
  end
  paused = true
  collectgarbage('stop')
  local ok, problem = pcall(run)
  collectgarbage('restart')
  paused = false
  if not ok then
    error(problem, 0)
  end
end

local events = {} ---@type table<string, string>

---Run without autocommands, but for those of one event.
---@param but string
---@param run fun()
---@return boolean ok, string? problem
function M.only_event(but, run)
  if not events[but] then
    local list = vim.tbl_filter(function(event)
      return event ~= but
    end, vim.fn.getcompletion('', 'event'))
    events[but] = table.concat(list, ',')
  end
  return M.global({ eventignore = events[but] }, run)
end

return M
