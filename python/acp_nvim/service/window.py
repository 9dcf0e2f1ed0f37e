"""A window of a text: the lines an agent asked for, as an exact piece of it (V1-163, V1-164)."""

from __future__ import annotations


def window(text: str, line: int | None, limit: int | None) -> str:
    """Return ``limit`` lines (None: all) from ``line`` on (from 1; None or less than 1: from the first).

    Lines end at LF alone, as editors count them, and keep their ends. After the end: an empty text.
    """
    start = _skip(text, 0, (line or 1) - 1)
    if limit is None:
        return text[start:]
    return text[start : _skip(text, start, limit)]


def _skip(text: str, start: int, count: int) -> int:
    """The index ``count`` lines behind ``start``, at most the length of the text."""
    if count > len(text) - start:
        return len(text)
    for _ in range(count):
        end = text.find("\n", start)
        if end < 0:
            return len(text)
        start = end + 1
    return start
