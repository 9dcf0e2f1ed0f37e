"""Colours of the transcript, read from the screen."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.nvim.transcript_kit import Pane, frame, in_window, start_chat
from tests.plugin import Screen, StartScreen, eventually

LINKS = """
vim.o.termguicolors = true
for group, link in pairs({ AcpUserLine = 'CursorLine', AcpPath = 'Directory',
  AcpBar = 'NonText', AcpThought = 'Comment', AcpOutput = 'Comment', AcpNote = 'Comment',
  AcpAdd = 'Added', AcpDelete = 'Removed' }) do
  vim.api.nvim_set_hl(0, group, { link = link, default = true })
end
"""


@pytest.fixture
def pane(start_screen: StartScreen) -> tuple[Screen, Pane]:
    screen = start_screen(size=(120, 40), init=LINKS)
    return screen, start_chat(screen)


def answer(*lines: str, fences: list[list[Any]] | None = None, ident: int = 1) -> list[Any]:
    return ["set", ident, [*lines, ""], {"kind": "answer", "tail": 1, "fences": fences or []}]


def groups(screen: Screen, text: str, offset: int = 0) -> list[str]:
    row, col = screen.find(text)
    return screen.groups_at(row, col + offset)


@pytest.mark.req("V1-96", "V2-143")
def test_markdown_of_an_answer(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    frame(screen, answer("# Heading", "prose **strong** `code` *soft* end", "- item"))
    screen.wait("item")
    for text, attribute in [("Heading", "bold"), ("strong", "bold"), ("soft", "italic")]:
        row, col = screen.find(text)
        assert screen.attr_at(row, col).get(attribute), text
    assert groups(screen, "code") == ["Special"]
    assert groups(screen, "prose") == []


def test_the_unfinished_line_is_right_in_every_frame(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    frame(screen, answer("some `co"))
    screen.wait("some")
    assert groups(screen, "co", 0) == []
    frame(screen, ["add", 1, ["de` and"]])
    screen.wait("and")
    assert groups(screen, "code") == ["Special"]


def test_the_head_of_a_table_is_known_when_its_ruler_came(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    frame(screen, answer("| year | now |"))
    screen.wait("year")
    plain = groups(screen, "year")
    for text in ["", "| --", "-", "- | --- |"]:
        frame(screen, ["add", 1, ["", text] if text == "" else [text]])
    screen.wait("| ---- | --- |")
    assert plain == []
    assert groups(screen, "year") == ["Title"]


CODE = ["```lua", "local x = 'text'", "```", "after *it*"]


def test_code_of_a_closed_fence(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    frame(screen, answer(*CODE, fences=[[0, "lua"], [2]]))
    screen.wait("after")
    eventually(lambda: groups(screen, "local") == ["Statement"], message=screen.text)
    assert groups(screen, "'text'") == ["String"]
    assert groups(screen, "it") != []
    assert groups(screen, "```", 3) == ["Label"] or groups(screen, "```", 3) != []
    assert screen.lua("return require('acp.chat.fence').failures()") in ({}, [])


def test_code_of_an_open_fence_and_what_moves_it(pane: tuple[Screen, Pane]) -> None:
    """Rows above an open fence grow and shrink; its colours stay on its code."""
    screen, _ = pane
    row = {"kind": "row"}
    frame(
        screen,
        ["set", 1, ["● run    one"], row],
        answer("```lua", "local x", "local", ident=2, fences=[[0, "lua"]]),
    )
    eventually(lambda: groups(screen, "local x") == ["Statement"], message=screen.text)
    frame(
        screen,
        ["set", 1, ["● run    one", "  │ out", "  │ put"], row],
        ["add", 2, [" y = 'more'", "-- rest"]],
    )
    eventually(lambda: groups(screen, "'more'") == ["String"], message=screen.text)
    frame(screen, ["set", 1, ["✓ run    one"], row], ["add", 2, ["", "```", "end"], {"fences": [[4]]}])
    screen.wait("end")
    eventually(lambda: groups(screen, "-- rest") == ["Comment"], message=screen.text)
    for text in ["local x", "local y"]:
        assert groups(screen, text) == ["Statement"]
    assert groups(screen, "end") == []


def test_a_language_nobody_has_stays_plain(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    frame(
        screen,
        answer(
            "```nolang",
            "local x",
            "```",
            "",
            "```",
            "*plain*",
            "```",
            fences=[[0, "nolang"], [2], [4, ""], [6]],
        ),
    )
    screen.wait("plain")
    assert groups(screen, "local") == []
    assert groups(screen, "plain") == []


def test_a_parser_that_raises_is_remembered(start_screen: StartScreen) -> None:
    screen = start_screen(
        size=(120, 40),
        init=LINKS + "vim.treesitter.query.get = function() error('Invalid node type \"x\"') end",
    )
    start_chat(screen)
    frame(screen, answer(*CODE, fences=[[0, "lua"], [2]]))
    eventually(lambda: screen.lua("return require('acp.chat.fence').failures()"))
    assert "Invalid node type" in screen.lua("return require('acp.chat.fence').failures().lua")
    assert groups(screen, "local") == []


def test_no_query_is_compiled_while_the_user_types(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    screen.lua("ready = function() return require('acp.chat.lang').get('lua', function() end) ~= nil end")
    screen.keys("i")
    frame(screen, answer(*CODE, fences=[[0, "lua"], [2]]))
    until = time.monotonic() + 0.8
    while time.monotonic() < until:
        screen.keys("x")
        screen.pump()
        assert not screen.lua("return ready()")
        time.sleep(0.03)
    eventually(lambda: groups(screen, "local") == ["Statement"], message=screen.text)


def test_a_long_fence_is_painted_where_it_is_seen(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    code = [f"local x{n} = {n}" for n in range(3000)]
    frame(screen, answer("```lua", *code, "```", fences=[[0, "lua"], [3001]]))
    marks = "return #vim.api.nvim_buf_get_extmarks(..., vim.api.nvim_get_namespaces()['acp.code'], 0, -1, {})"
    eventually(lambda: groups(screen, "local x2999") == ["Statement"], message=screen.text)
    assert 0 < screen.lua(marks, view.buf) < 1000
    in_window(screen, view.win, "vim.api.nvim_win_set_cursor(0, { 1500, 0 })")
    eventually(lambda: groups(screen, "local x1495") == ["Statement"], message=screen.text)
    assert screen.lua(marks, view.buf) < 2000


def test_old_marks_are_forgotten_and_painted_again(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    lines: list[str] = []
    fences: list[list[Any]] = []
    for n in range(500):
        fences += [[len(lines), "lua"], [len(lines) + 2]]
        lines += ["```lua", f"local x{n} = {n}", "```"]
    frame(screen, answer(*lines, fences=fences))
    eventually(lambda: groups(screen, "local x499") == ["Statement"], message=screen.text)
    painted = (
        "return #vim.api.nvim_buf_get_extmarks(..., vim.api.nvim_get_namespaces()['acp.code'], 0, -1, {})"
    )
    most = 0
    for row in range(1, 1500, 30):
        in_window(screen, view.win, f"vim.fn.winrestview({{ lnum = {row}, topline = {row} }})")
        screen.lua("vim.cmd.redraw()")
        most = max(most, screen.lua(painted, view.buf))
    assert most <= 260 * 6
    in_window(screen, view.win, "vim.fn.winrestview({ lnum = 1, topline = 1 })")
    eventually(lambda: groups(screen, "local x0 ") == ["Statement"], message=screen.text)


def test_body_lines_and_marks(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    lines = ["✓ edit   src/a.py", "  │ @@ -1 +1 @@", "  │ + new", "  │ - old", "  │   same", "  │ *loud*"]
    body = [[1, 4, "diff"], [5, 5, "output"]]
    frame(screen, ["set", 1, lines, {"kind": "row", "marks": [[0, 11, 19, "AcpPath"]], "body": body}])
    screen.wait("loud")
    assert groups(screen, "src/a.py") == ["Directory"]
    assert groups(screen, "+ new") == ["Added"]
    assert groups(screen, "- old") == ["Removed"]
    assert groups(screen, "@@ -1") == ["Comment"]
    assert groups(screen, "same") == []
    assert groups(screen, "*loud*") == ["Comment"]
    assert groups(screen, "│ + new") == ["NonText"]


def test_the_user_s_lines_have_a_background(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    frame(
        screen,
        ["set", 1, ["", "❯ first", "  last", ""], {"kind": "user", "lead": 1, "tail": 1}],
        answer("reply", ident=2),
    )
    screen.wait("reply")
    for text, wanted in [("first", ["CursorLine"]), ("last", ["CursorLine"]), ("reply", [])]:
        assert groups(screen, text, 8) == wanted, text
    row, col = screen.find("last")
    assert screen.groups_at(row + 1, col) == []


def test_no_treesitter_runs_on_the_transcript(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    frame(screen, answer(*CODE, fences=[[0, "lua"], [2]]))
    eventually(lambda: groups(screen, "local") == ["Statement"], message=screen.text)
    assert not screen.lua("return vim.treesitter.highlighter.active[...] ~= nil", view.buf)


PROSE = """# Title with `code`

