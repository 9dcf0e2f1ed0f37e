"""The trace: all traffic of a connection in a bounded ring, shown masked (ui.md section 7)."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

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

#: The members a message begins with, up to the one that holds the rest of it.
_MEMBER = re.compile(r'[{,]\s*"(jsonrpc|id|method)"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,30}|null)\s*')
_REST = re.compile(r',\s*"(params|result|error)"\s*:')


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
        self.lenient = 0

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
        return list(self._ring)

    def stray(self, since: float) -> str | None:
        """The last line that came after ``since`` and was no message, masked; None if all were."""
        for entry in reversed(self._ring):
            if entry.at < since:
                return None
            if entry.direction == "in" and entry.note and not entry.note.startswith("lenient"):
                return one_line(self._secrets.mask(entry.raw[:400].decode("utf-8", "replace")), 60)
        return None

    def lines(self, icons: Literal["unicode", "ascii"] = "unicode") -> tuple[list[str], list[list[Entry]]]:
        """The trace as one line a message, repeats counted, and the messages behind each line."""
        lines: list[str] = []
        behind: list[list[Entry]] = []
        asked: dict[tuple[str, str], tuple[str, float]] = {}
        last_label: str | None = None
        for entry in self._ring:
            row = self._describe(entry, asked, icons)
            if row.repeatable and row.label == last_label:
                behind[-1].append(entry)
                count = len(behind[-1])
                size = sum(each.size for each in behind[-1])
                lines[-1] = self._format(behind[-1][0].at, f"{row.label} x {count}", "", size, "")
                continue
            last_label = row.label if row.repeatable else None
            lines.append(self._format(entry.at, row.label, row.ident, entry.size, row.extra))
            behind.append([entry])
        if self.dropped:
            lines.insert(0, f"… {self.dropped} older messages are no longer kept")
            behind.insert(0, [])
        return lines, behind

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

    def _describe(self, entry: Entry, asked: dict[tuple[str, str], tuple[str, float]], icons: str) -> _Row:
        arrow = {
            ("in", "unicode"): "←",
            ("out", "unicode"): "→",
            ("in", "ascii"): "<-",
            ("out", "ascii"): "->",
        }.get((entry.direction, icons), "·" if icons == "unicode" else ":")
        if entry.direction == "note":
            shown = one_line(self._secrets.mask(entry.note), 120)
            extra = one_line(self._secrets.mask(entry.raw[:400].decode("utf-8", "replace")), 100)
            return _Row(f"{arrow} {shown}", "", f"“{extra}”" if extra else "")
        if entry.label:
            label = one_line(self._secrets.mask(entry.label), 60)
            return _Row(f"{arrow} {label}", "", "", label.endswith("_delta"))
        try:
            message = json.loads(entry.raw)
        except (ValueError, RecursionError):
            message = None
        if message is None and entry.size > len(entry.raw):
            message = _beginning(entry.raw)
        if not isinstance(message, dict):
            extra = one_line(self._secrets.mask(entry.raw[:400].decode("utf-8", "replace")), 100)
            return _Row(f"{arrow} not JSON" if message is None else f"{arrow} no message", "", f"“{extra}”")
        row = self._describe_message(entry, message, arrow, asked)
        if entry.size > len(entry.raw):
            row.extra = ", ".join(filter(None, ["cut here", row.extra]))
        return row

    def _describe_message(
        self,
        entry: Entry,
        message: dict[str, Any],
        arrow: str,
        asked: dict[tuple[str, str], tuple[str, float]],
    ) -> _Row:
        method, ident = message.get("method"), message.get("id")
        shown_id = f"#{one_line(str(ident), 12)}" if "id" in message else ""
        params = message.get("params")
        if isinstance(method, str):
            if "id" in message:
                asked[entry.direction, repr(ident)] = (method, entry.at)
            label = one_line(method, 40)
            extra = ""
            if method == "session/update" and isinstance(params, dict) and params:
                update = params.get("update")
                kind = update.get("sessionUpdate") if isinstance(update, dict) else None
                return _Row(f"{arrow} update {one_line(str(kind), 40)}", "", "", str(kind).endswith("_chunk"))
            if isinstance(params, dict) and isinstance(params.get("options"), list):
                extra = f"{len(params['options'])} options"
            return _Row(f"{arrow} {label}", shown_id, extra)
        if not message:
            return _Row(f"{arrow} a message", "", "")
        # An answer: name the method it answers, found on the other side.
        other = "out" if entry.direction == "in" else "in"
        label, since = asked.pop((other, repr(ident)), ("answer", entry.at))
        extra = _outcome(message)
        if entry.at - since >= 0.1:
            extra = ", ".join(filter(None, [extra, f"{entry.at - since:.1f} s"]))
        return _Row(f"{arrow} {one_line(label, 40)}", shown_id, self._secrets.mask(extra))

    def _format(self, at: float, label: str, ident: str, size: int, extra: str) -> str:
        clock = datetime.fromtimestamp(at).strftime("%H:%M:%S.%f")[:-3]
        size_text = human_size(size) if size else ""
        return f"{clock}  {label:<38} {ident:<5} {size_text:>8}  {extra}".rstrip()


@dataclass(slots=True)
class _Row:
    label: str
    ident: str
    extra: str
    repeatable: bool = False


def _beginning(raw: bytes) -> dict[str, Any] | None:
    """What the beginning of a message tells of it, as a message without the rest.

    Returns an empty one if that is too little, None if it does not begin as a message does.
    """
    text = raw[:4096].decode("utf-8", "replace")
    if not text.startswith("{"):
        return None
    found: dict[str, Any] = {}
    at = 0
    try:
        while member := _MEMBER.match(text, at):
            found[member[1]] = json.loads(member[2])
            at = member.end()
    except ValueError:
        return {}
    if rest := _REST.match(text, at):
        found[rest[1]] = {}
    told = "method" in found or ("id" in found and ("result" in found or "error" in found))
    return found if told else {}


def _outcome(message: dict[str, Any]) -> str:
    error = message.get("error")
    if isinstance(error, dict):
        return f"error {error.get('code')} {one_line(str(error.get('message', '')), 80)}"
    result = message.get("result")
    if isinstance(result, dict):
        outcome = result.get("outcome")
        if isinstance(outcome, dict):
            return one_line(str(outcome.get("optionId") or outcome.get("outcome")), 40)
        if "stopReason" in result:
            return one_line(str(result["stopReason"]), 40)
    return ""


def human_size(count: int) -> str:
    """``count`` bytes for people: 96 B, 1.9 kB, 8.2 MB."""
    if count < 1000:
        return f"{count} B"
    for unit in ("kB", "MB", "GB"):
        count_f = count / 1000
        if count_f < 1000 or unit == "GB":
            return f"{count_f:.1f} {unit}"
        count = int(count_f)
    raise AssertionError("unreachable")


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in line)
