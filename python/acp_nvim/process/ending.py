"""Ending a process that somebody else started for us, and all that belongs to it."""

from __future__ import annotations

import os
import signal

import anyio
from anyio import to_thread

from .environment import MARKER
from .tree import family, groups

TERM_GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""


async def end_family(pid: int, marker: str) -> None:
    """End the process, its group, its descendants and all that carry the marker; return when they are gone.

    SIGTERM, 2 s, SIGKILL, 2 s. Not interrupted by cancellation, which would leave processes alive.
    """
    with anyio.CancelScope(shield=True):
        wanted = f"{MARKER}={marker}"
        rows = await to_thread.run_sync(family, pid, wanted)
        for signum in (signal.SIGTERM, signal.SIGKILL):
            for group in groups(rows):
                try:
                    os.killpg(group, signum)
                except (ProcessLookupError, PermissionError):  # gone, or (macOS) only zombies are left
                    continue
            deadline, pause = anyio.current_time() + TERM_GRACE, 0.01
            while rows and anyio.current_time() < deadline:
                await anyio.sleep(pause)
                pause = min(pause * 2, 0.1)
                rows = await to_thread.run_sync(family, pid, wanted, rows)
