--- The open questions of all chats, in the order they were asked.
local M = {}

---@class acp.QuestionOption
---@field id string
---@field name string the agent's words
---@field kind string allow_once, allow_always, reject_once, reject_always, or other
---@field note? string ours, after the name: it is for always, and the name does not say so
---@field about? string what there is to say of it

---@alias acp.QuestionMark {[1]: integer, [2]: integer, [3]: integer, [4]: string} row, col, end col, group

---A question, and what this Neovim knows of it.
---@class acp.Question
---@field id string
---@field chat integer
---@field title string e.g. 'claude wants to run a command'
---@field prompt string one line for `vim.ui.select`
---@field what? string what is asked about, in short, e.g. 'edit a.py +1 -1'
---@field lines string[] the full content, without the options
---@field marks acp.QuestionMark[]
---@field options acp.QuestionOption[] in the agent's order
---@field form? acp.Form what there is to fill in before its first option is an answer
---@field draft? acp.FormDraft what the user has filled in so far
---@field hunks? [integer, integer][] rows the diff shows too, first to last; nil: there is no diff
---@field since? number milliseconds (uv.hrtime) when its card came on the screen
---@field whole? boolean its last line has been on the screen
---@field put_off? boolean the user closed it: it waits in its row until it is asked for
---@field wanted? boolean shown though its chat is not on the screen, because the user asked for it
---@field token? acp.Picker the picker whose choice counts
---@field answered? boolean the user has answered it
---@field told? boolean the user was told that it waits (`notify.question`)

local list = {} ---@type acp.Question[]

---@param question acp.Question
function M.add(question)
  table.insert(list, question)
end

---@param id string
---@return acp.Question?
function M.get(id)
  for _, question in ipairs(list) do
    if question.id == id then
      return question
    end
  end
end

---@param id string
---@return acp.Question? removed
function M.remove(id)
  for i, question in ipairs(list) do
    if question.id == id then
      return table.remove(list, i)
    end
  end
end

---@param chat? integer nil: of all chats
---@return acp.Question[] oldest first
function M.of(chat)
  return vim.tbl_filter(function(question)
    return chat == nil or question.chat == chat
  end, list)
end

---The question to show: of the chat that has the cursor, else of one that is on the screen, else the oldest.
---Those the user has put off are left out.
---@param current integer? chat that has the cursor
---@param visible fun(chat: integer): boolean
---@return acp.Question?
function M.next(current, visible)
  local best, rank = nil, 0
  for _, question in ipairs(list) do
    if not question.put_off then
      local mine = question.chat == current and 3 or visible(question.chat) and 2 or 1
      if mine > rank then
        best, rank = question, mine
      end
    end
  end
  return best
end

return M
