"""Lines over a process's stdin and stdout. The process itself belongs to somebody else."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from .errors import LineTooLongError, TransportClosedError
from .lines import LIMIT, LineDecoder

READ_SIZE = 64 * 1024  # bytes


class StdioTransport:
    """``source`` is the agent's stdout, ``sink`` its stdin; ``limit`` bounds a line, in bytes."""

    def __init__(self, source: ByteReceiveStream, sink: ByteSendStream, *, limit: int = LIMIT) -> None:
        self._source = source
        self._sink = sink
        self._limit = limit
        self._writing = anyio.Lock()
        self._closed = False

    async def lines(self) -> AsyncGenerator[list[bytes], None]:
        """Yield the lines of each read until the end of the stream. Raises LineTooLongError."""
        decoder = LineDecoder(self._limit)
        try:
            while True:
                try:
                    data = await self._source.receive(READ_SIZE)
                except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    break
                lines = decoder.decode(data)
                if lines:
                    yield lines
            lines = decoder.flush()
        except LineTooLongError as error:
            if error.lines:
                yield error.lines
            raise
        if lines:
            yield lines

    async def send(self, message: bytes) -> None:
        """Write one message as a line; concurrent calls write one after the other.

        ``message`` has no LF inside. Raises TransportClosedError. A cancelled call has written all of the
        line or nothing: the stream takes a line in one piece and then waits.
        """
        async with self._writing:
            if self._closed:
                raise TransportClosedError("the agent's input was closed")
            try:
                await self._sink.send(message + b"\n")
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
                self._closed = True
                raise TransportClosedError from error

    async def close(self) -> None:
        """Close the agent's stdin: the first step of an orderly end (V1-18)."""
        self._closed = True
        await self._sink.aclose()
