"""What a chat says in its transcript besides the conversation: its head, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from acp_nvim.session.entities import Failure, Note, Session
from acp_nvim.session.events import NoteShown
from acp_nvim.session.ports import Sink
from acp_nvim.view.ends import failure_lines, failure_title
from acp_nvim.view.frames import Frames
from acp_nvim.view.head import Head
from acp_nvim.view.transcript import Transcript

from .connection import Connection

Severity: TypeAlias = Literal["info", "warning", "error"]


@dataclass(slots=True, eq=False)
class Telling:
    """Of one chat. All methods run on the host's loop."""

    session: Session
    connection: Connection
    transcript: Transcript
    store: Sink
    frames: Frames
    reopened: bool = False  # the transcript holds what a host that was lost has written
    first: bool = True  # of this agent: what the user should know of it stands in its head
    earlier: int = 0  # sessions of earlier Neovims that the head offers
    _notes: int = 0
    _head: tuple[str, str | None, Sequence[str]] = ("starting", None, ())

    def note(
        self, severity: Severity, title: str, lines: Sequence[str] = (), *, beside: bool = False
    ) -> None:
        """Put a line of ours into the transcript; ``beside`` as in Note."""
        self._notes += 1
        note = Note(f"note-{self._notes}", severity, title, list(lines), beside=beside)
        self.store.apply(self.session, NoteShown(note))

    @property
    def begun(self) -> bool:
        """Whether something of a conversation stands in the transcript: else the head says what is wrong."""
        return bool(self.session.turns) or self.reopened or not self.session.blank

    def failed(self, failure: Failure, *, given_back: bool) -> None:
        """Say what is wrong with the agent; ``given_back``: the user's prompts are in the prompt again."""
        title = failure_title(failure)
        lines = failure_lines(failure, self.session.agent, given_back=given_back)
        if self.begun:
            self.head("ready")
            self.note("error", title, lines)
        else:
            self.head("failed", title, lines)

    def offer(self, earlier: int) -> None:
        """Say in the head that there are so many earlier sessions of this folder."""
        self.earlier = earlier
        self.head(*self._head)

    def head(self, state: str, failure: str | None = None, lines: Sequence[str] = ()) -> None:
        """Rewrite the head block (ui.md section 4)."""
        self._head = (state, failure, lines)
        info = self.connection.info
        self.transcript.set_head(
            Head(
                agent=self.session.agent,
                cwd=self.session.cwd,
                state=state,
                demo=self.connection.demo,
                title=(info.title or info.name) if info else None,
                version=info.version if info else None,
                speaks=info.speaks if info else None,
                commands=len(self.session.commands),
                ready_s=self.connection.ready_after,
                failure=failure,
                lines=lines,
                earlier=self.earlier,
                note=(self.connection.config.note or None) if self.first else None,
            )
        )
        self.frames.wake()
