"""Start a program in a process group of its own, and end it with all it started."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import anyio
import anyio.lowlevel
from anyio import to_thread

from .ending import KILL_GRACE, end
from .environment import MARKER, LaunchError, clean_environment, explain, find_command
from .exits import describe_exit
from .reaper import Reaper
from .streams import ChildProtocol
from .tree import Row, family

__all__ = ("AgentProcess", "Child", "LaunchError", "Launched", "Spawner")

P = TypeVar("P", bound=asyncio.SubprocessProtocol)

EOF_GRACE = 0.5
"""Seconds an agent has to end by itself after its stdin was closed."""


@dataclass(frozen=True, slots=True)
class Launched(Generic[P]):
    """What ``Spawner.launch`` started."""

    transport: asyncio.SubprocessTransport
    protocol: P
    marker: str
    reaper: Reaper


class Child:
    """A running program. Its owner must call ``stop`` in the end, also when it ended by itself."""

    def __init__(self, argv: Sequence[str], started: Launched[Any], exited: anyio.Event) -> None:
        self.argv = tuple(argv)
        self.pid: int = started.transport.get_pid()
        self.marker = started.marker
        self._transport = started.transport
        self._exited = exited
        self._reaper = started.reaper
        self._root = self.pid  # its process group; -1: none of ours any more
        self._stopping = anyio.Lock()
        self._stopped = False

    @property
    def returncode(self) -> int | None:
        """Exit code, negative for a signal, None while it runs."""
        return self._transport.get_returncode()

    async def wait(self) -> int:
        """Wait until the program itself has ended (what it started may live on) and return its exit code."""
        await self._exited.wait()
        code = self.returncode
        assert code is not None
        return code

    async def stop(self) -> None:
        """End the program and all it started; return when that is gone. Calling it again does no harm.

        Order: what ``_ask`` does, SIGTERM to the groups of all descendants, 2 s, SIGKILL. Not interrupted
        by cancellation, which would leave processes alive; it is over within 5 s.
        """
        with anyio.CancelScope(shield=True):
            async with self._stopping:
                if not self._stopped:
                    await self._stop()
                    self._stopped = True

    async def _ask(self) -> None:
        """Let it end by itself, where there is a way to tell it so."""

    async def _stop(self) -> None:
        # Looked at before, too: once the program is gone, nobody can tell whose children its orphans were.
        rows = await self._family(set())
        await self._ask()
        rows = await self._family(rows)
        await end(rows, self._family)
        if self.returncode is None:
            with anyio.move_on_after(KILL_GRACE):
                await self._exited.wait()
        self._transport.close()
        await anyio.lowlevel.checkpoint()  # the transport closes its pipes in a callback
        self._reaper.forget(self.marker)

    async def _family(self, known: set[Row]) -> set[Row]:
        return await to_thread.run_sync(family, self._root, f"{MARKER}={self.marker}", known)


class AgentProcess(Child):
    """An agent. ``stdin`` and ``stdout`` are byte streams, ``stderr`` the last 64 KiB it wrote there.

    To end it, its stdin is closed first; then it has 500 ms to go by itself.
    """

    def __init__(self, argv: Sequence[str], started: Launched[ChildProtocol]) -> None:
        super().__init__(argv, started, started.protocol.exited)
        self.stdin = started.protocol.stdin
        self.stdout = started.protocol.stdout
        self.stderr = started.protocol.stderr

    def describe_exit(self) -> str:
        """Say how it ended, to be read after its name ("ended with exit code 3", "was ended by SIGKILL")."""
        return describe_exit(self.returncode)

    async def _ask(self) -> None:
        await self.stdin.aclose()
        with anyio.move_on_after(EOF_GRACE):
            await self._exited.wait()


class Spawner:
    """Starts agents and their commands. One for the host: it owns the reaper."""

    def __init__(self, base: Mapping[str, str] | None = None) -> None:
        """``base``: the environment to start from; default: the host's own."""
        self.reaper = Reaper()
        self._base = base

    def environment(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the cleaned environment with ``env`` on top of it."""
        return {**clean_environment(os.environ if self._base is None else self._base), **(env or {})}

    async def start(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str] | None = None
    ) -> AgentProcess:
        """Start an agent: ``argv`` in ``cwd`` (absolute), with ``env`` on top of the cleaned environment.

        Raises LaunchError when it cannot be run. No shell is involved.
        """
        pipe = asyncio.subprocess.PIPE
        started = await self.launch(ChildProtocol, argv, cwd, env, stdin=pipe, stdout=pipe, stderr=pipe)
        return AgentProcess(argv, started)

    async def launch(
        self,
        protocol: Callable[[], P],
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str] | None,
        *,
        stdin: int,
        stdout: int,
        stderr: int,
    ) -> Launched[P]:
        """Start a program in a session of its own, with a marker and under the reaper's watch.

        Raises LaunchError when it cannot be run.
        """
        marker = str(uuid.uuid4())
        environment = {**self.environment(env), MARKER: marker}
        program = find_command(argv, cwd=cwd, path=environment.get("PATH", os.defpath))
        loop = asyncio.get_running_loop()
        self.reaper.watch(marker)
        try:
            transport, made = await loop.subprocess_exec(
                protocol,
                program,
                *argv[1:],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
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
        return Launched(transport, made, marker, self.reaper)
