"""A Neovim with a user interface attached: what the user sees, read from linegrid events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

from .neovim import Neovim, Options
from .poll import PATIENCE, eventually

Cell = tuple[str, int]
"""Text of one screen cell (empty: right half of a wide character) and its highlight id."""


class Screen(Neovim):
    """An embedded Neovim with a screen of ``options.size`` cells.

    Rows and columns are 0-based screen cells.
    """

    UI = True

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.width, self.height = options.size
        self.cells: list[list[Cell]] = []
        self.cursor = (0, 0)
        self.mode = "normal"
        self.flushes = 0
        self._attrs: dict[int, dict[str, Any]] = {}
        self._groups: dict[int, list[str]] = {}
        self.default_colors: dict[str, int] = {}
        # hlstate adds the names of highlight groups to the attributes.
        self.api.ui_attach(self.width, self.height, {"rgb": True, "ext_linegrid": True, "ext_hlstate": True})
        eventually(lambda: self.pump().flushes, message="no first screen")

    def text(self) -> str:
        """Return the screen as text, one line a row, without spaces at the ends of rows."""
        return "\n".join(self.rows())

    def rows(self) -> list[str]:
        """Return the rows of the screen without spaces at their ends."""
        self.pump()
        return ["".join(text for text, _ in row).rstrip() for row in self.cells]

    def wait(self, wanted: str | Callable[[str], object], timeout: float = PATIENCE) -> str:
        """Wait until the screen has this text (or the function says so of the text) and return the screen."""
        seen: Callable[[str], object] = (lambda text: wanted in text) if isinstance(wanted, str) else wanted
        eventually(
            lambda: seen(self.text()), timeout, lambda: f"not on the screen: {wanted!r}\n{self.text()}"
        )
        return self.text()

    def attr_at(self, row: int, col: int) -> dict[str, Any]:
        """Return the attributes of a cell (``foreground``, ``bold``, …), empty for the default."""
        self.pump()
        return self._attrs.get(self.cells[row][col][1], {})

    def groups_at(self, row: int, col: int) -> list[str]:
        """Return the names of the highlight groups of a cell, lowest priority first."""
        self.pump()
        return self._groups.get(self.cells[row][col][1], [])

    def find(self, text: str) -> tuple[int, int]:
        """Return row and column of the first place that shows ``text``; AssertionError if none does."""
        self.pump()
        for row, cells in enumerate(self.cells):
            line, starts = "", []
            for col, (cell, _) in enumerate(cells):
                starts.extend([col] * len(cell))
                line += cell
            at = line.find(text)
            if at >= 0:
                return row, starts[at]
        raise AssertionError(f"not on the screen: {text!r}\n{self.text()}")

    def resize(self, width: int, height: int) -> None:
        """Change the size of the screen and wait for it."""
        self.api.ui_try_resize(width, height)
        eventually(lambda: (self.pump().width, self.height) == (width, height))

    def pump(self) -> Self:
        """Take in the screen events that have arrived, and return the screen."""
        self.api.get_mode()  # answered even under a prompt; the events before it are then here
        queue, others = self.nvim._session._pending_messages, []
        while queue:
            message = queue.popleft()
            if message.name == "redraw":
                self._redraw(message.args)
            else:
                others.append(message)
        queue.extend(others)
        return self

    def _redraw(self, events: Iterable[list[Any]]) -> None:
        for name, *calls in events:
            handler = getattr(self, f"_on_{name}", None)
            if handler is not None:
                for arguments in calls:
                    handler(*arguments)

    def _on_flush(self) -> None:
        self.flushes += 1

    def _on_mode_change(self, mode: str, _index: int) -> None:
        self.mode = mode

    def _on_default_colors_set(self, fg: int, bg: int, sp: int, *_cterm: int) -> None:
        self.default_colors = {"foreground": fg, "background": bg, "special": sp}

    def _on_hl_attr_define(
        self, ident: int, rgb: dict[str, Any], _cterm: Any, info: list[dict[str, Any]]
    ) -> None:
        self._attrs[ident] = rgb
        self._groups[ident] = [item.get("hi_name") or item.get("ui_name") or "" for item in info]

    def _on_grid_resize(self, _grid: int, width: int, height: int) -> None:
        old, blank = self.cells, (" ", 0)
        self.width, self.height = width, height
        self.cells = [
            [old[row][col] if row < len(old) and col < len(old[row]) else blank for col in range(width)]
            for row in range(height)
        ]

    def _on_grid_clear(self, _grid: int) -> None:
        self.cells = [[(" ", 0)] * self.width for _ in range(self.height)]

    def _on_grid_cursor_goto(self, _grid: int, row: int, col: int) -> None:
        self.cursor = (row, col)

    def _on_grid_line(
        self, _grid: int, row: int, col: int, cells: list[list[Any]], _wrap: bool = False
    ) -> None:
        highlight = 0
        for text, *rest in cells:
            highlight = rest[0] if rest else highlight  # left out: as the cell before
            count = rest[1] if len(rest) > 1 else 1
            self.cells[row][col : col + count] = [(text, highlight)] * count
            col += count

    def _on_grid_scroll(
        self, _grid: int, top: int, bottom: int, left: int, right: int, rows: int, _cols: int
    ) -> None:
        targets = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in targets:
            self.cells[row][left:right] = self.cells[row + rows][left:right]
