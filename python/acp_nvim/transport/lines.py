"""Framing: bytes in, complete lines out (V1-04). Linear, however long a line gets and however it is cut.

Only LF ends a line (never what ``str.splitlines`` thinks of as a line end); one trailing CR is dropped,
empty lines are skipped, and UTF-8 is not looked at here.
"""

from __future__ import annotations

from .errors import LineTooLongError

LIMIT = 64 * 1024 * 1024  # bytes in a line; a base64 image or a whole file is one line


class LineDecoder:
    """``decode`` takes what was read and returns the lines it completes; ``flush`` ends the stream."""

    __slots__ = ("_limit", "_partial")

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._partial = bytearray()

    def decode(self, data: bytes) -> list[bytes]:
        """Raises LineTooLongError as soon as a line exceeds the bound, finished or not."""
        cut = data.rfind(b"\n")
        if cut < 0:
            self._partial += data
            if len(self._partial) > self._limit:
                self._fail([])
            return []
        head = data[:cut]
        if self._partial:
            self._partial += head
            head = bytes(self._partial)
            self._partial = bytearray()
        lines = self._lines(head)
        self._partial += data[cut + 1 :]
        if len(self._partial) > self._limit:
            self._fail(lines)
        return lines

    def flush(self) -> list[bytes]:
        """The last line may lack its LF (C03)."""
        head = bytes(self._partial)
        self._partial = bytearray()
        return self._lines(head)

    def _lines(self, head: bytes) -> list[bytes]:
        lines = head.split(b"\n")
        if len(head) > self._limit:
            for index, line in enumerate(lines):
                if len(line) > self._limit:
                    self._fail(_tidy(lines[:index]))
        return _tidy(lines)

    def _fail(self, lines: list[bytes]) -> None:
        self._partial = bytearray()
        raise LineTooLongError(self._limit, lines)


def _tidy(lines: list[bytes]) -> list[bytes]:
    return [line for line in (line.removesuffix(b"\r") for line in lines) if line]
