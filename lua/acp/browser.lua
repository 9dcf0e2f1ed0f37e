--- Hand something to the user's own program for it: a page they have agreed to visit, or a file of ours.
local M = {}

-- A program that hands the address on has failed, if at all, by then.
local WAIT_MS = 3000

---@param target string an http or https address, checked by the host and shown to the user; or a file of ours
---@param said? string what to tell when that fails
---@param on_failure? fun(why: string)
function M.open(target, said, on_failure)
  local function failed(why)
    if on_failure then
      on_failure(why)
    end
    said = said or 'no browser could be opened: copy the address from its row in the chat'
    require('acp.message').warn(said, { why })
  end
  local ok, process, problem = pcall(vim.ui.open, target)
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

---A page of a question: that it did not open shall stand in the chat, too, where its address is.
---@param url string
---@param question string
function M.page(url, question)
  M.open(url, nil, function(why)
    require('acp.host').event('page_failed', { id = question, why = why })
  end)
end

return M
