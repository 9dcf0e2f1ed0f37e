"""Listings: made once, kept fresh, shared and dropped."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.service import projects as module
from acp_nvim.service.listing import Listing
from acp_nvim.service.projects import Project, Projects

pytestmark = pytest.mark.anyio


@dataclass
class Disk:
    """Fills listings when it is told to. ``now`` is the clock."""

    now: float = 5000.0
    filled: list[Listing] = field(default_factory=list)
    steps: list[anyio.Event] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    names: tuple[str, ...] = ("a", "b")

    async def fill(self, listing: Listing, grown: Callable[[], None]) -> None:
        self.filled.append(listing)
        try:
            for name in self.names:
                step = anyio.Event()
                self.steps.append(step)
                await step.wait()
                listing.add([name])
                grown()
            listing.end()
            grown()
            await anyio.lowlevel.checkpoint()
        finally:
            self.ended.append(listing.root)

    def step(self) -> None:
        self.steps[-1].set()


@asynccontextmanager
async def projects(disk: Disk) -> AsyncIterator[Projects]:
    async with anyio.create_task_group() as group:

        def spawn(function: Callable[..., Any], *args: Any) -> None:
            group.start_soon(function, *args)

        yield Projects(disk.fill, spawn, lambda: disk.now)
        group.cancel_scope.cancel()


async def settle(disk: Disk, project: Project) -> None:
    with anyio.fail_after(10):
        while not project.settled:
            if disk.steps:
                disk.step()
            await anyio.lowlevel.checkpoint()


async def test_one_listing_however_many_ask(tmp_path: Path) -> None:
    disk = Disk()
    async with projects(disk) as made:
        project = made.get(str(tmp_path), fresh=True)
        for fresh in (False, True) * 10:
            assert made.get(str(tmp_path), fresh=fresh) is project
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        assert (len(disk.filled), project.scans, project.settled) == (1, 1, False)
        with anyio.fail_after(10):
            version = project.version
            disk.step()
            await project.news(version)
            assert project.listing.paths.whole == ["a"], "it is seen while it grows"
            await anyio.wait_all_tasks_blocked()
            version = project.version
            disk.step()
            await project.news(version)
            await settle(disk, project)
            await project.news(project.version)  # there is none to wait for
        assert project.listing.paths.whole == ["a", "b"]
        for _ in range(20):
            made.get(str(tmp_path), fresh=False)
        await anyio.wait_all_tasks_blocked()
        assert len(disk.filled) == 1


async def test_it_is_made_anew_only_if_something_changed(tmp_path: Path) -> None:
    disk, modified = Disk(), await anyio.to_thread.run_sync(lambda: tmp_path.stat().st_mtime)
    async with projects(disk) as made:
        project = made.get(str(tmp_path), fresh=True)
        await settle(disk, project)
        await anyio.wait_all_tasks_blocked()
        old = project.listing
        old.began = modified + 100
        old.paths = type(old.paths)()  # nothing but the root is looked at
        disk.now = old.began
        for _ in range(10):
            disk.now += module.CHECK_S
            assert made.get(str(tmp_path), fresh=True) is project
            await settle(disk, project)
        assert len(disk.filled) == 1
        disk.names = ("c",)
        old.began = modified - 100
        made.get(str(tmp_path), fresh=True)
        assert project.settled, "it was looked at a moment ago"
        disk.now = old.began + module.CHECK_S * 10
        project.checked = disk.now - module.CHECK_S
        made.get(str(tmp_path), fresh=True)
        assert project.listing is old, "which is used meanwhile"
        await settle(disk, project)
        assert (len(disk.filled), project.listing.paths.whole) == (2, ["c"])
        disk.now += module.OLD_S + 1
        made.get(str(tmp_path), fresh=True)
        await settle(disk, project)
        assert len(disk.filled) == 3


async def test_what_nobody_works_in_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk()
    async with projects(disk) as made:
        one = made.get("/one", fresh=True)
        made.get("/two", fresh=True)
        await anyio.wait_all_tasks_blocked()
        made.keep(["/two"])
        await anyio.wait_all_tasks_blocked()
        assert disk.ended == ["/one"], "its listing is not finished"
        assert one.settled
        assert made.get("/one", fresh=False) is not one
        made.keep([])
    monkeypatch.setattr(module, "IDLE_S", 0.03)
    disk = Disk(names=())
    async with projects(disk) as made:
        kept, idle = made.get("/kept", fresh=True), made.get("/idle", fresh=True)
        disk.now += 1
        assert made.get("/kept", fresh=False) is kept
        with anyio.fail_after(10):
            while "/idle" in made._known:  # noqa: ASYNC110  (looking by get() would be using it)
                await anyio.sleep(0.01)
        assert made.get("/kept", fresh=False) is kept
        assert made.get("/idle", fresh=False) is not idle
        made.keep([])


@pytest.mark.parametrize("jump", [-3600.0, -31536000.0])
async def test_the_clock_is_set_back(tmp_path: Path, jump: float) -> None:
    disk = Disk()
    async with projects(disk) as made:
        project = made.get(str(tmp_path), fresh=True)
        await settle(disk, project)
        await anyio.wait_all_tasks_blocked()
        disk.now += jump
        made.get(str(tmp_path), fresh=True)
        await settle(disk, project)
        assert project.scans == 2, "nobody knows how old it is"
        made.get(str(tmp_path), fresh=True)
        await anyio.wait_all_tasks_blocked()
        assert project.scans == 2
