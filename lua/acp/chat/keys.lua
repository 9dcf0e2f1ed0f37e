--- The keys of transcript and prompt: buffer-local, with descriptions, each can be changed or left out.
local M = {}

local api = vim.api
local purposes = require('acp.chat.purposes')

---@return acp.Chat?
local function here()
  return require('acp.chat').of(api.nvim_get_current_buf())
end

---@param group string
---@param action string
---@return string[]
local function keys_of(group, action)
  local maps = require('acp.config').get().keymaps[group]
  local key = maps and maps[action]
  if not key then
    return {}
  end
  return type(key) == 'table' and key or { key }
end

---The keys of an action, none if the user wants none.
M.all = keys_of

---A key as the user types it: what <Leader> and <LocalLeader> stand for.
---@param key string
---@return string
local function typed(key)
  local function leader(name)
    return function()
      local value = vim.g[name]
      return vim.fn.keytrans((value == nil or value == '') and '\\' or value)
    end
  end
  return (key:gsub('<[Ll]ocal[Ll]eader>', leader('maplocalleader')):gsub('<[Ll]eader>', leader('mapleader')))
end

---The first key of an action, or nil when the user wants none.
---@param group string
---@param action string
---@return string?
function M.lhs(group, action)
  local key = keys_of(group, action)[1]
  return key and typed(key)
end

---@param group string
---@param proposal? boolean those of a proposal
---@return acp.chat.Purpose[]
local function purposes_of(group, proposal)
  if group ~= 'both' or not proposal then
    return purposes[group]
  end
  return vim.tbl_filter(function(purpose)
    return (purpose.answers or purpose.proposal) == true
  end, purposes.both)
end

---Keys and what they do, for `g?`.
---@param group 'transcript'|'prompt'|'diff'|'terminal'
---@return {[1]: string, [2]: string}[]
function M.help(group)
  local rows = {}
  for _, name in ipairs(group == 'terminal' and { group } or { group, 'both' }) do
    for _, purpose in ipairs(purposes_of(name, group == 'diff')) do
      local keys = keys_of(name, purpose[1])
      if #keys > 0 then
        table.insert(rows, { table.concat(vim.tbl_map(typed, keys), ' '), purpose[2] })
      end
    end
    if name == 'transcript' then
      table.insert(rows, { 'za', 'open or close a fold' })
    elseif name == 'prompt' then
      table.insert(rows, { '@', 'a file, a folder, or @buffer, @diff, … (also <C-x><C-o>)' })
      table.insert(rows, { '/', "in column 1: the agent's commands" })
    end
  end
  return rows
end

---@param buf integer
---@param group string
---@param proposal? boolean
local function map_group(buf, group, proposal)
  for _, purpose in ipairs(purposes_of(group, proposal)) do
    local action = purpose[1]
    for _, key in ipairs(keys_of(group, action)) do
      for _, mode in ipairs(purpose.modes or { 'n' }) do
        local options = { noremap = true, nowait = mode == 'n', desc = 'acp: ' .. purpose[2] }
        local rhs = ''
        if mode == 'i' then
          -- <C-g>u: what is typed before and after the send is undone apart from it.
          rhs = ("<C-g>u<Cmd>lua require('acp.chat.keys').run('%s', '%s')<CR><C-g>u"):format(group, action)
        else
          options.callback = function()
            M.run(group, action)
          end
        end
        api.nvim_buf_set_keymap(buf, mode, key, rhs, options) -- a third of what vim.keymap.set() takes
      end
    end
  end
end

---Do what a key does.
---@param group string
---@param action string
function M.run(group, action)
  local chat = here()
  if chat then
    require('acp.chat.actions')[group][action](chat)
  end
end

---@param chat acp.Chat
---@param buf integer its transcript or its prompt
function M.attach(chat, buf)
  map_group(buf, buf == chat.prompt and 'prompt' or 'transcript')
  map_group(buf, 'both')
end

---@param buf integer of a proposal
function M.attach_diff(buf)
  map_group(buf, 'diff')
  map_group(buf, 'both', true)
end

---The keys that answer by the kind of an option, in the chooser.
---@param buf integer
---@param answer fun(kind: string)
function M.attach_chooser(buf, answer)
  for _, purpose in ipairs(purposes.both) do
    local kind = purpose[1]
    for _, key in ipairs(purpose.answers and keys_of('both', kind) or {}) do
      -- A shorter map of the chooser's own, which waits for nothing, would keep the leader for itself.
      for _, mapped in ipairs(vim.api.nvim_buf_get_keymap(buf, 'n')) do
        local short, whole = vim.keycode(mapped.lhs), vim.keycode(typed(key))
        if #short < #whole and vim.startswith(whole, short) then
          vim.keymap.del('n', mapped.lhs, { buffer = buf })
        end
      end
      vim.keymap.set('n', key, function()
        answer(kind)
      end, { buffer = buf, nowait = true, desc = 'acp: ' .. purpose[2] })
    end
  end
end

---@param buf integer of a terminal
function M.attach_terminal(buf)
  map_group(buf, 'terminal')
end

return M
