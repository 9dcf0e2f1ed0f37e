"""Random frames against a model: text, folds of each window, and views stay right whatever is rewritten."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.nvim.transcript_kit import frame, start_chat
from tests.plugin import Screen, StartScreen

STATE = """
local lines, wins = vim.api.nvim_buf_get_lines(..., 0, -1, true), {}
for i, win in ipairs(WINDOWS) do
  wins[i] = vim.api.nvim_win_call(win, function()
    local levels, closed = {}, {}
    for n = 1, #lines do
      levels[n] = vim.fn.foldlevel(n)
      closed[n] = vim.fn.foldclosed(n) == n and vim.fn.foldclosedend(n) or 0
    end
    return { levels = levels, closed = closed, cursor = vim.fn.line('.'), top = vim.fn.line('w0'),
      bottom = vim.fn.line('w$') }
  end)
end
return { lines = lines, wins = wins }
"""

FITS = """
local top, cursor = ...
local rows = vim.api.nvim_win_text_height(WINDOWS[2], { start_row = top - 1, end_row = cursor - 1 }).all
return rows <= vim.api.nvim_win_get_height(WINDOWS[2])
"""
"""Whether the lines from the old top line to the cursor's still have room in the second window."""

LOOK = """
local row = ...
vim.api.nvim_win_call(WINDOWS[2], function()
  vim.fn.winrestview({ lnum = row, topline = math.max(1, row - 3) })
end)
"""
"""The user looks at another place in the second window."""


class Model:
    """What the transcript must be."""

    def __init__(self, seed: int, windows: int) -> None:
        self.random = random.Random(seed)
        self.blocks: dict[int, list[str]] = {0: ["head", ""]}
        self.folds: dict[int, list[list[Any]]] = {}
        self.tails: dict[int, int] = {0: 1}
        self.open: set[tuple[int, int, int]] = set()  # window, block, fold
        self.windows = windows
        self.serial = 0

    def text(self, block: int) -> str:
        self.serial += 1
        return f"b{block} s{self.serial} " + "x" * self.random.choice([0, 0, 5, 30, 150])

    def some_folds(self, count: int) -> list[list[Any]]:
        kind = self.random.randrange(4)
        if count < 2 or kind == 0:
            return []
        if kind == 1 and count > 5:
            return [[0, 1, True], [3, count - 1, True]]
        first = self.random.randrange(count - 1)
        return [[first if kind == 3 else 0, count - 1, self.random.random() < 0.8]]

    def op(self) -> list[Any]:
        known = [ident for ident in self.blocks if ident]
        choice = self.random.random()
        if not known or choice < 0.25:
            ident = max(self.blocks) + 1
            lines = [self.text(ident) for _ in range(self.random.choice([1, 1, 2, 3, 8]))]
            return self.set(ident, lines, self.random.choice([0, 1]))
        ident = self.random.choice(known[-6:])
        tail = self.tails[ident]
        content = self.blocks[ident][: len(self.blocks[ident]) - tail]
        if choice < 0.55:
            return self.add(ident, content, tail)
        if choice < 0.65:
            self.blocks[ident][0] = self.text(ident)
            return ["header", ident, self.blocks[ident][:1], {"marks": []}]
        new = [line for line in content if self.random.random() < 0.7] or [self.text(ident)]
        for _ in range(self.random.choice([0, 1, 1, 4])):
            new.insert(self.random.randrange(len(new) + 1), self.text(ident))
        if self.random.random() < 0.3:
            new[0] = self.text(ident)
        keep = self.random.random() < 0.3 and len(new) == len(content)
        return self.set(ident, new, tail, self.folds.get(ident, []) if keep else None)

    def set(self, ident: int, content: list[str], tail: int, folds: list[Any] | None = None) -> list[Any]:
        folds = self.some_folds(len(content)) if folds is None else folds
        old = len(self.folds.get(ident, []))
        for window in range(self.windows):
            for i, fold in enumerate(folds):
                if i >= old and not fold[2]:
                    self.open.add((window, ident, i))
            for i in range(len(folds), old):
                self.open.discard((window, ident, i))
        self.blocks[ident], self.folds[ident] = content + [""] * tail, folds
        self.tails[ident] = tail
        return ["set", ident, content + [""] * tail, {"kind": "row", "tail": tail, "folds": folds}]

    def add(self, ident: int, content: list[str], tail: int) -> list[Any]:
        lines = [self.random.choice(["", "+"])] + [
            self.text(ident) for _ in range(self.random.choice([0, 1, 3]))
        ]
        new = [*content[:-1], content[-1] + lines[0], *lines[1:]]
        folds = [list(fold) for fold in self.folds.get(ident, [])]
        for fold in folds:
            if fold[1] == len(content) - 1:
                fold[1] = len(new) - 1
        self.blocks[ident], self.folds[ident] = new + [""] * tail, folds
        return ["add", ident, lines, {"folds": folds}]

    def expected(self, window: int) -> tuple[list[int], list[int]]:
        levels: list[int] = []
        closed: list[int] = []
        for ident, lines in self.blocks.items():
            start = len(levels)
            levels += [0] * len(lines)
            closed += [0] * len(lines)
            for i, (first, last, *_) in enumerate(self.folds.get(ident, [])):
                levels[start + first : start + last + 1] = [1] * (last - first + 1)
                if (window, ident, i) not in self.open:
                    closed[start + first] = start + last + 1
        return levels, closed

    def place(self, line: int) -> tuple[int, str]:
        """The block and text of a line (from 1)."""
        for ident, lines in self.blocks.items():
            if line <= len(lines):
                return ident, lines[line - 1]
            line -= len(lines)
        raise AssertionError(line)

    def line_of(self, text: str) -> int | None:
        lines = [line for block in self.blocks.values() for line in block]
        return lines.index(text) + 1 if lines.count(text) == 1 else None


