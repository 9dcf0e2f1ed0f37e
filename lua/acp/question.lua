--- Questions: the agent's and ours, of all chats, in one queue (design.md sections 4 and 5, ui.md section 5).
--- One is shown at a time, and each is answered once. Showing is the work of `acp.question.stage`.
local M = {}

local api = vim.api
local queue = require('acp.question.queue')
local card = require('acp.question.card')
local picker = require('acp.question.picker')
local notice = require('acp.question.notice')
local stage = require('acp.question.stage')
local form = require('acp.question.form')

local KINDS = { 'allow_once', 'allow_always', 'reject_once', 'reject_always' }

-- A key answers only what has been on the screen so long: it may have been meant for the question before.
local KEY_MS = 250

---A question was asked. It is shown, and entered if the user rests in its chat.
---@param question acp.Question
function M.open(question)
  if queue.get(question.id) then
    return
  end
  queue.add(question)
  stage.update()
end

---The host says that a question is over, whoever ended it.
---@param id string
---@param _outcome? 'selected'|'cancelled'|'withdrawn'
function M.close(id, _outcome)
  local question = queue.remove(id)
  if question then
    stage.drop(question)
  end
end

---The host is gone: nobody waits for an answer any more.
function M.reset()
  for _, question in ipairs(queue.of()) do
    M.close(question.id)
  end
end

---The question an answer is for: the one shown now (in a picker, as a diff, as a card), else the oldest of
---the current chat.
---@return acp.Question?
local function target()
  local now, shown = card.get(), require('acp.diff').here()
  if picker.question() or form.question() then
    return picker.question() or form.question()
  end
  local of_diff = shown and shown.question and queue.get(shown.question)
  if of_diff then
    return of_diff
  end
  if now and api.nvim_win_get_tabpage(now.win) == api.nvim_get_current_tabpage() then
    return now.question
  end
  local chat = require('acp.chat').current()
  return chat and queue.of(chat.n)[1] or nil
end

---@param question acp.Question
---@return string
local function list_options(question)
  local rows = {}
  for i, option in ipairs(question.options) do
    table.insert(rows, ('%d %s (%s)'):format(i, require('acp.message').plain(option.name), option.kind))
  end
  return #rows > 0 and table.concat(rows, ', ') or 'it has no options'
end

---Which option a choice means. Of a kind there must be exactly one.
---@param question acp.Question
---@param choice string
---@return integer? index 0 cancels
---@return string? reason
local function resolve(question, choice)
  if choice == 'cancel' then
    return 0
  end
  if choice:find('^%d+$') then
    local index = tonumber(choice) --[[@as integer]]
    if question.options[index] then
      return index
    end
    return nil, ('there is no option %s: %s'):format(choice, list_options(question))
  end
  local found = {}
  for i, option in ipairs(question.options) do
    if option.kind == choice then
      table.insert(found, i)
    end
  end
  if #found == 1 then
    return found[1]
  end
  stage.bring_up(question)
  local what = #found == 0 and 'no option is' or 'more than one option is'
  return nil, ('%s %s: %s'):format(what, choice, list_options(question))
end

---Whether the user has seen all of a question, long enough to mean it.
---@param question acp.Question
---@return boolean
local function seen(question)
  return question.whole == true and vim.uv.hrtime() / 1e6 - (question.since or math.huge) >= KEY_MS
end

---Whether a question is on the screen now, in whatever form.
---@param question acp.Question
---@return boolean
local function on_screen(question)
  local now = card.get()
  return picker.question() == question
    or form.question() == question
    or (now ~= nil and now.question == question)
    or require('acp.diff').here(question.id) ~= nil
end

---Say what was answered: the question was not there to be seen.
---@param question acp.Question
---@param index integer
local function tell(question, index)
  local message = require('acp.message')
  local option = question.options[index]
  local kind = option and option.kind:match('^%l+')
  local word = index == 0 and 'cancelled' or ({ allow = 'allowed', reject = 'rejected' })[kind] or 'answered'
  local name = option and (' (%s%s)'):format(message.plain(option.name), option.note or '') or ''
  local whose = require('acp.question.words').whose(question)
  message.info(('%s%s: %s%s'):format(word, whose, message.plain(question.what or question.prompt), name))
end

---Answer a question, or open the picker (`:AcpPermit`). A key on a question that was never on the screen,
---or not all of it, only shows it.
---@param choice? string|integer kind, number in the agent's order, 'cancel', 'hide'; nil opens the picker
---@param options? {key: boolean?}
---@return true? ok
---@return string? reason nil when the question was only shown
function M.permit(choice, options)
  choice = choice ~= nil and tostring(choice) or ''
  local question = target()
  if choice == '' then
    question = (card.get() or form.question()) and question or notice.question() or question or queue.of()[1]
    if not question then
      return nil, 'no question is open'
    end
    return M.pick(question.id)
  end
  local word = choice == 'cancel' or choice == 'hide' or vim.tbl_contains(KINDS, choice)
  if not word and not choice:find('^%d+$') then
    local what = question and list_options(question) or table.concat(KINDS, ', ') .. ', a number'
    return nil, ('%s is no answer: %s; cancel, hide'):format(require('acp.message').plain(choice), what)
  end
  if choice == 'hide' then
    return M.hide()
  end
  if not question then
    return nil, 'no question is open in this chat'
  end
  if options and options.key and not seen(question) then
    stage.bring_up(question)
    return nil
  end
  local index, reason = resolve(question, choice)
  if not index then
    return nil, reason
  end
  local blind = not on_screen(question)
  if stage.answer(question, index) and blind then
    vim.schedule(function() -- after the redraw that takes the question away
      tell(question, index)
    end)
  end
  return true
end

---What a key does: as `permit`, but never for a question the user has not seen.
---@param choice string
---@return true? ok
---@return string? reason
function M.permit_key(choice)
  return M.permit(choice, { key = true })
end

---Open the picker for one question: the user asked for it.
---@param id string
---@return true? ok
---@return string? reason
function M.pick(id)
  local question = queue.get(id)
  if not question then
    return nil, 'this question is not open any more'
  end
  local obstacle = require('acp.cmdwin').obstacle()
  if obstacle then
    return nil, obstacle
  end
  stage.pick(question)
  return true
end

---Take what is shown off the screen. The question stays open in its row.
---@return true? ok
---@return string? reason
function M.hide()
  local now = card.get()
  local question = form.question() or (now and now.question) or notice.question()
  if not question then
    return nil, 'no question is shown'
  end
  stage.put_off(question)
  return true
end

---Number of open questions.
---@param chat? integer nil: of all chats
---@return integer
function M.count(chat)
  return #queue.of(chat)
end

---The open questions, oldest first.
---@param chat? integer nil: of all chats
---@return {id: string, chat: integer, title: string, options: acp.QuestionOption[]}[]
function M.list(chat)
  return vim.tbl_map(function(question)
    return {
      id = question.id,
      chat = question.chat,
      title = question.title,
      options = vim.deepcopy(question.options),
    }
  end, queue.of(chat))
end

return M
