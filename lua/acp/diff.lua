--- Changes as the user sees them: the file as it is now and the proposal in windows (ui.md section 6).
--- What is shown is decided by the host (`acp.diff.request`); here it is opened and closed.
local M = {}

local api = vim.api
local asking = require('acp.diff.request')
local layout = require('acp.diff.layout')
local window = require('acp.diff.window')

---@class acp.DiffView a diff on the screen
---@field id integer
---@field chat integer
---@field question? string
---@field path string
---@field call? string the call, when it changes several files
---@field next? string path of the file that comes after this one
---@field sides acp.DiffSide[]
---@field tab integer
---@field own_tab boolean
---@field home acp.DiffHome
---@field scrollopt string
---@field card? {title: string, line: string, marks: acp.QuestionMark[]}

local views = {} ---@type table<integer, acp.DiffView>
local count = 0

-- How long the user's wish waits for the host.
local WISH_MS = 15000

---Called when the user has closed the diff of a question, or gone on to another file of it.
---@type {closed: fun(question: string), walked: fun(question: string)}
M.on = { closed = function() end, walked = function() end }

---@return string
local function how()
  return require('acp.config').get().diff.layout
end

-- which

---The view a window belongs to, and its side there.
---@param win integer
---@return acp.DiffView?
---@return acp.DiffSide?
function M.at(win)
  for _, view in pairs(views) do
    for _, side in ipairs(view.sides) do
      if side.win == win then
        return view, side
      end
    end
  end
end

---@param question string
---@return acp.DiffView?
local function of_question(question)
  for _, view in pairs(views) do
    if view.question == question then
      return view
    end
  end
end

---The diff in this tab page, of a question if that is named.
---@param question? string
---@return acp.DiffView?
function M.here(question)
  local tab = api.nvim_get_current_tabpage()
  for _, view in pairs(views) do
    if view.tab == tab and (question == nil or view.question == question) then
      return view
    end
  end
end

---Whether a question is to be shown with its change, and the change is not there yet.
---@param question acp.Question
---@return boolean
function M.wanted(question)
  return question.hunks ~= nil and how() ~= 'none' and not M.here(question.id)
end

-- closing

---@param view acp.DiffView
local function go_home(view)
  local home, now = view.home, api.nvim_get_current_win()
  local inside = view.own_tab and api.nvim_get_current_tabpage() == view.tab or M.at(now) == view
  if not inside then
    return
  end
  if api.nvim_win_is_valid(home.win) then
    api.nvim_set_current_win(home.win)
    if home.insert then
      vim.cmd('startinsert')
    end
  end
end

---Take a diff off the screen: windows, options, cursor and tab page are as they were.
---@param view acp.DiffView
function M.close(view)
  if views[view.id] ~= view then
    return
  end
  local marks = {}
  for i, side in ipairs(view.sides) do
    marks[i] = side.before and side.before.mark or { 0, 0 }
    window.leave(side)
  end
  window.clean_copies(view.tab, view.sides)
  go_home(view)
  views[view.id] = nil
  pcall(api.nvim_del_augroup_by_name, 'acp.diff.' .. view.id)
  layout.close(
    view.tab,
    view.own_tab,
    vim.tbl_map(function(side)
      return side.win
    end, view.sides)
  )
  for i, side in ipairs(view.sides) do
    window.restore_mark(side, marks[i])
  end
  if vim.o.scrollopt == view.scrollopt .. ',hor' then
    vim.o.scrollopt = view.scrollopt
  end
  layout.restore(view.home)
end

---A question is over, or put off: so is its diff.
---@param question string
function M.close_of(question)
  local view = of_question(question)
  if view then
    M.close(view)
  end
end

---The user has closed a diff. First the question goes off the screen, with the card beside the diff.
---@param view acp.DiffView
local function gone(view)
  if view.question then
    M.on.closed(view.question)
  end
  M.close(view)
end

---The user closes the diff under the cursor with a key.
function M.quit()
  local view = M.at(api.nvim_get_current_win())
  if not view then
    return
  end
  gone(view)
end

---The user has closed one of the windows, in whatever way: the others follow, and the question stays.
---@param view acp.DiffView
---@param side acp.DiffSide
local function closing(view, side)
  if views[view.id] ~= view then
    return
  end
  local mark = side.before and side.before.mark
  window.leave(side)
  vim.schedule(function()
    if mark then
      window.restore_mark(side, mark)
    end
    gone(view)
  end)
