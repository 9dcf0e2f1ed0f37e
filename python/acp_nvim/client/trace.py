"""The trace: all traffic of a connection in a bounded ring (ui.md section 7). Shown by trace_rows.py."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from acp_nvim.text.sanitise import one_line

from .secrets import Secrets

Direction = Literal["in", "out", "note"]

#: Bounds of one connection's ring: messages, bytes of all, bytes of one.
MOST_MESSAGES = 20_000
MOST_BYTES = 8 << 20
MOST_BYTES_ONE = 2 << 20
#: A group of repeated chunks opens as at most so many messages.
MOST_OPENED = 200
#: Characters of a line of a message that is not whole.
CUT_WIDTH = 1000


@dataclass(slots=True)
class Entry:
    """``at``: seconds since the epoch. ``size``: bytes of the whole message, also if cut here."""

    at: float
    direction: Direction
    raw: bytes
    size: int
    note: str = ""
    label: str = ""  # what it is, of protocols whose messages do not say it themselves


class Trace:
    """Keeps the newest messages; formatting happens only when somebody looks."""

    def __init__(self, clock: Callable[[], float], secrets: Secrets) -> None:
        self._clock = clock
        self._secrets = secrets
        self._ring: deque[Entry] = deque()
        self._bytes = 0
        self.dropped = 0

    def record(self, direction: Direction, raw: bytes, note: str = "", label: str = "") -> None:
        """Keep one message, or a note of ours about one."""
        entry = Entry(self._clock(), direction, raw[:MOST_BYTES_ONE], len(raw), note, label)
        self._ring.append(entry)
        self._bytes += len(entry.raw)
        while self._ring and (len(self._ring) > MOST_MESSAGES or self._bytes > MOST_BYTES):
            self._bytes -= len(self._ring.popleft().raw)
            self.dropped += 1

    def note(self, text: str) -> None:
        """Keep a remark of ours: stray output, a late answer, a lenient decode."""
        self.record("note", b"", text)

    def entries(self) -> list[Entry]:
        """What is kept, oldest first."""
        return list(self._ring)

    @property
    def count(self) -> int:
        """How many came, also those that are no longer kept."""
        return self.dropped + len(self._ring)

    def after(self, count: int) -> list[Entry]:
        """What came after the first ``count``, as far as it is kept."""
        newest = list(islice(reversed(self._ring), max(0, self.count - count)))
        return newest[::-1]

    def stray(self, since: float) -> str | None:
        """The last line that came after ``since`` and was no message, masked; None if all were."""
        for entry in reversed(self._ring):
            if entry.at < since:
                return None
            if entry.direction == "in" and entry.note and not entry.note.startswith("lenient"):
                return one_line(self._secrets.mask(entry.raw[:400].decode("utf-8", "replace")), 60)
        return None

    def whole(self, entries: list[Entry]) -> list[str]:
        """The messages behind a line, as JSON to read."""
        out: list[str] = []
        for entry in entries[:MOST_OPENED]:
            if entry.direction == "note":
                out.append(entry.note)
            text = entry.raw.decode("utf-8", "replace")
            if text:
                out.extend(self._pretty(text).split("\n"))
            if entry.size > len(entry.raw):
                # No JSON any more. One line of it would hold up the editor with each move of the cursor.
                cut = self._secrets.mask(out.pop())
                out.extend(cut[at : at + CUT_WIDTH] for at in range(0, len(cut), CUT_WIDTH))
                out.append(f"… {entry.size - len(entry.raw)} more bytes are not kept")
        if len(entries) > MOST_OPENED:
            out.append(f"… {len(entries) - MOST_OPENED} more messages of this kind")
        return [_printable(self._secrets.mask(line)) for line in out]

    @staticmethod
    def _pretty(text: str) -> str:
        try:
            return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
        except (ValueError, RecursionError):
            return text


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in line)
