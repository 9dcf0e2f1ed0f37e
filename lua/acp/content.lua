--- Content of an agent that the user opens: pictures and sounds from a file of ours, embedded texts, links.
--- The host says what is behind a line (client/contents.py); here it is shown, or asked about first.
local M = {}

local api = vim.api

---What the user has asked for last, and what came of it.
---@type {id: integer, chat: integer, buf: integer?}
local wanted = { id = 0, chat = 0 }

local COLOURED = 200000 -- bytes: a parser reads all of a text at once
local texts = 0 -- embedded texts shown so far: their buffers' names differ

---@class acp.Content
---@field kind 'say'|'open'|'saved'|'url'|'file'|'text'
---@field text? string
---@field path? string
---@field line? integer
---@field shown? string the path, safe to be shown
---@field ask? boolean the file is outside the project
---@field url? string an address, with
---@field host? string
---@field warnings? string[]
---@field type? 'image'|'audio'|'resource'
---@field mime? string
---@field name? string

---The user asks for something: what was asked for before is not waited for any more.
---@param chat acp.Chat
local function begin(chat)
  if wanted.buf and api.nvim_buf_is_valid(wanted.buf) and #vim.fn.win_findbuf(wanted.buf) == 0 then
    api.nvim_buf_delete(wanted.buf, { force = true }) -- a text nobody has waited for
  end
  wanted = { id = wanted.id + 1, chat = chat.n }
end

---Ask the host for what is behind a line of the transcript.
---@param chat acp.Chat
---@param link {item: integer[], block: integer}
---@param how 'open'|'file'
function M.ask(chat, link, how)
  begin(chat)
  local place = { chat = chat.n, id = wanted.id, block = link.block, place = link.item, how = how }
  require('acp.host').event('content', place)
end

---Ask the host whether an address may be opened, and what is to be said about it.
---@param chat acp.Chat
---@param url string
function M.ask_address(chat, url)
  begin(chat)
  require('acp.host').event('address', { chat = chat.n, id = wanted.id, url = url })
end

---The chat, if the user still waits in its transcript for this answer.
---@param id integer
---@return acp.Chat?
local function waiting(id)
  local chat = wanted.id == id and require('acp.chat').get(wanted.chat)
  if chat and api.nvim_get_current_buf() == chat.buf and api.nvim_get_mode().mode == 'n' then
    return chat
  end
end

---The host gives a part of an embedded text.
---@param id integer
---@param lines string[]
---@return boolean whether more is wanted
function M.piece(id, lines)
  if not waiting(id) then
    return false
  end
  local first = not wanted.buf
  if first then
    wanted.buf = api.nvim_create_buf(false, true)
    for name, value in pairs({ swapfile = false, modeline = false, undolevels = -1 }) do
      api.nvim_set_option_value(name, value, { buf = wanted.buf })
    end
  end
  api.nvim_buf_set_lines(wanted.buf, first and 0 or -1, -1, false, lines)
  return true
end

---@param name string
---@param mime string?
---@return string? language
local function language(name, mime)
  local by_mime = {
    ['application/json'] = 'json',
    ['application/toml'] = 'toml',
    ['application/xml'] = 'xml',
    ['application/x-sh'] = 'sh',
    ['application/yaml'] = 'yaml',
    ['text/css'] = 'css',
    ['text/html'] = 'html',
    ['text/javascript'] = 'javascript',
    ['text/markdown'] = 'markdown',
    ['text/x-c'] = 'c',
    ['text/x-diff'] = 'diff',
    ['text/x-go'] = 'go',
    ['text/x-lua'] = 'lua',
    ['text/x-python'] = 'python',
    ['text/x-rust'] = 'rust',
    ['text/x-shellscript'] = 'sh',
    ['text/xml'] = 'xml',
  }
  local kind = name:match('^[%w_.-]+$') and vim.filetype.match({ filename = name }) or by_mime[mime or '']
  return kind and kind:match('^[%w_-]+$')
end

---Colours without a filetype: what an agent sent is nothing for language servers, and a plugin that draws the
---pictures of Markdown or HTML would fetch them from wherever the agent likes.
---@param buf integer
---@param kind string?
local function colour(buf, kind)
  if not kind or api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf)) > COLOURED then
    return
  end
  local lang = vim.treesitter.language.get_lang(kind)
  if not (lang and pcall(vim.treesitter.start, buf, lang)) then
    api.nvim_buf_call(buf, function()
      vim.cmd('silent! setlocal syntax=' .. kind)
    end)
  end
end

---Show an embedded text in a split above the code window.
---@param chat acp.Chat
---@param what acp.Content
---@param buf integer
local function show_text(chat, what, buf)
  texts = texts + 1
  vim.b[buf].acp_own, vim.b[buf].acp_chat = true, chat.n
  local safe = what.name:gsub('[^%w._-]', '_')
  pcall(api.nvim_buf_set_name, buf, ('acp://%s/%d/content/%d/%s'):format(chat.agent, chat.n, texts, safe))
  vim.bo[buf].modified = false
  vim.bo[buf].modifiable = false
  require('acp.filetype').set(buf, 'acp-content')
  local win = api.nvim_open_win(buf, true, { split = 'above', win = require('acp.chat.code').window() })
  vim.bo[buf].bufhidden = 'wipe'
  local name = require('acp.message').plain(what.name):gsub('%%', '%%%%')
  local bar = (' %s  sent by %s%%=q closes '):format(name, chat.agent)
  api.nvim_set_option_value('winbar', bar, { win = win, scope = 'local' })
  vim.keymap.set('n', 'q', '<Cmd>bwipeout<CR>', { buffer = buf, nowait = true, desc = 'acp: close' })
  colour(buf, language(what.name, what.mime))
end

---@param what acp.Content
local function ask_file(what)
  local answers = { 'open it' }
  local lines = { what.shown, '', 'outside the project' }
  local opts = { prompt = 'open this file?', kind = 'acp_file', lines = lines }
  require('acp.choose').one(answers, opts, function(answer)
    if answer then
      require('acp.chat.show').file(what.path, what.line)
    end
  end)
end

---A file of ours with a picture or a sound: for whoever listens to `User AcpContent`, else for the system.
---@param chat acp.Chat
---@param what acp.Content
local function show_media(chat, what)
  if #api.nvim_get_autocmds({ event = 'User', pattern = 'AcpContent' }) > 0 then
    local data = { path = what.path, mime = what.mime, type = what.type, name = what.name }
    require('acp.events').fire(chat.n, 'AcpContent', data)
  else
    local said = 'no program could be opened; the file is ' .. vim.fn.fnamemodify(what.path, ':~')
    require('acp.browser').open(what.path, said)
  end
end

---The host answers. Too late when the user has gone elsewhere.
---@param id integer
---@param what acp.Content
function M.answer(id, what)
  local chat = waiting(id)
  if not chat then
    return
  end
  if what.kind == 'say' then
    require('acp.message').info(what.text)
  elseif what.kind == 'saved' then
    local path = vim.fn.fnamemodify(what.path, ':~')
    require('acp.message').warn(('not opened, %s; saved as %s'):format(what.text, path))
  elseif what.kind == 'open' then
    show_media(chat, what)
  elseif what.kind == 'url' then
    require('acp.url').open_with_consent(what)
  elseif what.kind == 'file' and what.ask then
    ask_file(what)
  elseif what.kind == 'file' then
    require('acp.chat.show').file(what.path, what.line)
  elseif what.kind == 'text' and wanted.buf then
    show_text(chat, what, wanted.buf)
  end
end

return M
