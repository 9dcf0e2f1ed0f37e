-- What the editor feels: gaps of the main loop, when keys are handled, processor time. For bench/run.py.
local M = {}

local uv = vim.uv
local timer, last, gaps, keys, began, used

local function cpu()
  local usage = uv.getrusage()
  return usage.utime.sec + usage.stime.sec + (usage.utime.usec + usage.stime.usec) / 1e6
end

function M.start()
  gaps, keys, began, used = {}, {}, uv.hrtime(), cpu()
  last = began
  timer = uv.new_timer()
  timer:start(2, 2, function()
    local now = uv.hrtime()
    gaps[#gaps + 1] = (now - last) / 1e6
    last = now
  end)
  vim.on_key(function(_, typed)
    if typed ~= '' then keys[#keys + 1] = uv.hrtime() end
  end, vim.api.nvim_create_namespace('bench'))
end

function M.stop()
  timer:close()
  vim.on_key(nil, vim.api.nvim_create_namespace('bench'))
  return { gaps = gaps, keys = keys, cpu = cpu() - used, wall = (uv.hrtime() - began) / 1e9 }
end

-- Tell the driver when a design has drawn everything.
function M.done(lines)
  vim.cmd.redraw()
  vim.rpcnotify(1, 'bench_done', lines)
end

return M
