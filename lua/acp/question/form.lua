--- A form of an agent: its fields one at a time, then all values to look at, and only then they are sent.
--- What was filled in stays with the question until it is over. The host says whether a value is right.
local M = {}

local keyboard = require('acp.question.keyboard')
local page = require('acp.question.page')
local fields = require('acp.question.fields')

---@class acp.FormChoice
---@field title string
---@field note? string

---@class acp.FormField
---@field key string
---@field type 'text'|'number'|'integer'|'boolean'|'choice'|'choices'
---@field title string
---@field lines string[] what the agent says about it
---@field words string what a value must be
---@field required boolean
---@field secret boolean
---@field choices acp.FormChoice[]
---@field value? any the default: text, boolean, or numbers of choices from 1

---@class acp.Form
---@field fields acp.FormField[]
---@field left_out string[] names of fields that cannot be filled in here

---@class acp.FormDraft
---@field values table<string, any> as in acp.FormField.value
---@field at integer number of a field; one more: the page of all values
---@field looked boolean the page of all values was reached
---@field wrong table<string, string> what is wrong, by key

---What the stage does for us.
---@class acp.FormActions
---@field answer fun(question: acp.Question, index: integer)
---@field put_off fun(question: acp.Question)
---@field home fun()
M.on = {} ---@type acp.FormActions

local active ---@type acp.Question?
local over = false -- the page that is left stands for a question that was withdrawn
local sequence = 0
local asked = {} ---@type table<integer, {key: string?, at: integer?, typed: integer}>

---The question whose form is open.
---@return acp.Question?
function M.question()
  return active
end

---@param question acp.Question
---@return acp.FormDraft
local function draft_of(question)
  if not question.draft then
    local values = {}
    for _, field in ipairs(question.form.fields) do
      values[field.key] = vim.deepcopy(field.value)
    end
    question.draft = { values = values, at = 1, looked = false, wrong = {} }
  end
  return question.draft
end

---@param question acp.Question
---@param values table<string, any>
---@param what {only: string?, send: boolean?, at: integer?}
local function ask_host(question, values, what)
  sequence = sequence + 1
  asked[sequence] = { key = what.only, at = what.at, typed = keyboard.typed }
  require('acp.host').event('form', {
    id = question.id,
    seq = sequence,
    values = next(values) and values or vim.empty_dict(),
    only = what.only,
    send = what.send or false,
  })
end

local show ---@type fun(focus: boolean?)

