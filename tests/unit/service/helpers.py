"""A store, an editor and a user that need no Neovim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.service.files import FileService
from acp_nvim.service.questions import QuestionService
from acp_nvim.session.asked import PathSubject, Permission, PermissionOption
from acp_nvim.session.entities import Session
from acp_nvim.session.events import Event, FileWritten, PermissionClosed, PermissionOpened
from acp_nvim.session.ports import RequestError
from acp_nvim.session.store import Store

OPTIONS = [
    PermissionOption("ok", "Allow", "allow_once"),
    PermissionOption("no", "Reject", "reject_once"),
]


@dataclass
class Room:
    """The questions of a store, and what came of them."""

    store: Store = field(default_factory=lambda: Store(lambda: 1.0))
    events: list[Event] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    hidden: list[tuple[str, str]] = field(default_factory=list)
    on_show: Callable[[Session, Permission], None] = lambda _session, _permission: None

    def __post_init__(self) -> None:
        self.questions = QuestionService(self.store, self._show, self._hide)
        self.store.subscribe(lambda _session, event, _touched: self.events.append(event))

    def _show(self, session: Session, permission: Permission) -> None:
        self.shown.append(permission.id)
        self.on_show(session, permission)

    def _hide(self, permission: Permission, outcome: str) -> None:
        self.hidden.append((permission.id, outcome))

    def closings(self) -> list[tuple[str, str, str | None, str]]:
        return [(e.id, e.outcome, e.option, e.by) for e in self.events if isinstance(e, PermissionClosed)]

    def openings(self) -> list[str]:
        return [e.permission.id for e in self.events if isinstance(e, PermissionOpened)]

    def session(self, name: str = "s1", cwd: str = "/ws", roots: tuple[str, ...] = ()) -> Session:
        made = Session(name, "agent", cwd, roots=roots or (cwd,))
        self.store.add(made)
        return made

    async def until(self, condition: Callable[[], object]) -> None:
        with anyio.fail_after(10):
            while not condition():  # noqa: ASYNC110 (the condition is anybody's)
                await anyio.sleep(0.001)


class FakeEditor:
    """The functions of ``acp.buffers`` over a table of loaded buffers: path -> [text, modified]."""

    def __init__(self) -> None:
        self.buffers: dict[str, list[Any]] = {}
        self.calls: list[tuple[str, str]] = []
        self.failure: str | None = None
        self.before_write: Callable[[], None] = lambda: None
        self.busy = 0  # so many writes are answered with that
        self.large = False
        self.tick = 1
        self.behind: dict[str, str] = {}  # files that have changed under unsaved edits, and how they look

    async def call(self, module: str, function: str, /, *args: Any) -> Any:
        assert module == "acp.buffers"
        await anyio.lowlevel.checkpoint()
        path = args[0]
        self.calls.append((function, path))
        loaded = path in self.buffers
        if function == "read":
            if not loaded:
                return {"loaded": False}
            text, modified = self.buffers[path]
            answer = {"loaded": True, "modified": modified, "text": text, "tick": self.tick}
            return {**answer, "text": "", "large": True} if self.large else answer
        assert function == "write"
        if not loaded:
            return {"ok": False, "loaded": False}
        if self.busy:
            self.busy -= 1
            return {"ok": False, "why": "busy"}
        self.before_write()
        text, options = args[1], args[2] if len(args) > 2 else {}
        behind = self.behind.get(path)
        if self.buffers[path][1] and (options.get("tick") != self.tick or options.get("disk") != behind):
            return {"ok": False, "why": "modified", "disk": behind}
        if self.failure:
            return {"ok": False, "why": "error", "error": self.failure}
        if self.buffers[path] == [text, False]:
            return {"ok": True, "wrote": False}
        merged = options.get("merged")
        self.buffers[path] = [merged or text, merged is not None]
        return {"ok": True, "wrote": True}

    def type(self, path: str, text: str) -> None:
        """The user edits a loaded buffer and does not save it."""
        self.tick += 1
        self.buffers[path] = [text, True]


class Place:
    """A project on disk, its file service, and a user who answers every question with ``answer``."""

    def __init__(self, base: Path) -> None:
        self.base = base.resolve()
        self.ws = self.base / "ws"
        self.ws.mkdir()
        self.room = Room(on_show=self._on_show)
        self.editor = FakeEditor()
        self.asked: list[PathSubject] = []
        self.answer: int | None = 2
        self.offered: list[str] = []
        self.changed: list[str] = []
        self.written: list[FileWritten] = []
        self.quirks: dict[str, Any] = {}
        self.files = FileService(
            self.editor,
            self.room.questions,
            quirks=lambda _session: self.quirks,
            changed=lambda _session, path: self.changed.append(path),
            written=lambda _session, event: self.written.append(event),
        )
        self.session = self.room.session(cwd=str(self.ws))

    def _on_show(self, _session: Session, permission: Permission) -> None:
        assert isinstance(permission.subject, PathSubject)
        assert [(o.name, o.kind) for o in permission.options][:2] == [
            ("Yes", "allow_once"),
            ("No", "reject_once"),
        ]
        self.offered = [o.name for o in permission.options[2:]]
        assert permission.asked_by == "client"
        self.asked.append(permission.subject)
        if self.answer is not None:
            self.room.questions.answer(permission.id, self.answer)

    async def read(self, name: str, line: int | None = None, limit: int | None = None) -> str:
        return await self.files.read(self.session, str(self.base / name), line, limit)

    async def write(self, name: str, text: str) -> None:
        await self.files.write(self.session, str(self.base / name), text)

    async def code(self, job: Callable[[], Any]) -> int:
        with pytest.raises(RequestError) as caught:
            await job()
        return caught.value.code
