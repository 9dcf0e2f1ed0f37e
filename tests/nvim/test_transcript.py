"""The transcript's buffer: frames, lookups, views, and what must not disturb the user."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.nvim.transcript_kit import CHAT, Pane, frame, in_window, start_chat
from tests.plugin import Screen, StartScreen, eventually


@pytest.fixture
def pane(start_screen: StartScreen) -> tuple[Screen, Pane]:
    screen = start_screen(size=(120, 30))
    return screen, start_chat(screen)


def row(ident: int, *lines: str, **deco: Any) -> list[Any]:
    return ["set", ident, list(lines), {"kind": "row", **deco}]


def fill(screen: Screen, count: int) -> None:
    frame(screen, ["set", 1, [*(f"line {n}" for n in range(count)), ""], {"kind": "answer", "tail": 1}])


def test_set_and_add(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    result = frame(
        screen, row(1, "● read   a"), ["set", 2, ["", "Hel", ""], {"kind": "answer", "lead": 1, "tail": 1}]
    )
    assert result == {"lines": 4, "gone": []}
    frame(screen, ["add", 2, ["lo", "wor"]], ["add", 2, ["ld"]], row(1, "✓ read   a", "  │ b"), row(3, "x"))
    assert screen.lines(view.buf) == ["demo in ~/x", "", "✓ read   a", "  │ b", "", "Hello", "world", "", "x"]


def test_a_chat_that_is_gone_is_told(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    answer = screen.lua("return require('acp.chat.transcript').frame({ { 99, {} }, { ..., {} } })", CHAT)
    assert answer == {"lines": 0, "gone": [99]}
    screen.command(f"bwipeout! {view.buf}")
    assert frame(screen, row(1, "x"))["gone"] == [CHAT]


def test_the_user_cannot_change_it(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    assert screen.api.get_option_value("modifiable", {"buf": view.buf}) is False
    frame(screen, row(1, "x"))
    assert screen.api.get_option_value("modifiable", {"buf": view.buf}) is False
    assert screen.api.get_option_value("undolevels", {"buf": view.buf}) == -1


def test_lookups(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    frame(
        screen,
        ["set", 1, ["❯ one", ""], {"kind": "user", "tail": 1}],
        row(2, "✓ edit   a.py", "  │ + x", links=[[0, "/x/a.py", 7], [1, "/x/a.py"]]),
        row(5, "? run    rm", question="q1"),
        ["set", 6, ["❯ two", ""], {"kind": "user", "tail": 1}],
    )
    at = "local p = require('acp.chat.transcript').block_at(...) return { p.id, p.kind, p.first, p.row }"
    assert [screen.lua(at, view.buf, n) for n in (0, 2, 3, 5, 6, 8)] == [
        [0, "head", 0, 0], [1, "user", 2, 0], [1, "user", 2, 1], [2, "row", 4, 1], [5, "row", 6, 0],
        [6, "user", 7, 1],
    ]  # fmt: skip
    link = "return require('acp.chat.transcript').link_at(...)"
    assert screen.lua(link, view.buf, 4) == {"path": "/x/a.py", "line": 7}
    assert screen.lua(link, view.buf, 5) == {"path": "/x/a.py"}
    assert screen.lua(link, view.buf, 6) == {"question": "q1"}
    assert screen.lua(link, view.buf, 7) is None
    walk = """
    local rows = {}
    for block in require('acp.chat.transcript').blocks(..., 'user') do rows[#rows + 1] = block.first end
    return rows
    """
    assert screen.lua(walk, view.buf) == [2, 7]


def test_the_view_follows_only_at_the_end(pane: tuple[Screen, Pane]) -> None:
    """C35: elsewhere cursor, view and selection stay, for as long as text comes; after G it follows again."""
    screen, view = pane
    fill(screen, 100)
    screen.wait("line 99")
    screen.api.set_current_win(view.win)
    screen.keys("gg", "5j", "v", "2j")
    screen.wait(lambda _: screen.mode == "visual")
    before = in_window(screen, view.win, "return { vim.fn.winsaveview(), vim.fn.getpos('v'), vim.fn.mode() }")
    for n in range(50):
        frame(screen, ["add", 1, ["", f"more {n}"]])
    after = in_window(screen, view.win, "return { vim.fn.winsaveview(), vim.fn.getpos('v'), vim.fn.mode() }")
    assert before == after
    screen.keys("y")
    screen.wait(lambda _: screen.mode == "normal")
    screen.keys("G")
    screen.wait("more 49")
    frame(screen, ["add", 1, ["", *(f"last {n}" for n in range(80))]])
    screen.wait("last 79")
    assert screen.funcs.line(".") == screen.funcs.line("$")


def test_a_selection_on_the_last_line_is_not_moved(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    frame(screen, row(1, "last"))
    screen.api.set_current_win(view.win)
    screen.keys("GV")
    screen.wait(lambda _: screen.mode == "visual")
    line = screen.funcs.line(".")
    frame(screen, ["add", 1, ["", "more"]], row(2, "x"))
    assert screen.funcs.line(".") == line
    assert screen.lines(view.buf)[line - 1] == "last"


def test_no_autocommand_and_no_focus(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    other = in_window(screen, view.win, "vim.cmd('tab split') return vim.api.nvim_get_current_win()")
    screen.lua(
        """
        SEEN = {}
        local names = { 'BufEnter', 'WinEnter', 'WinLeave', 'CursorMoved', 'TextChanged', 'OptionSet',
          'ModeChanged', 'BufWinEnter', 'TabEnter', 'BufModifiedSet' }
        vim.api.nvim_create_autocmd(names, { callback = function(args) table.insert(SEEN, args.event) end })
        """
    )
    here = screen.api.get_current_win()
    fill(screen, 60)
    frame(
        screen,
        row(2, "✓ edit", "  │ + x", folds=[[0, 1, True]]),
        row(2, "✓ edit", "  │ + y", "  │ z", folds=[[0, 2, True]]),
    )
    screen.wait("▸")
    assert screen.lua("return SEEN") == []
    assert screen.api.get_current_win() == here
    assert screen.api.win_get_cursor(other)[0] == len(screen.lines(view.buf))


def test_a_paragraph_higher_than_the_window_shows_its_end(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    words = " ".join(f"word{n}" for n in range(700))
    frame(screen, ["set", 1, ["Once", ""], {"kind": "answer", "tail": 1}])
    frame(screen, ["add", 1, [" " + words]])
    screen.wait("word699")
    frame(screen, ["add", 1, ["the end"]])
    screen.wait("the end")


def test_frames_while_text_is_locked_come_later(pane: tuple[Screen, Pane]) -> None:
    """An expression mapping that waits for a key locks text; what comes then is drawn when it has ended."""
    screen, view = pane
    screen.lua("vim.keymap.set('n', 'Q', function() return vim.fn.getcharstr() end, { expr = true })")
    screen.keys("Q")
    eventually(lambda: screen.lua("return not pcall(vim.api.nvim_buf_set_text, 0, 0, 0, 0, 0, { '' })"))
    assert frame(screen, row(1, "first"))["gone"] == []
    frame(screen, row(2, "second"))
    screen.keys("j")
    eventually(lambda: screen.lines(view.buf)[-2:] == ["first", "second"])


@pytest.mark.parametrize("size", [200, 200_000])
def test_a_change_costs_the_same_in_a_long_chat(pane: tuple[Screen, Pane], size: int) -> None:
    """Counted, not timed: a frame reads and writes only the lines it is about."""
    screen, view = pane
    screen.lua(
        """
        local chat, size = ...
        local ops = {}
        for n = 1, size / 4 do
          ops[n] = { 'set', n, { 'a', 'b', 'c', '' }, { kind = 'answer', tail = 1 } }
        end
        require('acp.chat.transcript').frame({ { chat, ops } })
        READ = 0
        local get = vim.api.nvim_buf_get_lines
        vim.api.nvim_buf_get_lines = function(...)
          local lines = get(...)
          READ = READ + #lines
          return lines
        end
        """,
        CHAT,
        size,
    )
    ops = [["add", size // 4, [" more", "lines"]], row(20, "changed", ""), row(size, "x")]
    count = """
    READ = 0
    local result = require('acp.chat.transcript').frame(...)
    return { result.lines, READ }
    """
    written, read = screen.lua(count, [[CHAT, ops]])
    assert written <= 6
    assert read <= 12
    started = time.monotonic()
    at = "return require('acp.chat.transcript').block_at(...).n"
    for line in range(0, size, size // 50):
        assert screen.lua(at, view.buf, line) in (2, 4, 5)
    assert time.monotonic() - started < 5  # a search of all blocks would take minutes


def test_the_spinner_stops_when_nothing_runs_or_nobody_sees_it(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    period = "return require('acp.chat.spin').period()"
    assert screen.lua(period) == 0
    started = int(time.time() * 1000) - 65_000
    frame(screen, row(1, "● run    make", spin=[0], since=[[0, started]]))
    screen.wait(lambda text: any(f"{icon} run    make  65 s" in text for icon in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"))
    assert screen.lua(period) == 125
    tick = screen.api.buf_get_changedtick(view.buf)
    screen.wait("make  66 s")
    assert screen.api.buf_get_changedtick(view.buf) == tick
    in_window(screen, view.win, "vim.cmd('enew')")
    eventually(lambda: screen.lua(period) == 0)
    screen.lua("local b, w = ... vim.api.nvim_win_set_buf(w, b)", view.buf, view.win)
    eventually(lambda: screen.lua(period) == 125)
    frame(screen, row(1, "✓ run    make"))
    screen.wait("✓ run    make")
    eventually(lambda: screen.lua(period) == 0)
    assert " s" not in screen.rows()[screen.find("✓ run")[0]][screen.find("✓ run")[1] :]
