"""The trace as lines to look at: one a message, repeats counted, answers beside their requests (ui.md 7).

Lines grow with the traffic: ``update`` looks only at what came since it was last called.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from acp_nvim.text.sanitise import one_line

from .secrets import Secrets
from .trace import MOST_BYTES, MOST_MESSAGES, Entry, Trace
from .trace_sessions import SessionOf, same

Icons = Literal["unicode", "ascii"]

#: The members a message begins with, up to the one that holds the rest of it.
_MEMBER = re.compile(r'[{,]\s*"(jsonrpc|id|method)"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,30}|null)\s*')
_REST = re.compile(r',\s*"(params|result|error)"\s*:')
#: Bytes of a message's beginning that are looked at when it is not whole.
_BEGINNING = 4096


@dataclass(slots=True, eq=False)
class Source:
    """A connection's trace, how much of it was looked at, and the requests that have no answer yet."""

    trace: Trace
    where: str = ""  # what tells it apart from others, for people
    seen: int = 0
    asked: dict[tuple[str, str], tuple[str, float, int]] = field(default_factory=dict)
    session_of: SessionOf = field(default_factory=SessionOf)


@dataclass(slots=True)
class _Row:
    label: str
    ident: str
    extra: str
    repeatable: bool = False


class Rows:
    """The lines of some connections in the order of time; ``session``: only of this one, and of none."""

    def __init__(
        self,
        sources: Sequence[Source],
        secrets: Secrets,
        icons: Icons = "unicode",
        session: str | None = None,
    ) -> None:
        self.session = session
        self.sources = sources
        self.lines: list[str] = []
        self.behind: list[list[Entry]] = []  # the messages behind each line
        self.sessions: list[str | None] = []  # the session of each line
        self.known = False  # some message was of ``session``
        self.others: dict[str, None] = {}  # sessions that were left out, in their order
        self.pairs: dict[int, int] = {}  # the lines of a request and its answer, both ways
        self._secrets = secrets
        self._icons = icons
        self._last: tuple[Source, str] | None = None
        self._size = 0  # bytes of the messages of the last line
        self._held = 0  # bytes of those behind all lines: the trace itself may have let go of them

    def update(self) -> int | None:
        """Take in what is new. Returns the first line that has changed, from 0; None: none has."""
        first: int | None = None
        missed = any(each.seen < each.trace.dropped for each in self.sources)
        if missed or len(self.lines) > 2 * MOST_MESSAGES or self._held > 2 * MOST_BYTES * len(self.sources):
            self._start()
            first = 0
        fresh = [(entry.at, n, entry) for n, each in enumerate(self.sources) for entry in self._fresh(each)]
        if len(self.sources) > 1:
            fresh.sort(key=lambda item: item[0])
        for _, n, entry in fresh:
            at = self._add(self.sources[n], entry)
            if at is not None:
                first = at if first is None else min(first, at)
        return first

    @staticmethod
    def _fresh(source: Source) -> list[Entry]:
        entries = source.trace.after(source.seen)
        source.seen = source.trace.count
        return entries

    def _start(self) -> None:
        self.lines, self.behind, self.sessions, self.pairs, self._last = [], [], [], {}, None
        self._held = 0
        dropped = 0
        for source in self.sources:
            source.seen, source.asked, source.session_of = source.trace.dropped, {}, SessionOf()
            dropped += source.trace.dropped
        if dropped:
            self._put(f"… {dropped} older messages are no longer kept", [], None)

    def _put(self, line: str, entries: list[Entry], session: str | None) -> int:
        self.lines.append(line)
        self.behind.append(entries)
        self.sessions.append(session)
        return len(self.lines) - 1

    def _add(self, source: Source, entry: Entry) -> int | None:
        """The line it went to; None: it is of another session."""
        message = read(entry)
        session = source.session_of(entry, message)
        if self.session is not None and session is not None:
            if not same(session, self.session):
                self.others[session] = None
                return None
            self.known = True
        self._held += len(entry.raw)
        row, asked_at = self._describe(source, entry, message)
        if (
            row.repeatable
            and self._last is not None
            and self._last[0] is source
            and self._last[1] == row.label
        ):
            at = len(self.lines) - 1
            entries = self.behind[at]
            entries.append(entry)
            self._size += entry.size
            label = f"{row.label} x {len(entries)}"
            self.lines[at] = self._format(entries[0].at, label, "", self._size, source.where)
            return at
        self._last, self._size = ((source, row.label) if row.repeatable else None), entry.size
        extra = ", ".join(filter(None, [row.extra, source.where]))
        at = self._put(self._format(entry.at, row.label, row.ident, entry.size, extra), [entry], session)
        if asked_at is not None:
            self.pairs[at], self.pairs[asked_at] = asked_at, at
        return at

    def _describe(self, source: Source, entry: Entry, message: Any) -> tuple[_Row, int | None]:
        arrow = {
            ("in", "unicode"): "←",
            ("out", "unicode"): "→",
            ("in", "ascii"): "<-",
            ("out", "ascii"): "->",
        }.get((entry.direction, self._icons), "·" if self._icons == "unicode" else ":")
        if entry.direction == "note":
            shown = one_line(self._secrets.mask(entry.note), 120)
            extra = one_line(self._secrets.mask(entry.raw[:400].decode("utf-8", "replace")), 100)
            return _Row(f"{arrow} {shown}", "", f"“{extra}”" if extra else ""), None
        if entry.label:
            label = one_line(self._secrets.mask(entry.label), 60)
            return _Row(f"{arrow} {label}", "", "", label.endswith("_delta")), self._exchange(source, entry)
        if not isinstance(message, dict):
            extra = one_line(self._secrets.mask(entry.raw[:400].decode("utf-8", "replace")), 100)
            no = "not JSON" if message is None else "no message"
            return _Row(f"{arrow} {no}", "", f"“{extra}”"), None
        row, asked_at = self._describe_message(source, entry, message, arrow)
        if entry.size > len(entry.raw):
            row.extra = ", ".join(filter(None, ["cut here", row.extra]))
        return row, asked_at

    def _exchange(self, source: Source, entry: Entry) -> int | None:
        """Over HTTP an answer has no id: it belongs to the oldest request without one."""
        if entry.direction == "out":
            source.asked["out", f"http {entry.at} {len(self.lines)}"] = (
                entry.label,
                entry.at,
                len(self.lines),
            )
        elif entry.label[:3].isdigit():
            for key in source.asked:
                return source.asked.pop(key)[2]
        return None

    def _describe_message(
        self, source: Source, entry: Entry, message: dict[str, Any], arrow: str
    ) -> tuple[_Row, int | None]:
        method, ident = message.get("method"), message.get("id")
        shown_id = f"#{one_line(str(ident), 12)}" if "id" in message else ""
        params = message.get("params")
        if isinstance(method, str):
            if "id" in message:
                source.asked[entry.direction, repr(ident)] = (method, entry.at, len(self.lines))
            label = one_line(method, 40)
            if method == "session/update" and isinstance(params, dict) and params:
                update = params.get("update")
                kind = update.get("sessionUpdate") if isinstance(update, dict) else None
                named = f"{arrow} update {one_line(str(kind), 40)}"
                return _Row(named, "", "", str(kind).endswith("_chunk")), None
            extra = ""
            if isinstance(params, dict) and isinstance(params.get("options"), list):
                extra = f"{len(params['options'])} options"
            return _Row(f"{arrow} {label}", shown_id, extra), None
        if not message:
            return _Row(f"{arrow} a message", "", ""), None
        # An answer: name the method it answers, found on the other side.
        other = "out" if entry.direction == "in" else "in"
        asked = source.asked.pop((other, repr(ident)), None)
        label, since, asked_at = asked or ("answer", entry.at, None)
        extra = _outcome(message)
        if entry.at - since >= 0.1:
            extra = ", ".join(filter(None, [extra, f"{entry.at - since:.1f} s"]))
        return _Row(f"{arrow} {one_line(label, 40)}", shown_id, self._secrets.mask(extra)), asked_at

    def _format(self, at: float, label: str, ident: str, size: int, extra: str) -> str:
        clock = datetime.fromtimestamp(at).strftime("%H:%M:%S.%f")[:-3]
        size_text = human_size(size) if size else ""
        return f"{clock}  {label:<38} {ident:<5} {size_text:>8}  {extra}".rstrip()


def read(entry: Entry) -> Any:
    """The message, or what is known of its beginning; None: it is none."""
    if entry.direction == "note" or not entry.raw:
        return None
    try:
        return json.loads(entry.raw)
    except (ValueError, RecursionError):
        return _beginning(entry.raw) if entry.size > len(entry.raw) else None


def _beginning(raw: bytes) -> dict[str, Any] | None:
    """What the beginning of a message tells of it, as a message without the rest.

    Returns an empty one if that is too little, None if it does not begin as a message does.
    """
    text = raw[:_BEGINNING].decode("utf-8", "replace")
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
