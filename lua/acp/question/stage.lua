--- Which question is on the screen and how: as a card, as the chooser, beside the user's picker, or only in a
--- notice. Everything that happens to a question on the screen happens here.
--- named in a notice. Everything that happens to a question on the screen happens here.
local M = {}

local api, uv = vim.api, vim.uv
local queue = require('acp.question.queue')
local place = require('acp.question.place')
local card = require('acp.question.card')
local chooser = require('acp.question.chooser')
local calm = require('acp.question.calm')
local picker = require('acp.question.picker')
local notice = require('acp.question.notice')

local timer ---@type uv.uv_timer_t?
local scheduled, watching, leaving_insert = false, false, false
local home ---@type {win: integer, insert: boolean}? where the chooser was entered from

---@return acp.Config
local function config() return require('acp.config').get() end

---Look again soon, once for all changes of this pass of the main loop.
local function later()
  if scheduled then return end
  scheduled = true
  vim.schedule(function()
    scheduled = false
    M.update()
  end)
end

---Go back to where the user was before the question took the focus.
local function go_home()
  local from = home
  home = nil
  if not from or not api.nvim_win_is_valid(from.win) then return end
  api.nvim_set_current_win(from.win)
  if from.insert then vim.cmd('startinsert') end
end

---Take the card down, and the focus back if it had it.
local function take_down()
  local now = card.get()
  local inside = now ~= nil and api.nvim_get_current_win() == now.win
  card.close()
  if inside then go_home() else home = nil end
end

---A question is over: nothing of it stays on the screen, and no picker answers it any more.
---@param question acp.Question
function M.drop(question)
  question.token = nil
  if picker.question() == question then picker.release() end
  local now = card.get()
  if now and now.question == question then take_down() end
  -- The screen without it first, then the next: nobody shall take the one for the other.
  vim.schedule(function()
    vim.cmd('redraw')
    M.update()
  end)
end

---@param question acp.Question
---@param index integer in the agent's order; 0 cancels
function M.answer(question, index)
  if not queue.remove(question.id) then return end
  require('acp.host').event('answer', { id = question.id, index = index, by = 'user' })
  M.drop(question)
end

---Take a question off the screen. It waits in its row.
---@param question acp.Question
function M.put_off(question)
  question.put_off, question.wanted = true, nil
  if picker.question() == question then picker.release() end
  local now = card.get()
  if now and now.question == question then take_down() end
  later()
end

---The user closed the picker or the chooser: by default that is no answer.
---@param question acp.Question
local function dismissed(question)
  local rule = config().permission.dismiss
  if rule == 'keep' then
    M.put_off(question)
    return
  end
  local index = 0
  for i, option in ipairs(question.options) do
    if rule == 'reject' and index == 0 and option.kind == 'reject_once' then index = i end
  end
  M.answer(question, index)
end

---Make the card the chooser. Not in Insert mode.
---@param question acp.Question
---@param insert boolean go back to Insert mode after
local function enter_chooser(question, insert)
  local win, before = api.nvim_get_current_win(), card.get()
  if before and before.win == win then
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
    answer = function(index) M.answer(question, index) end,
    dismiss = function() dismissed(question) end,
  })
  card.layout()
end

---@param question acp.Question
---@param insert boolean
local function open(question, insert)
  notice.close()
  if not picker.wanted() then
    enter_chooser(question, insert)
    return
  end
  card.show(question)
  vim.cmd('redraw') -- what is asked about stands on the screen first
  local chat = require('acp.chat').get(question.chat)
  local opened = picker.open(question, function(index)
    if queue.get(question.id) ~= question then return end
    if index then M.answer(question, index) else dismissed(question) end
    vim.schedule(function()
      if insert and chat and api.nvim_get_current_buf() == chat.prompt then vim.cmd('startinsert') end
    end)
  end)
  if opened then later() else enter_chooser(question, insert) end
end

---@return boolean
local function inserting() return api.nvim_get_mode().mode:find('^[iRt]') ~= nil end

---Open picker or chooser for a question, out of Insert mode first: a float entered from there stays in it.
---@param question acp.Question
---@param still fun(): boolean asked again when Insert mode has ended
local function begin(question, still)
  if not inserting() then
    open(question, false)
    return
  end
  leaving_insert = true
  local win = api.nvim_get_current_win()
  api.nvim_create_autocmd('ModeChanged', {
    pattern = '*:n*',
    once = true,
    callback = vim.schedule_wrap(function()
      leaving_insert = false
      local same = api.nvim_get_current_win() == win and not inserting()
      if same and queue.get(question.id) and still() then
        open(question, true)
      else
        later()
      end
    end),
  })
  vim.cmd('stopinsert')
