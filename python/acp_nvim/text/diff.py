"""Line diff in bounded time, and its unified form (pure).

``difflib`` alone is quadratic and worse on large texts. Here the common ends go first, then lines that occur
once on both sides anchor the rest (patience), and difflib only sees what is small. A part that is neither
anchored nor small counts as replaced.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

#: Product of the two sides' lines up to which difflib may look at one gap, and the sum of all of them.
GAP_CELLS = 60_000
TOTAL_CELLS = 3_000_000
#: Lines of both sides together above which no diff is made (``too large``).
MAX_LINES = 400_000

NO_NEWLINE = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class Change:
    """Lines ``old[a:b]`` become ``new[c:d]``; indices from 0."""

    a: int
    b: int
    c: int
    d: int


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changes that stand together, with the lines around them: ``old[a:b]`` and ``new[c:d]``."""

    a: int
    b: int
    c: int
    d: int
    changes: tuple[Change, ...]

    @property
    def header(self) -> str:
        """``@@ -a,b +c,d @@``, counted from 1; an empty side names the line before it."""
        return f"@@ -{_range(self.a, self.b)} +{_range(self.c, self.d)} @@"


@dataclass(frozen=True, slots=True)
class LineDiff:
    """Both sides as lines with their endings, and the changes in order."""

    old: list[str]
    new: list[str]
    changes: tuple[Change, ...]

    @property
    def added(self) -> int:
        """Lines of the new side that are not in the old one."""
        return sum(change.d - change.c for change in self.changes)

    @property
    def removed(self) -> int:
        """Lines of the old side that are not in the new one."""
        return sum(change.b - change.a for change in self.changes)

    def hunks(self, context: int = 3) -> list[Hunk]:
        """Group the changes; those with at most twice ``context`` lines between them are one hunk."""
        groups: list[list[Change]] = []
        for change in self.changes:
            if groups and change.a - groups[-1][-1].b <= 2 * context:
                groups[-1].append(change)
            else:
                groups.append([change])
        found = []
        for group in groups:
            first, last = group[0], group[-1]
            before = min(context, first.a)
            after = min(context, len(self.old) - last.b)
            found.append(
                Hunk(first.a - before, last.b + after, first.c - before, last.d + after, tuple(group))
            )
        return found

    def unified(self, hunk: Hunk) -> list[str]:
        """The hunk's header and lines, each with its sign.

        A missing last newline is only said where the two texts differ in it: fragments seldom end in one.
        """
        body = [hunk.header]
        at = hunk.a
        for change in hunk.changes:
            body.extend(_signed(" ", self.old[at : change.a]))
            body.extend(_signed("-", self.old[change.a : change.b]))
            body.extend(_signed("+", self.new[change.c : change.d]))
            at = change.b
        body.extend(_signed(" ", self.old[at : hunk.b]))
        if self.old and self.new and not (self.old[-1].endswith("\n") or self.new[-1].endswith("\n")):
            return [line for line in body if line != NO_NEWLINE]
        return body


def split(text: str) -> list[str]:
    """Split after newlines only: other line ends of Unicode are part of their line."""
    parts = text.split("\n")
    last = parts.pop()
    found = [part + "\n" for part in parts]
    if last:
        found.append(last)
    return found


def diff(old: str, new: str) -> LineDiff | None:
    """Compare two texts by line; None when they are too large for it."""
    if old.count("\n") + new.count("\n") > MAX_LINES:
        return None
    return diff_lines(split(old), split(new))


def diff_lines(old: list[str], new: list[str]) -> LineDiff:
    """Compare two lists of lines."""
    return LineDiff(old, new, tuple(_merged(_changes(old, new))))


