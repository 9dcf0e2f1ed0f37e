"""Lines over a pair of byte streams."""

from __future__ import annotations

import subprocess
import sys

import anyio
import pytest
from anyio.abc import ByteReceiveStream, ByteSendStream

from acp_nvim.transport import LineTooLongError, StdioTransport, TransportClosedError

pytestmark = pytest.mark.anyio


class Source(ByteReceiveStream):
    """Gives pieces, then ends: by EOF, or by the error given."""

    def __init__(self, pieces: list[bytes], error: type[Exception] = anyio.EndOfStream) -> None:
        self.pieces = pieces
        self.error = error

    async def receive(self, max_bytes: int = 65536) -> bytes:
        await anyio.lowlevel.checkpoint()
        if not self.pieces:
            raise self.error
        return self.pieces.pop(0)

    async def aclose(self) -> None:
        pass


class Sink(ByteSendStream):
    """Takes what is sent in two halves, with a pause in between."""

    def __init__(self) -> None:
        self.data = b""
        self.broken: type[Exception] | None = None
        self.closed = False

    async def send(self, item: bytes) -> None:
        if self.broken:
            raise self.broken
        self.data += item[:3]
        await anyio.lowlevel.checkpoint()
        self.data += item[3:]

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.parametrize("error", [anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError])
async def test_lines_until_the_end(error: type[Exception]) -> None:
    transport = StdioTransport(Source([b"a\nb", b"c\nd\n", b"\n", b"e"], error), Sink())
    assert [batch async for batch in transport.lines()] == [[b"a"], [b"bc", b"d"], [b"e"]]


async def test_lines_before_a_line_too_long_are_given() -> None:
    transport = StdioTransport(Source([b"a\n" + b"A" * 50]), Sink(), limit=10)
    seen = []
    with pytest.raises(LineTooLongError):
        async for batch in transport.lines():
            seen.append(batch)  # noqa: PERF401 - what was seen before the error matters
    assert seen == [[b"a"]]


async def test_writers_do_not_mix() -> None:
    sink = Sink()
    transport = StdioTransport(Source([]), sink)
    async with anyio.create_task_group() as group:
        for letter in (b"a", b"b", b"c"):
            group.start_soon(transport.send, letter * 10)
    assert sink.data == b"aaaaaaaaaa\nbbbbbbbbbb\ncccccccccc\n"


@pytest.mark.parametrize("error", [anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError])
async def test_a_broken_pipe_is_named(error: type[Exception]) -> None:
    sink = Sink()
    transport = StdioTransport(Source([]), sink)
    sink.broken = error
    with pytest.raises(TransportClosedError, match="does not read its input"):
        await transport.send(b"x")
    sink.broken = None
    with pytest.raises(TransportClosedError):
        await transport.send(b"x")
    assert sink.data == b""


async def test_nothing_is_sent_after_close() -> None:
    sink = Sink()
    transport = StdioTransport(Source([]), sink)
    await transport.close()
    assert sink.closed
    with pytest.raises(TransportClosedError, match="was closed"):
        await transport.send(b"x")


async def test_with_a_process() -> None:
    echo = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.flush()"
    async with await anyio.open_process([sys.executable, "-c", echo], stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        assert process.stdin
        transport = StdioTransport(process.stdout, process.stdin)
        big = b"x" * 300_000
        async with anyio.create_task_group() as group:
            group.start_soon(transport.send, big)
            group.start_soon(transport.send, "é".encode())
            lines: list[bytes] = []
            async for batch in transport.lines():
                lines += batch
                if len(lines) == 2:
                    await transport.close()
        assert lines == [big, "é".encode()]
