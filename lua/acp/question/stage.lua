--- Which question is on the screen and how: as a card, as the chooser, beside the user's picker, with its
--- diff, or only named in a notice. Everything that happens to a question on the screen happens here.
local M = {}

local api, uv = vim.api, vim.uv
local queue = require('acp.question.queue')
local place = require('acp.question.place')
local card = require('acp.question.card')
local enter = require('acp.question.enter')
local calm = require('acp.question.calm')
local picker = require('acp.question.picker')
local notice = require('acp.question.notice')
local form = require('acp.question.form')
local page = require('acp.question.page')
local diff = require('acp.diff')

local timer ---@type uv.uv_timer_t?
local scheduled, watching = false, false

---@return acp.Config
local function config()
  return require('acp.config').get()
end

---Look again soon, once for all changes of this pass of the main loop.
local function later()
  if scheduled then
    return
  end
  scheduled = true
  vim.schedule(function()
    scheduled = false
    M.update()
  end)
end

---Take the card down, and the focus back if it had it.
local function take_down()
  local now = card.get()
  local inside = now ~= nil and api.nvim_get_current_win() == now.win
  card.close()
  if inside then
    enter.go_home()
  else
    enter.forget_home()
  end
end

---No picker and no card has it any more.
---@param question acp.Question
local function off_screen(question)
  if picker.question() == question then
    picker.release()
  end
  local now = card.get()
  if now and now.question == question then
    take_down()
  end
end

---A question is over: nothing of it stays on the screen, and no picker answers it any more.
---@param question acp.Question
function M.drop(question)
  question.token = nil
  off_screen(question)
  if form.drop(question, question.answered == true) then
    enter.go_home()
  end
  diff.close_of(question.id)
  -- The screen without it first, then the next: nobody shall take the one for the other.
  vim.schedule(function()
    vim.cmd('redraw')
    M.update()
  end)
end

---The user wants to fill in what the question asks for.
---@param question acp.Question
local function fill_in(question)
  picker.release()
  question.token, question.put_off, question.wanted = nil, nil, true
  if form.question() ~= question then
    enter.away()
  end
  card.close()
  notice.close()
  form.begin(question)
  later()
end

---@param question acp.Question
---@param index integer in the agent's order; 0 cancels
---@return boolean answered not so if there is a form to be filled in first: it is opened
function M.answer(question, index)
  local option = question.options[index]
  if question.form and option and option.id == 'accept' then
    fill_in(question)
    return false
  end
  if not queue.remove(question.id) then
    return false
  end
  question.answered = true
  require('acp.host').event('answer', { id = question.id, index = index, by = 'user' })
  M.drop(question)
  return true
end

---Take a question off the screen. It waits in its row.
---@param question acp.Question
function M.put_off(question)
  question.put_off, question.wanted = true, nil
  off_screen(question)
  if form.question() == question then
    local here = page.focused()
    form.close()
    if here then
      enter.go_home()
    else
      enter.forget_home()
    end
  end
  diff.close_of(question.id)
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
    if rule == 'reject' and index == 0 and option.kind == 'reject_once' then
      index = i
    end
  end
  M.answer(question, index)
end

---The user asked for this question: open its picker.
---@param question acp.Question
function M.pick(question)
  local now = card.get()
  if now and now.entered and now.question == question then
    return
  end
  if form.question() == question then
    if not page.focused() then
      enter.away()
    end
    form.begin(question)
    return
  end
  picker.release()
  question.put_off, question.wanted = nil, true
  if now and now.question ~= question then
    take_down()
  end
  enter.prepare(question, function(proposal)
    enter.begin(question, nil, proposal)
    later()
  end)
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
  if enter.busy() or form.question() then
    return
  end
  local asked, now = picker.question(), card.get()
  if calm.remaining() > 0 then
    M.poke() -- the timer may be a millisecond early
    return
  end
  if asked then
    -- A picker that was closed without a word must not keep back the others.
    if picker.lost() and calm_for(asked) then
      M.put_off(asked)
    end
    return
  end
  if now and now.entered then
    return
  end
  local question = queue.next(place.current(), place.visible)
  if not question or not calm_for(question) then
    return
  end
  local function still()
    return calm_for(question)
  end
  enter.prepare(question, function(proposal)
    if still() then
      enter.begin(question, still, proposal)
    else
      M.poke()
    end
  end)
