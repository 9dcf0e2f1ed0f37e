"""Merge of two texts that came from one, by line (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .diff import Change, diff


@dataclass(frozen=True, slots=True)
class Merged:
    """``text`` has both sides' changes. ``conflicts``: places where they met; there both stand, marked."""

    text: str
    conflicts: int


def merge(base: str, mine: str, theirs: str, labels: tuple[str, str] = ("mine", "theirs")) -> Merged | None:
    """Merge what ``mine`` and ``theirs`` have made of ``base``; None when the texts are too large.

    Changes that overlap or touch are a conflict, unless they are the same.
    """
    left, right = diff(base, mine), diff(base, theirs)
    if left is None or right is None:
        return None
    old, ours, others = left.old, left.new, right.new
    ending = "\r\n" if sum(line.endswith("\r\n") for line in ours) * 2 > len(ours) else "\n"
    parts: list[str] = []
    conflicts = at = 0
    for start, stop, one, two in _regions(left.changes, right.changes):
        parts.extend(old[at:start])
        at = stop
        a, b = _side(ours, one, start, stop), _side(others, two, start, stop)
        if not two or a == b:
            parts.extend(a)
        elif not one:
            parts.extend(b)
        else:
            conflicts += 1
            parts += [f"<<<<<<< {labels[0]}{ending}", *_ended(a, ending), f"======={ending}"]
            parts += [*_ended(b, ending), f">>>>>>> {labels[1]}{ending}"]
    parts.extend(old[at:])
    return Merged("".join(parts), conflicts)


def _regions(
    left: Sequence[Change], right: Sequence[Change]
) -> list[tuple[int, int, list[Change], list[Change]]]:
    """Ranges of the old lines, each with the changes of both sides in it; no two of them touch."""
    found: list[tuple[int, int, list[Change], list[Change]]] = []
    tagged = [(change, 0) for change in left] + [(change, 1) for change in right]
    for change, side in sorted(tagged, key=lambda item: (item[0].a, item[0].b, item[1])):
        if found and change.a <= found[-1][1]:
            start, stop, one, two = found.pop()
            stop = max(stop, change.b)
        else:
            start, stop, one, two = change.a, change.b, [], []
        (two if side else one).append(change)
        found.append((start, stop, one, two))
    return found


def _side(lines: list[str], changes: list[Change], start: int, stop: int) -> list[str]:
    """The lines of one side that stand for ``old[start:stop]``; without changes nobody needs them."""
    if not changes:
        return []
    first, last = changes[0], changes[-1]
    return lines[first.c - (first.a - start) : last.d + (stop - last.b)]


def _ended(lines: list[str], ending: str) -> list[str]:
    """The lines, the last one with an end too."""
    if lines and not lines[-1].endswith("\n"):
        return [*lines[:-1], lines[-1] + ending]
    return lines
