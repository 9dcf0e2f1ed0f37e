"""Which session a message of the trace belongs to: it says so itself, or it answers one that does."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from .trace import Entry


class SessionOf:
    """Of one connection; called with its messages in their order. None: of the connection, or not known."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, str], str | None] = {}
        self._http: str | None = None

    def __call__(self, entry: Entry, message: Any) -> str | None:
        """``message``: what the entry holds as JSON."""
        if entry.direction == "note":
            return None
        if entry.label:
            if entry.direction == "out":
                parts = entry.label.split(" ")[-1].partition("?")[0].split("/")
                self._http = parts[2] if len(parts) > 2 and parts[1] == "sessions" else None
            return self._http
        if not isinstance(message, dict):
            return None
        for member in ("params", "result"):
            part = message.get(member)
            session = part.get("sessionId") if isinstance(part, dict) else None
            if isinstance(session, str):
                break
        else:
            session = None
        if "id" not in message:
            return session
        ident = repr(message["id"])
        if "method" in message:
            self._asked[entry.direction, ident] = session
            return session
        asked = self._asked.pop(("out" if entry.direction == "in" else "in", ident), None)
        return session or asked


def same(found: str, wanted: str) -> bool:
    """Over HTTP the trace has ids as in an address, and shortened."""
    quoted = quote(wanted, safe="")
    return found in (wanted, quoted) or (found.endswith("…") and quoted.startswith(found[:-1]))