def toggle(screen: Screen, model: Model) -> None:
    """The user opens or closes a fold in one of the windows."""
    having = [(ident, i) for ident, folds in model.folds.items() for i in range(len(folds))]
    if not having:
        return
    ident, i = model.random.choice(having)
    window = model.random.randrange(model.windows)
    line = 1 + model.folds[ident][i][0]
    for other, lines in model.blocks.items():
        if other == ident:
            break
        line += len(lines)
    key = (window, ident, i)
    command = "foldclose" if key in model.open else "foldopen"
    model.open ^= {key}
    screen.lua(
        "local w, c = ... vim.api.nvim_win_call(WINDOWS[w], function() vim.cmd(c) end)",
        window + 1,
        f"{line}{command}",
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mode", ["code", "insert", "chat", "visual"])
def test_random_frames(start_screen: StartScreen, seed: int, mode: str) -> None:
    """Two windows of one tab page and one of another; the second window is not at the end.

    The user types in another window, or is in the second one, perhaps selecting.
    """
    screen = start_screen(size=(140, 30))
    pane = start_chat(screen)
    screen.lua(
        """
        local buf, win = ...
        vim.api.nvim_set_current_win(win)
        vim.cmd('split')
        local second = vim.api.nvim_get_current_win()
        vim.cmd('tab split')
        WINDOWS = { win, second, vim.api.nvim_get_current_win() }
        vim.cmd('tabfirst | 1wincmd w')
        """,
        pane.buf,
        pane.win,
    )
    if mode == "insert":
        screen.keys("i")
    elif mode != "code":
        screen.lua("vim.api.nvim_set_current_win(WINDOWS[2])")
    model = Model(seed, 3)
    model.blocks[0] = screen.lines(pane.buf)
    for step in range(120):
        before = screen.lua(STATE, pane.buf)["wins"] if step else []
        places = [(model.place(w["top"])[1], model.place(w["cursor"])[1]) for w in before]
        held = [w["levels"][w["top"] - 1] == 0 for w in before]
        ops = [model.op() for _ in range(model.random.choice([1, 1, 2, 5]))]
        assert frame(screen, *ops)["gone"] == []
        state = screen.lua(STATE, pane.buf)
        assert state["lines"] == [line for lines in model.blocks.values() for line in lines], (step, ops)
        for window, seen in enumerate(state["wins"]):
            levels, closed = model.expected(window)
            assert seen["levels"] == levels, (step, window, ops)
            assert seen["closed"] == closed, (step, window, ops)
            if window != 1:
                assert seen["cursor"] == len(levels), (step, window, ops)
                assert seen["bottom"] == len(levels), (step, window, ops)
            elif step > 20 and held[1]:
                top, cursor = (model.line_of(text) for text in places[1])
                fits = top and cursor and screen.lua(FITS, top, cursor)
                if top and levels[top - 1] == 0 and fits:
                    assert seen["top"] == top, (step, ops)
                if cursor and levels[cursor - 1] == 0:
                    assert seen["cursor"] == cursor, (step, ops)
        if step >= 20 and step % 7 == 6:
            row = 2 + model.random.randrange(len(state["lines"]) - 4)
            screen.lua(LOOK, row)
            if mode == "visual":
                screen.keys("<Esc>v")
        if step % 3 == 0:
            toggle(screen, model)
