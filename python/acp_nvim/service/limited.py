"""The agent's own copy of what a command wrote: text, of at most so many bytes (V1-181, V1-183)."""

from __future__ import annotations

import codecs

from ..session.terminals import Output

DEFAULT = 1024 * 1024
"""Bytes that are kept when the agent names no limit."""
MOST = 8 * 1024 * 1024
"""Bytes that are kept at most, whatever the agent names: it asks for no more than that many."""


class Limited:
    """The newest part of the output. Bytes that are no UTF-8 become U+FFFD before they are counted."""

    def __init__(self, limit: int | None = None) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = Output(DEFAULT if limit is None else min(limit, MOST))

    def feed(self, data: bytes) -> None:
        """Take in the next bytes. A character that is not complete is held back until it is."""
        self._kept.append(self._decoder.decode(data).encode())

    def end(self) -> None:
        """Nothing more comes: what was held back will never be a character."""
        self._kept.append(self._decoder.decode(b"", final=True).encode())

    @property
    def truncated(self) -> bool:
        """Whether the beginning is missing."""
        return self._kept.first > 0

    def text(self) -> str:
        """Return the text, from the first whole character on."""
        data = self._kept.since(0)[1]
        start = 0
        while self.truncated and start < len(data) and data[start] & 0xC0 == 0x80:
            start += 1
        return data[start:].decode()
