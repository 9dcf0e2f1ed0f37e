"""A command that runs for an agent: reads what it writes, knows how it ended, ends it."""

from __future__ import annotations

import anyio

from ..process.command import READ, CommandProcess
from ..process.exits import signal_name
from ..session.entities import Session
from ..session.events import TerminalBytes, TerminalPatch
from ..session.ports import Sink
from ..session.terminals import Exit
from .limited import Limited

TICK = 0.016
"""Seconds between two events of one command, however much it writes."""
BURST = 2 * 1024 * 1024
"""Bytes of one tick. A command that writes more waits: nobody can read that, and others want the loop."""


class Running:
    """``run`` is its task, and ends when the command and all it started are gone, after ``stop``."""

    def __init__(
        self, session: Session, terminal_id: str, process: CommandProcess, sink: Sink, limit: int | None
    ) -> None:
        self.copy = Limited(limit)
        self.exit: Exit | None = None
        self.ended = anyio.Event()
        """Set when the command itself has ended, and all it had written by then was read."""
        self.gone = anyio.Event()
        """Set when nothing of it lives any more."""
        self._session = session
        self._id = terminal_id
        self._process = process
        self._sink = sink
        self._wanted = anyio.Event()  # its end
        self._pending = bytearray()  # read, and not told yet
        self._open = True  # the end of the output has not come

    def stop(self) -> None:
        """End it, without waiting."""
        self._wanted.set()

    async def run(self) -> None:
        """Serve the command until it is stopped."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._read)
                group.start_soon(self._wait)
                await self._wanted.wait()
                await self._process.stop()
                with anyio.move_on_after(1.0):
                    await self.ended.wait()
                group.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._process.stop()
            self._over()
            self._process.close()
            self.gone.set()

    async def _read(self) -> None:
        """Read as it comes. What the command started may write long after it has ended itself."""
        due, taken = 0.0, 0
        while self._open:
            with anyio.move_on_after(max(due - anyio.current_time(), 0) if self._pending else None):
                await self._process.readable()
            taken += self._take(READ)
            now = anyio.current_time()
            if now >= due:
                self._tell()
                due, taken = now + TICK, 0
            elif taken >= BURST:
                await anyio.sleep(due - now)
        self._tell()
        self._process.close()

    async def _wait(self) -> None:
        code = await self._process.wait()
        self._over(Exit(code) if code >= 0 else Exit(None, signal_name(-code)))

    def _over(self, how: Exit | None = None) -> None:
        """The command has ended: first what it wrote, then how (V1-184). Only the first time counts."""
        left = self._process.waiting() if self._open else 0
        while self._open and left > 0:
            left -= max(self._take(left), 1)
        if self._open:
            self._take(1)  # the end, unless something holds the pipe open
        self._tell()
        if self.ended.is_set():
            return
        self.exit = how or Exit()
        self._sink.apply(self._session, TerminalPatch(self._id, exit=self.exit))
        self.ended.set()

    def _take(self, size: int) -> int:
        """Read what is there; returns how many bytes that were."""
        data = self._process.read(size)
        if data is None:
            return 0
        if not data:
            self._open = False
            self.copy.end()
        self.copy.feed(data)
        self._pending += data
        return len(data)

    def _tell(self) -> None:
        if self._pending:
            data = bytes(self._pending)
            self._pending.clear()
            self._sink.apply(self._session, TerminalBytes(self._id, data))
