"""Running one command: in a process group of its own, output as it comes, ended with all that it started."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

KEPT = 64 * 1024  # characters of output that are kept, the newest
PERIOD = 0.1  # seconds between two updates of running output
GRACE = 1.0  # seconds a command gets after SIGTERM


class Output:
    """What a command has written so far, at most ``KEPT`` characters."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""
        self.cut = False

    def add(self, data: bytes, final: bool = False) -> None:
        self.text += self._decoder.decode(data, final)
        if len(self.text) > KEPT:
            self.text = self.text[-KEPT:]
            self.cut = True


async def run(command: str, cwd: Path, progress: Callable[[str], Awaitable[None]]) -> tuple[Output, int]:
    """Run ``command`` with sh; returns output and exit status (negative: the signal that ended it).

    ``progress`` gets the whole output so far, at most each ``PERIOD`` seconds. A cancel ends the group.
    """
    process = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", command),
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    output = Output()
    fresh = asyncio.Event()
    reading = asyncio.create_task(_read(process, output, fresh))
    telling = asyncio.create_task(_tell(output, fresh, progress))
    try:
        status = await process.wait()
        # A child left in the background may hold the pipe open: do not wait for it.
        await asyncio.wait([reading], timeout=0.2)
    finally:
        reading.cancel()
        telling.cancel()
        await asyncio.shield(_end(process))
        await asyncio.gather(reading, telling, return_exceptions=True)
    output.add(b"", final=True)
    return output, status


async def _read(process: asyncio.subprocess.Process, output: Output, fresh: asyncio.Event) -> None:
    if process.stdout is not None:
        while data := await process.stdout.read(65536):
            output.add(data)
            fresh.set()


async def _tell(output: Output, fresh: asyncio.Event, progress: Callable[[str], Awaitable[None]]) -> None:
    while True:
        await fresh.wait()
        fresh.clear()
        await progress(output.text)
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
