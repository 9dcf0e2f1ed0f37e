"""The file of ``:w`` in a trace: JSON lines, masked. The format stands in :help acp-trace-file.

``acp_nvim.replay`` reads it; it knows nothing of this module.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp_nvim import __version__

from .redact import Redact
from .trace import Entry
from .trace_rows import read
from .trace_sessions import SessionOf, same

VERSION = 1
#: Levels of a message that is written as JSON.
MOST_DEPTH = 100
MASKED = (
    "secrets of the settings and of the environment; env, headers and log-ins; members named as keys, tokens,"
    " passwords, cookies; the home folder (~)"
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one connection has to tell. ``older``: messages that are no longer kept."""

    entries: Sequence[Entry]
    older: int
    protocol: str
    agent_name: str | None
    agent_version: str | None


@dataclass(frozen=True, slots=True)
class Facts:
    """``session``: only what belongs to it, or to none, is written."""

    agent: str
    neovim: str
    session: str | None


@dataclass(slots=True)
class _Record:
    entry: Entry
    connection: int
    session: str | None
    message: Any


def lines(facts: Facts, conversations: Sequence[Conversation], redact: Redact) -> list[str]:
    """The lines of the file. It takes its time: run it in a thread."""
    records: list[_Record] = []
    for number, each in enumerate(conversations, 1):
        session_of = SessionOf()
        for entry in each.entries:
            message = read(entry)
            session = session_of(entry, message)
            if facts.session is None or session is None or same(session, facts.session):
                records.append(_Record(entry, number, session, message))
    records.sort(key=lambda record: record.entry.at)
    start = records[0].entry.at if records else 0.0
    whole = [_whole(record) for record in records]
    streams = [
        _stream(record) if found is not None else None for record, found in zip(records, whole, strict=True)
    ]
    masked = redact.messages(whole, streams)
    out = [_dump(_head(facts, conversations, start, redact))]
    for record, message in zip(records, masked, strict=True):
        out.append(_dump(_line(facts, record, message, start, redact)))
    return out


def write(path: Path, text: list[str]) -> None:
    """Write or replace a file in one step, for the user alone. Blocks. Raises OSError."""
    path = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)  # mode 0600
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.writelines(f"{line}\n" for line in text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _head(
    facts: Facts, conversations: Sequence[Conversation], start: float, redact: Redact
) -> dict[str, Any]:
    import platform  # it takes 5 ms of the host's start otherwise

    head = {
        "acp.nvim": __version__,
        "trace": VERSION,
        "agent": facts.agent,
        "started": datetime.fromtimestamp(start, UTC).isoformat(timespec="milliseconds"),
        "neovim": facts.neovim,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "connections": [
            {
                "protocol": each.protocol,
                "name": each.agent_name,
                "version": each.agent_version,
                "older": each.older,
            }
            for each in conversations
        ],
        "masked": MASKED,
        "session": facts.session,
    }
    found: dict[str, Any] = redact.messages([head], [None])[0]
    return found


def _line(facts: Facts, record: _Record, message: Any, start: float, redact: Redact) -> dict[str, Any]:
    entry = record.entry
    line: dict[str, Any] = {
        "t": round((entry.at - start) * 1000, 1),
        "dir": entry.direction,
        "agent": facts.agent,
        "connection": record.connection,
    }
    if record.session is not None:
        line["session"] = redact.text(record.session)
    if entry.label:
        line["label"] = redact.text(entry.label)
    if entry.note:
        line["note"] = redact.text(entry.note)
    if entry.size > len(entry.raw):
        line["size"] = entry.size
        line["cut"] = redact.cut(entry.raw.decode("utf-8", "replace"))
    elif message is not None:
        line["msg"] = message
    elif entry.raw:
        line["text"] = redact.raw(entry.raw.decode("utf-8", "replace"))
    return line


def _whole(record: _Record) -> Any:
    """The message, if it is whole. What is no object, or too deep, is written as text."""
    entry = record.entry
    if entry.raw.count(b"[") + entry.raw.count(b"{") > MOST_DEPTH and _depth(entry.raw) > MOST_DEPTH:
        return None
    if entry.size > len(entry.raw):
        return None
    if entry.direction == "note" and entry.raw:
        try:
            return json.loads(entry.raw)
        except (ValueError, RecursionError):
            return None
    return record.message if isinstance(record.message, dict | list) else None


def _depth(raw: bytes) -> int:
    """How deep a message is at most: brackets in texts count, too."""
    depth = deepest = 0
    for byte in raw:
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest


def _stream(record: _Record) -> Hashable | None:
    """Messages of one stream continue each other's texts: chunks of an answer, output of a terminal."""
    entry, message = record.entry, record.message
    if entry.direction != "in" or not isinstance(message, dict) or "id" in message:
        return None
    if entry.label:
        return (record.connection, "http", entry.label)
    params = message.get("params")
    update = params.get("update") if isinstance(params, dict) else None
    kind = update.get("sessionUpdate") if isinstance(update, dict) else message.get("method")
    call = update.get("toolCallId") if isinstance(update, dict) else None
    return (record.connection, record.session, str(kind), str(call))


def _dump(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
