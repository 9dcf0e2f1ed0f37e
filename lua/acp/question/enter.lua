--- A question takes the focus: its diff opens, and the chooser or the user's picker. And the way back.
local M = {}

local api = vim.api
local queue = require('acp.question.queue')
local card = require('acp.question.card')
local chooser = require('acp.question.chooser')
local picker = require('acp.question.picker')
local notice = require('acp.question.notice')
local diff = require('acp.diff')
local asking = require('acp.diff.request')

-- How long a question waits for its diff: then it is asked without.
local DIFF_MS = 1500

---@class acp.QuestionFrom where the user was
---@field win integer
---@field insert boolean

local home ---@type acp.QuestionFrom? where the chooser was entered from
local leaving_insert = false
local preparing ---@type table? stands for the question whose diff was asked for last

---What the stage does for us.
---@class acp.QuestionActions
---@field answer fun(question: acp.Question, index: integer)
---@field dismissed fun(question: acp.Question)
---@field later fun()
M.on = {} ---@type acp.QuestionActions

---Go back to where the user was before the question took the focus.
function M.go_home()
  local from = home
  home = nil
  if not from or not api.nvim_win_is_valid(from.win) then
    return
  end
  api.nvim_set_current_win(from.win)
  if from.insert then
    vim.cmd('startinsert')
  end
end

---The chooser was left or closed by other means.
function M.forget_home()
  home = nil
end

---Make the card the chooser. Not in Insert mode.
---@param question acp.Question
---@param insert boolean go back to Insert mode after
---@param from? acp.QuestionFrom where the user was before the diff was opened
function M.chooser(question, insert, from)
  local win, before = api.nvim_get_current_win(), card.get()
  if from then
    home = from
  elseif before and before.win == win then
    -- Entered by the user, with <C-w>w.
    home = home or { win = vim.fn.win_getid(vim.fn.winnr('#')), insert = false }
  else
    home = { win = win, insert = insert }
  end
  question.token = nil
  card.show(question)
  local now = assert(card.get())
  now.entered = true
  question.put_off = nil
  vim.cmd('redraw')
  api.nvim_set_current_win(now.win)
  chooser.enter(now, {
    answer = function(index)
      M.on.answer(question, index)
    end,
    dismiss = function()
      M.on.dismissed(question)
    end,
  })
  card.layout()
end

---Open the diff of a question.
---@param insert boolean
---@param proposal acp.DiffProposal
---@return acp.QuestionFrom? from where the user was
local function open_diff(insert, proposal)
  local from, now = { win = api.nvim_get_current_win(), insert = insert }, card.get()
  if now and now.win == from.win then
    from.win = home and home.win or vim.fn.win_getid(vim.fn.winnr('#'))
  end
  card.close()
  return diff.open(proposal, from) and from or nil
end

---@param question acp.Question
---@param insert boolean
---@param proposal? acp.DiffProposal
local function open(question, insert, proposal)
  notice.close()
  local from = proposal and open_diff(insert, proposal)
  if not picker.wanted() then
    M.chooser(question, insert, from)
    return
  end
  card.show(question)
  vim.cmd('redraw') -- what is asked about stands on the screen first
  local chat = require('acp.chat').get(question.chat)
  local opened = picker.open(question, function(index)
    if queue.get(question.id) ~= question then
      return
    end
    if index then
      M.on.answer(question, index)
    else
      M.on.dismissed(question)
    end
    vim.schedule(function()
      if insert and chat and api.nvim_get_current_buf() == chat.prompt then
        vim.cmd('startinsert')
      end
    end)
  end)
  if opened then
    M.on.later()
  else
    M.chooser(question, insert, from)
  end
end

---@return boolean
function M.inserting()
  return api.nvim_get_mode().mode:find('^[iRt]') ~= nil
end

---Whether something has begun that ends with a question in the focus.
---@return boolean
function M.busy()
  leaving_insert = leaving_insert and M.inserting()
  return leaving_insert or preparing ~= nil
end

---Open picker or chooser for a question, out of Insert mode first: a float entered from there stays in it.
---@param question acp.Question
---@param still fun(): boolean asked again when Insert mode has ended
---@param proposal? acp.DiffProposal
function M.begin(question, still, proposal)
  if not M.inserting() then
    open(question, false, proposal)
    return
  end
  leaving_insert = true
  local win = api.nvim_get_current_win()
  api.nvim_create_autocmd('ModeChanged', {
    pattern = '*:n*',
    once = true,
    callback = vim.schedule_wrap(function()
      leaving_insert = false
      local same = api.nvim_get_current_win() == win and not M.inserting()
      if same and queue.get(question.id) and still() then
        open(question, true, proposal)
      else
        M.on.later()
      end
    end),
  })
  vim.cmd('stopinsert')
end

---Have the diff of a question ready before anything changes on the screen: a user in Insert mode stays there
---until then.
---@param question acp.Question
---@param go fun(proposal: acp.DiffProposal?) called if the question is open, and no other was prepared since
function M.prepare(question, go)
  local mine = {}
  preparing = mine
  local function done(proposal)
    if preparing ~= mine then
      return
    end
    preparing = nil
    if queue.get(question.id) == question then
      go(proposal)
    end
  end
  if diff.wanted(question) then
    asking.ask({ chat = question.chat, question = question.id }, DIFF_MS, done)
  else
    done()
  end
end

return M
