"""What is known of a change before it is shown, and what is shown of it (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from acp_nvim.session.asked import PathSubject
from acp_nvim.session.content import Change, Diff
from acp_nvim.text.diff import LineDiff

from .block import Lines, Segment
from .look import plural
from .outcome import Hints, Now
from .sides import buffer_lines, counted, hunk_lines

Source: TypeAlias = Literal["text", "buffer"]


class Case(Struct, frozen=True):
    """One changed file. ``diffs`` are those of ``path``; ``seen`` those the user was asked about.

    ``state`` is the word of the call's row for what came of it, "" while it is open. ``files``: all that the
    call changes, in the agent's order. ``before``: the file at the old path, for a move or a copy.
    ``conflict``: our open question about unsaved edits that are in the way of this change.
    """

    path: str
    diffs: Sequence[Diff]
    now: Now
    seen: Sequence[Diff] = ()
    before: Now | None = None
    hints: Hints = field(default_factory=Hints)
    done: bool = False
    state: str = ""
    files: Sequence[str] = ()
    conflict: PathSubject | None = None

    @property
    def change(self) -> Change:
        for each in reversed(self.diffs):
            for change in each.changes:
                if change.path == self.path:
                    return change
        return Change("modify", self.path)


class Side(Struct):
    """A window. ``what`` is the first word of its winbar, ``notes`` stand at its right.

    ``source``: ``buffer`` means the user's own, so no lines are needed. ``syntax``: file, diff or none.
    ``group``: for the whole text. ``ends``: the file format the lines were cut by. ``hidden``: what is not
    seen in the lines, as ``hidden_in`` tells.
    """

    what: str
    path: str
    shown: str
    lines: list[str] = []
    source: Source = "text"
    notes: list[Segment] = []
    syntax: Literal["file", "diff", "none"] = "file"
    group: str = ""
    ends: str = "unix"
    hidden: list[tuple[int, int, str]] = []


class Proposal(Struct):
    """One to three windows. ``at``: the line from 1 of the first change in each.

    ``title`` and ``card`` (one line) replace those of the question's card, where the agent's words for the
    change are not what it is.
    """

    op: str
    path: str
    sides: list[Side]
    at: list[int]
    numbers: bool = True
    card: Lines | None = None
    title: str = ""

    def payload(self) -> dict[str, Any]:
        """For ``acp.diff.request.answer``; the lines go by themselves, in pieces."""
        made: dict[str, Any] = {}
        if self.card is not None:
            made["card"] = {
                "title": self.title,
                "line": self.card.lines[0],
                "marks": [list(mark) for mark in self.card.marks],
            }
        return made | {
            "op": self.op,
            "path": self.path,
            "at": self.at,
            "numbers": self.numbers,
            "sides": [
                {
                    "what": side.what,
                    "path": side.path,
                    "shown": side.shown,
                    "source": side.source,
                    "notes": [list(note) for note in side.notes],
                    "syntax": side.syntax,
                    "group": side.group,
                    "ends": side.ends,
                    "hidden": [list(each) for each in side.hidden],
                }
                for side in self.sides
            ],
        }


def remarks(case: Case, words: Sequence[str]) -> list[Segment]:
    """What else stands at the right of a winbar: warnings, what came of it, and that it is not all."""
    segments: list[Segment] = []
    for word in words:
        segments += [("  ", ""), (word, "AcpWarn")]
    if case.state:
        segments += [("  ", ""), (case.state, "AcpNote")]
    if len(case.files) > 1 and case.path in case.files:
        which = f"file {list(case.files).index(case.path) + 1} of {len(case.files)}, :AcpDiff"
        segments += [("  ", ""), (which, "AcpNote")]
    return segments


def hunks_only(
    side: Side, verb: str, old: str, new: str, compared: LineDiff | None, more: Sequence[Segment]
) -> Proposal:
    """One window with hunks: the texts are too large for two."""
    count = max(len(buffer_lines(text)[0]) for text in (old, new))
    side.lines, side.syntax = hunk_lines(compared), "diff"
    label: list[Segment] = [("hunks only, ", "AcpNote"), (plural(count, "line"), "AcpNote")]
    side.notes = [*counted(verb, compared), ("  ", ""), *label, *more]
    return Proposal("large", side.path, [side], [1])
