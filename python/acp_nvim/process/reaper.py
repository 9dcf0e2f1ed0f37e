"""The process that ends the agents when the host cannot any more."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

from .environment import MARKER

_SCRIPT = Path(__file__).with_name("reaper.sh")


class Reaper:
    """One shell in a session of its own; it acts when its standard input ends (reaper.sh).

    The kernel closes that pipe however the host ends, also by SIGKILL; `atexit` alone lost agents. The shell
    holds none of Neovim's pipes open and starts with the first agent.
    """

    def __init__(self, grace: float = 2.0) -> None:
        """``grace``: seconds between SIGTERM and SIGKILL."""
        self._rounds = str(round(grace * 10))
        self._shell: subprocess.Popen[bytes] | None = None
        self._watched: dict[str, int] = {}  # marker -> process group, 0 before it is known

    @property
    def pid(self) -> int | None:
        """The shell's process id, None before the first agent."""
        return self._shell.pid if self._shell else None

    def watch(self, marker: str, group: int = 0) -> None:
        """Watch over an agent. Call it before the start without group, so that no moment is uncovered."""
        self._watched[marker] = group
        self._tell(f"+{group} {marker}\n")

    def forget(self, marker: str) -> None:
        """The agent and all it started have ended."""
        group = self._watched.pop(marker, None)
        if group is not None:
            self._tell(f"-{group} {marker}\n")

    def close(self, timeout: float = 10.0) -> None:
        """End the watch as the host's end would: what is left of the agents is killed. Blocks until done."""
        if self._shell is not None:
            self._end(self._shell, timeout)
            self._shell = None
            self._watched.clear()

    def _tell(self, line: str) -> None:
        shell = self._shell
        if shell is not None and shell.poll() is None and self._write(shell, line):
            return
        if shell is not None:  # somebody killed it: start again with all there is to watch
            self._end(shell, 1.0)
        self._shell = self._start()
        for marker, group in self._watched.items():
            self._write(self._shell, f"+{group} {marker}\n")

    @staticmethod
    def _write(shell: subprocess.Popen[bytes], line: str) -> bool:
        assert shell.stdin is not None
        try:
            os.write(shell.stdin.fileno(), line.encode("ascii"))  # far below the size of a pipe: never blocks
        except BrokenPipeError:
            return False
        return True

    def _start(self) -> subprocess.Popen[bytes]:
        # Without a marker of its own: in an agent's terminal this host may itself be an agent's descendant.
        env = {name: value for name, value in os.environ.items() if name != MARKER}
        return subprocess.Popen(
            ["/bin/sh", str(_SCRIPT), self._rounds],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=env,
            start_new_session=True,
            bufsize=0,
        )

    @staticmethod
    def _end(shell: subprocess.Popen[bytes], timeout: float) -> None:
        assert shell.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            shell.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            shell.wait(timeout)
