"""Large files through buffers: how much of them is read, compared and written anew, and that it is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.plugin import Neovim, StartNvim

WRITE = "return require('acp.buffers').write(...)"
CHECK = "return require('acp.buffers').check(...)"

COUNT = """
local api, got = vim.api, { set_lines = 0, put = 0, set_text = 0, read = 0, diffed = 0, asked = 0 }
_G.got = got
for name in pairs(package.loaded) do
  if name:find('^acp%.buffers') then package.loaded[name] = nil end
end
local function wrap(place, name, note)
  local run = place[name]
  place[name] = function(...)
    note(...)
    return run(...)
  end
end
wrap(api, 'nvim_buf_set_lines', function(_, _, _, _, lines)
  got.set_lines, got.put = got.set_lines + 1, got.put + #lines
end)
wrap(api, 'nvim_buf_set_text', function() got.set_text = got.set_text + 1 end)
wrap(api, 'nvim_buf_get_lines', function(buf, first, last)
  got.read = got.read + (last < 0 and api.nvim_buf_line_count(buf) or last) - first
end)
wrap(vim.fn, 'foldlevel', function() got.asked = got.asked + 1 end)
local place = vim.text and vim.text.diff and vim.text or vim
wrap(place, 'diff', function(a, b)
  -- Those of words within a line have no part in it.
  local lines = select(2, a:gsub('\\n', '')) + select(2, b:gsub('\\n', ''))
  got.diffed = got.diffed + (lines > 50 and lines or 0)
end)
"""


def numbered(count: int) -> list[str]:
    return [f"line {n} of a file" for n in range(1, count + 1)]


def joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def change(
    nvim: Neovim, path: Path, old: list[str], new: list[str], how: str, setup: str = ""
) -> dict[str, Any]:
    """Let the agent change the file after the Ex commands ``setup``; return what that took."""
    path.write_text(joined(old))
    nvim.command(f"edit {path} | {setup}")
    nvim.lua("return require('acp.buffers').read(...)", str(path))
    nvim.lua(COUNT)
    if how == "write":
        assert nvim.lua(WRITE, str(path), joined(new))["ok"]
    else:
        path.write_text(joined(new))
        assert nvim.lua(CHECK, [str(path)]) == []
    got = dict(nvim.lua("return _G.got"))
    assert nvim.lines() == new
    assert path.read_text() == joined(new)
    return got


@pytest.mark.req("V1-169")
@pytest.mark.parametrize("how", ["write", "reload"])
@pytest.mark.parametrize("changed", [[10_000], [3, 19_990], [5, 4000, 12_000, 19_000]])
def test_a_small_change_of_a_large_file_costs_what_is_small(
    nvim: Neovim, short_tmp: Path, how: str, changed: list[int]
) -> None:
    old = numbered(20_000)
    new = [f"{line} changed" if n in changed else line for n, line in enumerate(old)]
    got = change(nvim, short_tmp / "a.txt", old, new, how)
    assert (got["set_lines"], got["set_text"]) == (0, len(changed))
    assert got["diffed"] <= 2 * 1001 * len(changed)
    # To see what differs; whether the disk, which was written a moment ago, is what is shown; for the digest.
    assert got["read"] <= 3 * len(old) + 1


@pytest.mark.parametrize("how", ["write", "reload"])
def test_lines_that_come_or_go_in_a_large_file(nvim: Neovim, short_tmp: Path, how: str) -> None:
    old = numbered(20_000)
    got = change(nvim, short_tmp / "a.txt", old, [*old[:9000], "new", *old[9010:]], how)
    assert got["set_lines"] + got["set_text"] <= 3
    assert got["put"] <= 1
    assert got["diffed"] <= 2 * 1011


@pytest.mark.req("V1-169")
@pytest.mark.parametrize("how", ["write", "reload"])
def test_a_large_file_with_every_line_new_is_one_change_without_a_diff(
    nvim: Neovim, short_tmp: Path, how: str
) -> None:
    old = numbered(60_000)
    path = short_tmp / "a.txt"
    setup = "setlocal foldmethod=manual | 100,200fold | 30000mark k | 40000"
    got = change(nvim, path, old, [f"{line}!" for line in old], how, setup)
    assert (got["set_lines"], got["set_text"], got["put"]) == (1, 0, 60_000)
    assert got["diffed"] == 0
    assert got["asked"] <= 2000
    assert got["read"] <= 2 * len(old) + 1
    assert nvim.funcs.getpos("'k")[1] == 30_000
    assert nvim.api.win_get_cursor(0)[0] == 40_000
    assert [nvim.funcs.foldclosed(150), nvim.funcs.foldclosedend(150)] == [100, 200]
    nvim.command("silent undo")
    assert nvim.lines() == old
    assert nvim.command("echo undotree().seq_last") == "1"


@pytest.mark.parametrize("how", ["write", "reload"])
def test_many_changes_all_over_a_large_file_are_joined(nvim: Neovim, short_tmp: Path, how: str) -> None:
    old = numbered(60_000)
    new = [f"{line}!" if n % 10 == 0 else line for n, line in enumerate(old)]
    got = change(nvim, short_tmp / "a.txt", old, new, how)
    assert 1 <= got["set_lines"] + got["set_text"] <= 2000


@pytest.mark.req("V1-171")
@pytest.mark.parametrize("setting", ["fixendofline", "nofixendofline", "binary"])
@pytest.mark.parametrize(
    ("lead", "ending", "last"),
    [
        ("", "\n", ""),
        ("", "\n", "no end"),
        ("", "\r\n", ""),
        ("", "\r\n", "no end"),
        ("", "\r\n", "\x1a"),
        ("\ufeff", "\n", ""),
        ("", "\n", "é\0\n"),
        ("", "\n", "a\r\n"),
    ],
)
def test_large_texts_are_told_apart_to_the_byte(
    start_nvim: StartNvim, short_tmp: Path, setting: str, lead: str, ending: str, last: str
) -> None:
    nvim = start_nvim()
    text = lead + "".join(f"line {n} é{ending}" for n in range(9000)) + last
    path = short_tmp / "a.txt"
    path.write_bytes(text.encode())
    nvim.command(f"edit{' ++bin' if setting == 'binary' else ''} {path} | setlocal {setting}")
    tick = nvim.api.buf_get_changedtick(0)
    is_text = "return require('acp.buffers.exact').is(0, ...)"
    assert nvim.lua(is_text, text)
    assert nvim.lua("return require('acp.buffers.exact').size(0)") == len(text.encode())
    assert nvim.lua(WRITE, str(path), text) == {"ok": True, "wrote": False}
    assert nvim.api.buf_get_changedtick(0) == tick
    for at in (0, 40_000, len(text) - 1):
        other = text[:at] + ("x" if text[at] != "x" else "y") + text[at + 1 :]
        assert not nvim.lua(is_text, other)
    middle = text.replace("line 4000 ", "line 4xx0 ")
    assert nvim.lua(WRITE, str(path), middle)["wrote"]
    assert path.read_bytes() == middle.encode()
    assert nvim.lua("return require('acp.buffers').read(...)", str(path))["text"] == middle


HUNKS = """
local lines, seed = require('acp.buffers.lines'), ...
math.randomseed(seed)
local function word()
  return math.random() < 0.3 and '' or ('w%d'):format(math.random(math.random() < 0.5 and 9 or 1e6))
