"""Display cells of text, as Neovim counts them with ``ambiwidth=single``."""

from __future__ import annotations

import unicodedata
from functools import lru_cache


def cells_of(text: str) -> int:
    """Return how many cells the text takes. Control characters must have been made visible before."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def cut_to(text: str, cells: int) -> str:
    """Return the longest beginning that fits; marks that belong to the last character stay with it."""
    if text.isascii():
        return text[: max(cells, 0)]
    used = 0
    for at, char in enumerate(text):
        used += _cells(char)
        if used > cells:
            return text[:at]
    return text


def pad(text: str, cells: int) -> str:
    """Fill up with blanks to a number of cells."""
    return text + " " * (cells - cells_of(text))


@lru_cache(4096)
def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    if "\u1160" <= char <= "\u11ff":  # vowels and finals of a Hangul syllable
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
