--- What differs between two lists of lines, and changing a buffer by no more than that.
local M = {}

local api = vim.api

local diff = (vim.text and vim.text.diff) or vim.diff

---The changed ranges between two lists of lines: `{first, count, new first, new count}`, from 1.
---@param old string[]
---@param new string[]
---@return integer[][]
function M.hunks(old, new)
  local function join(lines) return #lines == 0 and '' or table.concat(lines, '\n') .. '\n' end
  local options = { result_type = 'indices', algorithm = 'histogram' }
  return diff(join(old), join(new), options) --[[@as integer[][] ]]
end

---Change only the lines that differ, as one undo step.
---@param buf integer
---@param new string[]
function M.edit(buf, new)
  local old = api.nvim_buf_get_lines(buf, 0, -1, false)
  local changes = M.hunks(old, new)
  api.nvim_buf_call(buf, function()
    local function step() vim.cmd('let &g:undolevels = &g:undolevels') end
    step()
    for i = #changes, 1, -1 do
      local first, count, new_first, new_count = unpack(changes[i])
      local start = count == 0 and first or first - 1
      local lines = vim.list_slice(new, new_first, new_first + new_count - 1)
      api.nvim_buf_set_lines(buf, start, start + count, true, lines)
    end
    -- An empty buffer looks like one empty line; set as a line, it becomes one.
    if #new == 1 and new[1] == '' then api.nvim_buf_set_lines(buf, 0, -1, true, new) end
    step()
  end)
end

---Where a line of the old text is in the new one.
---@param lnum integer
---@param changes integer[][]
---@return integer
function M.moved(lnum, changes)
  local shift = 0
  for _, change in ipairs(changes) do
    local first, count, new_first, new_count = unpack(change)
    local last = count == 0 and first or first + count - 1
    if lnum > last then
      shift = shift + new_count - count
    elseif count > 0 and lnum >= first then
      return math.max(new_first + math.min(lnum - first, math.max(new_count - 1, 0)), 1)
    end
  end
  return lnum + shift
end

return M
