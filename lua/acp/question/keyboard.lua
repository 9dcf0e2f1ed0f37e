--- How keys are typed while a form is open.
local M = {}

local uv = vim.uv
local ns = vim.api.nvim_create_namespace('acp.question.keyboard')

M.typed = 0 -- keys so far: whether one was typed since
M.gap = 0 -- milliseconds between the last key and the one before

local last = 0

function M.start()
  last = uv.hrtime() / 1e6
  vim.on_key(function(_, typed)
    if typed and typed ~= '' then
      local now = uv.hrtime() / 1e6
      M.gap, last = now - last, now
      M.typed = M.typed + 1
    end
  end, ns)
end

function M.stop()
  vim.on_key(nil, ns)
end

return M
