"""Find processes by a marker in their environment, so that a test can prove that none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from .poll import eventually


def marked(marker: str) -> dict[int, str]:
    """Return the living processes whose environment holds ``marker`` ("NAME=value"): pid -> command line.

    Zombies have no environment and do not count.
    """
    return _from_proc(marker) if sys.platform == "linux" else _from_ps(marker)


def _from_proc(marker: str) -> dict[int, str]:
    found = {}
    wanted = marker.encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = line.decode(errors="replace").strip()
        except OSError:  # it ended meanwhile, or is another user's
            continue
    return found


def _from_ps(marker: str) -> dict[int, str]:
    rows = subprocess.run(
        ["ps", "-Eww", "-ax", "-o", "pid=,stat=,command="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = {}
    for row in rows:
        pid, stat, command = [*row.split(None, 2), "", ""][:3]
        if marker in command.split() and not stat.startswith("Z"):
            found[int(pid)] = command
    return found


def kill(pid: int, signum: int = signal.SIGKILL) -> None:
    """Send a signal to a process that may be gone already."""
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        return


def none_left(marker: str, timeout: float = 10.0) -> None:
    """Assert that every process with ``marker`` ends within ``timeout`` seconds; kill those that do not."""
    try:
        eventually(lambda: not marked(marker), timeout, lambda: f"left alive: {marked(marker)}")
    finally:
        for pid in marked(marker):
            kill(pid)
