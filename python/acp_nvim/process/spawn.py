"""Start an agent in a process group of its own, and end it with all it started."""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from collections.abc import Mapping, Sequence

import anyio
import anyio.lowlevel
from anyio import to_thread

from .environment import MARKER, LaunchError, clean_environment, explain, find_command
from .exits import describe_exit
from .reaper import Reaper
from .streams import ChildProtocol
from .tree import Row, family, groups

__all__ = ("AgentProcess", "LaunchError", "Spawner")

EOF_GRACE = 0.5
"""Seconds an agent has to end by itself after its stdin was closed."""
TERM_GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
KILL_GRACE = 2.0
"""Seconds to wait for what was killed to be gone; only processes that the kernel holds take longer."""


class AgentProcess:
    """A running agent. Its owner must call ``stop`` in the end, also when it ended by itself.

    ``stdin`` and ``stdout`` are byte streams, ``stderr`` the last 64 KiB of what it wrote there.
    """

    def __init__(
        self,
        argv: Sequence[str],
        transport: asyncio.SubprocessTransport,
        protocol: ChildProtocol,
        marker: str,
        reaper: Reaper,
    ) -> None:
        self.argv = tuple(argv)
        self.pid: int = transport.get_pid()
        self.marker = marker
        self.stdin = protocol.stdin
        self.stdout = protocol.stdout
        self.stderr = protocol.stderr
        self._transport = transport
        self._exited = protocol.exited
        self._reaper = reaper
        self._stopping = anyio.Lock()
        self._stopped = False

    @property
    def returncode(self) -> int | None:
        """Exit code, negative for a signal, None while it runs."""
        return self._transport.get_returncode()

    def describe_exit(self) -> str:
        """Say how it ended, to be read after its name ("ended with exit code 3", "was ended by SIGKILL")."""
        return describe_exit(self.returncode)

    async def wait(self) -> int:
        """Wait until the agent itself has ended (what it started may live on) and return its exit code."""
        await self._exited.wait()
        code = self.returncode
        assert code is not None
        return code

    async def stop(self) -> None:
        """End the agent and all it started; return when that is gone. Calling it again does no harm.

        Order: close stdin, 500 ms, SIGTERM to the groups of all descendants, 2 s, SIGKILL. Not interrupted
        by cancellation, which would leave processes alive; it is over within 5 s.
        """
        with anyio.CancelScope(shield=True):
            async with self._stopping:
                if not self._stopped:
                    await self._stop()
                    self._stopped = True

    async def _stop(self) -> None:
        # Looked at before, too: once the agent is gone, nobody can tell whose children its orphans were.
        rows = await self._family(set())
        await self.stdin.aclose()
        with anyio.move_on_after(EOF_GRACE):
            await self._exited.wait()
        rows = await self._family(rows)
        for signum, patience in ((signal.SIGTERM, TERM_GRACE), (signal.SIGKILL, KILL_GRACE)):
            _signal(rows, signum)
            rows = await self._gone(rows, patience)
        if self.returncode is None:
            with anyio.move_on_after(KILL_GRACE):
                await self._exited.wait()
        self._transport.close()
        await anyio.lowlevel.checkpoint()  # the transport closes its pipes in a callback
        self._reaper.forget(self.marker)

    async def _gone(self, rows: set[Row], patience: float) -> set[Row]:
        """Wait at most ``patience`` seconds for the processes to end; return those that live."""
        deadline, pause = anyio.current_time() + patience, 0.01
        while rows and anyio.current_time() < deadline:
            await anyio.sleep(pause)
            pause = min(pause * 2, 0.1)
            rows = await self._family(rows)
        return rows

    async def _family(self, known: set[Row]) -> set[Row]:
        return await to_thread.run_sync(family, self.pid, f"{MARKER}={self.marker}", known)


def _signal(rows: set[Row], signum: signal.Signals) -> None:
    for group in groups(rows):
        try:
            os.killpg(group, signum)
        except (ProcessLookupError, PermissionError):  # gone, or (macOS) only zombies are left
            continue


class Spawner:
    """Starts agents. One for the host: it owns the reaper."""

    def __init__(self, base: Mapping[str, str] | None = None) -> None:
        """``base``: the environment to start from; default: the host's own."""
        self.reaper = Reaper()
        self._base = base

    async def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str] | None = None
    ) -> AgentProcess:
        """Start ``argv`` in ``cwd`` (absolute), with ``env`` on top of the cleaned environment.

        Raises LaunchError when it cannot be run. No shell is involved.
        """
        marker = str(uuid.uuid4())
        environment = {
            **clean_environment(os.environ if self._base is None else self._base),
            **(env or {}),
            MARKER: marker,
        }
        program = find_command(argv, cwd=cwd, path=environment.get("PATH", os.defpath))
        loop = asyncio.get_running_loop()
        self.reaper.watch(marker)
        try:
            transport, protocol = await loop.subprocess_exec(
                ChildProtocol,
                program,
                *argv[1:],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=cwd,
                env=environment,
                start_new_session=True,
            )
        except BaseException as error:
            self.reaper.forget(marker)
            if isinstance(error, OSError | ValueError):
                raise explain(argv, program, cwd, error) from error
            raise
        self.reaper.watch(marker, transport.get_pid())
        return AgentProcess(argv, transport, protocol, marker, self.reaper)
