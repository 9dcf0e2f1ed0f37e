--- Says that a chat waits which is not on the screen: one line, no keys, no focus.
local M = {}

local api = vim.api

local win ---@type integer?
local shown ---@type acp.Question?

---The question it speaks of, while it is on the screen.
---@return acp.Question?
function M.question()
  return win and api.nvim_win_is_valid(win) and shown or nil
end

function M.close()
  if win and api.nvim_win_is_valid(win) then
    pcall(api.nvim_win_close, win, true)
  end
  win, shown = nil, nil
end

---@param question acp.Question
local function float(question)
  local message, words = require('acp.message'), require('acp.question.words')
  local count = #require('acp.question.queue').of()
  local more = count > 1 and (' (%d questions)'):format(count) or ''
  local text = (' %s %s%s  :AcpPermit '):format(
    require('acp.icons').get().waiting,
    words.of(question, question.title) .. words.about(question),
    more
  )
  text = message.cut(text, math.max(vim.o.columns - 1, 1))
  local width = math.max(1, vim.fn.strdisplaywidth(text))
  local config = {
    relative = 'editor',
    row = math.max(0, require('acp.question.place').bottom() - 1),
    col = math.max(0, vim.o.columns - width),
    width = width,
    height = 1,
  }
  if M.question() and api.nvim_win_get_tabpage(win) ~= api.nvim_get_current_tabpage() then
    M.close()
    shown = question
  end
  if win and api.nvim_win_is_valid(win) then
    api.nvim_buf_set_lines(api.nvim_win_get_buf(win), 0, -1, false, { text })
    api.nvim_win_set_config(win, config)
    return
  end
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  api.nvim_buf_set_lines(buf, 0, -1, false, { text })
  win = api.nvim_open_win(
    buf,
    false,
    vim.tbl_extend('error', config, {
      style = 'minimal',
      border = 'none',
      focusable = false,
      zindex = 40,
      noautocmd = true,
    })
  )
  api.nvim_set_option_value('winhighlight', 'NormalFloat:AcpWaiting', { win = win, scope = 'local' })
end

---@param question acp.Question
function M.show(question)
  local how = require('acp.config').get().notify.question
  if how == 'float' then
    shown = question
    float(question)
    return
  end
  M.close()
  M.tell(question)
end

---Ring, or notify, once for a question, if the settings want that.
---@param question acp.Question
function M.tell(question)
  local how = require('acp.config').get().notify.question
  if question.told or not how or how == 'float' then
    return
  end
  question.told = true
  local words = require('acp.question.words')
  require('acp.notices').tell(
    how,
    words.of(question, question.title) .. words.about(question) .. '  :AcpPermit'
  )
end

return M
