-- Commands, <Plug> maps, highlight groups and acp:// buffers. Modules of ours are loaded when needed.
if vim.g.loaded_acp then
  return
end
vim.g.loaded_acp = 1

if vim.fn.has('nvim-0.10') == 0 then
  vim.api.nvim_echo({ { 'acp.nvim needs Neovim 0.10 or later; this one is older.', 'WarningMsg' } }, true, {})
  return
end

local api = vim.api

---@param name string
---@param run string function of `from`
---@param options table
---@param from? string module, default: acp.commands
local function command(name, run, options, from)
  if options.complete then
    local complete = options.complete
    options.complete = function(...)
      return require('acp.commands').complete(complete, ...)
    end
  end
  api.nvim_create_user_command(name, function(args)
    require(from or 'acp.commands')[run](args)
  end, options)
end

command('AcpChat', 'command', {
  nargs = '?',
  bang = true,
  range = 0,
  addr = 'other',
  complete = 'agents',
  desc = 'Show the chat with an agent',
}, 'acp.chat.start')
command(
  'AcpSend',
  'send',
  { nargs = '*', bang = true, range = true, desc = 'Send text or lines to the agent' }
)
command('AcpQueue', 'queue', {
  nargs = '*',
  complete = 'queue',
  desc = 'Change, order, drop or send at once what is queued',
})
command('AcpFork', 'fork', { nargs = '*', desc = 'Ask something beside, in a session that knows this chat' })
command('AcpHistory', 'history', {
  nargs = '*',
  bang = true,
  desc = 'Choose a prompt that was sent in this folder; !: forget them all',
})
command('AcpCancel', 'cancel', { bang = true, desc = "Cancel the agent's turn" })
command(
  'AcpFollow',
  'follow',
  { nargs = '?', bar = true, complete = 'follow', desc = 'Follow the agent to its files' }
)
command('AcpDiff', 'diff', { nargs = '?', complete = 'changes', desc = "Show an agent's change as a diff" })
command('AcpOptions', 'options', {
  nargs = '*',
  complete = 'options',
  desc = "Set the agent's mode, model and other options",
})
command('AcpPermit', 'permit', { nargs = '?', complete = 'answers', desc = "Answer an agent's question" })
command(
  'AcpRules',
  'rules',
  { nargs = '*', complete = 'rules', desc = 'List what is allowed or refused by rule, and revoke it' }
)
command(
  'AcpSessions',
  'sessions',
  { nargs = '*', complete = 'sessions', desc = 'List the sessions of all agents, or open one' }
)
command('AcpLogin', 'login', { nargs = '?', complete = 'agents', desc = 'Log in to an agent' })
command('AcpLogout', 'logout', { desc = 'Log out of the agent of this chat' })
command('AcpRestart', 'restart', { desc = 'Start the agent of this chat again' })
command('AcpTrace', 'trace', { nargs = '*', complete = 'traces', desc = 'Show the messages of an agent' })
command(
  'AcpInstall',
  'install',
  { nargs = '*', complete = 'agents', desc = "Install the plugin's host; list agents" }
)

---@param name string
---@param run fun()
local function plug(name, run)
  vim.keymap.set('n', ('<Plug>(acp-%s)'):format(name), run, { desc = 'acp: ' .. name })
end

plug('chat', function()
  require('acp').chat()
end)
plug('send', function()
  require('acp.commands').send_prompt()
end)
plug('send-now', function()
  require('acp.commands').send_prompt(true)
end)
plug('cancel', function()
  require('acp').cancel()
end)
plug('queue', function()
  require('acp.commands').queue({ args = '' })
end)
plug('history', function()
  require('acp.commands').history({ args = '' })
end)
plug('follow', function()
  require('acp.commands').follow({ args = '' })
end)
plug('diff', function()
  require('acp.commands').diff({ args = '' })
end)
plug('options', function()
  require('acp.commands').options({ args = '' })
end)
plug('permit', function()
  require('acp.commands').permit({ args = '' })
end)
plug('fork', function()
  require('acp.commands').fork({ args = '' })
end)
plug('sessions', function()
  require('acp.commands').sessions({ args = '' })
end)
vim.keymap.set({ 'n', 'i' }, '<Plug>(acp-paste-image)', function()
  require('acp.message').refused(require('acp').paste_image())
end, { desc = 'acp: paste-image' })
for _, kind in ipairs({ 'allow-once', 'allow-always', 'reject-once', 'reject-always' }) do
  plug(kind, function()
    require('acp.commands').permit_key((kind:gsub('-', '_')))
  end)
end

-- Every group is a default, so that the user and the colour scheme win.
local links = {
  Title = 'User Plan',
  CursorLine = 'UserLine',
  Directory = 'Path',
  String = 'Command',
  Special = 'Context Key',
  Comment = 'Thought Output Note Hint End Pending Cancelled Queued',
  NonText = 'Bar More',
  Added = 'Done Add',
  Removed = 'Delete',
  DiagnosticInfo = 'Running',
  DiagnosticWarn = 'Waiting Rejected Warn',
  DiagnosticError = 'Failed Error',
  Visual = 'FollowLine',
  DiagnosticSignInfo = 'FollowSign',
}

local function highlights()
  for target, names in pairs(links) do
    for name in names:gmatch('%a+') do
      api.nvim_set_hl(0, 'Acp' .. name, { link = target, default = true })
    end
  end
  -- Empty: a link to Normal would cut holes into CursorLine and AcpUserLine.
  api.nvim_set_hl(0, 'AcpVerb', { default = true })
  api.nvim_set_hl(0, 'AcpFolded', { default = true })
end
highlights()

local group = api.nvim_create_augroup('acp', {})
api.nvim_create_autocmd('ColorScheme', { group = group, callback = highlights })
-- A session file brings such buffers back by `:edit` or, as they have no file, by `:file`.
api.nvim_create_autocmd({ 'BufReadCmd', 'BufFilePost' }, {
  group = group,
  pattern = 'acp://*',
  callback = function(args)
    require('acp.chat.restored').fill(args.buf)
  end,
})
