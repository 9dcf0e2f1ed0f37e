--- The user's own `vim.ui.select`. It may call back twice, late or never: only its first choice counts, and
--- only while its question is open.
local M = {}

local api = vim.api

---@class acp.Picker
---@field question acp.Question
---@field from integer window it was opened from
---@field away boolean another window has had the focus since

local active ---@type acp.Picker?

---Whether to ask through `vim.ui.select`. The built-in one blocks on 0.10 and hides the stream: only on wish.
---@return boolean
function M.wanted()
  local ui = require('acp.config').get().permission.ui
  if ui ~= 'auto' then
    return ui == 'select'
  end
  local source = debug.getinfo(vim.ui.select, 'S').source:gsub('\\', '/')
  return not source:find('vim/ui%.lua$')
end

---@return acp.Question?
function M.question()
  return active and active.question
end

---Forget the picker: it counts as closed. What it says later about its question still counts, once.
function M.release()
  active = nil
end

---The index of a choice: pickers give the index, or only the item, or a copy of it.
---@param options acp.QuestionOption[]
---@param choice any
---@param index any
---@return integer?
local function index_of(options, choice, index)
  local at = type(index) == 'number' and options[index]
  if at and (type(choice) ~= 'table' or at.id == choice.id) then
    return index --[[@as integer]]
  end
  for i, option in ipairs(options) do
    if option == choice or (type(choice) == 'table' and option.id == choice.id) then
      return i
    end
  end
end

---Open it. `done` is called at most once, with the index of the choice or nil.
---@param question acp.Question
---@param done fun(index: integer?)
---@return boolean opened
function M.open(question, done)
  local plain = require('acp.message').plain
  local mine = { question = question, from = api.nvim_get_current_win(), away = false }
  local before = active
  active = mine
  question.token = mine
  local items = vim.deepcopy(question.options)
  local ok, problem = pcall(vim.ui.select, items, {
    prompt = require('acp.question.words').of(question, question.prompt),
    kind = 'acp_permission',
    format_item = function(option)
      return plain(option.name) .. (option.note or '') .. (option.about and ': ' .. plain(option.about) or '')
    end,
  }, function(choice, index)
    -- Opened again since, or asked twice: then this is not the answer.
    if question.token ~= mine then
      return
    end
    question.token = nil
    if active == mine then
      active = nil
    end
    done(choice ~= nil and index_of(items, choice, index) or nil)
  end)
  if not ok then
    active, question.token = before, nil
    require('acp.message').error('vim.ui.select failed, so the question is asked here', { tostring(problem) })
  end
  return ok
end

---The focus has moved.
function M.moved()
  if active and api.nvim_get_current_win() ~= active.from then
    active.away = true
  end
end

---Whether the picker was left without a word: the focus was elsewhere and is in an ordinary window again.
---@return boolean
function M.lost()
  return active ~= nil and active.away and api.nvim_win_get_config(0).relative == ''
end

return M