end

---The user asked for this question: open its picker.
---@param question acp.Question
function M.pick(question)
  local now = card.get()
  if now and now.entered and now.question == question then return end
  picker.release()
  question.put_off, question.wanted = nil, true
  if now and now.question ~= question then take_down() end
  begin(question, function() return true end)
  later()
end

---Show a question as a card, wherever the user is.
---@param question acp.Question
function M.bring_up(question)
  question.put_off, question.wanted = nil, true
  M.update()
end

---@param question acp.Question
---@return boolean
local function calm_for(question)
  local chat = require('acp.chat').get(question.chat)
  return chat ~= nil and calm.remaining() == 0 and calm.may_enter(chat, config().permission.open)
end

---Enter the question that is due, if the user rests in the right place.
local function attempt()
  if leaving_insert and inserting() then return end
  leaving_insert = false
  local asked, now = picker.question(), card.get()
  if calm.remaining() > 0 then
    M.poke() -- the timer may be a millisecond early
    return
  end
  if asked then
    -- A picker that was closed without a word must not keep back the others.
    if picker.lost() and calm_for(asked) then M.put_off(asked) end
    return
  end
  if now and now.entered then return end
  local question = queue.next(place.current(), place.visible)
  if question and calm_for(question) then begin(question, function() return calm_for(question) end) end
end

---Try again when the keyboard will have rested long enough. Nothing runs while nothing happens.
function M.poke()
  if not watching then return end
  timer = timer or assert(uv.new_timer())
  timer:start(math.max(calm.remaining(), 1), 0, vim.schedule_wrap(attempt))
end

local layout_options = { cmdheight = true, laststatus = true, showtabline = true }

---Watch keys and windows while a question waits to be shown or entered.
---@param on boolean
local function watch(on)
  if on == watching then return end
  watching = on
  local group = api.nvim_create_augroup('acp.question', {})
  if not on then
    calm.stop()
    if timer then timer:stop() end
    return
  end
  calm.start(M.poke)
  local function on_event(events, callback)
    api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on_event({ 'WinNew', 'WinClosed', 'WinResized', 'TabEnter', 'BufWinEnter', 'VimResized' }, later)
  on_event('WinEnter', function()
    picker.moved()
    later()
  end)
  on_event('OptionSet', function(args)
    if layout_options[args.match] then later() end
  end)
  on_event({ 'ModeChanged', 'CmdlineLeave', 'CompleteDone', 'RecordingLeave', 'FocusGained' }, M.poke)
end

---The focus may have moved in or out of the card by the user's own hand.
local function follow_focus()
  local now = card.get()
  if not now then return end
  local inside = api.nvim_get_current_win() == now.win
  if now.entered and not inside then
    -- Left, not closed: it stays as a card, and <C-w>w comes back to it.
    now.entered, home = false, nil
    now.question.put_off, now.question.wanted = true, true
  elseif inside and not now.entered then
    enter_chooser(now.question, false)
  end
end

---The question that is to be on the screen.
---@return acp.Question?
local function due()
  local now, asked = card.get(), picker.question()
  if asked then return asked end
  local kept = now and (now.entered or (now.question.put_off and now.question.wanted))
  if now and kept then return now.question end
  return queue.next(place.current(), place.visible)
end

---Show what is due, where it belongs.
function M.update()
  for _, question in ipairs(queue.of()) do
    if not require('acp.chat').get(question.chat) then
      queue.remove(question.id)
      M.drop(question)
    end
  end
  follow_focus()
  local question = due()
  watch(#vim.tbl_filter(function(each) return not each.put_off or each.wanted end, queue.of()) > 0)
  if not question then
    take_down()
    notice.close()
    return
  end
  local now = card.get()
  local here = now ~= nil and api.nvim_win_get_tabpage(now.win) == api.nvim_get_current_tabpage()
  if now and (now.question ~= question or not here) then
    take_down()
    now = nil
  end
  if place.visible(question.chat) or question.wanted or (now and now.entered) then
    notice.close()
    card.show(question)
  else
    take_down()
    notice.show(question)
  end
  M.poke()
end

card.on.moved = card.refresh
card.on.closed = function(question, entered)
  vim.schedule(function()
    if queue.get(question.id) ~= question then return end
    if entered then
      go_home()
      dismissed(question)
    else
      M.put_off(question)
    end
  end)
end

return M