end

---@param view acp.DiffView
local function watch(view)
  local group = api.nvim_create_augroup('acp.diff.' .. view.id, {})
  for _, side in ipairs(view.sides) do
    api.nvim_create_autocmd('WinClosed', {
      group = group,
      pattern = tostring(side.win),
      callback = function()
        closing(view, side)
      end,
    })
    -- `:bdelete` in the user's half leaves the window there, with another buffer.
    api.nvim_create_autocmd('BufWinLeave', {
      group = group,
      buffer = side.buf,
      callback = vim.schedule_wrap(function()
        if api.nvim_win_is_valid(side.win) and api.nvim_win_get_buf(side.win) ~= side.buf then
          closing(view, side)
        end
      end),
    })
  end
end

-- opening

---The first change in the upper third of what is seen of the windows, which scroll together.
---@param view acp.DiffView
---@param at integer[]
---@param under integer rows of the last window that the card takes
local function go_to_change(view, at, under)
  local seen = math.max(1, api.nvim_win_get_height(view.sides[#view.sides].win) - under)
  for i, side in ipairs(view.sides) do
    api.nvim_win_call(side.win, function()
      local row = math.min(at[i] or 1, api.nvim_buf_line_count(side.buf))
      api.nvim_win_set_cursor(side.win, { row, 0 })
      local above = math.floor(math.min(api.nvim_win_get_height(side.win), seen) / 3)
      vim.cmd('keepjumps normal! zt')
      if above > 0 then
        vim.cmd(('keepjumps normal! %d\25'):format(above)) -- <C-y>
      end
    end)
  end
end

---@param view acp.DiffView
---@param i integer of its sides
---@param chat acp.Chat
---@return string
local function name_of(view, i, chat)
  local side = view.sides[i]
  local name = i < #view.sides and '/' .. side.what:gsub(' ', '-') or ''
  local root = vim.fs.normalize(chat.cwd) .. '/'
  local path = vim.startswith(side.path, root) and side.path:sub(#root + 1) or side.path:gsub('^/', '')
  local shown = require('acp.message').plain(path) -- the agent's word for it
  return ('acp://%s/%d/diff/%d%s/%s'):format(chat.agent, chat.n, view.id, name, shown)
end

---Take down what a diff comes in the place of: one of the same question, of the same file, or of another file
---of the same change that the user is in.
---@param proposal acp.DiffProposal
---@param from {win: integer, insert: boolean}
---@return {win: integer, insert: boolean} from
---@return boolean asked one of the same question
local function replace(proposal, from)
  local any = false
  for _, old in pairs(views) do
    local here = old.tab == api.nvim_get_current_tabpage()
    local same = old.chat == proposal.chat and old.path == proposal.path
    local walked = here and proposal.call ~= nil and old.call == proposal.call
    local asked = proposal.question ~= nil and old.question == proposal.question
    if asked or (not old.question and (same or walked)) then
      if here and (old.own_tab or M.at(from.win) == old) then
        from = { win = old.home.win, insert = old.home.insert }
      end
      if asked then
        any = true
        require('acp.question.card').close() -- it would go with its tab page, as if the user had closed it
      end
      M.close(old)
    end
  end
  return from, any
end

---Rows at the bottom of the screen that the card beside a diff takes.
---@param proposal acp.DiffProposal
---@return integer
local function covered(proposal)
  local question = proposal.question and require('acp.question.queue').get(proposal.question)
  return question and require('acp.question.card').rows(question) or 0
end

---Whether the screen has room for a question and its diff. Else the card has the change.
---@param proposal acp.DiffProposal
---@return boolean
function M.fits(proposal)
  return how() == 'split' or layout.fits(#proposal.sides, covered(proposal))
end

---Give the sides their colours, one after the other once they are on the screen: the files that Neovim reads
---for a file type for the first time take as long as all else here.
---@param view acp.DiffView
---@param i integer of its sides
local function colour(view, i)
  vim.schedule(function()
    local side = view.sides[i]
    if not side or views[view.id] ~= view then
      return
    end
    window.set_filetype(side)
    colour(view, i + 1)
  end)
end

---Open a diff. The user asked for it, or rests in the chat: it takes the focus.
---@param proposal acp.DiffProposal
---@param from {win: integer, insert: boolean} where the user comes back to
---@return acp.DiffView?
function M.open(proposal, from)
  local chat = require('acp.chat').get(proposal.chat)
  if not chat then
    return nil
  end
  local walked
  from, walked = replace(proposal, from)
  if not api.nvim_win_is_valid(from.win) then
    from = { win = api.nvim_get_current_win(), insert = false }
  end
  count = count + 1
  local view = {
    id = count,
    chat = proposal.chat,
    question = proposal.question,
    path = proposal.path,
    call = proposal.call,
    next = proposal.next,
    sides = proposal.sides,
    card = proposal.card,
    home = layout.note(from),
    scrollopt = vim.o.scrollopt,
  } ---@type acp.DiffView
  local bufs, focus, own = {}, nil, nil ---@type integer[], integer?, integer?
  for i, side in ipairs(view.sides) do
    window.make_buffer(side, name_of(view, i, chat), view)
    table.insert(bufs, side.buf)
    focus = not side.own and i or focus
    own = side.own and side.buf or own
  end
  local under = covered(proposal)
  local wins
  wins, view.own_tab = layout.open(bufs, how(), under)
  view.tab = api.nvim_get_current_tabpage()
  for i, side in ipairs(view.sides) do
    side.win = wins[i]
    window.dress(side, proposal.numbers)
    if not side.own and side.syntax ~= 'diff' and own then
      side.tabstop = vim.bo[own].tabstop -- the same columns in both
      vim.bo[side.buf].tabstop = side.tabstop
    end
    if not side.own then
      require('acp.chat.keys').attach_diff(side.buf)
    end
  end
  views[view.id] = view
  watch(view)
  if #wins > 1 then
    for _, win in ipairs(wins) do
      api.nvim_win_call(win, function()
        vim.cmd('diffthis')
      end)
    end
  end
  colour(view, 1)
  api.nvim_set_current_win(wins[focus or 1])
  go_to_change(view, proposal.at, view.own_tab and under or 0)
  require('acp.chat').focused(chat)
  if walked then
    M.on.walked(proposal.question)
  end
  return view
end

---Call a function in Normal mode: a window entered in Insert mode would stay in it.
---@param run fun()
local function in_normal_mode(run)
  if not api.nvim_get_mode().mode:find('^[iR]') then
    return run()
  end
  require('acp.mode').leave(run)
end

---What a request without a file means in a diff: the next file of the change that is shown.
---@param request acp.DiffRequest
---@return acp.DiffRequest
local function meant(request)
  local view = M.at(api.nvim_get_current_win()) or M.here()
  if view and view.next and not (request.path or request.question or request.block) then
    return { chat = view.chat, question = view.question, call = view.call, path = view.next }
  end
  return request
end

---Go to a diff of a question that is on the screen; of this file, if that is named.
---@param question? string
---@param path? string
---@return boolean
local function go_to(question, path)
  local view = question and of_question(question)
  if not view or (path and view.path ~= path) then
    return false
  end
  api.nvim_set_current_win(view.sides[#view.sides].win)
  return true
end

---Show a change the user asked for.
---@param request acp.DiffRequest
function M.show(request)
  request = meant(request)
  local mode, tick = api.nvim_get_mode().mode, api.nvim_buf_get_changedtick(0)
  local from = { win = api.nvim_get_current_win(), insert = mode:find('^i') ~= nil }
  if go_to(request.question, request.path) then
    return
  end
  asking.ask(request, WISH_MS, function(proposal, reason)
    if not proposal then
      return require('acp.message').warn(reason or 'nothing to show')
    end
    -- It may have taken a moment: the user may be at something else by now.
    local same = api.nvim_get_current_win() == from.win
      and api.nvim_get_mode().mode == mode
      and (not from.insert or api.nvim_buf_get_changedtick(0) == tick)
    if not same then
      return require('acp.message').info('the diff is ready: ask for it again')
    end
    in_normal_mode(function()
      if not go_to(proposal.question, proposal.path) then
        M.open(proposal, from)
      end
    end)
  end)
end

return M
