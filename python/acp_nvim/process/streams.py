"""A child's pipes as anyio byte streams.

Not asyncio's own stream reader and ``Process.wait``: these end only when every descendant has closed
the pipes, and an agent that crashes leaves children that hold them open.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from .tail import Tail

LIMIT = 256 * 1024
"""Bytes of output read ahead; beyond, the pipe is left to fill, so that the child waits."""
QUIET = 0.5
"""Seconds without output, after the child itself has ended, until its output counts as ended."""


class Output(ByteReceiveStream):
    """What the child writes to stdout."""

    def __init__(self) -> None:
        self.fed = 0
        """Bytes that came in all."""
        self.transport: asyncio.ReadTransport | None = None
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._closed = False
        self._news = anyio.Event()

    @property
    def full(self) -> bool:
        """Whether reading ahead stands still, so that silence means nothing."""
        return self._size > LIMIT

    def feed(self, data: bytes) -> None:
        """Take in what the child wrote."""
        if self._ended:
            return
        self.fed += len(data)
        self._size += len(data)
        self._chunks.append(data)
        self._news.set()
        if self.full and self.transport is not None:
            self.transport.pause_reading()

    def end(self) -> None:
        """Nothing more will come."""
        self._ended = True
        self._news.set()

    async def receive(self, max_bytes: int = 65536) -> bytes:
        """Return the next bytes. Raises anyio.EndOfStream, or ClosedResourceError after ``aclose``."""
        while not self._chunks:
            if self._closed:
                raise anyio.ClosedResourceError
            if self._ended:
                raise anyio.EndOfStream
            self._news = anyio.Event()
            await self._news.wait()
        data = self._chunks.popleft()
        if len(data) > max_bytes:
            self._chunks.appendleft(data[max_bytes:])
            data = data[:max_bytes]
        was_full = self.full
        self._size -= len(data)
        if was_full and not self.full and self.transport is not None:
            self.transport.resume_reading()
        return data

    async def aclose(self) -> None:
        """Read no more."""
        self._closed = True
        self._chunks.clear()
        self._news.set()


class Input(ByteSendStream):
    """The child's stdin."""

    def __init__(self) -> None:
        self.transport: asyncio.WriteTransport | None = None
        self._room = anyio.Event()
        self._room.set()
        self._broken = False

    def pause(self) -> None:
        """The child does not keep up."""
        self._room = anyio.Event()

    def resume(self) -> None:
        """There is room again."""
        self._room.set()

    def broken(self) -> None:
        """The child reads no more."""
        self._broken = True
        self._room.set()

    async def send(self, item: bytes) -> None:
        """Write, and wait while the child does not keep up.

        Raises anyio.BrokenResourceError when it reads no more, ClosedResourceError after ``aclose``.
        """
        if self._broken or self.transport is None:
            raise anyio.BrokenResourceError
        if self.transport.is_closing():
            raise anyio.ClosedResourceError
        self.transport.write(item)
        await self._room.wait()
        if self._broken:
            raise anyio.BrokenResourceError

    async def aclose(self) -> None:
        """Close the pipe, without waiting: the child sees the end of file once it has read the rest."""
        if self.transport is not None:
            self.transport.close()


class ChildProtocol(asyncio.SubprocessProtocol):
    """Takes the events of a child. Stderr goes straight into a tail, so it is drained without a task."""

    def __init__(self) -> None:
        self.stdin = Input()
        self.stdout = Output()
        self.stderr = Tail()
        self.exited = anyio.Event()
        """Set when the child itself has ended; its descendants may live on."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The child runs."""
        child = cast("asyncio.SubprocessTransport", transport)
        self.stdin.transport = cast("asyncio.WriteTransport", child.get_pipe_transport(0))
        self.stdout.transport = cast("asyncio.ReadTransport", child.get_pipe_transport(1))

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        """The child wrote something."""
        assert isinstance(data, bytes)
        (self.stderr if fd == 2 else self.stdout).feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """A pipe was closed, by either side."""
        if fd == 0:
            self.stdin.broken()
        elif fd == 1:
            self.stdout.end()

    def process_exited(self) -> None:
        """The child has ended: end its output as well, after what it wrote last."""
        self.exited.set()
        self._end_when_quiet(-1)

    def pause_writing(self) -> None:
        """Stdin's buffer is full."""
        self.stdin.pause()

    def resume_writing(self) -> None:
        """Stdin's buffer has room."""
        self.stdin.resume()

    def _end_when_quiet(self, before: int) -> None:
        if self.stdout.fed == before and not self.stdout.full:
            self.stdout.end()
        else:
            asyncio.get_running_loop().call_later(QUIET, self._end_when_quiet, self.stdout.fed)
