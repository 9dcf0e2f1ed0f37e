"""Which paths a few typed characters mean, the likeliest first (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from typing import TypeAlias

#: How well a path fits, smaller is better: (kind of match, place among the recent, detail, length, path).
Rank: TypeAlias = tuple[int, int, int, int, str]

_NOT_RECENT = 1 << 30
_BETWEEN = "/_-. "  # a word of a path begins after one of these

_NAME_BEGINS, _NAME_WORD, _NAME_HOLDS, _PATH_WORD, _PATH_HOLDS, _NAME_SCATTERED, _PATH_SCATTERED = range(7)


@dataclass(slots=True)
class Paths:
    """Paths with ``/`` between their parts; those of folders end with one.

    ``lower``: the same in small letters, character by character. ``names``: where the last part begins.
    """

    whole: list[str] = field(default_factory=list)
    lower: list[str] = field(default_factory=list)
    names: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.whole)

    def add(self, path: str) -> int:
        """Add one that is not there yet. Returns where its last part begins."""
        small = path.lower()
        if len(small) != len(path):  # as of İ: places must be the same in both
            small = "".join(low if len(low := char.lower()) == 1 else char for char in path)
        self.whole.append(path)
        self.lower.append(path if small == path else small)
        name = path.rfind("/", 0, -1) + 1
        self.names.append(name)
        return name


class Search:
    """Looks for what was typed. A capital letter in it means capitals alone, as with 'smartcase'.

    With nothing typed: what lies in the folder itself, and the recent ones. What ends with a ``/`` means what
    is below that folder, the nearest first. ``recent``: the places of the paths that go first among equals.
    """

    def __init__(self, typed: str, recent: Mapping[str, int], most: int) -> None:
        """``most``: so many of the best are kept."""
        self._typed = typed
        self._recent = recent
        self._most = most
        self._exact = typed != typed.lower()
        self._within = "/" in typed  # of the whole path, not of its last part
        # Each gap ends at the first character that fits, so a path is looked at once, whatever is in it.
        self._scattered = re.compile(
            "".join(f"[^{re.escape(char)}]*{re.escape(char)}" for char in typed), re.DOTALL
        ).match
        self.best: list[Rank] = []

    @property
    def paths(self) -> list[str]:
        """The best so far, the likeliest first."""
        return [rank[-1] for rank in self.best]

    def look(self, paths: Paths, start: int, stop: int) -> None:
        """Look at a part of the paths: some thousand take a few milliseconds."""
        found = self._top(paths, start, stop) if not self._typed else self._part(paths, start, stop)
        if found:
            self.best = nsmallest(self._most, [*self.best, *found])

    def _top(self, paths: Paths, start: int, stop: int) -> list[Rank]:
        recent = self._recent
        return [
            (0, recent.get(path, _NOT_RECENT), path[-1] != "/", 0, path)
            for path, name in zip(paths.whole[start:stop], paths.names[start:stop], strict=True)
            if name == 0 or path in recent
        ]

    def _part(self, paths: Paths, start: int, stop: int) -> list[Rank]:
        typed, recent, found = self._typed, self._recent, list[Rank]()
        worst = self.best[-1][0] if len(self.best) == self._most else _PATH_SCATTERED
        texts: Sequence[str] = paths.whole if self._exact else paths.lower
        rows = zip(paths.whole[start:stop], texts[start:stop], paths.names[start:stop], strict=True)
        for path, text, name in rows:
            base = 0 if self._within else name
            at = text.find(typed, base)
            detail = len(text) - base
            if at == base:
                kind = _NAME_BEGINS
                if typed[-1] == "/":  # itself, then what is in it, then what is in that
                    detail = text.count("/", len(typed), -1) if len(text) > len(typed) else -1
            elif at > 0:
                kind = _NAME_WORD if _begins_word(path, at) else _NAME_HOLDS
            elif worst <= _NAME_HOLDS:
                continue
            elif (at := text.find(typed)) >= 0:
                kind = _PATH_WORD if _begins_word(path, at) else _PATH_HOLDS
            elif worst <= _PATH_HOLDS or self._scattered(text) is None:
                continue
            else:
                kind = _NAME_SCATTERED if self._scattered(text, base) else _PATH_SCATTERED
                detail = _apart(typed, text, path)
            if kind <= worst:
                found.append((kind, recent.get(path, _NOT_RECENT), detail, len(path), path))
        return found


def recent_ranks(paths: Sequence[str], most: int = 1000) -> dict[str, int]:
    """The places of paths, the most recent first."""
    ranks: dict[str, int] = {}
    for path in islice(paths, most):
        ranks.setdefault(path, len(ranks))
    return ranks


def _begins_word(path: str, at: int) -> bool:
    return at == 0 or path[at - 1] in _BETWEEN or (path[at].isupper() and path[at - 1].islower())


def _apart(typed: str, text: str, path: str) -> int:
    """How scattered the characters are, looked for from the end: jumps to the begin of a word cost less."""
    cost, end = 0, len(text)
    for number, char in enumerate(reversed(typed)):
        at = text.rfind(char, 0, end)
        if number and at != end - 1:
            cost += 1 if _begins_word(path, end) else 3
        end = at
    return cost if _begins_word(path, end) else cost + 3
