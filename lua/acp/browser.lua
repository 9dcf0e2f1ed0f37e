--- Open a page the user has agreed to visit, in their browser.
local M = {}

-- A program that hands the address on has failed, if at all, by then.
local WAIT_MS = 3000

---@param why string
local function failed(why)
  local text = 'no browser could be opened: copy the address from its row in the chat'
  require('acp.message').warn(text, { why })
end

---@param url string http or https, checked by the host; exactly what the user was shown
function M.open(url)
  local ok, process, problem = pcall(vim.ui.open, url)
  if not ok then
    failed(tostring(process))
  elseif not process and problem then
    failed(tostring(problem))
  elseif type(process) == 'table' and type(process.is_closing) == 'function' then
    vim.defer_fn(function()
      if process:is_closing() then
        local result = process:wait(0)
        if result.code ~= 0 then
          failed(('it ended with code %d: %s'):format(result.code, vim.trim(result.stderr or '')))
        end
      end
    end, WAIT_MS)
  end
end

return M
