"""What a process has used: from /proc on Linux, from ps elsewhere (macOS)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """Processor time of the process so far, in seconds: exact to 10 ms."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        fields = stat.read_text().rpartition(")")[2].split()
        ticks = float(fields[11]) + float(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")
    said = _ps(pid, "time").replace("-", ":").split(":")
    return sum(float(part) * 60.0**n for n, part in enumerate(reversed(said[-3:])))


def memory_mb(pid: int) -> float:
    """Memory that is in use and in RAM, in MB."""
    return int(_ps(pid, "rss")) / 1024


def wakeups(pid: int) -> int | None:
    """How often it was woken so far, all its threads together; None where the system does not tell."""
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.exists():
        return None
    total = 0
    for status in tasks.glob("*/status"):
        for line in status.read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                total += int(line.split()[1])
    return total


def _ps(pid: int, what: str) -> str:
    command = ["ps", "-o", f"{what}=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
