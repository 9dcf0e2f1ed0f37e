"""Which processes belong to an agent: by parent ids, process group, and the marker in the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """One living process. ``started`` tells a process from a later one with the same id."""

    pid: int
    parent: int
    group: int
    started: str


def family(root: int, marker: str, known: Iterable[Row] = ()) -> set[Row]:
    """Return the living processes that belong to the agent.

    These are: the agent ``root`` and its group, those with ``marker`` (``NAME=value``) in their environment,
    those ``known`` from an earlier call that still live, and all descendants of these. Zombies do not count.
    Blocks for some milliseconds: call it in a thread.
    """
    table = _table()
    earlier = set(known)
    marked = _marked(marker, table)
    found = {row for row in table if row.group == root or row in earlier or row.pid in marked}
    pids = {row.pid for row in found}
    grown = True
    while grown:
        children = {row for row in table if row.parent in pids and row.pid not in pids}
        pids |= {row.pid for row in children}
        found |= children
        grown = bool(children)
    return {row for row in found if row.pid != os.getpid()}


def groups(rows: Iterable[Row]) -> set[int]:
    """Return the process groups of ``rows`` that may be signalled: never our own."""
    return {row.group for row in rows} - {0, 1, os.getpgrp()}


if sys.platform == "linux":

    def _table() -> list[Row]:
        rows = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                text = (folder / "stat").read_text("utf-8", "replace")
            except OSError:  # it has ended
                continue
            # The name in brackets may hold anything, also brackets and blanks.
            state, parent, group, *rest = text.rpartition(")")[2].split()
            if state not in "ZX":
                rows.append(Row(int(folder.name), int(parent), int(group), rest[16]))
        return rows

    def _marked(marker: str, table: Iterable[Row]) -> set[int]:
        wanted, found = marker.encode(), set()
        for row in table:
            try:
                environment = Path(f"/proc/{row.pid}/environ").read_bytes()
            except OSError:  # ended, or another user's
                continue
            if wanted in environment.split(b"\0"):
                found.add(row.pid)
        return found

else:

    def _ps(*columns: str) -> list[str]:
        done = subprocess.run(["/bin/ps", *columns], capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace").splitlines()

    def _table() -> list[Row]:
        rows = []
        for line in _ps("-axo", "pid=,ppid=,pgid=,stat=,lstart="):
            pid, parent, group, state, started = line.split(None, 4)
            if not state.startswith("Z"):
                rows.append(Row(int(pid), int(parent), int(group), started.strip()))
        return rows

    def _marked(marker: str, table: Iterable[Row]) -> set[int]:
        lines = _ps("-Eww", "-axo", "pid=,command=")
        return {int(line.split(None, 1)[0]) for line in lines if marker in line.split()}
