"""Where code fences are in text that arrives in pieces (highlighting.md, recommendation 3)."""

from __future__ import annotations

import re
from typing import Any

#: Characters of a line that are kept for the decision; a longer line is no fence.
KEEP = 400

_OPEN = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$")
_LANG = re.compile(r"\{?\.?([\w+#.-]+)")


class Fences:
    """Fed with whole lines, but a line may come in pieces: it is decided when it is complete.

    Until then nothing is known of it, so nothing must ever be taken back.
    """

    def __init__(self) -> None:
        self._mark = ""  # the open fence's characters
        self._line = ""
        self._row = 0
        self._decided = False
        self._too_long = False

    @property
    def open(self) -> bool:
        return bool(self._mark)

    def start(self, row: int) -> None:
        """A new line begins at this row."""
        self._line, self._row, self._decided, self._too_long = "", row, False, False

    def feed(self, text: str) -> None:
        """The line goes on."""
        if len(self._line) + len(text) > KEEP:
            self._too_long = True
        elif not self._too_long:
            self._line += text

    def complete(self) -> list[Any] | None:
        """The line is whole: ``[row, lang]`` if it opens a fence, ``[row]`` if it closes one. Once a line."""
        if self._decided or self._too_long:
            return None
        self._decided = True
        if "```" not in self._line and "~~~" not in self._line:
            return None
        if self._mark:
            if _closes(self._line, self._mark):
                self._mark = ""
                return [self._row]
            return None
        match = _OPEN.match(self._line)
        if match is None:
            return None
        self._mark = match[1]
        lang = _LANG.match(match[2])
        return [self._row, lang[1] if lang else ""]


def _closes(line: str, mark: str) -> bool:
    run = line.strip(" \t")
    indent = len(line) - len(line.lstrip(" "))
    return indent <= 3 and len(run) >= len(mark) and not run.strip(mark[0]) and not line.startswith("\t")
