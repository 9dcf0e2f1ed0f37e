"""A project on disk, all tools, and a user who answers: for tests that call tools as a server does."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from tests.plugin import marked
from tests.unit.service.helpers import FakeEditor, Room

from acp_nvim.process.reaper import Reaper
from acp_nvim.process.spawn import Spawner
from acp_nvim.service.files import FileService
from acp_nvim.service.terminals import TerminalService
from acp_nvim.service.tools import ToolBox
from acp_nvim.session.asked import Permission
from acp_nvim.session.content import Block, Diff
from acp_nvim.session.elicitation import Elicitation
from acp_nvim.session.entities import Session, ToolCall
from acp_nvim.session.events import ToolPatch
from acp_nvim.session.tools import ClientCall

#: What a user may answer, by the option's id.
ALLOW, ALWAYS, REJECT, REASON = "allow", "always", "reject", "reason"


class Editor(FakeEditor):
    """Also ``acp.tools``: ``said`` is what its functions return."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, Any] = {}
        self.wanted: list[tuple[Any, ...]] = []

    async def call(self, module: str, function: str, /, *args: Any) -> Any:
        if module != "acp.tools":
            return await super().call(module, function, *args)
        self.wanted.append((function, *args))
        return self.said[function]


class Desk:
    """``answer``: what the user says to every question; None: nothing yet. ``why``: their reason."""

    def __init__(self, base: Path, group: anyio.abc.TaskGroup) -> None:
        self.base = base.resolve()
        self.ws = self.base / "ws"
        self.ws.mkdir()
        self.room = Room(on_show=self._on_show)
        self.editor = Editor()
        self.answer: str | None = None
        self.why = "not like this"
        self.asked: list[Permission] = []
        self.faults: list[Exception] = []
        self.on_ask: Callable[[], object] = lambda: None
        self.spawner = Spawner()
        self.spawner.reaper = Reaper(grace=0.2)
        questions, store = self.room.questions, self.room.store
        self.files = FileService(self.editor, questions, chat=lambda _session: 1, written=store.apply)
        self.terminals = TerminalService(
            self.spawner,
            store,
            questions,
            group.start_soon,  # type: ignore[arg-type]
        )
        store.subscribe(self.terminals.on_event)
        self.box = ToolBox(
            self.editor,
            self.files,
            self.terminals,
            questions,
            store,
            self.spawner,
            self.faults.append,
        )
        store.subscribe(self.box.on_event)
        self.session: Session = self.room.session(cwd=str(self.ws))
        self.rows = 0

    def file(self, name: str, text: str | bytes = "") -> Path:
        """A file of the project."""
        path = self.ws / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def left(self, marker: str) -> set[int]:
        """The processes of this test that live, but for the reaper."""
        return marked(marker).keys() - {self.spawner.reaper.pid}

    def git(self, *words: str, where: Path | None = None) -> None:
        subprocess.run(["git", *words], cwd=where or self.ws, check=True, capture_output=True)

    async def use(self, tool: str, given: Any = None, /, **fields: Any) -> str:
        """Call a tool; what the agent is told."""
        self.rows += 1
        row = f"r{self.rows}"
        taken = fields if given is None else given
        self.room.store.apply(self.session, ToolPatch(row, title=tool, status="pending", raw_input=taken))
        with anyio.fail_after(20):
            return await self.box.run(self.session, ClientCall(row, tool, taken, "agents.example.org"))

    @property
    def row(self) -> ToolCall:
        """The row of the last call."""
        return self.session.tool_calls[f"r{self.rows}"]

    @property
    def diffs(self) -> list[Diff]:
        return [each for each in self.row.content if isinstance(each, Diff)]

    @property
    def shown(self) -> str:
        return "".join(str(each.text) for each in self.row.content if isinstance(each, Block))

    @property
    def subject(self) -> Any:
        """What the last question was about."""
        return self.asked[-1].subject

    def _on_show(self, _session: Session, permission: Permission) -> None:
        if isinstance(permission.subject, Elicitation):
            self.room.questions.fill(permission.id, {"reason": self.why})
            return
        self.asked.append(permission)
        self.on_ask()
        self.say(self.answer)

    def say(self, answer: str | None) -> None:
        """Answer the newest question."""
        if answer is not None:
            ids = [option.id for option in self.asked[-1].options]
            self.room.questions.answer(self.asked[-1].id, ids.index(answer) + 1)


@asynccontextmanager
async def desk(base: Path) -> AsyncIterator[Desk]:
    made: Desk | None = None
    try:
        with anyio.fail_after(50):
            async with anyio.create_task_group() as group:
                made = Desk(base, group)
                try:
                    yield made
                finally:
                    made.terminals.close(made.session)
    finally:
        if made is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(made.spawner.reaper.close)
