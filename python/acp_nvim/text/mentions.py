"""Mentions in what the user writes: ``@path``, ``@path:7-13``, ``@dir/``, ``@"a b":7``, ``@diff``.

They stay plain text. What one means is found by those who can see files and buffers: what may end a sentence
or a path is read in several ways, of which the first one that is there counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: Words with a meaning of their own. A file of that name is ``@./buffer``.
WORDS = frozenset({"buffer", "selection", "diagnostics", "quickfix", "diff"})
#: Those of them that take lines.
_OF_LINES = frozenset({"buffer", "selection"})
#: What may follow a path without being a part of it.
TRAILING = ".,;:!?)]}>\"'”’»…"
#: Mentions of one text that are looked at.
MOST = 50
#: Characters of a path, and of trailing punctuation: more is no mention of a file.
_LONGEST = 4096
_TRAIL = 8

_AT = re.compile(
    r"(?:^|(?<=[\s(\[{<\"'“‘«]))@(?:\"([^\"\n]+)\"(?::(\d{1,7})(?:-(\d{1,7}))?(?!\w))?|(\S+))", re.MULTILINE
)
_RANGE = re.compile(r"(.+):([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read a mention. ``first`` and ``last`` are lines from 1, inclusive; ``end``: where it ends."""

    path: str
    first: int | None
    last: int | None
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """``start`` is the offset of its ``@``, in characters. ``word``: one of ``WORDS``, with its one reading.

    ``readings``: the longest first. ``clear``: it is written as a path, so that it is worth saying if there
    is none; a bare ``@name`` may be anything.
    """

    start: int
    readings: tuple[Reading, ...]
    word: str | None = None
    clear: bool = True

    @property
    def plain(self) -> Reading:
        """How it is read when nothing of that name is there: without punctuation, lines as lines."""
        end = self.readings[-1].end
        return next(each for each in self.readings if each.end == end)

    def read(self, exists: Callable[[str], bool]) -> Reading | None:
        """The first reading whose path exists, if any does."""
        return next((each for each in self.readings if exists(each.path)), None)


def find(text: str) -> list[Mention]:
    """The mentions of a text in their order, ``MOST`` at most; none in code (fences and backticks)."""
    found: list[Mention] = []
    if "@" not in text:
        return found
    for match in _AT.finditer(_without_code(text)):
        mention = _quoted(match) if match[1] is not None else _bare(match)
        if mention is not None:
            found.append(mention)
            if len(found) == MOST:
                break
    return found


def written(path: str, first: int | None = None, last: int | None = None) -> str:
    """The mention of a path, quoted where it must be, so that ``find`` reads it as just that."""
    if path in WORDS or path == "diagnostics:all":
        path = f"./{path}"
    lines = "" if first is None else f":{first}" if last in (None, first) else f":{first}-{last}"
    bare = f"@{path}{lines}"
    found = find(bare)
    if len(found) == 1:
        read = found[0].plain
        if (read.path, read.first, read.last) == (path, first, first if last is None else last):
            return bare
    return f'@"{path}"{lines}'


def _quoted(match: re.Match[str]) -> Mention | None:
    path = match[1]
    if len(path) > _LONGEST or "\0" in path:
        return None
    first, last = _lines(match[2], match[3]) if match[2] and int(match[2]) else (None, None)
    end = match.end() if first is not None else match.end(1) + 1
    return Mention(match.start(), (Reading(path, first, last, end),))


def _bare(match: re.Match[str]) -> Mention | None:
    raw, at = match[4], match.start(4)
    if len(raw) > _LONGEST or "\0" in raw:
        return None
    readings: list[Reading] = []
    for size in _sizes(raw):
        part = raw[:size]
        lines = _RANGE.fullmatch(part)
        if lines:
            readings.append(Reading(lines[1], *_lines(lines[2], lines[3]), at + size))
        readings.append(Reading(part, None, None, at + size))
    if not readings:
        return None
    mention = Mention(match.start(), tuple(readings))
    plain = mention.plain
    if plain.path == "diagnostics:all" or (
        plain.path in WORDS and (plain.first is None or plain.path in _OF_LINES)
    ):
        return Mention(match.start(), (plain,), plain.path.partition(":")[0])
    clear = plain.first is not None or any(char in plain.path for char in "/.~")
    return Mention(match.start(), tuple(readings), clear=clear)


def _sizes(raw: str) -> Iterator[int]:
    """How long the path and its lines may be: all of it, then without its punctuation, sign by sign."""
    size = len(raw)
    for _ in range(_TRAIL):
        yield size
        if size < 2 or raw[size - 1] not in TRAILING:
            return
        size -= 1


def _lines(first: str, last: str | None) -> tuple[int, int]:
    one, other = int(first), int(last or first)
    return (one, other) if one <= other else (other or 1, one)


def _without_code(text: str) -> str:
    """The text with NUL for what stands in code: of the same length, line by line."""
    if "`" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    fence = ""
    for index, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            lines[index] = "\0" * len(line)
            if found and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in line[found.end() :]):
            fence = found[1]
            lines[index] = "\0" * len(line)
        elif "`" in line:
            parts = line.split("`")
            for odd in range(1, len(parts) - 1, 2):
                parts[odd] = "\0" * len(parts[odd])
            lines[index] = "`".join(parts)
    return "\n".join(lines)
