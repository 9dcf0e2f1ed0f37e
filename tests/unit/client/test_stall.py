"""The stall watch: what counts as silence, and that it does not wake for nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from tests.unit.session.build import answer, ask

from acp_nvim.client.stall import Stall
from acp_nvim.session.entities import Session
from acp_nvim.session.reducer import apply

pytestmark = pytest.mark.anyio


class World:
    """A clock that is only moved by sleeping, and what the watch told."""

    def __init__(self, limit: float) -> None:
        self.now = 1000.0
        self.naps: list[float] = []
        self.told: list[int | None] = []
        self.session = Session("s", "claude", "/src")
        self.limit = limit
        self.stall = Stall(self.session, lambda: self.limit, self._tell, lambda: self.now)
        self.noises: list[float] = []  # seconds after which the agent says something

    def _tell(self) -> None:
        self.told.append(self.stall.seconds)

    async def sleep(self, seconds: float) -> None:
        """Let the time pass, with all that is said meanwhile."""
        self.naps.append(seconds)
        await anyio.lowlevel.checkpoint()
        end = self.now + seconds
        while self.noises and self.now + self.noises[0] <= end:
            self.now += self.noises.pop(0)
            self.stall.heard()
        self.now = end

    async def settle(self) -> None:
        for _ in range(20):
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def turn(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """A running turn."""
    with monkeypatch.context() as patch:
        patch.setattr(anyio, "sleep", world.sleep)
        async with anyio.create_task_group() as group:
            group.start_soon(world.stall.watch)
            await world.settle()
            yield
            group.cancel_scope.cancel()


async def test_silence_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(60)
    async with turn(world, monkeypatch):
        assert world.told == [60]
        assert world.naps == [60]
        await world.settle()
        assert world.naps == [60], "it does not wake while nothing happens"
    assert world.stall.seconds is None


async def test_it_goes_when_the_agent_says_something_and_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(60)
    async with turn(world, monkeypatch):
        world.now += 15
        world.stall.heard()
        assert world.told == [60, None]
        world.stall.heard()
        assert world.told == [60, None]
        await world.settle()
        assert world.told == [60, None, 60]
        assert len(world.naps) == 2


async def test_much_that_is_said_wakes_it_once_in_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(60)
    world.noises = [0.005] * 100_000  # 500 s of 200 chunks a second
    async with turn(world, monkeypatch):
        assert len(world.naps) <= 11
        assert world.told == [60]
        assert not world.noises


async def test_an_open_question_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(60)
    apply(world.session, ask("p"), world.now)
    async with turn(world, monkeypatch):
        assert world.naps == []
        world.now += 600
        apply(world.session, answer("p", "ok"), world.now)
        world.stall.heard()
        assert world.told == []
        await world.settle()
        assert world.naps == [60]
        assert world.told == [60]


async def test_a_question_during_the_silence_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(60)
    async with turn(world, monkeypatch):
        apply(world.session, ask("p"), world.now)
        world.stall.heard()
        await world.settle()
        assert world.told == [60, None]
        assert len(world.naps) == 1


async def test_the_limit_is_that_of_the_settings_now(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(60)
    async with turn(world, monkeypatch):
        world.limit = 5
        world.stall.heard()
        await world.settle()
        assert world.naps == [60, 5]


async def test_without_a_turn_nothing_is_told() -> None:
    world = World(60)
    world.stall.heard()
    assert world.told == []
    assert world.stall.seconds is None
