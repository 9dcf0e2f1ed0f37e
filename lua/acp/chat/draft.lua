--- What was written and not sent is kept on the disk: a moment after it was typed, as Neovim may be killed,
--- and when Neovim ends or a chat's buffer is wiped. The next chat of that agent in that folder has it again.
local M = {}

local api, uv = vim.api, vim.uv

local PAUSE_MS = 1000 -- without a change, until it is written
local LONGEST_MS = 4000 -- of changes without a pause

---What a chat has on the disk.
---@class acp.Draft
---@field path? string its file
---@field text? string what stands in it; '': there is none; nil: only a part of what was taken up
---@field more string[] files with the other parts
---@field stop? fun() end the writing that is under way

local drafts = {} ---@type table<integer, acp.Draft>
local kept = {} ---@type table<string, {text: string, files: string[]}> could not be left for the next chat

---Whether any chat left one, or has one in another Neovim: most have not, and the first chat is to be on the
---screen in 10 ms.
---@return boolean
local function any()
  local folder = vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'acp.nvim')
  local handle = uv.fs_scandir(folder)
  local name = handle and uv.fs_scandir_next(handle)
  while name do
    if vim.startswith(name, 'draft-') then
      return true
    end
    name = uv.fs_scandir_next(handle)
  end
  return false
end

---@param earlier string?
---@param text string
---@return string
local function join(earlier, text)
  if not earlier or text:find(earlier, 1, true) then
    return text
  end
  return earlier:find(text, 1, true) and earlier or earlier .. '\n\n' .. text
end

---Put what was not sent before into the prompt. Its files stay, as the chat's: Neovim may be killed again.
---@param chat acp.Chat
---@param draft acp.Draft
local function take(chat, draft)
  local files = require('acp.chat.draft_files')
  local loose = files.loose()
  if #loose == 0 and not next(kept) then
    return
  end
  local key, text = files.key(chat), nil ---@type string, string?
  for _, each in ipairs(files.take(key, loose)) do
    text = join(text, each.text)
    table.insert(draft.more, each.path)
  end
  local unwritten = kept[key]
  if unwritten then
    text = join(text, unwritten.text)
    vim.list_extend(draft.more, unwritten.files)
    kept[key] = nil
  end
  if not text then
    return
  end
  draft.path = table.remove(draft.more, 1)
  draft.text = draft.path and #draft.more == 0 and not unwritten and text or nil
  require('acp.chat.prompt').restore(chat.n, text)
end

local failing = false

---Say once that drafts cannot be written.
local function failed()
  if not failing then
    failing = true
    local folder = require('acp.chat.draft_files').folder()
    require('acp.message').error(
      ('the text in the prompt cannot be saved in %s: it is lost if Neovim is killed'):format(folder)
    )
  end
end

---@param text string
---@return string text as much of it as is kept; the user is told once that this is not all
local function fitting(text)
  local most = require('acp.chat.draft_files').cut(text)
  if #most < #text then
    local words = 'only the first 2 MB of what is in the prompt are kept: the rest goes when Neovim ends'
    require('acp.message').once('draft', 'warning', words)
  end
  return most
end

---Bring the chat's file up to date.
---@param chat acp.Chat
---@param draft acp.Draft
local function keep(chat, draft)
  if draft.stop then
    return M.changed(chat.n)
  end
  local files = require('acp.chat.draft_files')
  local text = fitting(require('acp.chat.prompt').unsent(chat))
  if text == draft.text then
    return
  end
  if text == '' then
    files.remove({ draft.path, unpack(draft.more) })
    draft.text, draft.more = '', {}
    return
  end
  local first = draft.text == ''
  draft.path = draft.path or files.own(files.key(chat))
  draft.stop = files.write(draft.path, text, function(ok)
    draft.stop = nil
    if not ok then
      return failed()
    end
    files.remove(draft.more)
    draft.text, draft.more, failing = text, {}, false
    if first then
      files.tidy()
    end
  end)
  if not draft.stop then
    failed()
  end
end

local timer ---@type uv.uv_timer_t?
local waiting, since = {}, nil ---@type table<integer, true>, integer?

local function keep_all()
  local which = waiting
  waiting, since = {}, nil
  for n in pairs(which) do
    local chat, draft = require('acp.chat').get(n), drafts[n]
    if chat and draft then
      keep(chat, draft)
    end
  end
end

---What a chat has not sent may be another text than before.
---@param n integer chat
function M.changed(n)
  if not drafts[n] then
    return
  end
  local now = uv.now()
  waiting[n], since = true, since or now
  timer = timer or assert(uv.new_timer())
  timer:start(math.max(0, math.min(PAUSE_MS, since + LONGEST_MS - now)), 0, vim.schedule_wrap(keep_all))
end

---Leave a text for the next chat, with what other chats have left.
---@param key string
---@param text string
---@param own string[] files of ours that have it
---@return boolean
local function leave(key, text, own)
  local files = require('acp.chat.draft_files')
  local earlier, unwritten = files.read(files.plain(key)), kept[key]
  if unwritten then
    text = join(unwritten.text, text)
    vim.list_extend(own, unwritten.files)
  end
  text = files.cut(join(earlier, text))
  if text == earlier or files.leave(key, text) then
    kept[key] = nil
    files.remove(own)
    files.tidy()
    return true
  end
  kept[key] = { text = text, files = own }
  return false
end

---A chat ends: what it has not sent is for the next. Nothing is written if there is nothing.
---@param chat acp.Chat
function M.save(chat)
  local draft = drafts[chat.n] or { text = '', more = {} }
  drafts[chat.n] = nil
  if draft.stop then
    draft.stop()
  end
  local text, own = require('acp.chat.prompt').unsent(chat), { draft.path, unpack(draft.more) }
  if text == '' and #own == 0 then
    return
  end
  local files = require('acp.chat.draft_files')
  if text == '' then
    return files.remove(own)
  end
  text = fitting(text)
  local key, safe = files.key(chat), text == draft.text
  local alone = safe and not kept[key] and not files.read(files.plain(key))
  if alone and uv.fs_rename(draft.path, files.plain(key)) then
    return files.tidy()
  end
  if not leave(key, text, own) and not safe then
    local why = 'the text in the prompt could not be saved in ' .. files.folder()
    local remedy = '; until Neovim ends :AcpChat brings it back'
    require('acp.message').error(why .. (vim.v.exiting == vim.NIL and remedy or ''))
  end
end

local watching = false

---A new chat gets what was not sent before. From now on what it has not sent is kept.
---@param chat acp.Chat
function M.start(chat)
  local draft = { text = '', more = {} } ---@type acp.Draft
  drafts[chat.n] = draft
  if any() or next(kept) then
    take(chat, draft)
  end
  if watching then
    return
  end
  watching = true
  api.nvim_create_autocmd('VimLeavePre', {
    group = api.nvim_create_augroup('acp.draft', {}),
    callback = function()
      local chats = require('acp.chat').list()
      for i = #chats, 1, -1 do -- the last used one comes last
        M.save(chats[i])
      end
      for key in pairs(kept) do
        leave(key, '', {})
      end
    end,
  })
end

return M
