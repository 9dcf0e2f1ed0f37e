"""A command an agent asked for: no input, its output and errors in one pipe, in the order of arrival."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Mapping, Sequence

import anyio

from .spawn import Child, Launched, Spawner

READ = 65536
"""Bytes of one read: what a pipe holds."""


class _Watch(asyncio.SubprocessProtocol):
    """Knows when the command itself has ended. The pipe is ours to read."""

    def __init__(self) -> None:
        self.exited = anyio.Event()

    def process_exited(self) -> None:
        self.exited.set()


class CommandProcess(Child):
    """A running command. Its owner reads the pipe, closes it, and calls ``stop`` in the end."""

    def __init__(self, argv: Sequence[str], started: Launched[_Watch], pipe: int) -> None:
        super().__init__(argv, started, started.protocol.exited)
        self._pipe = pipe

    async def readable(self) -> None:
        """Wait until ``read`` has something, which may be the end."""
        await anyio.wait_readable(self._pipe)

    def read(self, size: int = READ) -> bytes | None:
        """Return what is there now, at most ``size`` bytes; empty at the end of the output; None: nothing."""
        try:
            return os.read(self._pipe, size)
        except BlockingIOError:
            return None
        except OSError:  # macOS: the other end of the pipe is gone
            return b""

    def waiting(self) -> int:
        """Return how many bytes are in the pipe."""
        answer = fcntl.ioctl(self._pipe, termios.FIONREAD, bytes(4))
        return int(struct.unpack("i", answer)[0])

    def close(self) -> None:
        """Read no more. What still writes gets a broken pipe."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    async def wait(self) -> int:
        """Wait until the command itself has ended, and return its exit code (negative: a signal).

        From then on its number may become another program's: unless something it started still lives in its
        group, that group is none of ours any more, and ``stop`` goes by the marker alone.
        """
        code = await super().wait()
        if self._root == self.pid and not _lives(self.pid):
            self._root = -1
            if not self._stopped:
                self._reaper.watch(self.marker)
        return code


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS: it has zombies only, which keep the number from being used again
        return True
    return True


async def start_command(
    spawner: Spawner, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], errors: bool = True
) -> CommandProcess:
    """Start ``argv`` in ``cwd`` (absolute), with ``env`` on top of the cleaned environment.

    Without ``errors`` only its output is read. Raises LaunchError when it cannot be run. There is no shell.
    """
    reads, writes = os.pipe()
    try:
        os.set_blocking(reads, False)
        null = asyncio.subprocess.DEVNULL
        stderr = writes if errors else null
        started = await spawner.launch(_Watch, argv, cwd, env, stdin=null, stdout=writes, stderr=stderr)
    except BaseException:
        os.close(reads)
        raise
    finally:
        os.close(writes)
    return CommandProcess(argv, started, reads)
