"""What is looked at when an agent writes a file anew, and when it is not believed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from acp_nvim.client.overwrites import MAX_BYTES, Overwrites
from acp_nvim.editor import Editor
from acp_nvim.session.content import Change, Diff
from acp_nvim.session.entities import Session, ToolCall
from acp_nvim.session.events import Event, OverwriteFound, ToolPatch

pytestmark = pytest.mark.anyio


class FakeEditor:
    def __init__(self) -> None:
        self.buffers: dict[str, tuple[str, bool]] = {}
        self.reads = 0
        self.go = anyio.Event()
        self.go.set()

    async def call(self, _module: str, _function: str, /, path: str) -> Any:
        self.reads += 1
        await self.go.wait()
        if path not in self.buffers:
            return {"loaded": False}
        text, modified = self.buffers[path]
        return {"loaded": True, "text": text, "modified": modified, "tick": 1}


class Sink:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def apply(self, _session: Session, event: Event) -> None:
        self.events.append(event)

    async def room(self, session: Session) -> None:
        raise AssertionError(session)


class Room:
    def __init__(self, group: anyio.abc.TaskGroup) -> None:
        self.group, self.editor, self.sink = group, FakeEditor(), Sink()
        self.overwrites = Overwrites(cast("Editor", self.editor), self.sink, self.spawn)
        self.session = Session("s", "agent", "/ws")

    def spawn(self, job: Callable[..., Any], *args: Any) -> None:
        self.group.start_soon(job, *args)

    def tell(self, path: Path, new: str = "new\n", **fields: Any) -> ToolCall:
        fields = {"started": time.time(), **fields}
        call = ToolCall("t1", content=[Diff((Change("add", str(path)),), None, new)], **fields)
        self.touch([call])
        return call

    def touch(self, calls: Sequence[ToolCall]) -> None:
        self.overwrites.on_event(self.session, ToolPatch("t1"), calls)

    async def found(self) -> list[Event]:
        await self.overwrites.settled(self.session, "t1")
        return self.sink.events


def old(path: Path, text: str | bytes = "old\n") -> Path:
    """A file that was there for a while."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, (time.time() - 60,) * 2)
    return path


@pytest.mark.req("C19")
async def test_the_file_that_is_there(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        room = Room(group)
        path = old(tmp_path / "a")
        call = room.tell(path)
        assert room.overwrites.busy(room.session, "t1")
        assert await room.found() == [OverwriteFound("t1", str(path), "old\n")]
        assert not room.overwrites.busy(room.session, "t1")
        room.touch([call])
        assert room.editor.reads == 1, "looked at once"


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"\xff\xfe\x00", None), (b"x" * (MAX_BYTES + 1), None), ("", "")],
)
async def test_what_cannot_be_shown_is_there_all_the_same(
    tmp_path: Path, content: str | bytes, text: str | None
) -> None:
    async with anyio.create_task_group() as group:
        room = Room(group)
        path = old(tmp_path / "a", content)
        room.tell(path)
        assert await room.found() == [OverwriteFound("t1", str(path), text)]


async def test_unsaved_edits_are_what_is_overwritten(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        room = Room(group)
        path = old(tmp_path / "a")
        room.editor.buffers[str(path)] = ("mine\n", True)
        room.tell(path)
        assert await room.found() == [OverwriteFound("t1", str(path), "mine\n", "edits")]


async def test_nothing_is_there(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        room = Room(group)
        room.tell(tmp_path / "a")
        assert await room.found() == []


async def test_what_the_agent_has_written_meanwhile_is_not_believed(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        room = Room(group)
        path = tmp_path / "a"
        path.write_text("half of wh")
        room.tell(path, started=time.time() - 60)
        same = old(tmp_path / "b", "new\n")
        room.tell(same)
        assert await room.found() == []


@pytest.mark.parametrize("how", ["done", "replayed", "relative"])
async def test_what_is_not_looked_at(tmp_path: Path, how: str) -> None:
    async with anyio.create_task_group() as group:
        room = Room(group)
        room.session.replaying = how == "replayed"
        path = Path("a") if how == "relative" else old(tmp_path / "a")
        room.tell(path, status="completed" if how == "done" else "pending")
        assert await room.found() == []
        assert room.editor.reads == 0


async def test_a_question_does_not_wait_for_ever(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        room = Room(group)
        room.editor.go = anyio.Event()
        path = old(tmp_path / "a")
        room.tell(path)
        assert await room.found() == []
        assert room.overwrites.busy(room.session, "t1")
        room.editor.go.set()
        assert await room.found() == [OverwriteFound("t1", str(path), "old\n")]
        room.overwrites.remove(room.session)
