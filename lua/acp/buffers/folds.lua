--- Manual folds, which Neovim moves almost right with changes that are made through its API: depending on its
--- version they lose or get a line when something changes in their first or last line or before it, and lines
--- that are written anew.
local M = {}

local api = vim.api

---@class acp.Folds
---@field win integer
---@field folds integer[][] first and last line, inner ones first
---@field states {lnum: integer, open: boolean}[] one fold after the other, outer ones first

---The folds of a window, as `:mkview` writes them: nothing else tells of folds within closed ones.
---@return integer[][] folds
---@return {lnum: integer, open: boolean}[] states
local function read()
  local path, options = vim.fn.tempname(), vim.go.viewoptions
  vim.go.viewoptions = 'folds'
  pcall(vim.cmd, 'silent! mkview! ' .. vim.fn.fnameescape(path))
  vim.go.viewoptions = options
  local folds, states, lnum = {}, {}, nil
  local ok, lines = pcall(vim.fn.readfile, path)
  vim.fn.delete(path)
  for _, line in ipairs(ok and lines or {}) do
    local first, last = line:match('(%d+),(%d+)fold$')
    local way = line:match('normal! z([oc])$')
    if first then
      table.insert(folds, { tonumber(first), tonumber(last) })
    elseif way and lnum then
      table.insert(states, { lnum = lnum, open = way == 'o' })
    end
    lnum = tonumber(line:match('^%d+$'))
  end
  return folds, states
end

---Changed lines up to which each is asked whether it is in a fold; above, listing all folds is cheaper.
local MOST_LINES = 2000

---Whether the changes are in folds or next to them, as far as that is cheap to tell.
---@param hunks acp.Hunk[]
local function meet(hunks)
  local count = 0
  for _, hunk in ipairs(hunks) do
    count = count + hunk.count + 1
  end
  if count > MOST_LINES then
    return true
  end
  for _, hunk in ipairs(hunks) do
    for lnum = hunk.first, hunk.first + hunk.count do
      if vim.fn.foldlevel(lnum) > 0 then
        return true
      end
    end
  end
  return false
end

---Note the folds of windows in which changes meet them.
---@param buf integer
---@param hunks acp.Hunk[]
---@return acp.Folds[]
function M.take(buf, hunks)
  local list = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.wo[win].foldmethod == 'manual' then
      api.nvim_win_call(win, function()
        if meet(hunks) then
          local folds, states = read()
          if #folds > 0 then
            table.insert(list, { win = win, folds = folds, states = states })
          end
        end
      end)
    end
  end
  return list
end

---Make folds anew that are not at their text.
---@param list acp.Folds[]
---@param place fun(lnum: integer): integer where a line is now
---@param gone fun(lnum: integer): boolean whether a line is nowhere now
function M.put_back(list, place, gone)
  for _, noted in ipairs(list) do
    if api.nvim_win_is_valid(noted.win) then
      local count = api.nvim_buf_line_count(api.nvim_win_get_buf(noted.win))
      local wanted = {}
      for _, fold in ipairs(noted.folds) do
        local first, last = place(fold[1]), place(fold[2]) - (gone(fold[2]) and 1 or 0)
        if first <= last and first <= count then
          table.insert(wanted, { first, math.min(last, count) })
        end
      end
      api.nvim_win_call(noted.win, function()
        if vim.deep_equal((read()), wanted) then
          return
        end
        require('acp.unfold').all()
        for _, fold in ipairs(wanted) do
          vim.cmd(('silent! %d,%dfold'):format(fold[1], fold[2]))
        end
        for _, state in ipairs(noted.states) do
          local at = math.min(place(state.lnum), count)
          vim.cmd(('silent! %dfold%s'):format(at, state.open and 'open' or 'close'))
        end
      end)
    end
  end
end

return M
