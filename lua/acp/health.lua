--- `:checkhealth acp`: what works, what does not, and the command that helps.
local M = {}

local health = vim.health

local function editor_and_host()
  health.start('acp: Neovim and host')
  local version = vim.version()
  health.ok(('Neovim %d.%d.%d'):format(version.major, version.minor, version.patch))
  local host = require('acp.host').status()
  local where = host.python and (' (%s)'):format(host.python) or ''
  if host.state == 'ready' then
    health.ok(('host: running%s, process %s'):format(where, host.pid or '?'))
  elseif host.state == 'failed' then
    health.error(('host: %s%s'):format(host.error or 'could not be started', where), {
      ':AcpInstall makes the Python environment of the plugin',
      'or set g:acp_python to a Python 3.11 or later with pynvim, anyio and msgspec',
    })
  else
    health.info(('host: %s%s; :AcpChat starts it'):format(host.state, where))
  end
  local own = require('acp.host').environment()
  if require('acp.config').python() then -- then it is not used
    own = nil
  elseif not vim.uv.fs_stat(own .. '/bin/python') then
    health.info('Python environment: not made yet; :AcpInstall makes it, and the first :AcpChat offers to')
  else
    health.info('Python environment: ' .. vim.fn.fnamemodify(own, ':~'))
  end
  if own and require('acp.environment').outdated() then
    health.warn('the Python packages are outdated: they were installed for another version of the plugin', {
      ':AcpInstall renews them',
    })
  end
  for _, line in ipairs(host.details or {}) do
    health.info('host: ' .. line)
  end
  local of_python = require('acp.config').python_problem()
  if of_python then
    health.error(of_python, { 'set it to the path of a Python 3.11 or later, or leave it unset' })
  end
  for _, problem in ipairs(require('acp.config').problems) do
    health.error('setup(): ' .. problem, { ':help acp-settings' })
  end
  if vim.fn.maparg('<LocalLeader>') == '' and vim.g.maplocalleader == nil then
    health.info('maplocalleader is not set: keys with <LocalLeader> begin with \\')
  end
end

---@param name string
local function one_agent(name)
  local config = require('acp.config')
  local agent = config.agent(name) or {}
  local configured = config.get().agents[name] ~= nil
  if name == config.DEMO and not agent.command then
    health.ok('demo: built in; no language model, no account')
  elseif agent.protocol == 'aap' then
    -- What must not be in an address, but may be by mistake, is nobody's to read.
    local url = (agent.url or '(no url)'):gsub('//[^/?#]*@', '//•••@'):gsub('[?#].*', '')
    health.ok(('%s: over HTTP at %s'):format(name, url))
    local key = agent.api_key_env
    if not agent.url then
      health.error(name .. ': no url', { ('set agents.%s.url'):format(name) })
    elseif key and not (agent.env or {})[key] and not vim.env[key] then
      health.error(
        ('%s: $%s is not set, which is to hold the key'):format(name, key),
        { ':help acp-aap-key' }
      )
    end
  elseif not agent.command then
    health.error(name .. ': no command', { ('set agents.%s.command'):format(name) })
  elseif config.found(name) then
    local path = vim.fn.exepath(agent.command[1])
    health.ok(('%s: %s'):format(name, path ~= '' and path or agent.command[1]))
    if agent.note then
      health.info(('%s: %s'):format(name, agent.note))
    end
  else
    local program = agent.command[1]
    local is_path = program:find('/', 1, true) ~= nil
    local what = vim.fn.isdirectory(vim.fn.expand(program)) == 1 and 'is a folder, not a program'
      or 'is not a program'
    local missing = is_path and ('%s: %s %s'):format(name, program, what)
      or ('%s: not installed (looked for %s in $PATH)'):format(name, program)
    local advice = agent.install
      or ('set agents.%s.command'):format(name) .. (is_path and '' or ', or install ' .. program)
    if configured then
      health.error(missing, { advice })
    else
      health.info(('%s; %s'):format(missing, advice))
    end
  end
  local chat = require('acp.chat').last_of(name)
  local status = chat and require('acp.status').raw(chat.n)
  if status and status.login then
    health.warn(name .. ': not logged in', { ':AcpLogin ' .. name })
  elseif require('acp.host').status().state == 'failed' then
    return -- which is said above, with what helps
  elseif status and status.state == 'failed' then
    health.error(('%s: %s'):format(name, status.error or 'not running'), {
      (':AcpRestart starts it again; :AcpTrace %s shows all it said'):format(name),
    })
  elseif status and name ~= config.DEMO and agent.protocol ~= 'aap' and status.state ~= 'starting' then
    -- More is not known: an agent may take a wrong key, and say so only at a prompt.
    health.info(name .. ': asks for no login now; :AcpLogin lists its ways')
  end
end

local function agents()
  health.start('acp: agents')
  for _, name in ipairs(require('acp.config').agents_found_first()) do
    one_agent(name)
  end
  health.info('looked for in $PATH: ' .. (vim.env.PATH or '(not set)'))
  local default = require('acp.config').get().default_agent
  if default and not require('acp.config').agent(default) then
    health.error(
      ("default_agent '%s' does not exist"):format(default),
      { 'set default_agent to one of the above' }
    )
  end
end

local function sessions()
  health.start('acp: sessions')
  local list = require('acp.chat').list()
  if #list == 0 then
    health.info('none; :AcpChat opens one')
  end
  for _, chat in ipairs(list) do
    local status = require('acp.status').raw(chat.n)
    local line = ('%s %d: %s, %d queued, %d open questions, in %s'):format(
      chat.agent,
      chat.n,
      status.state,
      status.queued,
      status.pending,
      vim.fn.fnamemodify(chat.cwd, ':~')
    )
    if status.error and status.state == 'failed' then
      health.warn(('%s; last error: %s'):format(line, status.error), { ':AcpTrace ' .. chat.agent })
    else
      health.ok(line)
    end
    if vim.treesitter.highlighter.active[chat.buf] then
      health.warn(('chat %d has a treesitter highlighter: long transcripts will be slow'):format(chat.n), {
        'do not start treesitter, or plugins that do, for the filetype acp-chat',
      })
    end
    for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
      local level = vim.wo[win].conceallevel
      if level > 0 then
        health.warn(("chat %d has 'conceallevel' %d: parts of it are hidden"):format(chat.n, level), {
          'leave acp-chat out of plugins that render Markdown',
          "and out of what sets 'conceallevel' for every filetype",
        })
        break
      end
    end
  end
  for language, problem in pairs(require('acp.chat.fence').failures()) do
    health.warn(('no colours for code in %s: %s'):format(language, problem), {
      ('remove the outdated parser or queries of %s from your runtime path'):format(language),
    })
  end
end

---What was said lately: a record, so no line of it counts as an error. What is wrong now stands above.
local function messages()
  local log = require('acp.message').log
  if #log == 0 then
    return
  end
  health.start('acp: messages of this Neovim, the last ' .. #log)
  for _, item in ipairs(log) do
    local lines = { ('%s  %s'):format(os.date('%H:%M:%S', item.time), item.text) }
    vim.list_extend(lines, item.details)
    health.info(table.concat(lines, '\n'))
  end
end

---Called by `:checkhealth acp`.
function M.check()
  editor_and_host()
  agents()
  sessions()
  messages()
end

return M
