"""A project with a terminal service, for tests that run commands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.unit.service.helpers import Room

from acp_nvim.process.reaper import Reaper
from acp_nvim.process.spawn import Spawner
from acp_nvim.service.terminals import TerminalService
from acp_nvim.session.asked import CommandSubject, Permission
from acp_nvim.session.entities import Session
from acp_nvim.session.ports import CommandLine, RequestError
from acp_nvim.session.terminals import Exit, Terminal


class Shop:
    """A project on disk, the service, and a user who answers every question with ``answer``."""

    def __init__(self, base: Path, group: anyio.abc.TaskGroup) -> None:
        self.base = base.resolve()
        self.ws = self.base / "ws"
        self.ws.mkdir()
        self.room = Room(on_show=self._on_show)
        self.spawner = Spawner()
        self.spawner.reaper = Reaper(grace=0.2)
        self.always = False
        self.answer: int | None = 1
        self.asked: list[CommandSubject] = []
        self.service = TerminalService(
            self.spawner,
            self.room.store,
            self.room.questions,
            group.start_soon,  # type: ignore[arg-type]
            ask=lambda: self.always,
        )
        self.room.store.subscribe(self.service.on_event)
        self.session = self.room.session(cwd=str(self.ws))

    def _on_show(self, _session: Session, permission: Permission) -> None:
        assert isinstance(permission.subject, CommandSubject)
        assert permission.asked_by == "client"
        self.asked.append(permission.subject)
        if self.answer is not None:
            self.room.questions.answer(permission.id, self.answer)

    async def create(self, command: str, *args: str, **fields: Any) -> str:
        session = fields.pop("session", self.session)
        return await self.service.create(session, CommandLine(command, args, **fields))

    async def sh(self, program: str, **fields: Any) -> str:
        return await self.create("/bin/sh", "-c", program, **fields)

    async def run(self, command: str, *args: str, **fields: Any) -> tuple[str, Exit]:
        """Run a command to its end; its output, and how it ended."""
        terminal = await self.create(command, *args, **fields)
        with anyio.fail_after(10):
            ended = await self.service.wait(self.session, terminal)
        text, _, told = self.service.output(self.session, terminal)
        assert told == ended
        await self.service.release(self.session, terminal)
        return text, ended

    async def writes(self, terminal: str, wanted: str) -> None:
        await self.room.until(lambda: wanted in self.service.output(self.session, terminal)[0])

    def shown(self, terminal: str) -> Terminal:
        return self.session.terminals[terminal]

    async def refused(self, job: Callable[[], Any]) -> RequestError:
        with pytest.raises(RequestError) as caught:
            await job()
        return caught.value


@asynccontextmanager
async def shop(base: Path) -> AsyncIterator[Shop]:
    made: Shop | None = None
    try:
        with anyio.fail_after(40):
            async with anyio.create_task_group() as group:
                made = Shop(base, group)
                try:
                    yield made
                finally:
                    made.service.close(made.session)
    finally:
        if made is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(made.spawner.reaper.close)
