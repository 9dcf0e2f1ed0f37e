"""Reads a recording: the file that ``:w`` writes in a trace (:help acp-trace-file), or a plain log.

A plain log has no first line of its own; each is ``{"t": seconds, "dir": "send" or "recv", "msg": {…}}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Json = dict[str, Any]

#: Of the format of traces.
VERSION = 1
#: Bytes of a line and of a file: one message is 2 MB at most, and masked text is not much longer.
MOST_LINE = 64 << 20
MOST_FILE = 512 << 20
#: Requests that begin a session.
OPENINGS = ("session/new", "session/load", "session/resume", "session/fork")
_LOGS = {"send": "out", "recv": "in", "note": "note", "stderr": "note"}


class RecordingError(Exception):
    """The file cannot be replayed; the message names it and the line."""


@dataclass(slots=True, eq=False)
class Entry:
    """``at``: seconds since the first message. One of ``message`` and ``text`` is there, or none."""

    at: float
    direction: Literal["in", "out", "note"]
    message: Json | None = None
    text: str | None = None  # what was no message
    label: str = ""  # over HTTP: the request, the status, or the kind of event
    connection: int = 1

    @property
    def method(self) -> str:
        """Of a request or a notification, else empty."""
        method = (self.message or {}).get("method")
        return method if isinstance(method, str) else ""

    @property
    def ident(self) -> str | None:
        """What tells a request and its answer apart from others; None: it is neither."""
        return repr(self.message["id"]) if self.message is not None and "id" in self.message else None

    @property
    def params(self) -> Json:
        """Of a request or a notification."""
        params = (self.message or {}).get("params")
        return params if isinstance(params, dict) else {}

    @property
    def result(self) -> Json | None:
        """Of an answer; None: it is no answer, or an error."""
        message = self.message or {}
        if "method" in message or "result" not in message:
            return None
        return message["result"] if isinstance(message["result"], dict) else {}


@dataclass(slots=True)
class Recording:
    """One connection's messages. ``others``: how many more connections the file has."""

    agent: str
    protocol: Literal["acp-v1", "acp-v2", "aap"]
    entries: list[Entry]
    others: int = 0
    cut: int = 0  # messages that were not kept whole, and are left out
    facts: Json = field(default_factory=dict)

    @property
    def cwd(self) -> str | None:
        """The folder the recorded session worked in."""
        folders = (e.params.get("cwd") for e in self.entries if e.direction == "out" and e.method in OPENINGS)
        return next((each for each in folders if isinstance(each, str) and each not in ("", "/", "~")), None)

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.entries[-1].at - self.entries[0].at if self.entries else 0.0

    def lives(self) -> list[list[Entry]]:
        """The messages of each process: ``initialize`` begins one.

        Those that led to no session are left out if any did. A session that was refused and then begun
        after a log-in is as if the user had been logged in.
        """
        found: list[list[Entry]] = [[]]
        for entry in self.entries:
            if (
                entry.direction == "out"
                and entry.method == "initialize"
                and any(e.message for e in found[-1])
            ):
                found.append([])
            found[-1].append(entry)
        useful = [life for life in found if _opened(life)]
        return [_logged_in(life) for life in useful or found[-1:]]


def read(path: Path, connection: int | None = None) -> Recording:
    """Read a file. ``connection``: that one, else the one with most prompts. Raises RecordingError."""
    facts: Json = {}
    entries: list[Entry] = []
    cut = 0
    log = False
    for number, value in _lines(path):
        where = f"{path}, line {number}"
        if number == 1 and "trace" in value:
            facts = _facts(value, where)
            continue
        if number == 1:
            log = value.get("dir") in _LOGS and "connection" not in value
            if not log:
                raise RecordingError(f"{where}: this is no trace: :w file.jsonl in :AcpTrace writes one")
        entry = _entry(value, log, where)
        if "cut" in value:
            cut += 1
        else:
            entries += entry
    if not any(entry.direction != "note" for entry in entries):
        raise RecordingError(f"{path}: there are no messages in it")
    numbers = sorted({entry.connection for entry in entries})
    if connection is None:
        connection = max(numbers, key=lambda n: (_prompts(entries, n), -n))
    elif connection not in numbers:
        raise RecordingError(
            f"{path}: it has no connection {connection}, only {', '.join(map(str, numbers))}"
        )
    mine = [entry for entry in entries if entry.connection == connection]
    protocol = _protocol(mine)
    return Recording(str(facts.get("agent") or "agent"), protocol, mine, len(numbers) - 1, cut, facts)


