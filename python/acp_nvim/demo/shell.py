"""Running one command: in a process group of its own, output as it comes, ended with all that it started."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEPT = 64 * 1024  # characters of output that are kept, the newest
PERIOD = 0.1  # seconds between two updates of running output
GRACE = 1.0  # seconds a command gets after SIGTERM


class Output:
    """What a command has written so far, at most ``KEPT`` characters. ``fresh``: bytes not taken yet."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""
        self.cut = False
        self.fresh = b""
        self.lost = False  # some of the fresh ones: it was written faster than taken

    def add(self, data: bytes, final: bool = False) -> None:
        self.text += self._decoder.decode(data, final)
        if len(self.text) > KEPT:
            self.text = self.text[-KEPT:]
            self.cut = True
        self.fresh += data
        if len(self.fresh) > KEPT:
            self.fresh = self.fresh[-KEPT:]
            self.lost = True

    def take(self) -> tuple[bytes, bool]:
        """The fresh bytes, and whether some before them are lost."""
        taken = self.fresh, self.lost
        self.fresh, self.lost = b"", False
        return taken


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: ``code``, or ``signal`` by its name. ``cut``: the output began earlier."""

    text: str
    cut: bool
    code: int | None
    signal: str | None


async def run(
    command: str,
    cwd: Path,
    progress: Callable[[Output], Awaitable[None]],
    output: Output | None = None,
    stop: asyncio.Event | None = None,
) -> Ended:
    """Run ``command`` with sh. Raises OSError when it cannot be started.

    ``progress`` is called with ``output`` at most each ``PERIOD`` seconds. A cancel ends the group, and so
    does ``stop``.
    """
    ours, its = os.pipe()  # not asyncio's: with that one a command has ended only when all has been read
    reader = asyncio.StreamReader()
    pipe: Any = os.fdopen(ours, "rb", 0)
    try:
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", command),
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=its,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except BaseException:
        pipe.close()
        raise
    finally:
        os.close(its)
    output = output or Output()
    fresh = asyncio.Event()
    reading = asyncio.create_task(_read(reader, output, fresh))
    telling = asyncio.create_task(_tell(output, fresh, progress))
    stopping = asyncio.create_task((stop or asyncio.Event()).wait())
    waiting = asyncio.create_task(process.wait())
    try:
        await asyncio.wait([waiting, stopping], return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            await _end(process)
        status = await waiting
        # A child left in the background may hold the pipe open: do not wait for it.
        await asyncio.wait([reading], timeout=0.2)
    finally:
        beside = (reading, telling, stopping, waiting)
        for task in beside:
            task.cancel()
        await asyncio.shield(_end(process))
        await asyncio.gather(*beside, return_exceptions=True)
        pipe.close()
    output.add(b"", final=True)
    name = signal.Signals(-status).name if status < 0 else None
    return Ended(output.text, output.cut, status if status >= 0 else None, name)


async def _read(reader: asyncio.StreamReader, output: Output, fresh: asyncio.Event) -> None:
    while data := await reader.read(65536):
        output.add(data)
        fresh.set()


async def _tell(output: Output, fresh: asyncio.Event, progress: Callable[[Output], Awaitable[None]]) -> None:
    while True:
        await fresh.wait()
        fresh.clear()
        await progress(output)
        await asyncio.sleep(PERIOD)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the command's group: TERM, then KILL, also when the agent itself is ended meanwhile."""
    try:
        _signal(process, signal.SIGTERM)
        if process.returncode is None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE)
    finally:
        _signal(process, signal.SIGKILL)
    await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
