--- Asks the host for a change (`client/diffs.py`), and which changes may be asked for.
local M = {}

local api = vim.api

---@class acp.DiffRequest
---@field chat integer
---@field question? string
---@field path? string
---@field call? string
---@field block? integer
---@field row? integer

---@class acp.DiffProposal what the host answers
---@field chat integer
---@field question? string
---@field op string
---@field path string
---@field call? string the call, when it changes several files
---@field next? string path of the file that comes after this one
---@field at integer[] line of the first change in each side
---@field numbers boolean
---@field sides acp.DiffSide[]
---@field card? {title: string, line: string, marks: acp.QuestionMark[]} instead of the question's first line

---@class acp.DiffWaiting
---@field done fun(proposal: acp.DiffProposal?, reason: string?)
---@field lines table<integer, string[]> by side

local waiting = {} ---@type table<integer, acp.DiffWaiting>
local count = 0

---Ask the host for a change. `done` is called once: with the proposal, or with nil and a reason.
---@param request acp.DiffRequest
---@param limit integer milliseconds
---@param done fun(proposal: acp.DiffProposal?, reason: string?)
function M.ask(request, limit, done)
  if require('acp.host').status().state ~= 'ready' then
    return done(nil, 'nothing to show: the host does not run')
  end
  count = count + 1
  local id = count
  waiting[id] = { done = done, lines = {} }
  require('acp.host').event('diff', vim.tbl_extend('error', request, { id = id }))
  vim.defer_fn(function()
    M.answer(id, nil, 'the diff takes too long')
  end, limit)
end

---The host sends a part of a side's lines.
---@param id integer
---@param side integer
---@param lines string[]
---@return boolean wanted
function M.piece(id, side, lines)
  local item = waiting[id]
  if not item then
    return false
  end
  item.lines[side] = vim.list_extend(item.lines[side] or {}, lines)
  return true
end

---The host answers.
---@param id integer
---@param proposal? acp.DiffProposal
---@param reason? string
function M.answer(id, proposal, reason)
  local item = waiting[id]
  waiting[id] = nil
  if not item then
    return
  end
  if not proposal or proposal == vim.NIL then
    return item.done(nil, reason)
  end
  for i, side in ipairs(proposal.sides) do
    side.lines = item.lines[i] or {}
  end
  item.done(proposal)
end

---A path as the user writes it: relative to the chat's folder, else to the one of Neovim.
---@param chat acp.Chat
---@param path string
---@return string
function M.absolute(chat, path)
  local full, inside = vim.fn.fnamemodify(path, ':p'), vim.fs.joinpath(chat.cwd, path)
  local elsewhere = vim.startswith(path, '/') or vim.startswith(path, '~')
  if elsewhere or (not vim.uv.fs_stat(inside) and vim.uv.fs_stat(full)) then
    return full
  end
  return inside
end

---The paths whose change a chat can show, the newest first; relative where they are in its folder.
---@param chat acp.Chat
---@return string[]
function M.paths(chat)
  local root, seen, list = vim.fs.normalize(chat.cwd) .. '/', {}, {}
  for block in require('acp.chat.transcript').blocks(chat.buf, 'row') do
    for _, item in ipairs(block.deco.diffs or {}) do
      for i = 3, #item do
        local path = item[i]
        path = vim.startswith(path, root) and path:sub(#root + 1) or vim.fn.fnamemodify(path, ':~')
        if not seen[path] then
          seen[path] = true
          table.insert(list, 1, path)
        end
      end
    end
  end
  return list
end

---The change whose row the cursor is on, in a transcript.
---@param chat acp.Chat
---@return acp.DiffRequest?
function M.under_cursor(chat)
  if api.nvim_get_current_buf() ~= chat.buf then
    return nil
  end
  local block = require('acp.chat.transcript').block_at(chat.buf, api.nvim_win_get_cursor(0)[1] - 1)
  for _, item in ipairs(block and block.deco.diffs or {}) do
    if block.row >= item[1] and block.row <= item[2] then
      return { chat = chat.n, block = block.id, row = block.row }
    end
  end
end

return M