---@param at integer
local function go(at)
  page.flush()
  local draft = draft_of(assert(active))
  draft.at = math.max(1, math.min(at, #active.form.fields + 1))
  show()
end

---Have the field looked at that is left, and go on: to the next, or back to all values if it came from there.
local function go_on()
  local question = assert(active)
  local draft = draft_of(question)
  local at, last = draft.at, #question.form.fields + 1
  local field = question.form.fields[at]
  page.flush()
  draft.wrong[field.key] = nil
  go(draft.looked and last or at + 1)
  ask_host(question, { [field.key] = draft.values[field.key] }, { only = field.key, at = at })
end

local function go_back()
  go(draft_of(assert(active)).at - 1)
end

local function leave()
  local question = assert(active)
  M.on.put_off(question)
end

---@param key string
---@param value any
local function set(key, value)
  local draft = draft_of(assert(active))
  draft.values[key] = value
end

---@return table<string, fun()>
local function common_keys()
  return {
    q = leave,
    ['<Esc>'] = leave,
    ['<S-Tab>'] = go_back,
    ['?'] = fields.help,
  }
end

---@param question acp.Question
---@param field acp.FormField
---@return acp.PageSpec
local function field_page(question, field)
  local draft = draft_of(question)
  local spec = fields.head(question, draft.at)
  spec.keys = vim.tbl_extend('error', common_keys(), { ['<Tab>'] = go_on })
  local value = draft.values[field.key]
  if fields.typed(field) then
    local function scroll(keys)
      return function()
        page.scroll(keys)
      end
    end
    spec.input = {
      text = value or '',
      secret = field.secret,
      changed = function(text)
        set(field.key, text ~= '' and text or nil)
      end,
    }
    spec.keys['<CR>'] = go_on
    spec.keys['?'] = nil -- a search there
    for key, scrolled in pairs({ ['<C-d>'] = '<C-d>', ['<C-u>'] = '<C-u>', ['<PageDown>'] = '<C-d>' }) do
      spec.keys[key] = scroll(scrolled)
    end
    spec.keys['<PageUp>'] = scroll('<C-u>')
    spec.insert_keys = {
      ['<CR>'] = function()
        if vim.fn.pumvisible() == 1 then
          vim.api.nvim_feedkeys(vim.keycode('<C-y>'), 'n', false)
        else
          go_on()
        end
      end,
      ['<Tab>'] = go_on,
      ['<S-Tab>'] = go_back,
      ['<PageDown>'] = scroll('<C-d>'),
      ['<PageUp>'] = scroll('<C-u>'),
    }
    return spec
  end
  spec.rows, spec.at = fields.rows(field, value, {
    choose = function(chosen)
      set(field.key, chosen)
      go_on()
    end,
    toggle = function(number)
      set(field.key, fields.toggled(draft.values[field.key], number))
      local again = field_page(question, field)
      page.redraw(again)
    end,
  })
  if field.type == 'choices' then
    spec.keys['<CR>'] = go_on
    spec.keys['<Space>'] = page.run
  end
  return spec
end

---@param question acp.Question
---@return acp.PageSpec
local function last_page(question)
  local draft = draft_of(question)
  draft.looked = true
  local spec = fields.review(question, {
    change = go,
    send = function()
      local wrong = fields.first_wrong(question)
      if wrong then
        go(wrong)
      else
        ask_host(question, draft.values, { send = true })
      end
    end,
    decline = function()
      M.on.answer(question, 2)
    end,
  })
  spec.keys = common_keys()
  return spec
end

---@param focus? boolean
function show(focus)
  local question = assert(active)
  local field = question.form.fields[draft_of(question).at]
  page.show(question.chat, field and field_page(question, field) or last_page(question), focus)
end

---Open the form, where the user has left it.
---@param question acp.Question
function M.begin(question)
  if active == question and page.here() then
    page.focus()
    return
  end
  M.close()
  active = question
  show(true)
end

---Take the form away. What was filled in is kept.
function M.close()
  page.flush()
  if active then
    active.options[1].note = ' (goes on)'
  end
  active, over, asked = nil, false, {}
  page.close()
end

---A question is over.
---@param question acp.Question
---@param by_user boolean the user has just answered it
---@return boolean was_here its form was open and had the focus: which goes home
function M.drop(question, by_user)
  if active ~= question then
    return false
  end
  local typing = page.focused() and vim.api.nvim_get_mode().mode:find('^[iR]') ~= nil
  if typing and not by_user then
    -- Who types goes on typing: the keys shall not go to another window. And the text is not lost.
    M.withdraw(question)
    return false
  end
  local focused = page.focused()
  M.close()
  return focused
end

---The question is gone while the user types an answer: the page stays until they leave it.
---@param question acp.Question
function M.withdraw(question)
  local function close()
    M.close()
    M.on.home()
  end
  active, over = nil, true
  page.keep(fields.withdrawn(question), { q = close, ['<Esc>'] = close, ['<CR>'] = close })
end

---The host has looked at what was filled in.
---@param id string
---@param seq integer
---@param wrong table<string, string> reasons by key; empty: it is all right
function M.checked(id, seq, wrong)
  local was, question = asked[seq], active
  asked[seq] = nil
  if not was or not question or question.id ~= id then
    return
  end
  local draft = draft_of(question)
  if was.key then
    draft.wrong[was.key] = wrong[was.key]
    local idle = keyboard.typed == was.typed and vim.fn.getchar(1) == 0
    if wrong[was.key] and idle and page.focused() then
      draft.at = was.at
    elseif draft.at <= #question.form.fields then
      return -- the page of all values will say it
    end
  else
    draft.wrong = wrong
    draft.at = #question.form.fields + 1
  end
  show()
end

---Follow the screen: the window has another size, or the form is in another tab page and goes from there.
---@return boolean shown
function M.update()
  if not active then
    return false
  end
  if not page.here() then
    M.close()
    return false
  end
  page.layout()
  return true
end

---Somebody has closed its window, e.g. by `:q`.
page.on.closed = function()
  local question = active
  vim.schedule(function()
    if over then
      M.close()
      M.on.home()
    elseif question and active == question then
      M.on.put_off(question)
    end
  end)
end

return M
