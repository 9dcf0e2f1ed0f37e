"""What the plugin costs before and between turns: Neovim's start, the first command, a chat that is idle."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.editor import ROOT, Editor
from bench.process import cpu_seconds, memory_mb, wakeups

TIMES = 9
IDLE_S = 10.0


@dataclass(frozen=True)
class First:
    """The first ``:AcpChat``, in ms: until its windows are drawn, the host's start in that, its reply."""

    windows: float
    host_start: float
    reply: float


@dataclass(frozen=True)
class Idle:
    """A chat without a turn: wake-ups a second (None: not told here) and CPU in % of a core, each process."""

    neovim_wakeups: float | None
    host_wakeups: float | None
    bare_wakeups: float | None
    neovim_cpu: float
    host_cpu: float
    host_memory: float


def plugin_start(binary: str) -> float:
    """Milliseconds that sourcing plugin/acp.lua takes of Neovim's start: the median."""
    values = []
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory(prefix="acp-bench-") as name:
            log = Path(name, "log")
            setup = ["--cmd", f"set runtimepath^={ROOT}", "--startuptime", str(log), "+qa"]
            subprocess.run([binary, "--headless", "--clean", "-n", *setup], check=True, timeout=60)
            found = re.search(r"\d+ +[\d.]+ +([\d.]+): sourcing \S*plugin/acp\.lua", log.read_text())
            values.append(float(found[1]) if found else float("nan"))
    return statistics.median(values)


def first_command(binary: str) -> First:
    """The first ``:AcpChat`` of a Neovim with a screen: medians."""
    found = [_first_command(binary) for _ in range(TIMES)]
    return First(
        *(statistics.median(getattr(each, name) for each in found) for name in First.__dataclass_fields__)
    )


def _first_command(binary: str) -> First:
    with tempfile.TemporaryDirectory(prefix="acp-bench-") as name:
        editor = Editor(binary, Path(name))
        try:
            editor.lua("vim.g.acp_python = ...", sys.executable)
            windows, start = editor.lua(
                """
                local started = 0
                local spawn = vim.fn.jobstart
                vim.fn.jobstart = function(...)
                  local begin = vim.uv.hrtime()
                  local job = spawn(...)
                  started = vim.uv.hrtime() - begin
                  return job
                end
                BEGIN = vim.uv.hrtime()
                vim.api.nvim_create_autocmd('User', { pattern = 'AcpStatus', callback = function()
                  if not REPLY and require('acp.host').status().state == 'ready' then
                    REPLY = vim.uv.hrtime()
                  end
                end })
                vim.cmd('AcpChat demo')
                vim.cmd.redraw()
                return { (vim.uv.hrtime() - BEGIN) / 1e6, started / 1e6 }
                """
            )
            editor.until("return REPLY ~= nil")
            reply = editor.lua("return (REPLY - BEGIN) / 1e6")
            return First(windows, start, reply)
        finally:
            editor.close()


def idle(binary: str) -> Idle:
    """A chat that is ready and has shown a turn, and nobody does anything."""
    with tempfile.TemporaryDirectory(prefix="acp-bench-") as name:
        editor = Editor(binary, Path(name))
        try:
            bare = _woken([editor.process.pid], 3.0)[0]
            command = [sys.executable, str(ROOT / "bench/agent.py")]
            editor.lua("PROBE = dofile(...)", str(ROOT / "bench/probe.lua"))
            editor.lua((ROOT / "bench/host.lua").read_text(), sys.executable, command)
            editor.lua("BENCH.open()")
            editor.until("return BENCH.ready()")
            editor.lua("BENCH.send(1, 'go 1000')")
            editor.wait("bench_done")
            host = int(editor.lua("return require('acp.host').status().pid"))
            time.sleep(2.0)  # what is put off to a quiet moment is done
            pids = [editor.process.pid, host]
            before = [cpu_seconds(pid) for pid in pids]
            woken = _woken(pids, IDLE_S)
            used = [100 * (cpu_seconds(pid) - was) / IDLE_S for pid, was in zip(pids, before, strict=True)]
            return Idle(woken[0], woken[1], bare, used[0], used[1], memory_mb(host))
        finally:
            editor.close()


def _woken(pids: list[int], seconds: float) -> list[float | None]:
    before = [wakeups(pid) for pid in pids]
    time.sleep(seconds)
    after = [wakeups(pid) for pid in pids]
    return [
        None if was is None or now is None else (now - was) / seconds
        for was, now in zip(before, after, strict=True)
    ]
