--- `:AcpInstall`: makes the plugin's own Python environment (tools/install.py does it) and lists agents.
local M = {}

local api = vim.api

---@class acp.Install
---@field lines string[] progress, as shown
---@field running boolean
---@field buf? integer of the float
---@field win? integer
local state = { lines = {}, running = false }

---The offer on the screen: its float, and what takes its key away again.
local offer = {} ---@type {win?: integer, undo?: fun(), made?: boolean}

local KEY = '<C-y>'

local source = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p')
local root = vim.fn.fnamemodify(source, ':h:h:h')
local program = root .. '/tools/install.py'

---One line an agent: whether it is there, else how to get it.
---@param names string[]
---@return string[]
local function agent_lines(names)
  local config, catalog, icons =
    require('acp.config'), require('acp.catalog').all(), require('acp.icons').get()
  local lines = {}
  for _, name in ipairs(names) do
    local agent, entry = config.agent(name), catalog[name]
    if not agent then
      table.insert(lines, ('%s %-10s no such agent; :AcpInstall <Tab> lists them'):format(icons.failed, name))
    elseif config.found(name) then
      table.insert(lines, ('%s %-10s ready: :AcpChat %s'):format(icons.done, name, name))
    else
      local how = entry and entry.install or 'install ' .. (agent.command or { '?' })[1]
      table.insert(lines, ('  %-10s %s'):format(name, how))
    end
  end
  return lines
end

---@param lines string[]
local function draw(lines)
  state.lines = lines
  if not (state.win and api.nvim_win_is_valid(state.win)) then
    return
  end
  vim.bo[state.buf].modifiable = true
  api.nvim_buf_set_lines(state.buf, 0, -1, false, lines)
  vim.bo[state.buf].modifiable = false
  local width = 20
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  width = math.min(width, vim.o.columns - 6)
  api.nvim_win_set_width(state.win, width)
  local needed = api.nvim_win_text_height(state.win, {}).all -- with what wraps
  local height = math.max(1, math.min(needed, vim.o.lines - 6))
  api.nvim_win_set_config(state.win, {
    relative = 'editor',
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2) - 1,
    width = width,
    height = height,
  })
end

---Show the float and enter it: the user asked for it. `q` closes it; the work goes on.
local function show()
  if state.win and api.nvim_win_is_valid(state.win) then
    return api.nvim_set_current_win(state.win)
  end
  local from = api.nvim_get_mode().mode:find('^i') and api.nvim_get_current_win()
  local at = api.nvim_win_get_cursor(0)
  vim.cmd.stopinsert() -- a float entered from Insert mode would stay in it
  state.buf = api.nvim_create_buf(false, true)
  vim.bo[state.buf].bufhidden = 'wipe'
  require('acp.filetype').set(state.buf, 'acp-install')
  state.win = api.nvim_open_win(state.buf, true, {
    relative = 'editor',
    row = 1,
    col = 1,
    width = 20,
    height = 1,
    style = 'minimal',
    border = 'rounded',
    title = ' acp.nvim: q closes ',
  })
  require('acp.window').set(state.win, { wrap = true, winhighlight = 'NormalFloat:Normal' })
  require('acp.chat.show').name_float(state.win, 'install')
  for _, key in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', key, function()
      vim.cmd.close()
      if from and api.nvim_get_current_win() == from then -- they go on typing where they were
        local last = not pcall(api.nvim_win_set_cursor, from, at) or at[2] >= #api.nvim_get_current_line()
        vim.cmd(last and 'startinsert!' or 'startinsert')
      end
    end, { buffer = state.buf, nowait = true, desc = 'acp: close' })
  end
end

---@param line string
local function progress(line)
  local lines = vim.deepcopy(state.lines)
  table.insert(lines, require('acp.message').plain(line))
  draw(lines)
end

---Make the tags of the help, where nobody has: plugin managers leave a folder of the user's own alone.
---@param folder string
function M.helptags(folder)
  if vim.fn.getftime(folder .. '/tags') < vim.fn.getftime(folder .. '/acp.txt') then
    pcall(vim.cmd.helptags, vim.fn.fnameescape(folder)) -- it may be somebody else's folder
  end
end

---@param ok boolean
---@param text string
---@param done? fun(ok: boolean)
local function finish(ok, text, done)
  state.running = false
  local message, host, icons = require('acp.message'), require('acp.host'), require('acp.icons').get()
  local lines = vim.deepcopy(state.lines)
  table.insert(lines, ('%s %s'):format(ok and icons.done or icons.failed, text))
  if ok and require('acp.config').python() then
    table.insert(lines, '  not in use yet: g:acp_python (or the setting) names another Python')
  elseif ok and host.status().state == 'ready' then
    table.insert(lines, '  the host that runs is used until Neovim ends')
  end
  vim.list_extend(lines, { '', 'Agents' })
  vim.list_extend(lines, agent_lines(require('acp.config').agents()))
  draw(lines)
  if ok then
    M.helptags(root .. '/doc')
    message.info('the Python environment is ready')
  else
    message.error(text, lines)
  end
  if ok and host.status().state == 'failed' then
    host.restart()
  end
  if done then
    done(ok)
  end
end