def _lines(path: Path) -> Iterator[tuple[int, Json]]:
    try:
        with path.open("rb") as file:
            size = 0
            number = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                size += len(line)
                where = f"{path}, line {number}"
                if len(line) > MOST_LINE or size > MOST_FILE:
                    raise RecordingError(f"{where}: too long for a trace")
                if line.strip():
                    yield number, _object(line, where)
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from error


def _object(line: bytes, where: str) -> Json:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        why = ", the file may have been cut off" if not line.endswith(b"\n") else ""
        raise RecordingError(f"{where}: this is no JSON{why}") from error
    if not isinstance(value, dict):
        raise RecordingError(f"{where}: this is no JSON object")
    return value


def _facts(value: Json, where: str) -> Json:
    version = value["trace"]
    if not isinstance(version, int) or version < 1:
        raise RecordingError(f"{where}: this is no trace of acp.nvim")
    if version > VERSION:
        raise RecordingError(f"{where}: written by a newer acp.nvim (format {version}): update this one")
    return value


def _entry(value: Json, log: bool, where: str) -> list[Entry]:
    at, direction, message = value.get("t"), value.get("dir"), value.get("msg")
    if log:
        direction = _LOGS.get(str(direction))
    if not isinstance(at, int | float) or isinstance(at, bool) or not 0 <= at < 1e12:
        raise RecordingError(f"{where}: “t” is no time")
    if direction not in ("in", "out", "note"):
        raise RecordingError(f"{where}: “dir” is none of in, out, note")
    number, label, text = value.get("connection", 1), value.get("label", ""), value.get("text")
    if not isinstance(number, int) or not isinstance(label, str) or not isinstance(text, str | None):
        raise RecordingError(f"{where}: this is no line of a trace")
    seconds = float(at) if log else at / 1000
    if direction == "note":
        return [Entry(seconds, "note", connection=number)]
    messages = message if isinstance(message, list) else [message]
    if not all(isinstance(each, dict | None) for each in messages):
        raise RecordingError(f"{where}: “msg” is no message")
    return [Entry(seconds, direction, each, text, label, number) for each in messages]


def _prompts(entries: Sequence[Entry], number: int) -> int:
    mine = (entry for entry in entries if entry.connection == number and entry.direction == "out")
    return sum(entry.method == "session/prompt" or entry.label.endswith("/turns") for entry in mine)


def _protocol(entries: Sequence[Entry]) -> Literal["acp-v1", "acp-v2", "aap"]:
    if any(entry.label for entry in entries):
        return "aap"
    version = None
    for entry in entries:
        if entry.direction == "in" and entry.result is not None:
            version = entry.result.get("protocolVersion", version)
    return "acp-v2" if version == 2 else "acp-v1"


def answer_to(entries: Sequence[Entry], request: Entry) -> Entry | None:
    """The answer to one of the entries."""
    for entry in entries[entries.index(request) + 1 :]:
        if entry.direction != request.direction and entry.ident == request.ident and not entry.method:
            return entry
    return None


def _opened(life: Sequence[Entry]) -> bool:
    openings = [e for e in life if e.direction == "out" and e.method in OPENINGS]
    answers = [answer_to(life, each) for each in openings]
    return any(each is not None and each.result is not None for each in answers)


def _logged_in(life: list[Entry]) -> list[Entry]:
    openings = [e for e in life if e.direction == "out" and e.method in OPENINGS]
    left_out: set[int] = set()
    refused: list[tuple[Entry, Entry]] = []
    for each in openings:
        answer = answer_to(life, each)
        if answer is not None and answer.result is not None:
            left_out |= {id(one) for pair in refused for one in pair}
            break
        if answer is not None:
            refused.append((each, answer))
    return [entry for entry in life if id(entry) not in left_out]
