"""What all tools work with."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from anyio import to_thread

from acp_nvim.session.asked import PathSubject
from acp_nvim.session.content import Diff, ToolContent
from acp_nvim.session.entities import Session
from acp_nvim.session.events import ToolPatch
from acp_nvim.session.ports import Sink
from acp_nvim.session.tools import ClientCall

from ..files import Buffers, FileService
from ..roots import Place
from ..terminals import TerminalService
from .consent import Consent
from .git import Git
from .secret import secret


@dataclass(frozen=True, slots=True)
class Kit:
    editor: Buffers
    files: FileService
    terminals: TerminalService
    consent: Consent
    git: Git
    sink: Sink


@dataclass(frozen=True, slots=True)
class Done:
    """What the agent is told. ``content`` of the row, None: what it is told. ``raw``: its raw output."""

    said: str
    content: Sequence[ToolContent] | None = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Job:
    """A call at work, and the gate to its files (``files.Gate``)."""

    kit: Kit
    session: Session
    call: ClientCall

    def show(self, **fields: Any) -> None:
        """Change the call's row."""
        self.kit.sink.apply(self.session, ToolPatch(self.call.row, **fields))

    def path(self, said: str) -> str:
        """An absolute path. Where it really leads is found out when it is used."""
        path = said if said.startswith("/") else f"{self.session.cwd}/{said}"
        # Before a ".." there may be a link: then only the disk knows.
        return path if ".." in path.split("/") else os.path.normpath(path)

    def short(self, path: str) -> str:
        """For the agent: relative to the session's folder, if it is there."""
        below = self.session.cwd.rstrip("/") + "/"
        return path.removeprefix(below) if path != self.session.cwd else "."

    @property
    def roots(self) -> tuple[str, ...]:
        return tuple(self.session.roots) or (self.session.cwd,)

    async def why(self, place: Place) -> str | None:
        """Why its content takes the user's word: outside, protected, secret or ignored; None: it does not."""
        if place.why is not None:
            return place.why
        if await to_thread.run_sync(secret, place.path, self.roots, abandon_on_cancel=True):
            return "secret"
        return "ignored" if await self.kit.git.ignored(place.real, self.roots) else None

    async def read(self, place: Place) -> None:
        """As in ``files.Gate``: only what takes the user's word is asked about."""
        why = await self.why(place)
        if why is not None:
            subject = PathSubject("read", place.path, place.real, why)
            await self.ask(subject, ("read", place.real), "Always allow reading this file in this session")

    async def change(self, place: Place, diff: Diff, unsaved: bool) -> None:
        """As in ``files.Gate``: always asked, unless the user has allowed this file for the session.

        That is not offered, and does not count, where there is more to be said than the change.
        """
        self.show(content=[diff])
        why = await self.why(place) or ("modified" if unsaved else None)
        key = ("change", place.real) if why is None else None
        subject = PathSubject("write", place.path, place.real, why or "asked", diff)
        await self.ask(subject, key, "Always allow changes of this file in this session")

    async def ask(self, subject: Any, key: Hashable | None, always: str) -> None:
        """Raises RequestError for a no."""
        await self.kit.consent.ask(self.session, self.call, subject, key, always)


def bounded(text: str, limit: int) -> tuple[str, bool]:
    """At most so many characters, and whether there were more."""
    return (text, False) if len(text) <= limit else (text[:limit], True)
