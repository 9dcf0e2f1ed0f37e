"""One at a time for each file, in the order of arrival (V1-175)."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio

from .roots import Place


class Order:
    """A line of waiting requests for each file.

    Which file a path means is found out on the disk, in a thread, and threads do not end in the order
    they began: so paths pass a gate one after the other, and take their place in the line there.
    """

    def __init__(self) -> None:
        self._gates: dict[str, anyio.Lock] = {}
        self._lines: dict[str, deque[anyio.Event]] = {}

    @asynccontextmanager
    async def turn(self, gate: str, find: Callable[[], Awaitable[Place]]) -> AsyncIterator[Place]:
        """Find the place, wait for the turn at it, give it up at the end of the block.

        Each ``gate`` (a session) is passed on its own, so that a dead network disk stops one session only.
        """
        async with self._gates.setdefault(gate, anyio.Lock()):
            place = await find()
            ticket = anyio.Event()
            key = place.key or place.real
            line = self._lines.setdefault(key, deque())
            line.append(ticket)
            if len(line) == 1:
                ticket.set()
        try:
            await ticket.wait()
            yield place
        finally:
            line.remove(ticket)
            if line:
                line[0].set()
            else:
                self._lines.pop(key, None)

    def forget(self, gate: str) -> None:
        """The session is over: its gate is not needed any more."""
        self._gates.pop(gate, None)

    @property
    def waiting(self) -> int:
        """How many requests hold or await a turn."""
        return sum(map(len, self._lines.values()))
