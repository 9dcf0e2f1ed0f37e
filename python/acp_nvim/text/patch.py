"""Unified and git patches as fragments: what each hunk replaces, by what, and near which line (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Nobody counts so many lines, and Python does not read a number of any length.
_HUNK = re.compile(r"@@ -(\d{1,15})(?:,(\d{1,15}))? \+(\d{1,15})(?:,(\d{1,15}))? @@")


@dataclass(frozen=True, slots=True)
class Fragment:
    """``near`` is the line, from 1, where the old part begins, as the patch has it."""

    old: str
    new: str
    near: int


def fragments(patch: str, path: str) -> list[Fragment]:
    """The hunks of a file, in order; of the whole patch when it names one file only."""
    files = _files(patch)
    if len(files) == 1:
        return files[0][1]
    return [each for names, found in files if any(_same(path, name) for name in names) for each in found]


def _same(path: str, name: str) -> bool:
    short = name.split("/", 1)[1] if name.startswith(("a/", "b/")) else name
    return path in (name, short) or path.endswith(("/" + name, "/" + short))


def _files(patch: str) -> list[tuple[list[str], list[Fragment]]]:
    files: list[tuple[list[str], list[Fragment]]] = []
    lines = patch.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("--- ") and at < len(lines) and lines[at].startswith("+++ "):
            names = [each[4:].split("\t")[0].rstrip("\r") for each in (line, lines[at])]
            files.append((names, []))
            at += 1
            continue
        match = _HUNK.match(line)
        if match is None:
            continue
        if not files:
            files.append(([], []))
        fragment, at = _hunk(lines, at, match)
        files[-1][1].append(fragment)
    return files


def _hunk(lines: list[str], at: int, match: re.Match[str]) -> tuple[Fragment, int]:
    """The hunk whose header was line ``at - 1``, and where it ends."""
    left, right = (int(match[n]) if match[n] is not None else 1 for n in (2, 4))
    old: list[str] = []
    new: list[str] = []
    touched: list[list[str]] = []  # the sides that the line before belongs to
    while at < len(lines):
        line = lines[at]
        if line.startswith("\\"):
            for side in touched:
                side[-1] = side[-1].removesuffix("\n")
        elif len(old) >= left and len(new) >= right:
            break
        else:
            sign, text = line[:1], line[1:] + "\n"
            touched = {"-": [old], "+": [new]}.get(sign, [old, new])
            for side in touched:
                side.append(text)
        at += 1
    # A hunk without old lines comes behind the line it names.
    near = int(match[1]) + (1 if left == 0 else 0)
    return Fragment("".join(old), "".join(new), near), at
