"""A chat with the faulty AAP server (server.py), in the whole host without Neovim, and all that is left."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from tests.faults.check import Json, Rows, problems
from tests.faults.server import CLIENT_TOOLS, FaultyServer, waiting
from tests.faults.world import SOON, World, life
from tests.plugin.processes import marked

COMMAND = 1.5
"""Seconds that the user gives a command."""


class Posts(Rows):
    """What a server has seen, as the log of an agent."""

    def __init__(self, server: FaultyServer) -> None:
        self._server = server

    def __call__(self) -> list[Json]:
        return list(self._server.tokens)

    def prompts(self) -> list[str]:
        return [post.words for post in list(self._server.posts) if post.words]

    def due(self) -> list[str]:
        return self._server.due()


class Remote(World):
    """``server`` listens for as long as the world is there."""

    def __init__(self, folder: Path, seed: int, server_rate: float | None = None) -> None:
        super().__init__(folder, seed, version=3)
        rate = self.rng.choice([0.03, 0.1, 0.3]) if server_rate is None else server_rate
        self.server = FaultyServer(seed, self.workspace, rate=rate)
        self.lasting = self.server.lasting
        self.rows = Posts(self.server)
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def config(self) -> Json:
        return {"protocol": "aap", "url": self.server.url, "client_tools": list(CLIENT_TOOLS)}

    def plan(self, **plan: Any) -> None:
        if plan["calm"]:
            self.server.calm = True

    async def act(self) -> None:
        await anyio.wait_all_tasks_blocked()  # the host's own, which stay
        self._tasks = asyncio.all_tasks()
        await super().act()

    def tell(self, name: str, **payload: Any) -> None:
        if name in ("cancel", "restart", "close"):
            self.server.forgive()
        super().tell(name, **payload)

    def kill(self) -> None:
        """The server goes away and comes back, perhaps without what it knew."""
        self.server.leave(self.rng.random() * 0.3, forgets=self.rng.random() < 0.3)

    async def come_to_rest(self) -> None:
        """The user answers all that is asked, and cancels what hangs, or a command that does not end."""
        patience, side = time.monotonic() + COMMAND, self.lua.side(1)

        def done() -> bool:
            self.answer(wild=False)
            if self.server.hanging or (time.monotonic() > patience and side.is_in("running")):
                self.tell("cancel", chat=1)
            if self.server.away or self.lua.questions:
                return False
            return side.is_in("failed") or (side.is_in("idle") and not self.server.open and not self._due())

        await self.until(done, f"rest: {self.server.open} requests, due {self._due()}")
        await self.until(self._remedy, "a remedy is named")

    async def until(self, what: Callable[[], object], message: str, seconds: float = SOON) -> bool:
        """As for an agent; what an old session waits for is asked again, and the user answers."""

        def answered() -> object:
            if self.server.calm:
                self.answer(wild=False)
            return what()

        return await super().until(answered, message, seconds)

    async def recover(self) -> None:
        self.server.calm = True
        await self.until(lambda: not self.server.away, "the server is back")
        await super().recover()
        for text in self.sent:
            if not any(
                text in place
                for place in (self.lua.text, *self.lua.side(1).back, str(self.lua.side(1).queue))
            ):
                self.extra.append(f"the user does not find {text}")
        kept = self.server.sessions.get(str(self.lua.status.get("session")))
        if kept is not None and (left := waiting(kept.history)):
            self.extra.append(f"calls that nobody has answered: {left}")

    async def close(self) -> None:
        await super().close()
        await self.until(lambda: not self.server.open, "no connection is left")
        await self.until(lambda: not self._left(), f"no task is left: {self._left()}")

    def _alive(self) -> bool:
        return any("reaper.sh" not in line for line in marked(self.marker).values())

    def _left(self) -> set[asyncio.Task[Any]]:
        return {task for task in asyncio.all_tasks() - self._tasks if not task.done()}

    def _has_past(self, _chat: int) -> bool:
        return any(post.taken for post in list(self.server.posts))

    def _began(self) -> bool:
        return self.server.starts > 0

    def _count_losses(self) -> None:
        self.extra.extend(_answers(self.server))


def _answers(server: FaultyServer) -> Iterator[str]:
    """No call is answered more often than it was made."""
    answers = Counter(name for post in server.posts if post.taken for name in post.answers)
    for name, count in answers.items():
        if name in server.given and count > server.given[name]:
            yield f"call {name}: {count} answers, made {server.given[name]} times"


@asynccontextmanager
async def remote(folder: Path, seed: int, **options: Any) -> AsyncIterator[Remote]:
    """A world and its server, both ended at the end of the block."""
    made = Remote(folder, seed, **options)
    name, value = made.marker.split("=")
    os.environ[name] = value
    try:
        with made.server:
            yield made
            await made.runtime.stop()
    finally:
        del os.environ[name]
        await made.runtime.stop()
        made.app._spawner.reaper.close()


async def live(folder: Path, seed: int, **options: Any) -> list[str]:
    """The life of a chat with an agent over HTTP; returns what is wrong."""
    async with remote(folder, seed, **options) as made:
        await life(made)
    return problems(made.outcome())
