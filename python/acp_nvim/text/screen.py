"""What a program's output looks like at its end: its progress bars drawn over, its colours dropped.

A terminal without colours, wider and higher than any screen: a carriage return, a backspace, moves of the
cursor and erasing are followed, all else that is no text is dropped. Columns count characters. What scrolled
out of the text that is looked at cannot be reached by the cursor.
"""

from __future__ import annotations

import re

from .sanitise import clean, split_long

TAIL = 65536
"""Characters of the end that are looked at for the last lines."""
WIDEST = 8192
"""Columns of the terminal: what is longer goes on in the next line. So each sequence costs a line at most."""
HIGHEST = 1000
"""Lines of it: the cursor reaches, and erases, none above the last so many."""

# Strings that are no text end with BEL or ST, with the next escape, or with the line. Then: sequences that
# are followed, all others, controls, and text.
_TOKEN = re.compile(
    "(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|(?:\x1b\\[|\x9b)(?P<arguments>[0-9;]*)(?P<move>[A-HJKXdf])"
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|\x1b[ -/]*[0-~]?"
    "|(?P<control>[\x00-\x08\n\x0b-\x1f\x7f])"
    "|(?P<text>[^\x00-\x08\n\x0b-\x1f\x7f\x90\x98\x9b\x9d-\x9f]+)"
    "|[\x90\x98\x9b\x9d-\x9f]"
)

_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\x90\x98\x9b\x9d-\x9f]")


def output(text: str, last: int | None = None) -> list[str]:
    """The lines of a program's output as they are now, safe, with tabs expanded.

    ``last``: only that many lines of the end. No line is longer than ``sanitise.LINE_BYTES``.
    """
    if last is not None and len(text) > TAIL:
        text = text[-TAIL:].partition("\n")[2] or text[-TAIL:]
    text = text.rstrip("\r\n")
    if not text:
        return []
    rows = _draw(text) if _NO_TEXT.search(text) else text.split("\n")
    while rows and not rows[-1].strip() and len(rows) > 1:
        rows.pop()
    if last is not None:
        rows = rows[-last:]
    shown: list[str] = []
    for row in rows:
        shown.extend(split_long(clean(row).expandtabs(8)))
    return shown if last is None else shown[-last:]


def _draw(text: str) -> list[str]:
    rows, row, column = [""], 0, 0
    for match in _TOKEN.finditer(text):
        written, control, move = match["text"], match["control"], match["move"]
        if written is not None:
            row, column = _write(rows, row, column, written)
        elif control == "\n":
            row, column = row + 1, 0
            if row == len(rows):
                rows.append("")
        elif control == "\r":
            column = 0
        elif control == "\b":
            column = max(column - 1, 0)
        elif move is not None:
            row, column = _follow(rows, row, column, move, match["arguments"])
    return rows


def _write(rows: list[str], row: int, column: int, text: str) -> tuple[int, int]:
    """Write over what stands there; returns where the cursor is."""
    at = 0
    while True:
        part = text[at : at + WIDEST - column]
        line = rows[row].ljust(column)
        rows[row] = line[:column] + part + line[column + len(part) :]
        at, column = at + len(part), column + len(part)
        if at == len(text):
            return row, column
        row, column = row + 1, 0
        if row == len(rows):
            rows.append("")


def _follow(rows: list[str], row: int, column: int, move: str, arguments: str) -> tuple[int, int]:
    """Move or erase; returns where the cursor is."""
    numbers = [int(each[:5]) if each else 0 for each in arguments.split(";")]
    first = numbers[0]
    count = max(first, 1)
    match move:
        case "K":
            rows[row] = _erased(rows[row], column, first)
        case "X":
            line = rows[row]
            rows[row] = line[:column] + " " * min(count, len(line) - column) + line[column + count :]
        case "J":
            _erase_rows(rows, row, column, first)
        case "A" | "F":
            row = max(row - count, len(rows) - HIGHEST, 0)
        case "B" | "E":
            row = min(row + count, len(rows) - 1)
        case "C":
            column = min(column + count, WIDEST)
        case "D":
            column = max(column - count, 0)
        case "G":
            column = min(count - 1, WIDEST)
        case _:  # H, f, d: to a place of the screen, whose top nobody knows here
            if move != "d":
                column = min(max(numbers[1] if len(numbers) > 1 else 1, 1) - 1, WIDEST)
    if move in "EF":
        column = 0
    return row, column


def _erased(line: str, column: int, how: int) -> str:
    if how == 0:
        return line[:column]
    if how == 1:
        return " " * min(column + 1, len(line)) + line[column + 1 :]
    return "" if how == 2 else line


def _erase_rows(rows: list[str], row: int, column: int, how: int) -> None:
    """Erase what is below or above the cursor; all of it (2) leaves the lines, as scrolled away."""
    if how == 0:
        rows[row] = rows[row][:column]
        del rows[row + 1 :]
    elif how == 1:
        top = max(len(rows) - HIGHEST, 0)
        rows[top:row] = [""] * (row - top)
        rows[row] = _erased(rows[row], column, 1)