end
local old = {}
for i = 1, math.random(1500, 9000) do old[i] = word() end
local new = vim.list_slice(old)
for _ = 1, math.random(0, 12) do
  local at, kind = math.random(#new), math.random(4)
  if kind == 1 then
    for _ = 1, math.random(5) do table.insert(new, at, word()) end
  elseif kind == 2 then
    for _ = 1, math.random(5) do table.remove(new, math.min(at, #new)) end
  elseif kind == 3 then
    table.insert(new, at, word())
    table.remove(new, math.random(#new))
  else
    for i = at, math.min(at + math.random(0, 3000), #new) do new[i] = new[i] .. '!' end
  end
end
local made, at, past = {}, 1, 0
for _, hunk in ipairs(lines.hunks(old, new)) do
  assert(hunk.first >= past, 'not in order')
  vim.list_extend(made, old, at, hunk.first - 1)
  assert(#made == hunk.new_first - 1, 'not at its place')
  vim.list_extend(made, new, hunk.new_first, hunk.new_first + hunk.new_count - 1)
  at = hunk.first + hunk.count
  past = at
end
vim.list_extend(made, old, at)
return vim.deep_equal(made, new)
"""


def test_hunks_of_large_texts_make_the_one_of_the_other(nvim: Neovim) -> None:
    for seed in range(60):
        assert nvim.lua(HUNKS, seed), seed


@pytest.mark.parametrize("how", ["write", "reload"])
def test_most_of_a_large_file_goes(nvim: Neovim, short_tmp: Path, how: str) -> None:
    old = numbered(60_000)
    new = [*old[:100], *old[59_000:]]
    setup = "50mark a | 30000mark b | 59500mark c | 59999"
    got = change(nvim, short_tmp / "a.txt", old, new, how, setup)
    assert (got["set_lines"], got["set_text"], got["put"], got["diffed"]) == (1, 0, 0, 0)
    assert [nvim.funcs.getpos(f"'{name}")[1] for name in "abc"] == [50, 101, 600]
    assert nvim.api.win_get_cursor(0)[0] == 1099


@pytest.mark.parametrize("fails", [False, True])
def test_the_garbage_collector_rests_meanwhile_and_only_then(
    start_nvim: StartNvim, tmp_path: Path, fails: bool
) -> None:
    nvim = start_nvim()
    path = tmp_path / "a.txt"
    old = [line * 20 for line in numbered(15_000)]
    path.write_text(joined(old))
    nvim.command(f"edit {path}")
    nvim.lua("return require('acp.buffers').read(...)", str(path))
    nvim.lua(
        """
        local fails = ...
        local collect = collectgarbage
        _G.calls = {}
        _G.collectgarbage = function(what, ...)
          table.insert(_G.calls, what)
          return collect(what, ...)
        end
        package.loaded['acp.buffers.disk'].write = fails and function() error('no') end
          or package.loaded['acp.buffers.disk'].write
        """,
        fails,
    )
    text = joined([f"{line}!" for line in old])
    done = nvim.lua("return { pcall(require('acp.buffers').write, ...) }", str(path), text)
    assert done[0] is not fails
    calls = nvim.lua("return _G.calls")
    assert calls == ["stop", "restart"] * 2, "to look at the file, and to write it"
    small = tmp_path / "small.txt"
    small.write_text("small\n")
    nvim.command(f"split {small}")
    nvim.lua("_G.calls = {}")
    nvim.lua("return pcall(require('acp.buffers').write, ...)", str(small), "smaller\n")
    assert not nvim.lua("return _G.calls"), "it would only get slower"
