--- The winbars of a diff: what each half is, of which file, what is to be known of it (ui.md section 6).
local M = {}

local api = vim.api

-- Local to the window, and evaluated there.
M.WINBAR = "%{%v:lua.require'acp.diff.bar'.render()%}"

---@param text string
---@return string text that a 'statusline' shows as it is
local function literal(text)
  return (require('acp.message').plain(text):gsub('%%', '%%%%'))
end

---@param notes {[1]: string, [2]: string}[]
---@return string
local function painted(notes)
  local parts = {}
  for _, note in ipairs(notes) do
    local text, group = literal(note[1]), note[2]
    table.insert(parts, group ~= '' and ('%%#%s#%s%%*'):format(group, text) or text)
  end
  return table.concat(parts)
end

---The number of a question among those that are open in its chat.
---@param view acp.DiffView
---@return string
local function number(view)
  for i, question in ipairs(require('acp.question.queue').of(view.chat)) do
    if question.id == view.question then
      return ('  (%d)'):format(i)
    end
  end
  return ''
end

---The winbar of the window that is drawn.
---@return string
function M.render()
  local win = vim.g.statusline_winid or api.nvim_get_current_win()
  local view, side = require('acp.diff').at(win)
  if not view or not side then
    return ''
  end
  local notes = vim.deepcopy(side.notes)
  if side.own and vim.bo[api.nvim_win_get_buf(win)].modified then
    table.insert(notes, 1, { 'unsaved edits' .. (#notes > 0 and '  ' or ''), 'AcpWarn' })
  end
  local right = painted(notes)
  if side == view.sides[#view.sides] then
    right = right .. number(view)
  end
  -- A long path is cut at its beginning.
  return (' %s  %%<%s%%=  %s '):format(side.what, literal(side.shown), right)
end

return M
