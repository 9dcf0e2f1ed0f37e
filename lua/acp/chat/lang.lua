---Languages of code fences: parsers and queries, loaded when the user does not type.
---
---Compiling a query takes up to 40 ms and cannot be cut, so it waits until no key came for 200 ms. Query
---objects are held here: Neovim 0.10 keeps them in a weak table and would compile them again and again.
local M = {}

local api, uv = vim.api, vim.uv

local IDLE_MS, LOOK_MS = 200, 100

---@class acp.Lang
---@field state 'wanted'|'ready'|'none'
---@field name string of the parser
---@field query? vim.treesitter.Query
---@field groups string[] highlight group by capture; '' for none

local langs = {} ---@type table<string, acp.Lang> by what the fence says
local wanted = {} ---@type string[]
local failures = {} ---@type table<string, string>
local ns_key = api.nvim_create_namespace('acp.lang.keys')
local last_key = 0

---Errors of parsers and queries by language, for `:checkhealth acp`.
---@return table<string, string>
function M.failures()
  return failures
end

---Something about this language raised: it is drawn plain from now on.
---@param lang acp.Lang
---@param message any
function M.fail(lang, message)
  lang.state, lang.query = 'none', nil
  failures[lang.name] = tostring(message):match('[^\n]*')
end

---@param name string
---@return string? lang
local function parser_name(name)
  local function known(filetype)
    local lang = vim.treesitter.language.get_lang(filetype) or filetype
    if lang:find('^[%w_]+$') and #api.nvim_get_runtime_file('parser/' .. lang .. '.*', false) > 0 then
      return lang
    end
  end
  name = name:lower()
  local ok, filetype = pcall(vim.filetype.match, { filename = 'x.' .. name })
  return known(name) or (ok and filetype and known(filetype)) or nil
end

---@param lang acp.Lang
local function load(lang)
  local name = parser_name(lang.name)
  if not name then
    lang.state = 'none'
    return
  end
  lang.name = name
  local ok, query = pcall(function()
    local added, message = vim.treesitter.language.add(name)
    if added == nil and message then
      error(message, 0)
    end
    return vim.treesitter.query.get(name, 'highlights')
  end)
  if not ok then
    M.fail(lang, query)
    return
  end
  if not query then
    lang.state = 'none'
    return
  end
  for id, capture in ipairs(query.captures) do
    local silent = capture:find('^_') or capture == 'spell' or capture == 'nospell' or capture == 'conceal'
    lang.groups[id] = silent and '' or ('@%s.%s'):format(capture, name)
  end
  lang.state, lang.query = 'ready', query
end

---@param done fun() something was loaded
local function look(done)
  vim.defer_fn(function()
    if uv.now() - last_key >= IDLE_MS then
      load(langs[table.remove(wanted)])
      done()
    end
    if #wanted > 0 then
      look(done)
    else
      vim.on_key(nil, ns_key)
    end
  end, LOOK_MS)
end

---The language a fence names, if it is there already; else it is loaded when there is time.
---@param name string
---@param done fun() called when it has become ready
---@return acp.Lang? lang nil: not ready, or never
function M.get(name, done)
  local lang = langs[name]
  if lang then
    return lang.state == 'ready' and lang or nil
  end
  langs[name] = { state = name == '' and 'none' or 'wanted', name = name, groups = {} }
  if name ~= '' then
    wanted[#wanted + 1] = name
    if #wanted == 1 then
      last_key = uv.now()
      vim.on_key(function(_, typed)
        if typed ~= '' then
          last_key = uv.now()
        end
      end, ns_key)
      look(done)
    end
  end
end

return M
