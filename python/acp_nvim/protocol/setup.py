"""What every session is set up with: its folders, and the MCP servers of the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.entities import Note, Session
from acp_nvim.session.events import NoteShown
from acp_nvim.session.ports import Sink

from .directories import further
from .mcp import Mcp, Server

#: What the ids of our notes begin with.
_ID = "acp-setup-"


@dataclass(frozen=True, slots=True)
class Place:
    """``folders``: besides the session's own. ``problems``: what the settings name and it does not get."""

    folders: list[str]
    servers: list[Server]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Setup:
    """Of one connection. ``folders`` as in directories.further."""

    label: str
    mcp: Mcp
    folders: Sequence[str]

    def place(self, session: Session, info: AgentInfo) -> Place:
        """Only what the agent takes (V1-59, V1-64, V2-44, V2-149)."""
        servers, problems = self.mcp.servers(info, session.cwd)
        folders, missing = further(self.folders, session.cwd)
        if folders and not info.additional_directories:
            missing.append(f"{self.label} takes no further folders: agents.{self.label}.directories")
            folders = []
        return Place(folders, servers, [*problems, *missing])

    def tell(self, sink: Sink, session: Session, place: Place) -> None:
        """One note of all that the agent does not get: said again only when it is something else."""
        if not place.problems:
            return
        note = Note(f"{_ID}{session.arrival + 1}", "warning", place.problems[0])
        if len(place.problems) > 1:
            note.title = f"{self.label} does not get all that the settings name:"
            note.lines = list(place.problems)
        ours = (
            item for item in reversed(session.items) if isinstance(item, Note) and item.id.startswith(_ID)
        )
        last = next(ours, None)
        if last is not None and (last.title, last.lines) == (note.title, note.lines):
            return
        sink.apply(session, NoteShown(note))
