"""Ending all that belongs to a program."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable

import anyio
from anyio import to_thread

from .environment import MARKER
from .tree import Row, family, groups

TERM_GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
KILL_GRACE = 2.0
"""Seconds to wait for what was killed to be gone; only processes that the kernel holds take longer."""


async def end(rows: set[Row], look: Callable[[set[Row]], Awaitable[set[Row]]]) -> None:
    """SIGTERM to the groups of the processes, 2 s, SIGKILL, 2 s; return when they are gone.

    ``look`` is given those known and returns those that live, with what has come to them.
    """
    for signum, patience in ((signal.SIGTERM, TERM_GRACE), (signal.SIGKILL, KILL_GRACE)):
        for group in groups(rows):
            try:
                os.killpg(group, signum)
            except (ProcessLookupError, PermissionError):  # gone, or (macOS) only zombies are left
                continue
        deadline, pause = anyio.current_time() + patience, 0.01
        while rows and anyio.current_time() < deadline:
            await anyio.sleep(pause)
            pause = min(pause * 2, 0.1)
            rows = await look(rows)


async def end_family(pid: int, marker: str) -> None:
    """End a program that somebody else has started for us, with all that it has started.

    Not interrupted by cancellation, which would leave processes alive.
    """

    async def look(known: set[Row]) -> set[Row]:
        return await to_thread.run_sync(family, pid, f"{MARKER}={marker}", known)

    with anyio.CancelScope(shield=True):
        await end(await look(set()), look)
