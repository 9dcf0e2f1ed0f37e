--- What a question is called where people read it: with several chats open, it says which of them asks.
local M = {}

local message = require('acp.message')

local ABOUT = 40 -- cells of what a chat is about

---@param question acp.Question
---@return string? name what the winbar calls the chat, and `:[N]AcpChat` takes; nil: there is only one
---@return string agent
local function name_of(question)
  local registry = require('acp.chat')
  local chat = registry.get(question.chat)
  local agent = message.plain(chat and chat.agent or 'the agent')
  return chat and #registry.list() > 1 and ('%s %d'):format(agent, chat.n) or nil, agent
end

---Words of the host about a question, which begin with the agent's name as a rule.
---@param question acp.Question
---@param text string
---@return string
function M.of(question, text)
  text = message.plain(text)
  local name, agent = name_of(question)
  if not name then
    return text
  end
  if vim.startswith(text, agent .. ' ') then
    return name .. text:sub(#agent + 1)
  end
  return ('%s: %s'):format(name, text)
end

---What the chat of a question is about, to put behind its title; empty when there is only one.
---@param question acp.Question
---@return string
function M.about(question)
  if not name_of(question) then
    return ''
  end
  local status = require('acp.status').raw(question.chat)
  local about = message.cut(message.plain(status.title or status.topic or ''), ABOUT)
  return about ~= '' and ': ' .. about or ''
end

---The chat to put behind a verb; empty when there is only one.
---@param question acp.Question
---@return string
function M.whose(question)
  local name = name_of(question)
  return name and ' for ' .. name or ''
end

return M
