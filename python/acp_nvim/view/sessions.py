"""Sessions an agent knows of, as the list shows them (ui.md section 7)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from acp_nvim.session.agent import SessionInfo
from acp_nvim.text.sanitise import one_line

#: Cells of a title; the list cuts it to its window.
TITLE_CELLS = 200


def listed(info: SessionInfo) -> dict[str, Any]:
    """One session for Lua: ``id`` and ``cwd`` exact, the rest fit to be shown; what is not known is left out.

    ``time`` is in seconds since the epoch.
    """
    fields: dict[str, Any] = {"id": info.id, "cwd": info.cwd}
    title = one_line(info.title or "", TITLE_CELLS).strip()
    time = epoch(info.updated_at)
    if title:
        fields["title"] = title
    if time is not None:
        fields["time"] = time
    if info.directories:
        fields["directories"] = list(info.directories)
    return fields


def epoch(text: str | None) -> int | None:
    """Seconds since the epoch of a time in ISO 8601; without a zone it is UTC. None: it is no such time."""
    try:
        when = datetime.fromisoformat(text or "")
        return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None
