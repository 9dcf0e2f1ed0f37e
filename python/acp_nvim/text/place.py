"""Put a fragment into the text it is a part of (pure).

Agents of v1 may send a whole file or only the part they replace, and do not say which. The part is looked for
exactly, then with other line ends, then line by line without regard to blanks. Where it stands several times,
a line number the agent gave decides; without one, or between two places equally near, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .diff import diff_lines, split

#: Places of one fragment that are looked at.
MAX_PLACES = 1000

How: TypeAlias = Literal["exact", "ends", "blanks"]


@dataclass(frozen=True, slots=True)
class Placed:
    """``text`` is the whole text with the change; ``first`` the line, from 0, the old part began in.

    ``found``: in how many places the old part stands; above 1 a line number (or whole lines) decided.
    ``how``: ``blanks`` means that the old part differs from the text in white space.
    """

    text: str
    first: int
    found: int = 1
    how: How = "exact"


@dataclass(frozen=True, slots=True)
class Lost:
    """The fragment could not be placed: it stands nowhere (0), or in so many places."""

    found: int = 0


def place(text: str, old: str, new: str, near: int | None = None, *, every: bool = False) -> Placed | Lost:
    """Replace ``old`` in ``text`` by ``new``.

    ``near``: the line, from 1, where the agent says it works. ``every``: all places are meant.
    """
    if not old.strip():
        return Lost()
    # An agent that reads CRLF as LF writes CRLF again. First so: "\n" would also be found within "\r\n".
    ways = [_exact, _other_ends]
    if "\r\n" in text and "\r" not in old and "\r" not in new:
        ways.reverse()
    for way in ways:
        placed = way(text, old, new, near, every=every)
        if isinstance(placed, Placed) or placed.found:
            return placed
    for key, how in _KEYS:
        placed = _by_lines(text, old, new, near, key, how)
        if isinstance(placed, Placed) or placed.found:
            return placed
    return Lost()


def _exact(text: str, old: str, new: str, near: int | None, *, every: bool) -> Placed | Lost:
    places = _all(text, old)
    if not places:
        return Lost()
    if every:
        count = text.count(old)
        return Placed(text.replace(old, new), text.count("\n", 0, places[0]), count)
    at = _choose(text, old, new, places, near)
    if at is None:
        return Lost(len(places))
    return Placed(text[:at] + new + text[at + len(old) :], text.count("\n", 0, at), len(places))


def _all(text: str, part: str) -> list[int]:
    """Where the part begins, overlapping places too."""
    found: list[int] = []
    at = text.find(part)
    while at >= 0 and len(found) < MAX_PLACES:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def _choose(text: str, old: str, new: str, places: list[int], near: int | None) -> int | None:
    if len(places) == 1:
        return places[0]
    # A fragment that begins at a line's beginning and ends at its end seldom means the middle of another.
    whole = [at for at in places if _aligned(text, at, at + len(old))]
    if len(whole) == 1:
        return whole[0]
    if near is None:
        return None
    rows: list[int] = []
    last = row = 0
    for at in whole or places:
        row += text.count("\n", last, at)
        last = at
        rows.append(row)
    index = _nearest(rows, _same_lines(old, new), near)
    return None if index is None else (whole or places)[index]


def _aligned(text: str, first: int, end: int) -> bool:
    begins = first == 0 or text[first - 1] == "\n"
    return begins and (end == len(text) or text[end - 1] == "\n" or text[end] in "\r\n")


def _same_lines(old: str, new: str) -> int:
    """How many lines at the beginning are the same."""
    count = 0
    for one, other in zip(split(old), split(new), strict=False):
        if one != other:
            break
        count += 1
    return count


def _nearest(rows: Sequence[int], same: int, near: int) -> int | None:
    """The one place that is nearest to the line; None when two are. The line may be that of the change."""
    ways = sorted((min(abs(near - 1 - row), abs(near - 1 - row - same)), at) for at, row in enumerate(rows))
    return ways[0][1] if len(ways) == 1 or ways[0][0] < ways[1][0] else None


def _other_ends(text: str, old: str, new: str, near: int | None, *, every: bool) -> Placed | Lost:
    """Line ends of the one kind in the file, of the other in the fragment: the file's stay."""
    crlf = text.count("\r\n")
    if ("\r" not in old and not crlf) or (crlf and crlf != text.count("\n")):
        return Lost()  # not another kind; mixed ends are for what goes line by line
    placed = _exact(_unix(text), _unix(old), _unix(new), near, every=every)
    if isinstance(placed, Lost):
        return placed
    whole = placed.text.replace("\n", "\r\n") if crlf else placed.text
    return Placed(whole, placed.first, placed.found, "ends" if "\n" in old + new else "exact")


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def _bare(line: str) -> str:
    return line.rstrip("\r\n")


def _words(line: str) -> str:
    return " ".join(line.split())


_KEYS: tuple[tuple[Callable[[str], str], How], ...] = (
    (_bare, "ends"),
    (str.rstrip, "blanks"),
    (_words, "blanks"),
)


def _by_lines(
    text: str, old: str, new: str, near: int | None, key: Callable[[str], str], how: How
) -> Placed | Lost:
    rows, wanted = split(text), split(old)
    starts: list[int] = []
    # One search in one text: list by list would be quadratic where lines repeat.
    haystack = "\n" + "\n".join(map(key, rows)) + "\n"
    needle = "\n" + "\n".join(map(key, wanted)) + "\n"
    row = last = 0
    for at in _all(haystack, needle):
        row += haystack.count("\n", last, at)
        last = at
        starts.append(row)
    if not starts:
        return Lost()
    index = 0 if len(starts) == 1 else None
    if index is None and near is not None:
        index = _nearest(starts, _same_lines(old, new), near)
    if index is None:
        return Lost(len(starts))
    first = starts[index]
    theirs = rows[first : first + len(wanted)]
    rows[first : first + len(wanted)] = _fitted(theirs, wanted, split(new))
    return Placed("".join(rows), first, len(starts), how)


def _fitted(theirs: list[str], old: list[str], new: list[str]) -> list[str]:
    """The new lines with what the file has otherwise: its own unchanged lines, line ends and indentation."""
    end = next((line[len(_bare(line)) :] for line in theirs if _bare(line) != line), "\n")
    add, drop = _indentation(theirs, old)
    result: list[str] = []
    at = 0
    compared = diff_lines([_bare(line) for line in old], [_bare(line) for line in new])
    for change in compared.changes:
        result.extend(theirs[at : change.a])
        for line in compared.new[change.c : change.d]:
            shifted = add + line.removeprefix(drop) if line.strip() else line
            result.append(shifted + end)
        at = change.b
    result.extend(theirs[at:])
    # The last line of the file keeps its way to end; any other line must end.
    if theirs and result and _bare(theirs[-1]) == theirs[-1]:
        result[:-1] = [line if _bare(line) != line else line + end for line in result[:-1]]
        result[-1] = _bare(result[-1])
    return result


def _indentation(theirs: list[str], old: list[str]) -> tuple[str, str]:
    """What each line of the fragment lacks at its beginning, and what it has too much; nothing if unlike."""
    ways: set[tuple[str, str]] = set()
    for mine, other in zip(theirs, old, strict=True):
        if not mine.strip():
            continue
        here, there = (line[: len(line) - len(line.lstrip())] for line in (mine, other))
        if here.endswith(there):
            ways.add((here.removesuffix(there), ""))
        elif there.endswith(here):
            ways.add(("", there.removesuffix(here)))
        else:
            return "", ""
    return ways.pop() if len(ways) == 1 else ("", "")
