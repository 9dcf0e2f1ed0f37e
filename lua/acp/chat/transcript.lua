---The transcript: a buffer that is exactly the concatenation of its blocks, changed only by frames.
---
---What a new chat's head has nothing of (folds, fences, what moves) is loaded with the first block that has.
local M = {}

local api = vim.api
local blocks = require('acp.chat.blocks')
local view = require('acp.chat.view')

local ns_line = api.nvim_create_namespace('acp.line') -- background of the user's lines
local ns_touch = api.nvim_create_namespace('acp.touch')

M.block_at = blocks.at
M.blocks = blocks.each
M.link_at = blocks.link_at

---Have rows drawn again whose text is the same.
---@param t acp.Transcript
---@param first integer
---@param stop integer
local function touch(t, first, stop)
  local id = api.nvim_buf_set_extmark(t.buf, ns_touch, first, 0, {
    end_row = stop,
    hl_group = 'AcpFolded', -- an empty group
    strict = false,
  })
  api.nvim_buf_del_extmark(t.buf, ns_touch, id)
end

---@param list table[]? as sent: {first, last, closed, text}
---@return acp.Fold[]?
local function folds_of(list)
  return list
    and vim.tbl_map(function(item)
      return { first = item[1], last = item[2], closed = item[3], text = item[4] }
    end, list)
end

---The text of a block has changed: take over its new decoration.
---@param t acp.Transcript
---@param block acp.Block
---@param first integer
---@param deco acp.Deco
local function dress(t, block, first, deco)
  if t.moving[block.id] then
    require('acp.chat.spin').take(t, block, first)
  end
  block.deco, block.by_row = deco, nil
  if block.fences or deco.fences then
    require('acp.chat.fence').reset(t, block, first)
  end
  if deco.kind == 'user' then
    api.nvim_buf_set_extmark(t.buf, ns_line, first + (deco.lead or 0), 0, {
      id = block.id + 1,
      end_row = math.max(first, first + block.n - (deco.tail or 0) - 1), -- inclusive
      line_hl_group = 'AcpUserLine',
      strict = false,
    })
  end
  if deco.spin or deco.since then
    require('acp.chat.spin').put(t, block, first)
  end
end

