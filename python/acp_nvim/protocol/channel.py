"""A connection to an agent below any version of the protocol: the peer, and the tasks of its requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup
from msgspec import Raw

from .rpc import Handler, Lines, Observer, Peer
from .rpc_errors import method_not_found

CLOSED = "the connection was closed"
#: Seconds that the last answers may take when a connection is ended by us.
ABORT_PATIENCE = 0.5


class Channel:
    """``handler`` gets what the agent sends; until there is one, requests are refused.

    ``observe`` is the trace's: (direction, line, note).
    """

    def __init__(self, transport: Lines, observer: Observer | None = None) -> None:
        self.handler: Handler | None = None
        self.observe: Observer = observer or (lambda direction, data, text: None)
        self.peer = Peer(transport, self, spawn=self._spawn, observer=observer)
        self._group: TaskGroup | None = None

    async def run(self) -> str:
        """Read until the end of the connection; return why it ended, for people.

        By then every request of ours has failed (V1-19), and no request of the agent runs any more.
        """
        async with anyio.create_task_group() as self._group:
            if self.peer.lost is None:  # not closed before it began
                await self.peer.run()
            self._group.cancel_scope.cancel()
        self.peer.fail(CLOSED)
        return self.peer.lost or ""

    async def close(self) -> None:
        """End the connection from our side: ``run`` returns. The process is its owner's to stop."""
        self.peer.fail(CLOSED)
        if self._group is not None:
            self._group.cancel_scope.cancel()
        await anyio.lowlevel.checkpoint()

    async def abort(self) -> None:
        """Before the connection ends from our side: answer what the agent has asked with -32800 (V1-87)."""
        self.peer.cancel_incoming()
        with anyio.move_on_after(ABORT_PATIENCE):
            await self.peer.answered()

    def note(self, text: str) -> None:
        """A note for the trace that belongs to no line."""
        self.observe("note", b"", text)

    async def request(self, method: str, params: Raw) -> object:
        """rpc.Handler."""
        if self.handler is None:
            raise method_not_found(method)
        return await self.handler.request(method, params)

    async def notification(self, method: str, params: Raw) -> None:
        """rpc.Handler."""
        if self.handler is None:
            self.note(f"{method} before initialize was answered: ignored")
            return
        await self.handler.notification(method, params)

    async def settle(self) -> None:
        """rpc.Handler."""
        if self.handler is not None:
            await self.handler.settle()

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Call ``act`` after so many seconds, if the connection is still there."""
        if self._group is not None and self.peer.lost is None:
            self._group.start_soon(_after, seconds, act)

    def _spawn(self, start: Callable[[], Awaitable[None]]) -> None:
        assert self._group is not None, "only run() receives requests"
        self._group.start_soon(_started, start)


async def _after(seconds: float, act: Callable[[], None]) -> None:
    await anyio.sleep(seconds)
    act()


async def _started(start: Callable[[], Awaitable[None]]) -> None:
    await start()
