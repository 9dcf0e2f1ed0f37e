"""The end of what a process wrote to stderr."""

from __future__ import annotations

KEEP = 64 * 1024
"""Bytes kept."""


class Tail:
    """Keeps the last ``keep`` bytes of a stream. Feeding is cheap, however much comes."""

    def __init__(self, keep: int = KEEP) -> None:
        self.total = 0
        """Bytes that came in all."""
        self._keep = keep
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        """Take in the next bytes."""
        self.total += len(data)
        self._data += data[-self._keep :]
        if len(self._data) > 2 * self._keep:
            del self._data[: -self._keep]

    def text(self) -> str:
        """Return what is kept as text; a line whose beginning is lost is left out, if others follow."""
        data = bytes(self._data[-self._keep :])
        if self.total > self._keep:
            _, newline, rest = data.partition(b"\n")
            data = rest if newline else data
        return data.decode("utf-8", "replace")

    def lines(self) -> list[str]:
        """Return what is kept as lines, without blank ones at the end."""
        return self.text().replace("\r\n", "\n").rstrip().split("\n") if self.text().strip() else []
