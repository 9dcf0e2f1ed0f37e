--- Runs functions without autocommands, messages and swap-file questions: what is shown for a moment only
--- shall wake nobody.
local M = {}

local job ---@type fun()?

---Called by `run` through `:noautocmd`, which only an Ex command can have.
function M._run()
  local fn = job
  job = nil
  if fn then
    fn()
  end
end

---Run `fn` without autocommands. Raises what it raises.
---@generic T
---@param fn fun(): T
---@return T
function M.run(fn)
  local done, result ---@type boolean, any
  local shortmess = vim.o.shortmess
  job = function()
    -- A: no question about a swap file. OptionSet is not seen here either.
    vim.opt.shortmess:append('A')
    done, result = pcall(fn)
    vim.o.shortmess = shortmess
  end
  vim.cmd("noautocmd lua require('acp.follow.quiet')._run()")
  if not done then
    error(result, 0)
  end
  return result
end

return M