end

---Try again when the keyboard will have rested long enough. Nothing runs while nothing happens.
function M.poke()
  if not watching then
    return
  end
  timer = timer or assert(uv.new_timer())
  timer:start(math.max(calm.remaining(), 1), 0, vim.schedule_wrap(attempt))
end

---The mode has changed: what says how to answer is still true.
local function mode_changed()
  card.refresh()
  for _, question in ipairs(queue.of()) do
    require('acp.chat.prompt').refresh(question.chat)
  end
end

---Watch the mode while a question is open, on the screen or not.
---@param on boolean
local function watch_mode(on)
  local group = api.nvim_create_augroup('acp.question.mode', {})
  if on then
    api.nvim_create_autocmd('ModeChanged', {
      group = group,
      pattern = { '*:n', 'n:*' },
      callback = mode_changed,
    })
    api.nvim_create_autocmd('InsertLeave', { group = group, callback = mode_changed }) -- see acp.mode
  end
end

local layout_options = { cmdheight = true, laststatus = true, showtabline = true }

---Watch keys and windows while a question waits to be shown or entered.
---@param on boolean
local function watch(on)
  if on == watching then
    return
  end
  watching = on
  local group = api.nvim_create_augroup('acp.question', {})
  if not on then
    calm.stop()
    if timer then
      timer:stop()
    end
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
    if layout_options[args.match] then
      later()
    end
  end)
  local pauses =
    { 'ModeChanged', 'InsertLeave', 'CmdlineLeave', 'CompleteDone', 'RecordingLeave', 'FocusGained' }
  on_event(pauses, M.poke)
end

---The focus may have moved in or out of the card by the user's own hand.
local function follow_focus()
  local now = card.get()
  if not now then
    return
  end
  local inside = api.nvim_get_current_win() == now.win
  if now.entered and not inside then
    -- Left, not closed: it stays as a card, and <C-w>w comes back to it.
    now.entered = false
    enter.forget_home()
    now.question.put_off, now.question.wanted = true, true
  elseif inside and not now.entered and not enter.busy() then
    if diff.wanted(now.question) then
      M.pick(now.question)
    else
      enter.card(now.question)
    end
  end
end

---The question that is to be on the screen.
---@return acp.Question?
local function due()
  local now, asked = card.get(), picker.question()
  if asked then
    return asked
  end
  local kept = now and (now.entered or (now.question.put_off and now.question.wanted))
  if now and kept then
    return now.question
  end
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
  watch_mode(#queue.of() > 0)
  if form.update() then
    watch(true)
    notice.close()
    card.close()
    if not page.focused() then
      enter.forget_home() -- the user has gone their own way
    end
    return
  end
  watch(#vim.tbl_filter(function(each)
    return not each.put_off or each.wanted
  end, queue.of()) > 0)
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
  local visible = place.visible(question.chat) or diff.here(question.id) ~= nil
  if visible or question.wanted or (now and now.entered) then
    notice.close()
    card.show(question)
    if require('acp.notices').away() then
      notice.tell(question)
    end
  else
    take_down()
    notice.show(question)
  end
  M.poke()
end

form.on = { answer = M.answer, put_off = M.put_off, home = enter.go_home }
enter.on = { answer = M.answer, dismissed = dismissed, later = later }
diff.on.closed = function(id)
  local question = queue.get(id)
  if question then
    M.put_off(question)
  end
end
diff.on.walked = function(id)
  local question = queue.get(id)
  if question then
    question.put_off, question.wanted = true, true -- as when the chooser is left for the diff
    card.show(question)
    later()
  end
end
card.on.moved = card.refresh
card.on.closed = function(question, entered)
  vim.schedule(function()
    if queue.get(question.id) ~= question then
      return
    end
    if entered then
      enter.go_home()
      dismissed(question)
    else
      M.put_off(question)
    end
  end)
end

return M
