"""Paths as people read them: short, but never ambiguous about where they lead."""

from __future__ import annotations

from pathlib import Path

from .sanitise import clean
from .width import cells_of

#: Cells of a path in a row; longer ones lose middle folders.
PATH_CELLS = 40


def relative(path: str, root: str, home: str | None = None) -> str:
    """Return the path in full: relative to ``root``, ``~/`` for others at home, else as it is. Safe text."""
    home = str(Path.home()) if home is None else home
    inside = _below(path, root)
    if inside is not None:
        return _safe(inside or ".")
    at_home = _below(path, home)
    if at_home is not None:
        return _safe(f"~/{at_home}" if at_home else "~")
    return _safe(path)


def absolute(path: str, home: str | None = None) -> str:
    """Return the path in full, with ``~/`` for what is at home. Safe text."""
    return relative(path, "", home)


def shorten(path: str, cells: int = PATH_CELLS, cut: str = "…") -> str:
    """Drop middle folders until the path fits; its first folder and its file name always stay."""
    if cells_of(path) <= cells:
        return path
    lead = "/" if path.startswith("/") else ""
    parts = path.removeprefix("/").split("/")
    if len(parts) < 3:
        return path
    first, rest = lead + parts[0], parts[1:]
    for start in range(max(1, len(rest) - cells), len(rest)):  # each folder takes a cell, at least its "/"
        short = "/".join((first, cut, *rest[start:]))
        if cells_of(short) <= cells:
            return short
    return "/".join((first, cut, rest[-1]))


def _safe(path: str) -> str:
    """A newline or tab in a name must be seen, not taken for a blank."""
    return clean(path).replace("\n", "^J").replace("\t", "^I")


def _below(path: str, folder: str) -> str | None:
    """What remains of the path under the folder: "" for the folder itself, None if it is elsewhere."""
    folder = folder.rstrip("/")
    if not folder:
        return None
    if path.rstrip("/") == folder:
        return ""
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None