def count_patch(patch: str) -> tuple[int, int]:
    """Lines added and removed by a unified or git patch, counted within its hunks only."""
    added = removed = old_left = new_left = 0
    for line in patch.split("\n"):
        if old_left <= 0 and new_left <= 0:
            match = _HUNK.match(line)
            if match:
                old_left, new_left = (int(n) if n is not None else 1 for n in match.groups())
            continue
        if line.startswith("+"):
            added, new_left = added + 1, new_left - 1
        elif line.startswith("-"):
            removed, old_left = removed + 1, old_left - 1
        elif not line.startswith("\\"):
            old_left, new_left = old_left - 1, new_left - 1
    return added, removed


#: Nobody counts so many lines, and Python does not read a number of any length.
_HUNK = re.compile(r"@@ -\d{1,15}(?:,(\d{1,15}))? \+\d{1,15}(?:,(\d{1,15}))? @@")


def _range(first: int, end: int) -> str:
    count = end - first
    start = first + 1 if count else first
    return str(start) if count == 1 else f"{start},{count}"


def _signed(sign: str, rows: Sequence[str]) -> list[str]:
    body = []
    for row in rows:
        body.append(sign + row.removesuffix("\n"))
        if not row.endswith("\n"):
            body.append(NO_NEWLINE)
    return body


def _changes(old: list[str], new: list[str]) -> list[Change]:
    found: list[Change] = []
    budget = TOTAL_CELLS
    parts = [(0, len(old), 0, len(new))]  # what is left to compare, the first last
    while parts:
        a, b, c, d = _trimmed(old, new, *parts.pop())
        if a == b and c == d:
            continue
        if a == b or c == d:
            found.append(Change(a, b, c, d))
            continue
        cells = (b - a) * (d - c)
        if cells == 1:
            found.append(Change(a, b, c, d))
            continue
        if cells <= GAP_CELLS // 16 and cells <= budget:
            budget -= cells
            found.extend(_small(old, new, a, b, c, d))
            continue
        anchors = _anchors(old, new, a, b, c, d)
        if anchors:
            gaps = []
            i, k = a, c
            for x, y in anchors:
                gaps.append((i, x, k, y))
                i, k = x + 1, y + 1
            gaps.append((i, b, k, d))
            parts.extend(gap for gap in reversed(gaps) if gap[0] < gap[1] or gap[2] < gap[3])
        elif cells <= GAP_CELLS and cells <= budget:
            budget -= cells
            found.extend(_small(old, new, a, b, c, d))
        else:
            found.append(Change(a, b, c, d))
    return found


def _trimmed(old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    return a, b, c, d


def _small(old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> list[Change]:
    matcher = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
    return [Change(a + i, a + j, c + k, c + n) for tag, i, j, k, n in matcher.get_opcodes() if tag != "equal"]


def _anchors(old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """Pairs of equal lines that occur once on each side, in the longest order both sides share."""
    places: dict[str, int] = {}
    for i in range(a, b):
        places[old[i]] = -1 if old[i] in places else i
    theirs: dict[str, int] = {}
    for k in range(c, d):
        line = new[k]
        if places.get(line, -1) >= 0:
            theirs[line] = -1 if line in theirs else k
    pairs = [(places[line], k) for line, k in theirs.items() if k >= 0]
    pairs.sort()
    tails: list[int] = []  # new side's line that ends the best run of each length
    tops: list[int] = []  # index of that pair
    before: list[int] = [-1] * len(pairs)
    for index, (_, k) in enumerate(pairs):
        at = bisect_left(tails, k)
        if at == len(tails):
            tails.append(k)
            tops.append(index)
        else:
            tails[at], tops[at] = k, index
        before[index] = tops[at - 1] if at else -1
    run = []
    at = tops[-1] if tops else -1
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    run.reverse()
    return run


def _merged(changes: list[Change]) -> list[Change]:
    """Join changes that touch."""
    found: list[Change] = []
    for change in changes:
        if found and found[-1].b == change.a and found[-1].d == change.c:
            last = found.pop()
            change = Change(last.a, change.b, last.c, change.d)
        found.append(change)
    return found
