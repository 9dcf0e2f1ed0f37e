"""Folds of the transcript: summaries, states in several windows, hidden and shown again, Insert mode."""

from __future__ import annotations

from typing import Any

import pytest
from tests.nvim.transcript_kit import Pane, frame, in_window, start_chat
from tests.plugin import Screen, StartScreen

SUMMARY = [["· think", "AcpThought"], ["  4 s, 3 lines", "AcpNote"]]


@pytest.fixture
def pane(start_screen: StartScreen) -> tuple[Screen, Pane]:
    screen = start_screen(size=(120, 30))
    return screen, start_chat(screen)


def think(count: int, text: list[list[str]] | None = None) -> list[Any]:
    lines = ["· think", *(f"  │ thought {n}" for n in range(count)), ""]
    fold = [0, count, True] if text is None else [0, count, True, text]
    return ["set", 1, lines, {"kind": "think", "tail": 1, "folds": [fold]}]


def closed(screen: Screen, win: int) -> list[int]:
    """The first lines of the closed folds of a window."""
    code = """
    local list = {}
    for n = 1, vim.fn.line('$') do
      if vim.fn.foldclosed(n) == n then list[#list + 1] = n end
    end
    return list
    """
    return list(in_window(screen, win, code))


def test_a_closed_fold_shows_its_summary(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    frame(screen, think(3, SUMMARY))
    screen.wait("· think  4 s, 3 lines ▸")
    assert "thought 1" not in screen.text()
    row, col = screen.find("4 s")
    assert "Folded" in screen.groups_at(row, col)
    assert screen.attr_at(row, col).get("background") is None


def test_without_a_summary_it_shows_its_first_line_with_its_colours(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    screen.lua("vim.o.termguicolors = true")
    lines = ["✓ edit   src/日本.py  +2", "  │ + one", "  │ + two"]
    marks = [[0, 0, 3, "String"], [0, 11, 24, "Directory"], [0, 26, 28, "Special"]]
    frame(screen, ["set", 1, lines, {"kind": "row", "folds": [[0, 2, True]], "marks": marks}])
    screen.wait("✓ edit   src/日本.py  +2 ▸")
    for text, group in [("✓", "String"), ("src", "Directory"), ("+2", "Special")]:
        assert screen.groups_at(*screen.find(text))[-1] == group


def test_a_new_summary_is_drawn_when_only_it_has_changed(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    frame(screen, think(3, [["one", "AcpThought"]]))
    screen.wait("one ▸")
    frame(screen, think(3, [["two", "AcpThought"]]))
    screen.wait("two ▸")


@pytest.mark.parametrize("mode", ["normal", "insert"])
def test_a_growing_thought_stays_one_fold(pane: tuple[Screen, Pane], mode: str) -> None:
    screen, view = pane
    if mode == "insert":
        screen.keys("i")
    frame(screen, think(1), ["set", 2, ["● run    ls"], {"kind": "row"}])
    screen.wait("▸")
    for n in range(1, 6):
        frame(screen, ["add", 1, [" more", f"  │ thought {n}"], {"folds": [[0, n + 1, True]]}])
        assert closed(screen, view.win) == [3]
    assert screen.lines(view.buf)[3:8] == [f"  │ thought {n} more" for n in range(5)]
    assert screen.text().count("▸") == 1
    screen.keys("typed<Esc>" if mode == "insert" else "ityped<Esc>")
    screen.wait("typed")
    in_window(screen, view.win, "vim.cmd('3foldopen')")
    frame(screen, ["add", 1, ["", "  │ last"], {"folds": [[0, 7, True]]}])
    screen.wait("last")
    assert closed(screen, view.win) == []


def test_each_window_keeps_what_is_open_in_it(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    frame(
        screen,
        think(3),
        ["set", 2, ["✓ edit", "  │ one", "  │ two"], {"kind": "row", "folds": [[0, 2, True]]}],
    )
    other = in_window(screen, view.win, "vim.cmd('split') return vim.api.nvim_get_current_win()")
    in_window(screen, other, "vim.cmd('3foldopen')")
    in_window(screen, view.win, "vim.cmd('8foldopen')")
    frame(
        screen,
        ["set", 1, ["· think", "  │ quite", "  │ other", "  │ text", "  │ longer", ""],
         {"kind": "think", "tail": 1, "folds": [[0, 4, True]]}],
        ["set", 2, ["✓ edit", "  │ less"], {"kind": "row", "folds": [[0, 1, True]]}],
    )  # fmt: skip
    assert closed(screen, view.win) == [3]
    assert closed(screen, other) == [9]


def test_an_open_body_gets_a_closed_fold_when_it_is_finished(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    frame(screen, ["set", 1, ["● run    make", "  │ out"], {"kind": "row"}])
    assert closed(screen, view.win) == []
    frame(screen, ["set", 1, ["✓ run    make", "  │ out"], {"kind": "row", "folds": [[0, 1, True]]}])
    assert closed(screen, view.win) == [3]
    frame(screen, ["set", 1, ["✗ run    make"], {"kind": "row"}])
    assert in_window(screen, view.win, "return vim.fn.foldlevel(3)") == 0


def test_hidden_and_shown_again(pane: tuple[Screen, Pane]) -> None:
    """What is rewritten while no window shows the buffer is folded right when one does."""
    screen, view = pane
    frame(screen, think(2), ["set", 2, ["● run    ls"], {"kind": "row"}])
    in_window(screen, view.win, "vim.cmd('enew')")
    frame(
        screen,
        think(5),
        ["set", 2, ["✓ run    ls", "  │ a", "  │ b"], {"kind": "row", "folds": [[0, 2, True]]}],
    )
    screen.lua("local b, w = ... vim.api.nvim_win_set_buf(w, b)", view.buf, view.win)
    screen.wait("✓ run    ls ▸")
    assert closed(screen, view.win) == [3, 10]
    assert [in_window(screen, view.win, f"return vim.fn.foldclosedend({n})") for n in (3, 10)] == [8, 12]


def test_a_window_without_manual_folds_is_left_alone(pane: tuple[Screen, Pane]) -> None:
    screen, view = pane
    screen.lua(
        "local b = ... vim.cmd('tabnew') vim.wo.foldmethod = 'marker' vim.cmd('buffer ' .. b)", view.buf
    )
    frame(screen, think(3))
    frame(screen, think(4))
    assert screen.lua("return vim.wo.foldmethod") == "marker"


def test_the_spinner_turns_on_a_closed_thought(pane: tuple[Screen, Pane]) -> None:
    screen, _ = pane
    op = think(2)
    op[3]["spin"] = [0]
    frame(screen, op)
    screen.wait(lambda text: any(f"{icon} think" in text for icon in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"))
    frame(screen, think(2))
    screen.wait("· think")
