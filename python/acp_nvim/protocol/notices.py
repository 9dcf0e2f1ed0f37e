"""Notices of the agent, which are no part of the conversation."""

from __future__ import annotations

from acp_nvim.session.entities import Note


def notice(note_id: str, severity: str, title: str, description: str | None) -> Note:
    """A title must not be empty; where it is, the description's first line has to do (V1-159, V2-139)."""
    lines = (description or "").splitlines()
    if not title.strip():
        title = lines.pop(0) if lines else "a notice without words"
    match severity:
        case "info" | "warning" | "error":
            return Note(note_id, severity, title, lines, by="agent")
        case _:
            return Note(note_id, "info", title, lines, by="agent", severity_raw=severity)
