"""The sources for blink.cmp and nvim-cmp, called as those plugins call them. The host is a recorder."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nvim.stub import AGENT, INIT, events, update
from tests.plugin import Neovim, StartNvim, eventually

COMMANDS = [{"name": "reset all", "description": "begin again", "hint": "how"}]

# What the plugins do: make the source, look where it applies, ask at each key with their own context.
PLUGINS = """
_G.answers = {}
_G.start = {
  blink = function()
    local source = require('acp.integrations.blink').new({}, { name = 'acp' })
    return {
      applies = function() return source:enabled() end,
      triggers = function() return source:get_trigger_characters() end,
      ask = function()
        local cursor = vim.api.nvim_win_get_cursor(0)
        local context = {
          mode = 'default', id = 1, bufnr = vim.api.nvim_get_current_buf(), cursor = cursor,
          line = vim.api.nvim_get_current_line(),
          bounds = { line_number = cursor[1], start_col = cursor[2] + 1, length = 0 },
          trigger = { kind = 1 },
        }
        return source:get_completions(context, function(response)
          table.insert(_G.answers, response)
        end)
      end,
    }
  end,
  cmp = function()
    local source = require('acp.integrations.cmp').new()
    return {
      applies = function() return source:is_available() end,
      triggers = function() return source:get_trigger_characters({}) end,
      pattern = function() return source:get_keyword_pattern({}) end,
      encoding = function() return source:get_position_encoding_kind() end,
      ask = function()
        local cursor = vim.api.nvim_win_get_cursor(0)
        local line = vim.api.nvim_get_current_line()
        local context = {
          bufnr = vim.api.nvim_get_current_buf(), cursor_line = line,
          cursor_before_line = line:sub(1, cursor[2]),
          cursor = { row = cursor[1], col = cursor[2] + 1, line = cursor[1] - 1, character = cursor[2] },
        }
        local params = { offset = 1, context = context, completion_context = { triggerKind = 1 } }
        source:complete(params, function(response)
          table.insert(_G.answers, response)
        end)
      end,
    }
  end,
}
"""


@pytest.fixture(params=["blink", "cmp"])
def plugin(request: pytest.FixtureRequest, start_nvim: StartNvim) -> tuple[Neovim, str]:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.lua(PLUGINS)
    nvim.lua("_G.plugin = _G.start[...]()", request.param)
    nvim.command("AcpChat")
    update(nvim, {"state": "idle"})
    nvim.lua("require('acp.chat.complete').commands(...)", 1, COMMANDS)
    return nvim, request.param


def ask(nvim: Neovim) -> None:
    nvim.lua("_G.cancel = _G.plugin.ask()")


def answers(nvim: Neovim) -> list[dict[str, Any]]:
    return list(nvim.lua("return _G.answers"))


def answer(nvim: Neovim, *paths: str, ended: bool = True) -> None:
    rows = [[f'@"{path}"' if " " in path else f"@{path}", path] for path in paths]
    number = events(nvim, "complete")[-1]["id"]
    nvim.lua("require('acp.chat.paths').answer(...)", number, rows, ended, {})


def edits(response: dict[str, Any]) -> list[tuple[str, int, int]]:
    found = []
    for item in response["items"]:
        edit = item["textEdit"]
        start, end = edit["range"]["start"], edit["range"]["end"]
        assert start["line"] == end["line"]
        found.append((edit["newText"], start["character"], end["character"]))
    return found


def test_mentions(plugin: tuple[Neovim, str]) -> None:
    nvim, name = plugin
    assert nvim.lua("return _G.plugin.applies()")
    assert {"@", "/", '"'} <= set(nvim.lua("return _G.plugin.triggers()"))
    nvim.keys("ü see @di")
    eventually(lambda: nvim.lines() == ["ü see @di"])
    assert events(nvim, "complete") == [], "our own menu stays away"
    ask(nvim)
    answer(nvim, "dist/", "di a.py")
    (response,) = answers(nvim)
    assert edits(response) == [
        (word, 7, 10) for word in ("@diagnostics", "@diagnostics:all", "@diff", "@dist/", '@"di a.py"')
    ]
    labels = [item["label"] for item in response["items"]]
    assert labels[2:] == ["@diff", "dist/", "di a.py"]
    assert response["items"][2]["labelDetails"]["description"] == "what git says has changed"
    assert [item["sortText"] for item in response["items"]] == sorted(
        item["sortText"] for item in response["items"]
    )
    filters = {item["filterText"] for item in response["items"]}
    if name == "blink":
        assert (response["is_incomplete_forward"], response["is_incomplete_backward"]) == (True, True)
        assert filters == {"@diagnostics", "@diagnostics:all", "@diff", "@dist/", '@"di a.py"'}
        offsets = [item["score_offset"] for item in response["items"]]
        assert offsets == sorted(offsets, reverse=True)
    else:
        assert response["isIncomplete"] is True
        assert filters == {"@di"}, "its own rules would leave out what we found"
        assert nvim.lua("return _G.plugin.encoding()") == "utf-8"


def test_commands(plugin: tuple[Neovim, str]) -> None:
    nvim, _ = plugin
    nvim.keys("/reset ")
    eventually(lambda: nvim.lines() == ["/reset "])
    ask(nvim)
    (response,) = answers(nvim)
    assert edits(response) == [("/reset all", 0, 7)]
    assert response["items"][0]["labelDetails"]["description"] == "[how]  begin again"


def test_what_is_no_mention_is_answered_with_nothing(plugin: tuple[Neovim, str]) -> None:
    nvim, _ = plugin
    nvim.keys("hello ")
    eventually(lambda: nvim.lines() == ["hello "])
    ask(nvim)
    assert [response["items"] for response in answers(nvim)] == [[]]
    nvim.keys("<Esc><C-w>t")
    assert not nvim.lua("return _G.plugin.applies()")
    nvim.lua("_G.answers = {}")
    ask(nvim)
    assert [response["items"] for response in answers(nvim)] == [[]]


def test_each_question_is_answered_once(plugin: tuple[Neovim, str]) -> None:
    nvim, name = plugin
    nvim.keys("@a")
    eventually(lambda: nvim.lines() == ["@a"])
    ask(nvim)
    answer(nvim, "part.py", ended=False)
    answer(nvim, "part.py", "app.py")
    answer(nvim, "late.py")
    assert [[edit[0] for edit in edits(each)] for each in answers(nvim)] == [["@part.py", "@app.py"]]
    nvim.lua("_G.answers = {}")
    ask(nvim)
    ask(nvim)
    answer(nvim, "app.py")
    assert len(answers(nvim)) == 2
    assert edits(answers(nvim)[1]) == [("@app.py", 0, 2)]
    nvim.lua("_G.answers = {}")
    ask(nvim)
    answer(nvim, "part.py", ended=False)
    eventually(lambda: answers(nvim))  # the first listing of a large project takes its time
    assert edits(answers(nvim)[0]) == [("@part.py", 0, 2)]
    answer(nvim, "part.py", "app.py")
    assert len(answers(nvim)) == 1
    if name == "blink":
        nvim.lua("_G.answers = {}")
        ask(nvim)
        nvim.lua("_G.cancel()")
        answer(nvim, "app.py")
        assert [each["items"] for each in answers(nvim)] == [[]]


def test_nvim_cmp_gets_what_was_typed_meanwhile(start_nvim: StartNvim) -> None:
    """It asks again only after an answer, and would find that nothing of it fits."""
    nvim = start_nvim(init=INIT + AGENT)
    nvim.lua(PLUGINS)
    nvim.lua("_G.plugin = _G.start.cmp()")
    nvim.command("AcpChat")
    nvim.keys("@a")
    eventually(lambda: nvim.lines() == ["@a"])
    ask(nvim)
    nvim.keys("p")
    eventually(lambda: nvim.lines() == ["@ap"])
    answer(nvim, "lap.py", "alone.py")
    assert answers(nvim) == []
    assert events(nvim, "complete")[-1]["typed"] == "ap"
    answer(nvim, "lap.py")
    (response,) = answers(nvim)
    assert edits(response) == [("@lap.py", 0, 2)], "where it was when it asked"
    assert response["items"][0]["filterText"] == "@ap"


@pytest.mark.parametrize(
    ("line", "word"),
    [("see @src/a", "@src/a"), ('x @"my docs/a b', '@"my docs/a b'), ("/reset a", "/reset a"), ("none", "")],
)
def test_nvim_cmp_knows_the_word(start_nvim: StartNvim, line: str, word: str) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    pattern = nvim.lua("return require('acp.integrations.cmp').new():get_keyword_pattern()")
    found = nvim.funcs.matchstr(line, rf"\%({pattern}\)\m$")
    assert found == word
