--- What the pages of a form say: one field, or all values.
local M = {}

local message = require('acp.message')
local words = require('acp.question.words')

---@param lines string[]
---@param marks acp.QuestionMark[]
---@param text string
---@param group? string
local function put(lines, marks, text, group)
  table.insert(lines, text)
  if group and text ~= '' then
    table.insert(marks, { #lines - 1, 0, #text, group })
  end
end

---Whether a value is typed, not chosen.
---@param field acp.FormField
---@return boolean
function M.typed(field)
  return field.type == 'text' or field.type == 'number' or field.type == 'integer'
end

---@param question acp.Question
---@return string
local function agent(question)
  local chat = require('acp.chat').get(question.chat)
  return message.plain(chat and chat.agent or 'the agent')
end

---The page of a field without what is filled in.
---@param question acp.Question
---@param at integer
---@return acp.PageSpec
function M.head(question, at)
  local field = question.form.fields[at]
  local lines, marks = {}, {} ---@type string[], acp.QuestionMark[]
  local name = message.plain(field.title)
  local note = field.required and '  required' or '  may be left out'
  put(lines, marks, name .. note)
  table.insert(marks, { 0, 0, #name, 'AcpPath' })
  table.insert(marks, { 0, #name, #name + #note, 'AcpNote' })
  for _, line in ipairs(field.lines) do
    put(lines, marks, message.plain(line))
  end
  if field.words ~= '' then
    put(lines, marks, message.plain(field.words), 'AcpNote')
  end
  if field.secret then
    local hidden = 'hidden here and in :AcpTrace; %s gets it as it is'
    put(lines, marks, hidden:format(agent(question)), 'AcpNote')
  end
  local wrong = question.draft.wrong[field.key]
  if wrong then
    local icon = require('acp.icons').get().failed
    put(lines, marks, ('%s %s %s'):format(icon, name, message.plain(wrong)), 'AcpError')
  end
  local footer = { '<CR> goes on', '<S-Tab> back', 'q keeps it open' }
  if M.typed(field) then
    footer = { '<CR> goes on', '<S-Tab> back', '<Esc> twice keeps it open' }
  elseif field.type == 'choices' then
    footer = { '<Space> chooses', unpack(footer) }
  end
  return {
    title = ('%s, %d of %d'):format(words.of(question, question.title), at, #question.form.fields),
    lines = lines,
    marks = marks,
    rows = {},
    footer = footer,
    keys = {},
  }
end

---@param value integer[]?
---@param number integer
---@return integer[] chosen
function M.toggled(value, number)
  local chosen, found = {}, false
  for _, each in ipairs(value or {}) do
    if each == number then
      found = true
    else
      table.insert(chosen, each)
    end
  end
  if not found then
    table.insert(chosen, number)
  end
  table.sort(chosen)
  return chosen
end

---The rows to choose a value from.
---@param field acp.FormField
---@param value any
---@param act {choose: fun(value: any), toggle: fun(number: integer)}
---@return acp.PageRow[] rows
---@return integer? at the row of the present value
function M.rows(field, value, act)
  local rows, at = {}, nil ---@type acp.PageRow[], integer?
  local mark = require('acp.icons').get().running
  ---@param text string
  ---@param note? string
  ---@param is boolean
  ---@param run fun()
  local function add(text, note, is, run)
    local box = (is and mark or ' ') .. ' '
    if field.type == 'choices' then
      box = is and '[x] ' or '[ ] '
    end
    local line = box .. message.plain(text)
    local tail = note and '  ' .. message.plain(note) or ''
    table.insert(rows, {
      lines = { line .. tail },
      marks = { { 0, #line, #line + #tail, 'AcpNote' } },
      number = true,
      run = run,
    })
    if is and field.type ~= 'choices' then
      at = #rows
    end
  end
  if not field.required and field.type ~= 'choices' then
    add('leave it out', nil, value == nil, function()
      act.choose(nil)
    end)
    rows[1].number, rows[1].beside = false, true
  end
  if field.type == 'boolean' then
    for _, choice in ipairs({ true, false }) do
      add(choice and 'Yes' or 'No', nil, value == choice, function()
        act.choose(choice)
      end)
    end
  end
  for n, choice in ipairs(field.choices) do
    if field.type == 'choices' then
      add(choice.title, choice.note, vim.tbl_contains(value or {}, n), function()
        act.toggle(n)
      end)
    else
      add(choice.title, choice.note, value == n, function()
        act.choose(n)
      end)
    end
  end
  if field.type == 'choices' then
    at = 1
  end
  return rows, at
end

---A value in words, in lines fit to be shown.
---@param field acp.FormField
---@param value any
---@return string[]
local function shown(field, value)
  if value == nil or (type(value) == 'table' and #value == 0) then
    return { field.required and '(nothing yet)' or '(left out)' }
  end
  if field.secret and M.typed(field) then
    return { require('acp.icons').kind() == 'ascii' and '***' or '•••' }
  end
  if type(value) == 'boolean' then
    return { value and 'Yes' or 'No' }
  end
  if type(value) == 'table' then
    return {
      table.concat(
        vim.tbl_map(function(n)
          return message.plain(field.choices[n].title)
        end, value),
        ', '
      ),
    }
  end
  if field.type == 'choice' then
    return { message.plain(field.choices[value].title) }
  end
  return vim.tbl_map(message.plain, vim.split(value, '\n', { plain = true }))
end

---The number of the first field that is wrong.
---@param question acp.Question
---@return integer?
function M.first_wrong(question)
  for i, field in ipairs(question.form.fields) do
    if question.draft.wrong[field.key] then
      return i
    end
  end
end

---The page of all values.
---@param question acp.Question
---@param act {change: fun(at: integer), send: fun(), decline: fun()}
---@return acp.PageSpec
function M.review(question, act)
  local lines, marks = {}, {} ---@type string[], acp.QuestionMark[]
  put(lines, marks, ('This is sent to %s:'):format(agent(question)), 'AcpNote')
  local rows = {} ---@type acp.PageRow[]
  local icon = require('acp.icons').get().failed
  for i, field in ipairs(question.form.fields) do
    local name = message.plain(field.title)
    local values = shown(field, question.draft.values[field.key])
    local row = { lines = {}, marks = {}, number = false }
    row.run = function()
      act.change(i)
    end
    local plain = values[1]:find('^%(') and question.draft.values[field.key] == nil
    table.insert(row.lines, #values == 1 and ('%s: %s'):format(name, values[1]) or name .. ':')
    table.insert(row.marks, { 0, 0, #name, 'AcpPath' })
    if plain then
      table.insert(row.marks, { 0, #name + 2, #row.lines[1], 'AcpNote' })
    end
    for n = 1, #values > 1 and #values or 0 do
      table.insert(row.lines, '  ' .. values[n])
    end
    local wrong = question.draft.wrong[field.key]
    if wrong then
      table.insert(row.lines, ('  %s %s'):format(icon, message.plain(wrong)))
      table.insert(row.marks, { #row.lines - 1, 0, #row.lines[#row.lines], 'AcpError' })
    end
    table.insert(rows, row)
  end
  for _, name in ipairs(question.form.left_out) do
    local text = ('%s: cannot be filled in here'):format(message.plain(name))
    table.insert(rows, { lines = { text }, marks = { { 0, 0, #text, 'AcpNote' } } })
  end
  table.insert(rows, { lines = { '' } })
  local wrong = M.first_wrong(question)
  local send = wrong and 'Change what is wrong' or 'Send'
  table.insert(rows, { lines = { send }, number = true, guard = true, run = act.send })
  local decline = message.plain(question.options[#question.options].name)
  table.insert(rows, { lines = { decline }, number = true, guard = true, run = act.decline })
  return {
    title = words.of(question, question.title),
    lines = lines,
    marks = marks,
    rows = rows,
    footer = { wrong and '1 changes it' or '1 sends', '<CR> changes a value', 'q keeps it open' },
    keys = {},
  }
end

---What a page says when its question has gone.
---@param question acp.Question
---@return string title
function M.withdrawn(question)
  return ('%s has taken the question back: <Esc> twice leaves'):format(agent(question))
end

function M.help()
  local help = require('acp.chat.show').float({
    ' <CR>        go on, or choose what is under the cursor ',
    ' 1-9         choose ',
    ' <Space>     choose one of several ',
    ' <Tab>       go on ',
    ' <S-Tab>     go back ',
    ' <C-j>       a new line, where text is typed ',
    ' q <Esc>     keep the question open; what is filled in is kept ',
    ' :AcpPermit  opens it again; with cancel it refuses ',
  }, 'keys', { keys = { '?' } })
  vim.api.nvim_win_set_config(help, { zindex = 70 })
end

return M
