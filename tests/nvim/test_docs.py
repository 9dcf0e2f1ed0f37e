"""What the README, the pages in doc/ and the help show as Lua can be put into a configuration."""

from __future__ import annotations

import re
from pathlib import Path

from tests.plugin import ROOT, StartNvim

PAGES = [ROOT / "README.md", *sorted((ROOT / "doc").glob("*.md"))]
HELP = ROOT / "doc/acp.txt"

RUN = r"""
-- Other plugins, as far as the pages call them: any function of theirs may be called with anything.
for _, name in ipairs({ 'lualine', 'blink.cmp' }) do
  package.loaded[name] = { setup = function() end }
end
package.loaded.cmp = {
  register_source = function(name, source) assert(name == 'acp' and source.complete) end,
  setup = { filetype = function() end },
}
vim.pack = vim.pack or {}
vim.pack.add = function() end

local agent_fields = {}
for name in ('command env mcp_servers options cwd directories client_tools'):gmatch('%S+') do
  agent_fields[name] = true
end

-- A piece of the settings, as the help shows them: of all, of agents, or of one agent.
local function check(piece)
  local name, value = next(piece)
  if agent_fields[name] and not next(piece, name) then
    local over_http = name == 'client_tools' or (name == 'env' and value.AAP_KEY)
    piece = { agents = { mine = { [name] = value, protocol = over_http and 'aap' or nil } } }
  end
  local _, problems = require('acp.settings').check(piece)
  return problems
end

local seen = {}
for _, block in ipairs(...) do
  require('acp.config').problems = {}
  local run, problem = load(block.code, '=' .. block.place)
  local piece = not run and load('return {' .. block.code .. '}')
  local ok, result
  if run then
    local globals = setmetatable({}, { __index = _G }) -- `agents = { … }` alone would set one
    ok, result = pcall(setfenv(run, globals))
    if ok and next(globals) then
      require('acp.config').problems = check(globals)
    end
  elseif piece then
    ok, result = pcall(piece)
    if ok and type(result[1]) ~= 'table' then -- else it is the specification of a plugin
      require('acp.config').problems = check(result)
    end
  else
    ok, result = false, problem
  end
  local problems = require('acp.config').problems
  if not ok or #problems > 0 then
    local why = ok and table.concat(problems, '; ') or tostring(result)
    table.insert(seen, ('%s: %s'):format(block.place, why))
  end
end
return seen
"""


def of_markdown(path: Path) -> list[dict[str, str]]:
    """The Lua blocks of a page, with where they stand."""
    text = path.read_text(encoding="utf-8")
    return [
        {"place": f"{path.name}:{text[: found.start()].count(chr(10)) + 1}", "code": found[1]}
        for found in re.finditer(r"^```lua\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def of_help(path: Path) -> list[dict[str, str]]:
    """The Lua blocks of a help file: from ``>lua`` to the next line that is not indented."""
    blocks, lines = [], path.read_text(encoding="utf-8").split("\n")
    for at, line in enumerate(lines):
        if line.endswith(">lua"):
            rest = lines[at + 1 :]
            size = next(n for n, text in enumerate(rest) if text and not text[0].isspace())
            blocks.append({"place": f"{path.name}:{at + 1}", "code": "\n".join(rest[:size])})
    return blocks


def test_what_is_shown_can_be_used(start_nvim: StartNvim) -> None:
    blocks = [block for page in PAGES for block in of_markdown(page)]
    assert len(blocks) > 20
    assert {block["place"].split(":")[0] for block in blocks} >= {"README.md", "agents.md", "recipes.md"}
    of_the_help = of_help(HELP)
    assert len(of_the_help) > 10
    nvim = start_nvim()
    assert nvim.lua(RUN, [*blocks, *of_the_help]) == []


def test_a_mistake_in_what_is_shown_is_found(start_nvim: StartNvim) -> None:
    wrong = {
        "unknown": "require('acp').setup({ agent = {} })",
        "value": "require('acp').setup({ diff = { layout = 'tabs' } })",
        "piece": "agents = { claude = { options = { mode = 1 } } }",
        "of one agent": "client_tools = { 'read_files' }",
        "syntax": "require('acp').setup({",
        "error": "require('acp').setupp({})",
    }
    nvim = start_nvim()
    said = nvim.lua(RUN, [{"place": place, "code": code} for place, code in wrong.items()])
    assert [line.split(":")[0] for line in said] == list(wrong)
    nvim.clear_messages()
