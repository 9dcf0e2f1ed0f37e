"""Server-sent events: bytes in, events out (AAP-39..42). By the WHATWG's rules for event streams.

Of our own because httpx2's reader loses an event behind a byte-order mark and ends at 1 MiB. It works on
bytes until an event is complete: a read may cut a line end or a character anywhere, and U+2028 is text.
"""

from __future__ import annotations

from dataclasses import dataclass

from .errors import LineTooLongError

#: Bytes of one event, and of one line of it: a tool's input or result may be a whole file, or an image.
LIMIT = 64 * 1024 * 1024
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """``type`` is empty when the event names none; ``data`` are its data lines, joined by LF."""

    type: str
    data: bytes


class SseDecoder:
    """``decode`` takes what was read and returns the events it completes.

    An event that has no empty line behind it when the stream ends is none: ``pending`` tells of it.
    """

    __slots__ = ("_after_cr", "_begun", "_data", "_limit", "_partial", "_size", "_type")

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._partial = bytearray()  # the line whose end has not come yet
        self._after_cr = False  # the last byte was a CR: an LF now belongs to it
        self._begun = False  # the first line is over: a byte-order mark stands before it only
        self._type = b""
        self._data: list[bytes] = []
        self._size = 0  # bytes of ``_data``

    @property
    def pending(self) -> bool:
        """Whether a part of an event has come that is not complete."""
        return bool(self._partial or self._data or self._type)

    def decode(self, data: bytes) -> list[ServerEvent]:
        """Raises LineTooLongError as soon as an event exceeds the bound; ``lines`` are empty then."""
        if not data:
            return []
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        head, end, rest = data.rpartition(b"\n")
        events: list[ServerEvent] = []
        if end:
            whole = bytes(self._partial) + head if self._partial else head
            self._partial = bytearray()
            for line in whole.split(b"\n"):
                self._line(line, events)
        self._partial += rest
        if len(self._partial) + self._size > self._limit:
            raise LineTooLongError(self._limit, [])
        return events

    def _line(self, line: bytes, events: list[ServerEvent]) -> None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(BOM)
        if not line:
            if self._data:
                kind = self._type.decode("utf-8", "replace")
                events.append(ServerEvent(kind, b"\n".join(self._data)))
            self._type, self._data, self._size = b"", [], 0
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            self._type = value
        elif name == b"data":
            self._data.append(value)
            self._size += len(value) + 1
            if self._size > self._limit:
                raise LineTooLongError(self._limit, [])
        # Comments (no name), ``id`` and ``retry``: nothing is resumed, so they say nothing to us.
