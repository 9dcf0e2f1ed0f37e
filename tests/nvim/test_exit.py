"""No agent outlives Neovim or the host, in whatever way they end (architecture.md, Shutdown)."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import pytest
from tests.plugin import Screen, StartScreen, eventually, kill, marked, none_left
from tests.plugin.programs import AGENTS

GRACE = 2.0
"""Seconds that stubborn agents have between SIGTERM and SIGKILL."""

ENDS: dict[str, Callable[[Screen, int], object]] = {
    ":qa": lambda screen, _host: screen.keys("<Esc>:qa<CR>"),
    "the interface goes away": lambda screen, _host: screen.close_stdin(),
    "SIGTERM to Neovim": lambda screen, _host: kill(screen.pid, signal.SIGTERM),
    "SIGKILL to Neovim": lambda screen, _host: kill(screen.pid, signal.SIGKILL),
    "SIGTERM to the host": lambda _screen, host: kill(host, signal.SIGTERM),
    "SIGKILL to the host": lambda _screen, host: kill(host, signal.SIGKILL),
}


def open_chat(screen: Screen, number: int, agent: str, program: str) -> None:
    """Start a shell program as an agent."""
    command = ["/bin/sh", "-c", program]
    chat = {"chat": number, "agent": agent, "buf": 1, "cwd": str(screen.cwd), "demo": False}
    screen.lua("require('acp.host').event('open', ...)", {**chat, "config": {"command": command}})


def start_agents(screen: Screen) -> int:
    """Start one agent of each kind and return the host's pid once all are up."""
    for number, (kind, program) in enumerate(AGENTS.items(), 1):
        open_chat(screen, number, kind.replace(" ", "-"), f'touch "up {number}"; {program}')
    host = screen.host_ready()
    # One more that is stopped by the host: that uses worker threads, which must not keep the host alive.
    open_chat(screen, 99, "gone", 'touch "up 0"; read -r x')
    eventually(lambda: (screen.cwd / "up 0").exists())
    screen.lua("require('acp.host').event('close', { chat = 99 })")
    (screen.cwd / "up 0").unlink()
    eventually(lambda: len(list(screen.cwd.glob("up *"))) == len(AGENTS), message="agents start")
    # Each kind has its processes: a shell each, and at least one more of those that start some.
    eventually(lambda: len(marked(screen.marker)) > len(AGENTS) + 6)
    return host


@pytest.mark.parametrize("how", ENDS)
def test_no_process_is_left(start_screen: StartScreen, how: str) -> None:
    screen = start_screen()
    host = start_agents(screen)
    started = time.monotonic()
    ENDS[how](screen, host)
    if how.endswith("the host"):
        eventually(
            lambda: set(marked(screen.marker)) == {screen.pid}, message=lambda: str(marked(screen.marker))
        )
        eventually(lambda: "host ended" in screen.messages())
        screen.clear_messages()
    else:
        screen.wait_exit()
        assert time.monotonic() - started < GRACE  # Neovim does not wait for stubborn agents (C27)
        none_left(screen.marker)


def test_a_host_that_was_stopped_leaves_nothing(start_screen: StartScreen) -> None:
    screen = start_screen()
    start_agents(screen)
    screen.lua("require('acp.host').stop()")
    eventually(lambda: set(marked(screen.marker)) == {screen.pid}, message=lambda: str(marked(screen.marker)))
