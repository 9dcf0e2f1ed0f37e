--- Buffers named `acp://…` without a live chat, left by a session file or typed by the user: they say so.
local M = {}

local api = vim.api

local kept = {} ---@type table<integer, table[]> blocks of transcripts that are being unloaded, by buffer

---A transcript is unloaded. `:edit` does that and reads it again at once; then its blocks come back.
---@param buf integer
function M.keep(buf)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  local ops = {}
  for block in require('acp.chat.transcript').blocks(buf) do
    local deco = vim.deepcopy(block.deco)
    deco.folds = deco.folds
      and vim.tbl_map(function(fold)
        return { fold.first, fold.last, fold.closed, fold.text }
      end, deco.folds)
    local lines = api.nvim_buf_get_lines(buf, block.first, block.first + block.n, false)
    table.insert(ops, { 'set', block.id, lines, deco })
  end
  kept[buf] = ops
  vim.schedule(function()
    kept[buf] = nil
  end)
end

---@param chat acp.Chat
local function reload(chat)
  local transcript, ops = require('acp.chat.transcript'), kept[chat.buf]
  if not ops then
    return
  end
  kept[chat.buf] = nil
  transcript.attach(chat.n, chat.buf)
  transcript.frame({ { chat.n, ops } })
end

---Fill a buffer that has no chat. A buffer of a live chat gets its text back.
---@param buf integer
function M.fill(buf)
  local live = require('acp.chat').of(buf)
  if live then
    if buf == live.buf then
      reload(live)
    end
    return
  end
  if vim.b[buf].acp_own then
    return
  end
  local agent = api.nvim_buf_get_name(buf):match('^acp://([^/]+)') or ''
  local command = ':AcpChat' .. (require('acp.config').agent(agent) and ' ' .. agent or '')
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].swapfile = false
  vim.bo[buf].buflisted = false
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, {
    'This chat ended with the Neovim it was in.',
    '',
    ('%s  opens a new one here'):format(command),
  })
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  vim.b[buf].acp_dead = true
end

---Remove all of them: a new chat takes their place, and perhaps their name.
function M.wipe()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local named = vim.startswith(api.nvim_buf_get_name(buf), 'acp://')
    local unloaded = not api.nvim_buf_is_loaded(buf)
    if named and (vim.b[buf].acp_dead or unloaded) and not require('acp.chat').of(buf) then
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
  end
end

return M
