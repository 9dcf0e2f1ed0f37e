"""The lines and words of a change that is shown in windows beside each other (pure)."""

from __future__ import annotations

from itertools import islice

from acp_nvim.text.diff import LineDiff
from acp_nvim.text.sanitise import byte_length, clean, hidden, split_long

from .block import Segment
from .look import plural

#: Above so many lines, characters, or characters of one changed line, only hunks are shown. Above so many
#: changes too, and so many of both together: Neovim's diff mode looks through all changes for each line. It
#: keeps a key waiting for 10 ms with 100 changes in 20,000 lines or 400 in 5,000, for 50 with 900 in 20,000.
MAX_LINES = 20_000
MAX_CHANGES = 1_000
MAX_LINES_BY_CHANGES = 2_000_000
MAX_CHARS = 4_000_000
MAX_LINE = 20_000
#: Lines around a change when only hunks are shown.
CONTEXT = 3
#: Characters that are not seen and get a mark; a text with more of them is not written by people.
MOST_HIDDEN = 1000
BOM = "\ufeff"


def counted(verb: str, compared: LineDiff | None) -> list[Segment]:
    segments: list[Segment] = [(verb, "")]
    if compared is None:
        return segments
    if compared.added:
        segments += [(" ", ""), (f"+{compared.added}", "AcpAdd")]
    if compared.removed:
        segments += [(" ", ""), (f"-{compared.removed}", "AcpDelete")]
    if not compared.changes:
        segments += [(", no line changes", "AcpNote")]
    return segments


def ends_notes(old: str, new: str) -> list[str]:
    """What two texts differ in that a diff of lines does not show."""
    if not old or not new:
        return []
    notes = []
    kinds = [buffer_lines(text)[1] if "\n" in text or "\r" in text else "" for text in (old, new)]
    if all(kinds) and kinds[0] != kinds[1]:
        names = {"dos": "CRLF", "unix": "LF", "mac": "CR"}
        notes.append(f"line ends {names[kinds[0]]} to {names[kinds[1]]}")
    ends = [text.endswith(("\n", "\r")) for text in (old, new)]
    if ends[0] != ends[1]:
        notes.append("adds the final newline" if ends[1] else "no final newline")
    if old.startswith(BOM) != new.startswith(BOM):
        notes.append("without BOM" if old.startswith(BOM) else "with BOM")
    return notes


def buffer_lines(text: str) -> tuple[list[str], str]:
    """The lines of a buffer that holds this file, and its 'fileformat'. One line at least."""
    text = text.removeprefix(BOM)
    ends = "unix"
    count = text.count("\n")
    if count and text.count("\r\n") == count:
        ends, text = "dos", text.replace("\r\n", "\n")
    elif not count and "\r" in text:
        ends, text = "mac", text.replace("\r", "\n")
    return text.removesuffix("\n").split("\n"), ends


def bounded(lines: list[str]) -> list[str]:
    """So many lines that showing them costs nothing, and of each so much."""
    kept = [line if len(line) <= MAX_LINE else line[:MAX_LINE] for line in lines[:MAX_LINES]]
    more = len(lines) - len(kept)
    return [*kept, f"({plural(more, 'more line')})"] if more else kept


def hidden_in(lines: list[str]) -> list[tuple[int, int, str]]:
    """What is not seen in the lines: row and byte from 0, and what stands for it."""
    found: list[tuple[int, int, str]] = []
    for row, line in enumerate(lines):
        if not line.isascii():
            found += [(row, byte_length(line[:at]), shown) for at, shown in islice(hidden(line), MOST_HIDDEN)]
            if len(found) >= MOST_HIDDEN:
                break
    return found[:MOST_HIDDEN]


def too_large(old: str, new: str, compared: LineDiff) -> bool:
    lines, changes = max(len(compared.old), len(compared.new)), len(compared.changes)
    if lines > MAX_LINES or len(old) + len(new) > MAX_CHARS:
        return True
    if changes > MAX_CHANGES or lines * changes > MAX_LINES_BY_CHANGES:
        return True
    for change in compared.changes:
        rows = (*compared.old[change.a : change.b], *compared.new[change.c : change.d])
        if any(len(row) > MAX_LINE for row in rows):
            return True
    return False


def hunk_lines(compared: LineDiff | None) -> list[str]:
    if compared is None:
        return ["The texts are too large to be compared."]
    lines: list[str] = []
    hunks = compared.hunks(CONTEXT)
    for number, hunk in enumerate(hunks):
        for line in compared.unified(hunk):
            if len(line) > MAX_LINE:
                cut = split_long(clean(line[:MAX_LINE]))[0]
                lines.append(f"{cut} ({len(line) - MAX_LINE:,} more characters)")
            else:
                lines.append(clean(line))
        if len(lines) >= MAX_LINES:
            rest = len(hunks) - number - 1
            more = len(lines) - MAX_LINES
            del lines[MAX_LINES:]
            if more or rest:
                lines.append(f"({plural(rest, 'more hunk')})" if rest else f"({plural(more, 'more line')})")
            break
    return lines or ["No line changes."]


def first_change(compared: LineDiff) -> list[int]:
    """The line of the first change in each text, from 1; at a removal the line before it."""
    if not compared.changes:
        return [1, 1]
    change = compared.changes[0]
    left = change.a + 1 if change.b > change.a else change.a
    right = change.c + 1 if change.d > change.c else change.c
    return [max(left, 1), max(right, 1)]


def line_in(compared: LineDiff, line: int) -> int:
    """The line of the new text, from 1, that stands where this line of the old one does."""
    at, moved = line - 1, 0
    for change in compared.changes:
        if change.a > at:
            break
        if at < change.b:
            return max(min(change.c + at - change.a, change.d - 1), 0) + 1
        moved = change.d - change.b
    return max(at + moved, 0) + 1
