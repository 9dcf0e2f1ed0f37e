"""What is remembered of sessions that were used: one file, several Neovims, bounds, and what breaks."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest
from tests.plugin import eventually

from acp_nvim.client import own_file, record
from acp_nvim.client.record import Record, Used

pytestmark = pytest.mark.anyio


def used(ident: str, time: int = 1, cwd: str = "/ws", **fields: Any) -> Used:
    return Used("x", ident, cwd, cwd, time=time, **fields)


class Neovim:
    """A record, and what it complained about."""

    def __init__(self, path: Path, spawn: Callable[..., None]) -> None:
        self.complaints: list[str] = []
        self.record = Record(path, spawn, self.complaints.append)

    async def ids(self) -> list[str]:
        return [each.id for each in await self.record.all()]


@asynccontextmanager
async def neovims(path: Path, count: int = 1) -> AsyncIterator[list[Neovim]]:
    """At the end all is written."""
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            spawn: Any = group.start_soon
            yield [Neovim(path, spawn) for _ in range(count)]


async def test_it_is_there_in_the_next_neovim(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "sessions.json"
    async with neovims(path) as [here]:
        here.record.keep(used("a", 1, title="old"))
        here.record.keep(used("b", 2))
        here.record.keep(used("a", 3, title="new"))
        assert await here.ids() == ["a", "b"]  # also before it is written
    async with neovims(path) as [later]:
        assert [(each.id, each.title) for each in await later.record.all()] == [("a", "new"), ("b", "")]
        later.record.forget("x", "a")
        later.record.forget("x", "never there")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    async with neovims(path) as [last]:
        assert await last.ids() == ["b"]
    assert sorted(each.name for each in path.parent.iterdir()) == ["sessions.json", "sessions.lock"]


async def test_what_is_written_while_the_file_is_read_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sessions.json"
    changing = threading.local()

    @contextmanager
    def marked(lock: Path) -> Iterator[None]:
        changing.now = True
        with own_file.alone(lock):
            yield

    def early(file: Path, most: int) -> bytes:
        """As the file was before the change; it comes after the change."""
        try:
            return own_file.read_whole(file, most)
        except FileNotFoundError:
            if not hasattr(changing, "now"):
                eventually(path.exists)
                eventually(lambda: not here.record._writing)
            raise

    monkeypatch.setattr(record, "alone", marked)
    monkeypatch.setattr(record, "read_whole", early)
    async with neovims(path) as [here]:
        here.record.keep(used("a"))
        assert await here.ids() == ["a"]


async def test_several_neovims_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    async with neovims(path, 3) as every:
        for n, here in enumerate(every):
            for k in range(5):
                here.record.keep(used(f"{n}-{k}", 10 * n + k))
                await anyio.lowlevel.checkpoint()
    async with neovims(path) as [later]:
        assert len(await later.ids()) == 15


@pytest.mark.parametrize(
    "broken",
    [b'{"sessions": [', b"[]", b"\xff\xfe", b'{"sessions": [{"agent": 1}]}', b" " * (1 << 20) + b"{}"],
)
async def test_a_broken_file_is_told_once_and_kept_beside(tmp_path: Path, broken: bytes) -> None:
    path = tmp_path / "sessions.json"
    path.write_bytes(broken)
    async with neovims(path) as [here]:
        assert await here.ids() == []
        assert await here.ids() == []
        here.record.keep(used("a"))
    assert len(here.complaints) == 1
    assert "cannot be read" in here.complaints[0]
    assert (tmp_path / "sessions.bad").read_bytes() == broken
    async with neovims(path) as [later]:
        assert await later.ids() == ["a"]
    assert later.complaints == []


async def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with neovims(tmp_path / "file" / "sessions.json") as [here]:
        here.record.keep(used("a"))
        await anyio.lowlevel.checkpoint()
        here.record.keep(used("b"))
    assert len(here.complaints) == 1


async def test_the_oldest_of_a_folder_and_of_all_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "MOST", 3)
    monkeypatch.setattr(record, "MOST_OF_FOLDER", 2)
    path = tmp_path / "sessions.json"
    async with neovims(path) as [here]:
        for n in (4, 1, 3):
            here.record.keep(used(f"a{n}", n, "/a"))
        for n in (2, 1):
            here.record.keep(used(f"b{n}", n, "/b"))
    async with neovims(path) as [later]:
        assert await later.ids() == ["a4", "a3", "b2"]


async def test_the_file_is_never_larger_than_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "MOST_BYTES", 4096)
    path = tmp_path / "sessions.json"
    async with neovims(path) as [here]:
        for n in range(40):
            here.record.keep(used(f"{n}", n, title="t" * 200))
    assert path.stat().st_size < 4096
    async with neovims(path) as [later]:
        assert (await later.ids())[0] == "39"


def test_a_lock_that_is_held_for_ever_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_file, "PATIENCE", 0.05)
    path = tmp_path / "sessions.lock"
    with own_file.alone(path), ThreadPoolExecutor() as pool:

        def enter() -> bool:
            with own_file.alone(path):
                return True

        assert pool.submit(enter).result(timeout=10)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_what_json_cannot_hold_is_a_complaint(tmp_path: Path) -> None:
    async with neovims(tmp_path / "sessions.json") as [here]:
        here.record.keep(used("a", title="\ud800"))
    assert len(here.complaints) == 1
    assert msgspec.json.encode(used("b"))


async def test_what_a_killed_writer_left_goes(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    for name, age in (("sessions.jsonab12cd_x", 7200.0), ("sessions.jsonnew", 1.0), ("other", 7200.0)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    async with neovims(path) as [here]:
        here.record.keep(used("a"))
    left = sorted(each.name for each in await anyio.to_thread.run_sync(lambda: list(tmp_path.iterdir())))
    assert left == ["other", "sessions.json", "sessions.jsonnew", "sessions.lock"]
