"""A block of lines with its decoration, in the form of the frame operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from acp_nvim.text.sanitise import LINE_BYTES, byte_length, fitting, split_long
from acp_nvim.text.sanitise import lines as safe_lines

from .icons import Icons

#: A piece of a line and its highlight group, "" for none.
Segment: TypeAlias = tuple[str, str]
Mark: TypeAlias = tuple[int, int, int, str]  # row, first byte column, end column, group
#: ``["set", id, lines, deco]``, ``["add", id, lines, deco]``, or ``["header", id, [its first line], deco]``.
Op: TypeAlias = list[Any]
Kind: TypeAlias = Literal["head", "user", "answer", "think", "row", "plan", "end", "note"]

#: What an operation weighs besides its lines, and each of its marks, folds, fences and links, in bytes.
OP_BYTES = 48
DECO_BYTES = 16
#: Bytes of one line of a text that is shown whole; a longer one goes on in the next.
TEXT_BYTES = 8000
#: Bytes of any line: what is longer, as an error of a megabyte, is cut. The bar before it still fits.
MOST_BYTES = LINE_BYTES - 16
_CUT = "..."


class Fold(Struct):
    """Rows of a fold; ``text`` None: the first line as it is, and the fold mark."""

    first: int
    last: int
    closed: bool = True
    text: Sequence[Segment] | None = None

    def wire(self) -> list[Any]:
        base: list[Any] = [self.first, self.last, self.closed]
        return base if self.text is None else [*base, [list(segment) for segment in self.text]]


class Lines(Struct):
    """Lines in the making, with their marks and links (``link``)."""

    lines: list[str] = []
    marks: list[Mark] = []
    links: list[list[Any]] = []

    def put(self, *segments: Segment) -> int:
        """Add a line made of segments, cut at ``MOST_BYTES``; return its row."""
        row, col = len(self.lines), 0
        if sum(byte_length(text) for text, _ in segments) > MOST_BYTES:
            segments = _cut(segments)
        for text, group in segments:
            end = col + byte_length(text)
            if group and end > col:
                self.marks.append((row, col, end, group))
            col = end
        self.lines.append("".join(text for text, _ in segments))
        return row

    def put_text(self, text: str, group: str = "", prefix: str = "") -> None:
        """Add all of a text in safe lines, each behind a prefix if it is not blank."""
        for line in safe_lines(text.strip("\r\n")) if text.strip() else ():
            for piece in split_long(line, TEXT_BYTES):
                self.put((prefix + piece if piece else "", group))

    def extend(self, other: Lines, prefix: str = "", start: int = 0) -> None:
        """Add the lines of another from ``start`` on, each behind a prefix."""
        at, shift = len(self.lines) - start, byte_length(prefix)
        self.lines.extend(prefix + line for line in other.lines[start:])
        self.marks.extend(
            (row + at, col + shift, end + shift, group)
            for row, col, end, group in other.marks
            if row >= start
        )
        self.links.extend([row + at, *rest] for row, *rest in other.links if row >= start)


def _cut(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The beginning of them, and that it is cut."""
    kept: list[Segment] = []
    left = MOST_BYTES - len(_CUT)
    for text, group in segments:
        kept.append((text[: fitting(text, left)], group))
        left -= byte_length(kept[-1][0])
        if len(kept[-1][0]) < len(text):
            break
    return (*kept, (_CUT, ""))


def link(row: int, *place: int) -> list[Any]:
    """What ``<CR>`` opens on a row that stands for content: its place in its item (``Entry.content``)."""
    return [row, {"item": list(place)}]


class Drawn(Lines):
    """A whole block. Rows and columns are relative to it, from 0; columns are bytes."""

    kind: Kind = "note"
    lead: int = 0
    tail: int = 0
    folds: list[Fold] = []
    fences: list[list[Any]] = []
    spin: list[int] = []
    since: list[tuple[int, int]] = []
    body: list[tuple[int, int, str]] = []
    diffs: list[list[Any]] = []
    terminals: list[tuple[int, int, int]] = []
    question: str | None = None

    def put_body(self, body: Lines, kind: str, icons: Icons, start: int = 0) -> None:
        """Add body lines behind the bar."""
        first = len(self.lines)
        self.extend(body, bar(icons), start)
        if len(self.lines) > first:
            self.body.append((first, len(self.lines) - 1, kind))

    def op(self, block_id: int) -> Op:
        """The operation that writes this block. Leading and trailing blanks are added here."""
        lead = self.lead
        deco: dict[str, Any] = {"kind": self.kind, "lead": lead, "tail": self.tail}
        if self.marks:
            deco["marks"] = [[row + lead, col, end, group] for row, col, end, group in self.marks]
        if self.folds:
            deco["folds"] = [Fold(f.first + lead, f.last + lead, f.closed, f.text).wire() for f in self.folds]
        if self.fences:
            deco["fences"] = [[fence[0] + lead, *fence[1:]] for fence in self.fences]
        if self.spin:
            deco["spin"] = [row + lead for row in self.spin]
        if self.since:
            deco["since"] = [[row + lead, ms] for row, ms in self.since]
        if self.links:
            deco["links"] = [[link[0] + lead, *link[1:]] for link in self.links]
        if self.body:
            deco["body"] = [[first + lead, last + lead, kind] for first, last, kind in self.body]
        if self.diffs:
            deco["diffs"] = [[first + lead, last + lead, *paths] for first, last, *paths in self.diffs]
        if self.terminals:
            deco["terminals"] = [
                [first + lead, last + lead, number] for first, last, number in self.terminals
            ]
        if self.question is not None:
            deco["question"] = self.question
        return ["set", block_id, [""] * lead + self.lines + [""] * self.tail, deco]


def bar(icons: Icons) -> str:
    """What every body line begins with."""
    return f"  {icons.bar} "


def op_bytes(op: Op) -> int:
    """About how many bytes an operation takes on its way."""
    deco = op[3] or {}
    extras = sum(len(value) for value in deco.values() if isinstance(value, list))
    return OP_BYTES + extras * DECO_BYTES + sum(byte_length(line) + 3 for line in op[2])


def op_events(op: Op) -> int:
    """What an operation costs Neovim besides its bytes: itself, its folds and its fences."""
    deco = op[3] or {}
    return 1 + len(deco.get("folds", ())) + len(deco.get("fences", ()))