---Run tools/install.py and show what it says, line by line.
---@param command string[]
---@param done? fun(ok: boolean)
local function install(command, done)
  local target = vim.fs.dirname(require('acp.host').environment())
  vim.list_extend(command, { program, '--target', target })
  local rest, last = '', ''
  local function take(data)
    local lines = vim.split(rest .. data, '\n', { plain = true })
    rest = table.remove(lines)
    for _, line in ipairs(lines) do
      last = line
      if not vim.startswith(line, 'error: ') and not vim.startswith(line, 'done: ') then
        progress(line)
      end
    end
  end
  local function stdout(_, data)
    if data then
      vim.schedule(function()
        take(data)
      end)
    end
  end
  -- In the plugin's folder: nothing of the user's project is imported or taken for settings.
  vim.system(command, { cwd = root, text = true, stdout = stdout }, function(result)
    vim.schedule(function()
      if result.code == 0 then
        return finish(true, 'installed into ' .. vim.fn.fnamemodify(target .. '/venv', ':~'), done)
      end
      local said = vim.split(vim.trim(result.stderr or ''), '\n')
      finish(false, (last:match('^error: (.*)') or said[#said]), done)
    end)
  end)
end

---Find a Python that can do it: the first of `names` that is 3.11 or later.
---@param names string[]
---@param found fun(command: string[]?)
local function find_python(names, found)
  local name = table.remove(names, 1)
  if not name then
    return found(nil)
  end
  if vim.fn.executable(name) == 0 then
    return find_python(names, found)
  end
  local check = 'import sys; sys.exit(sys.version_info < (3, 11))'
  vim.system({ name, '-I', '-c', check }, { cwd = root }, function(result)
    vim.schedule(function()
      if result.code == 0 then
        return found({ name, '-I' })
      end
      find_python(names, found)
    end)
  end)
end

---Make the environment in the background. One install at a time.
---@param done? fun(ok: boolean)
function M.start(done)
  if state.running then
    return
  end
  state.running = true
  M.withdraw()
  draw({ 'Python environment' })
  if vim.fn.executable('uv') == 1 then
    -- uv also finds Pythons that are not on PATH, and downloads one if there is none.
    return install({ 'uv', 'run', '--no-project', '--quiet', '--python', '>=3.11' }, done)
  end
  local names = { 'python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python' }
  for _, name in ipairs({ vim.g.python3_host_prog or '', require('acp.config').python() or '' }) do
    if name ~= '' then
      table.insert(names, 1, vim.fn.expand(name))
    end
  end
  find_python(names, function(command)
    if command then
      return install(command, done)
    end
    finish(false, 'no Python 3.11 or later found: install it, or uv, then :AcpInstall', done)
  end)
end

---`:AcpInstall [agent…]`: make or renew the environment; with names only tell how to get these agents.
---@param args? {fargs: string[]}
---@return boolean|nil
---@return string? reason
function M.run(args)
  local obstacle = require('acp.cmdwin').obstacle()
  if obstacle then
    return nil, obstacle
  end
  local names = args and args.fargs or {}
  show()
  if #names > 0 then
    draw(agent_lines(names))
  elseif state.running then
    draw(state.lines)
  else
    M.start()
  end
  return true
end

---Take the offer from the screen.
function M.withdraw()
  if offer.win and api.nvim_win_is_valid(offer.win) then
    api.nvim_win_close(offer.win, true)
  end
  if offer.undo then
    offer.undo()
  end
  offer.win, offer.undo = nil, nil
end

---The host found no Python it can use: offer to install, once. Takes no focus and, but in the chat, no key.
function M.offer()
  if offer.made or state.running then
    return
  end
  offer.made = true
  local buf = api.nvim_get_current_buf()
  local in_chat = vim.startswith(vim.bo[buf].filetype, 'acp-')
  local how = in_chat and (KEY .. ' or :AcpInstall installs them.') or ':AcpInstall installs them.'
  local lines = { 'acp.nvim needs a few Python packages of its own.', how }
  local content = api.nvim_create_buf(false, true)
  vim.bo[content].bufhidden = 'wipe'
  api.nvim_buf_set_lines(content, 0, -1, false, lines)
  local chat = require('acp.chat').of(buf)
  local above = chat and require('acp.chat.windows').find(chat).transcript
  -- At the bottom right, but not over the prompt.
  local winbar = 1
  local at = above and { api.nvim_win_get_height(above) - winbar, api.nvim_win_get_width(above) }
    or { vim.o.lines - vim.o.cmdheight - 1, vim.o.columns }
  offer.win = api.nvim_open_win(content, false, {
    relative = above and 'win' or 'editor',
    win = above,
    anchor = 'SE',
    row = at[1],
    col = at[2],
    width = math.min(#lines[1], math.max(at[2] - 4, 1)),
    height = 2,
    style = 'minimal',
    border = 'rounded',
    focusable = false,
    noautocmd = true,
  })
  if in_chat then
    offer.undo = require('acp.borrow').keys(buf, { 'n', 'i' }, { KEY }, function()
      M.withdraw()
      M.run()
    end, 'acp: install the Python environment')
    api.nvim_create_autocmd({ 'BufWinLeave', 'BufWipeout' }, {
      buffer = buf,
      once = true,
      callback = function()
        vim.schedule(M.withdraw)
      end,
    })
  end
end

return M
