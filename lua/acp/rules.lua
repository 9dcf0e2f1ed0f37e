--- `permission.rules`: what the user has allowed or refused beforehand. The host applies them.
local M = {}

---@class acp.Rule
---@field action 'allow'|'reject'|'ask'
---@field kind string[] of tool calls, as agents name them
---@field path string[] globs below the session's folders
---@field command string[] the words of one command
---@field agent? string
---@field words string the rule, for people
---@field off boolean revoked

local ACTIONS = { 'allow', 'reject', 'ask' }
local KINDS =
  { 'read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other' }
local FIELDS = { 'action', 'kind', 'path', 'command', 'agent' }
-- What these do nobody can tell from the kind.
local VAGUE = { execute = true, switch_mode = true, other = true }

---A string, or a list of them, as a list; nil: it is something else.
---@param value any
---@return string[]?
local function list(value)
  value = type(value) == 'string' and { value } or value
  if type(value) ~= 'table' or not vim.islist(value) then
    return nil
  end
  for _, item in ipairs(value) do
    if type(item) ~= 'string' or item == '' then
      return nil
    end
  end
  return value
end

---@param rule acp.Rule
---@return string
local function words(rule)
  local said = { rule.action }
  if #rule.kind > 0 then
    table.insert(said, table.concat(rule.kind, ', '))
  end
  if #rule.command > 0 then
    local quoted = vim.tbl_map(function(word)
      return word:find('^[%w_@%%+=:,./-]+$') and word or vim.fn.shellescape(word)
    end, rule.command)
    table.insert(said, 'the command ' .. table.concat(quoted, ' '))
  end
  if #rule.path > 0 then
    table.insert(said, 'under ' .. table.concat(rule.path, ', '))
  end
  if rule.agent then
    table.insert(said, 'by ' .. rule.agent)
  end
  return table.concat(said, ' ')
end

---What is wrong with a rule as the user gave it, or nil.
---@param given table
---@param rule acp.Rule what was made of it
---@return string?
local function fault(given, rule)
  for key in pairs(given) do
    if not vim.tbl_contains(FIELDS, key) then
      return ('has no %s: known are %s'):format(tostring(key), table.concat(FIELDS, ', '))
    end
  end
  if not vim.tbl_contains(ACTIONS, given.action) then
    return "needs action = 'allow', 'reject' or 'ask'"
  end
  for _, key in ipairs({ 'kind', 'path' }) do
    if given[key] ~= nil and not (list(given[key]) and #rule[key] > 0) then
      return ('.%s must be a string or a list of strings'):format(key)
    end
  end
  if given.command ~= nil and (type(given.command) ~= 'table' or #rule.command == 0) then
    return ".command must be a list of words, as { 'npm', 'test' }"
  end
  if given.agent ~= nil and type(given.agent) ~= 'string' then
    return '.agent must be the name of an agent'
  end
  for _, kind in ipairs(rule.kind) do
    if not vim.tbl_contains(KINDS, kind) then
      return (".kind: '%s' is none; known are %s"):format(kind, table.concat(KINDS, ', '))
    end
  end
  if #rule.command > 0 and #rule.kind + #rule.path > 0 then
    return 'has a command: then no kind and no path'
  end
  if #rule.kind + #rule.path + #rule.command == 0 and (rule.action == 'allow' or not rule.agent) then
    return ('would %s everything: give it a kind, a path or a command'):format(rule.action)
  end
  if rule.action == 'allow' then
    if #rule.command == 0 and #rule.kind == 0 then
      return 'allows by path alone: give it a kind, too'
    end
    for _, kind in ipairs(rule.kind) do
      if VAGUE[kind] then
        return (".kind: '%s' says too little to be allowed; commands are allowed by their words"):format(kind)
      end
    end
  end
end

---Check the rules of the settings. One with a fault is named and left out: then the user is asked.
---@param value any
---@param path string
---@param problems string[]
---@return acp.Rule[]?
function M.check(value, path, problems)
  if type(value) ~= 'table' or not vim.islist(value) then
    table.insert(problems, path .. ' must be a list of rules')
    return nil
  end
  local taken = {} ---@type acp.Rule[]
  for i, given in ipairs(value) do
    local name = ('%s[%d]'):format(path, i)
    if type(given) ~= 'table' then
      table.insert(problems, ("%s must be a table, as { action = 'allow', kind = 'read' }"):format(name))
    else
      local rule = {
        action = given.action,
        kind = list(given.kind) or {},
        path = list(given.path) or {},
        command = list(given.command) or {},
        agent = given.agent,
        off = false,
      }
      local wrong = fault(given, rule)
      if wrong then
        table.insert(problems, name .. (vim.startswith(wrong, '.') and '' or ' ') .. wrong)
      else
        rule.words = words(rule)
        table.insert(taken, rule)
      end
    end
  end
  return taken
end

---@return acp.Rule[]
local function rules()
  return require('acp.config').get().permission.rules
end

---Revoke rules, or let them hold again, in this Neovim: until `setup()` is called again.
---@param chosen acp.Rule[]
---@param off boolean
local function switch(chosen, off)
  for _, rule in ipairs(chosen) do
    rule.off = off
  end
  require('acp.config').tell_host()
  local which = #chosen == 1 and chosen[1].words or ('all %d rules'):format(#chosen)
  require('acp.message').info((off and 'revoked: ' or 'holds again: ') .. which)
end

local function pick()
  require('acp.choose').one(rules(), {
    prompt = 'rules: choose one to revoke it, or to let it hold again',
    kind = 'acp_rules',
    format_item = function(rule)
      return rule.words .. (rule.off and '  (revoked)' or '')
    end,
  }, function(rule)
    if rule then
      switch({ rule }, not rule.off)
    end
  end)
end

---`:AcpRules [revoke|restore [N]]`: without arguments they are listed.
---@param text string
---@return boolean|nil
---@return string? reason
function M.run(text)
  local what, number = vim.trim(text):match('^(%l*)%s*(%d*)$')
  local all = rules()
  if what ~= '' and what ~= 'revoke' and what ~= 'restore' or not what then
    local said = require('acp.message').plain(vim.trim(text))
    return nil, (":AcpRules takes revoke or restore, and a number, not '%s'"):format(said)
  elseif #all == 0 then
    return nil, 'there are no rules: everything is asked; :help acp-rules'
  elseif what == '' then
    pick()
    return true
  end
  local chosen = number == '' and all or { all[tonumber(number)] }
  if #chosen == 0 then
    return nil, ('there is no rule %s; there are %d'):format(number, #all)
  end
  switch(chosen, what == 'revoke')
  return true
end

return M