Some *soft* and **strong** words, `code`, ~~gone~~, snake_case and 2 * 3.
A [link](https://example.org/a_b) and ![image](pic.png); <https://example.org>.

- one
- two with **strong *and soft* text**
  1. nested `a``b`
- [ ] todo
- [x] done

> quoted *text*

| year | `now` |
| ---- | ----- |
| 1900 | *yes* |

***

### Third __level__
Escaped \\*stars\\* and ***both*** at the end."""


def test_colours_are_those_of_treesitter(pane: tuple[Screen, Pane]) -> None:
    """Cell by cell against Neovim's own Markdown highlighting of the same text."""
    screen, view = pane
    lines = PROSE.split("\n")
    screen.lua(
        """
        local buf = vim.api.nvim_get_current_buf()
        vim.api.nvim_buf_set_lines(buf, 0, -1, true, ...)
        vim.treesitter.start(buf, 'markdown')
        """,
        lines,
    )
    frame(screen, answer(*lines))
    screen.wait(lambda text: text.count("at the end.") == 2)
    top = screen.find("# Title")[0]
    start = screen.funcs.win_screenpos(view.win)
    row, col = start[0] - 1 + 2, start[1] - 1
    assert screen.rows()[row][col:].startswith("# Title")

    def differing() -> list[tuple[int, int]]:
        return [
            (r, c)
            for r, line in enumerate(lines)
            for c in range(min(len(line), 58))
            if line[c] != " " and look(screen, top + r, c) != look(screen, row + r, col + c)
        ]

    eventually(lambda: len(differing()) <= 6, message=lambda: f"{differing()}\\n{screen.text()}")


def look(screen: Screen, row: int, col: int) -> dict[str, Any]:
    return {key: value for key, value in screen.attr_at(row, col).items() if key != "url"}