---Rewrite rows of a block and see to its folds.
---@param t acp.Transcript
---@param views acp.View[]
---@param block acp.Block
---@param first integer of the block
---@param from integer rows [from, stop) of the block are `old` and become `new`
---@param old string[]
---@param new string[]
---@param folds acp.Fold[]?
---@return integer written
local function rewrite(t, views, block, first, from, old, new, folds)
  local had, want = block.deco.folds or {}, folds or {}
  local edit, fold = require('acp.chat.edit'), require('acp.chat.fold')
  local plan = edit.plan(old, new)
  plan.row = plan.row + from
  local fits = fold.fits(plan, had, want)
  if not fits and #plan.lines > plan.old and plan.row + plan.old > from then
    if plan.old == 0 then
      plan.row, plan.old = plan.row - 1, 1
      table.insert(plan.lines, 1, old[plan.row - from + 1])
    end
    plan.early = true
    fits = fold.fits(plan, had, want)
    plan.early = fits
  end
  local count = block.n + #new - #old
  local written
  if fits or #had == 0 then
    plan.row = plan.row - from
    written = edit.apply(t.buf, first + from, old, plan)
    blocks.place(t, block, first, count)
    if #want > #had then
      fold.make(views, first, want, #had + 1)
    end
    return written
  end
  local states = fold.states(views, first, had)
  local lines = new
  if from > 0 or #old < block.n then
    lines = api.nvim_buf_get_lines(t.buf, first, first + from, false)
    vim.list_extend(lines, new)
    vim.list_extend(lines, api.nvim_buf_get_lines(t.buf, first + from + #old, first + block.n, false))
  end
  view.hold(views, first, first + block.n, #lines, function()
    written = edit.renew(t.buf, first, first + block.n, lines)
  end)
  blocks.place(t, block, first, count)
  fold.make(views, first, want, 1, states)
  return written
end

---@param t acp.Transcript
---@param views acp.View[]
---@param id integer
---@param lines string[]
---@param deco acp.Deco
---@return integer written
local function set(t, views, id, lines, deco)
  local block = t.blocks[id]
  deco.folds = folds_of(deco.folds)
  t.folded = t.folded or deco.folds ~= nil
  if not block then
    block = { id = id, n = 0, deco = deco }
    local at = #t.ids == 0 and 0 or api.nvim_buf_line_count(t.buf)
    api.nvim_buf_set_lines(t.buf, at, -1, false, lines)
    t.blocks[id] = block
    t.ids[#t.ids + 1] = id
    blocks.place(t, block, at, #lines)
    dress(t, block, at, deco)
    if deco.folds then
      require('acp.chat.fold').make(views, at, deco.folds, 1)
    end
    return #lines
  end
  local first, stop = blocks.range(t, block)
  block.n = stop - first
  local old = api.nvim_buf_get_lines(t.buf, first, stop, false)
  local written = rewrite(t, views, block, first, 0, old, lines, deco.folds)
  dress(t, block, first, deco)
  touch(t, first, first + #lines)
  return written
end

---@param t acp.Transcript
---@param views acp.View[]
---@param id integer
---@param lines string[]
---@param deco acp.Deco?
---@return integer written
local function add(t, views, id, lines, deco)
  local block = t.blocks[id]
  if not block then
    error(('acp: text for block %d of chat %d, which does not exist'):format(id, t.chat))
  end
  local first, stop = blocks.range(t, block)
  local row = stop - (block.deco.tail or 0) - 1 -- last line of the content
  local folds = deco and deco.folds and folds_of(deco.folds) or block.deco.folds
  local last = api.nvim_buf_get_lines(t.buf, row, row + 1, false)[1] or ''
  if row > first and t.ids[#t.ids] == id and not folds then
    -- The way of nearly all text. No fold is at the row above or below, so nothing can be cut.
    api.nvim_buf_set_text(t.buf, row, #last, row, #last, lines)
    blocks.place(t, block, first, stop - first + #lines - 1)
  else
    local new = vim.list_slice(lines)
    new[1] = last .. new[1]
    rewrite(t, views, block, first, row - first, { last }, new, folds)
  end
  block.deco.folds = folds
  t.folded = t.folded or folds ~= nil
  for _, range in ipairs(block.deco.body or {}) do
    if range[2] == row - first then
      range[2] = range[2] + #lines - 1
    end
  end
  if row > first and last:find('^%s*|?[%s:|-]*$') then
    touch(t, row - 1, row) -- the line below tells that a line is the head of a table
  end
  if deco and deco.links then
    block.deco.links, block.by_row = vim.list_extend(block.deco.links or {}, deco.links), nil
  end
  if deco and deco.fences then
    require('acp.chat.fence').extend(block, deco.fences)
    block.deco.fences = vim.list_extend(block.deco.fences or {}, deco.fences)
  end
  return #lines
end

---A block's first line and its marks are others now; what stands below it, however much, stays.
---@param t acp.Transcript
---@param views acp.View[]
---@param id integer
---@param lines string[] one
---@param deco acp.Deco of that line
---@return integer written
local function header(t, views, id, lines, deco)
  local block = t.blocks[id]
  if not block then
    error(('acp: a header for block %d of chat %d, which does not exist'):format(id, t.chat))
  end
  local first = blocks.range(t, block)
  local row = block.deco.lead or 0
  local old = api.nvim_buf_get_lines(t.buf, first + row, first + row + 1, false)
  local spin = require('acp.chat.spin')
  spin.take(t, block, first)
  rewrite(t, views, block, first, row, old, lines, block.deco.folds)
  block.deco.marks, block.deco.spin, block.deco.since = deco.marks, deco.spin, deco.since
  block.by_row = nil
  spin.put(t, block, first)
  touch(t, first + row, first + row + 1)
  return 1
end

local operations = { set = set, add = add, header = header }

---@param t acp.Transcript
---@param ops table[]
---@return integer written
local function apply(t, ops)
  local views, written = view.note(t.buf), 0
  vim.bo[t.buf].modifiable = true
  local ok, message = pcall(function()
    for _, op in ipairs(ops) do
      local deco = op[4] ~= vim.NIL and op[4] or nil
      written = written + operations[op[1]](t, views, op[2], op[3], deco)
    end
  end)
  vim.bo[t.buf].modifiable = false
  view.follow(views)
  if not ok then
    error(message, 0)
  end
  return written
end

local job -- what `noautocmd` below runs: no autocommand of the user's may see our steps
function M._run()
  local run = job
  job = nil
  run()
end

---@param run fun()
local function quietly(run)
  job = run
  local code = "require'acp.chat.transcript'._run()"
  api.nvim_cmd({ cmd = 'lua', args = { code }, mods = { noautocmd = true } }, {})
end

---Whether Neovim does not let text be changed now (an expression mapping waits for a key).
---@param buf integer
---@return boolean
local function locked(buf)
  local line = api.nvim_buf_line_count(buf) - 1
  local ok, message = pcall(api.nvim_buf_set_text, buf, line, 0, line, 0, { '' })
  return not ok and message:find('E565', 1, true) ~= nil
end

---@param t acp.Transcript
---@param ops table[]
---@return integer written
local function write(t, ops)
  if #t.waiting > 0 or locked(t.buf) then
    t.waiting[#t.waiting + 1] = ops
    if #t.waiting == 1 then
      vim.defer_fn(function()
        local all = t.waiting
        t.waiting = {}
        for _, each in ipairs(blocks.of_chat(t.chat) == t and api.nvim_buf_is_loaded(t.buf) and all or {}) do
          write(t, each)
        end
      end, 20)
    end
    return 0
  end
  local written = 0
  quietly(function()
    written = apply(t, ops)
  end)
  for _, op in ipairs(ops) do
    if op[1] == 'set' and op[4].kind == 'user' then
      require('acp.chat.queue').arrived(t.chat)
    end
  end
  return written
end

---The transcript of a chat whose buffer was unloaded a moment ago.
---@param n integer
---@return acp.Transcript?
local function revived(n)
  local chat = require('acp.chat').get(n)
  if chat and api.nvim_buf_is_valid(chat.buf) then
    require('acp.chat.restored').revive(chat, chat.buf)
  end
  return blocks.of_chat(n)
end

---Apply a frame. Called by the host, one acknowledged call at a time.
---@param frames {[1]: integer, [2]: table[]}[] chat and operations
---@return {lines: integer, gone: integer[]} lines written; chats whose buffer no longer exists
function M.frame(frames)
  local result = { lines = 0, gone = {} }
  for _, item in ipairs(frames) do
    local t = blocks.of_chat(item[1]) or revived(item[1])
    if t and api.nvim_buf_is_loaded(t.buf) then
      result.lines = result.lines + write(t, item[2])
      require('acp.chat.spin').poke(t.chat)
    else
      table.insert(result.gone, item[1])
    end
  end
  return result
end

---Write the head, block 0.
---@param chat integer
---@param lines string[]
---@param deco acp.Deco
function M.set_head(chat, lines, deco)
  write(assert(blocks.of_chat(chat)), { { 'set', 0, lines, deco } })
end

---Forget a chat's transcript. Its buffer is left as it is.
---@param chat integer
local function detach(chat)
  local t = blocks.of_chat(chat)
  if t then
    blocks.forget(t)
    require('acp.chat.spin').forget(chat)
    pcall(api.nvim_del_augroup_by_name, 'acp.transcript.' .. t.buf)
  end
end

---Make a buffer the transcript of a chat.
---@param chat integer
---@param buf integer
function M.attach(chat, buf)
  blocks.register(chat, buf)
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  require('acp.chat.highlight').start()
  local group = api.nvim_create_augroup('acp.transcript.' .. buf, {})
  api.nvim_create_autocmd('BufWinEnter', {
    group = group,
    buffer = buf,
    callback = function()
      local t = blocks.of_chat(chat)
      if t and t.folded then
        require('acp.chat.fold').rebuild(api.nvim_get_current_win())
      end
      if package.loaded['acp.chat.spin'] then -- else nothing has moved yet
        require('acp.chat.spin').poke(chat)
      end
    end,
  })
  api.nvim_create_autocmd('User', {
    group = group,
    pattern = 'AcpStatus',
    callback = function(args)
      if args.data and args.data.bufnr == buf then
        require('acp.chat.spin').poke(chat)
      end
    end,
  })
  api.nvim_create_autocmd('BufUnload', {
    group = group,
    buffer = buf,
    callback = function()
      detach(chat)
    end,
  })
end

return M
