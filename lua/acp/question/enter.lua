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
local DIFF_MS = 3000

---@class acp.QuestionFrom where the user was
---@field win integer
---@field insert boolean
---@field at? [integer, integer] the cursor in Insert mode

local home ---@type acp.QuestionFrom? where the chooser was entered from
local leaving_insert = false
local preparing ---@type table? stands for the question whose diff was asked for last

---What the stage does for us.
---@class acp.QuestionActions
---@field answer fun(question: acp.Question, index: integer)
---@field dismissed fun(question: acp.Question)
---@field later fun()
M.on = {} ---@type acp.QuestionActions

---Insert mode again, with the cursor where it was.
---@param from acp.QuestionFrom
local function insert_again(from)
  local last = true
  if from.at then
    last = not pcall(api.nvim_win_set_cursor, 0, from.at) or from.at[2] >= #api.nvim_get_current_line()
  end
  vim.cmd(last and 'startinsert!' or 'startinsert')
end

---Go back to where the user was before the question took the focus.
function M.go_home()
  local from = home
  home = nil
  if not from or not api.nvim_win_is_valid(from.win) then
    return
  end
  api.nvim_set_current_win(from.win)
  if from.insert then
    insert_again(from)
  end
end

---The focus goes from here to a form: from the chooser, or from where the user was.
function M.away()
  local now = card.get()
  if not (now and now.win == api.nvim_get_current_win()) then
    home = { win = api.nvim_get_current_win(), insert = api.nvim_get_mode().mode:find('^[iR]') ~= nil }
  end
end

---The chooser was left or closed by other means.
function M.forget_home()
  home = nil
end

-- What begins text in Normal mode.
local insert_commands = '^[iIaAoOsSC]'

---A key that was typed just as the chooser opened by itself was for where the user was. If it is text for the
---prompt, the question steps back to its card, and the key does there what it would have done.
---@param question acp.Question
---@param keys string
---@return boolean taken
local function type_on(question, keys)
  local chat, from = require('acp.chat').get(question.chat), home
  if not chat or not from or not api.nvim_win_is_valid(from.win) then
    return false
  end
  local in_prompt = api.nvim_win_get_buf(from.win) == chat.prompt
  local win = in_prompt and from.win or require('acp.question.place').windows(chat.n).prompt
  if not win or not (from.insert and in_prompt or keys:find(insert_commands)) then
    return false
  end
  home = nil
  card.close()
  diff.close_of(question.id)
  api.nvim_set_current_win(win)
  if from.insert then
    insert_again(from)
  end
  -- Before what is typed next, and through no mapping.
  api.nvim_feedkeys(keys, 'nit', true)
  M.on.later()
  return true
end

---Make the card the chooser. Not in Insert mode.
---@param question acp.Question
---@param from? acp.QuestionFrom where the user was, if not here
---@param alone? boolean nobody asked for it: it opens by itself
local function open_chooser(question, from, alone)
  local win, before = api.nvim_get_current_win(), card.get()
  if from then
    home = from
  elseif before and before.win == win then
    -- Entered by the user, with <C-w>w.
    home = home or { win = vim.fn.win_getid(vim.fn.winnr('#')), insert = false }
  else
    home = { win = win, insert = false }
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
    permit = function(kind)
      if card.get() == now then
        require('acp.chat.actions').both[kind]()
      end
    end,
    dismiss = function()
      M.on.dismissed(question)
    end,
    type = alone and function(keys)
      return card.get() == now and type_on(question, keys)
    end or nil,
  })
  card.layout()
end

---Open the diff of a question.
---@param from acp.QuestionFrom
---@param proposal acp.DiffProposal
local function open_diff(from, proposal)
  if not diff.fits(proposal) then
    return false
  end
  local now = card.get()
  if now and now.win == from.win then
    from.win = home and home.win or vim.fn.win_getid(vim.fn.winnr('#'))
  end
  card.close()
  return diff.open(proposal, from) ~= nil
end

---@param question acp.Question
---@param from? acp.QuestionFrom where the user was, if that was in Insert mode
---@param proposal? acp.DiffProposal
---@param alone boolean
local function open(question, from, proposal, alone)
  notice.close()
  if proposal then
    local here = from or { win = api.nvim_get_current_win(), insert = false }
    from = open_diff(here, proposal) and here or from
  end
  if not picker.wanted() then
    open_chooser(question, from, alone)
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
      if from and from.insert and chat and api.nvim_get_current_buf() == chat.prompt then
        insert_again(from)
      end
    end)
  end)
  if opened then
    M.on.later()
  else
    open_chooser(question, from, alone)
  end
end

---@return boolean
local function inserting()
  return api.nvim_get_mode().mode:find('^[iRt]') ~= nil
end

---Whether something has begun that ends with a question in the focus.
---@return boolean
function M.busy()
  leaving_insert = leaving_insert and inserting()
  return leaving_insert or preparing ~= nil
end

---Leave Insert mode, and go on if nothing else has happened meanwhile: a float entered from Insert mode stays
---in it.
---@param question acp.Question
---@param still? fun(): boolean asked again when Insert mode has ended; nil: the user asked for the question
---@param go fun(from: acp.QuestionFrom)
local function out_of_insert(question, still, go)
  local here, now = api.nvim_get_current_win(), card.get()
  local win = here
  if now and now.win == here then
    win = vim.fn.win_getid(vim.fn.winnr('#')) -- clicked at
  end
  local from = { win = win, insert = true, at = api.nvim_win_get_cursor(win) }
  leaving_insert = true
  require('acp.mode').leave(function()
    leaving_insert = false
    local same = api.nvim_get_current_win() == here and not inserting()
    if same and queue.get(question.id) and (not still or still()) then
      go(from)
      return
    end
    if same and here == win then
      insert_again(from)
    end
    M.on.later()
  end)
end

---Open picker or chooser for a question, out of Insert mode first.
---@param question acp.Question
---@param still? fun(): boolean asked again when Insert mode has ended; nil: the user asked for the question
---@param proposal? acp.DiffProposal
function M.begin(question, still, proposal)
  if not inserting() then
    open(question, nil, proposal, still ~= nil)
    return
  end
  out_of_insert(question, still, function(from)
    open(question, from, proposal, still ~= nil)
  end)
end

---The user has gone into the card, with `<C-w>w` or the mouse: it is the chooser now.
---@param question acp.Question
function M.card(question)
  if not inserting() then
    open_chooser(question)
    return
  end
  out_of_insert(question, nil, function(from)
    open_chooser(question, from)
  end)
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
