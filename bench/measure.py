"""One run of a workload in a fresh Neovim with a screen, while a user types in another window."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.editor import ROOT, Editor
from bench.process import cpu_seconds, memory_mb
from bench.workloads import Workload

QUIET = 0.5  # seconds after what was done before the clock runs


@dataclass
class Result:
    """Times in ms, but ``wall`` and processor times in s and ``cpu`` in % of a core; memory in MB.

    ``gap``: of Neovim's main loop. ``key``: from a key sent to handled. ``late``: from the agent's last byte
    to all text on the screen.
    """

    wall: float
    gap: float
    gap_p99: float
    key_p99: float
    key_max: float
    late: float
    cpu: float
    cpu_seconds: float
    host_seconds: float
    memory: float
    host_memory: float
    lines: int
    screen_kb: int


def run(binary: str, design: str, workload: Workload) -> Result:
    """Measure once. Raises RuntimeError or queue.Empty when something does not come to its end."""
    command = [sys.executable, str(ROOT / "bench/agent.py")]
    if workload.chunks:
        command.append(str(workload.chunks))
    with tempfile.TemporaryDirectory(prefix="acp-bench-") as name:
        stamp = Path(name, "stamp")
        editor = Editor(binary, Path(name), {"BENCH_STAMP": str(stamp)})
        try:
            bare = memory_mb(editor.process.pid)
            editor.lua("PROBE = dofile(...)", str(ROOT / "bench/probe.lua"))
            _warm(editor)
            side = _Host(editor, command) if design == "host" else _Baseline(editor, command, design)
            side.start(workload)
            for prompt in workload.before:
                side.send(prompt)
                side.wait()
            if workload.hidden:
                side.hide()
            time.sleep(QUIET)
            return _measured(editor, side, workload, stamp, bare)
        finally:
            editor.close()


class _Side:
    """A design under measurement. ``sent``: how many turns (or replays) are not over."""

    def __init__(self, editor: Editor, command: list[str]) -> None:
        self.editor = editor
        self.command = command
        self.host: int | None = None

    def start(self, workload: Workload) -> None:
        raise NotImplementedError

    def send(self, prompt: str) -> None:
        raise NotImplementedError

    def load(self, count: int) -> None:
        raise NotImplementedError

    def hide(self) -> None:
        raise NotImplementedError

    def wait(self) -> int:
        """Until a turn is over and drawn; the lines written since the last one."""
        (lines,) = self.editor.wait("bench_done")
        return int(lines)


class _Host(_Side):
    """acp.nvim. The first turn of a chat loads what a fence's language needs: that is done before."""

    def start(self, workload: Workload) -> None:
        self.editor.lua((ROOT / "bench/host.lua").read_text(), sys.executable, self.command)
        for _ in range(workload.agents):
            self.editor.lua("BENCH.open()")
        self.editor.until("return BENCH.ready()")
        self.host = int(self.editor.lua("return require('acp.host').status().pid"))
        for n in range(workload.agents):
            self.editor.lua("BENCH.send(...)", n + 1, "go 40")
            self.wait()

    def send(self, prompt: str) -> None:
        for n in range(int(self.editor.lua("return BENCH.count()"))):
            self.editor.lua("BENCH.send(...)", n + 1, prompt)

    def load(self, count: int) -> None:
        self.editor.lua("BENCH.load(...)", str(count))

    def hide(self) -> None:
        self.editor.lua("BENCH.hide()")


class _Baseline(_Side):
    def __init__(self, editor: Editor, command: list[str], mode: str) -> None:
        super().__init__(editor, command)
        self.mode = mode

    def start(self, workload: Workload) -> None:
        self.editor.lua("BASE = dofile(...)", str(ROOT / "bench/baseline/client.lua"))
        for _ in range(workload.agents):
            self.editor.lua(
                "local command, mode = ... BASE.start(command, mode, PROBE.done)", self.command, self.mode
            )
        self.editor.until("return BASE.ready()")

    def send(self, prompt: str) -> None:
        self.editor.lua("BASE.send(...)", prompt)

    def load(self, count: int) -> None:
        self.editor.lua("BASE.load(...)", str(count))


def _warm(editor: Editor) -> None:
    """Load parsers and queries: a compile is once per language and session, and not what is compared."""
    editor.lua(
        """
        for _, lang in ipairs({ 'lua', 'markdown', 'markdown_inline' }) do
          pcall(vim.treesitter.query.get, lang, 'highlights')
        end
        """
    )


def _measured(editor: Editor, side: _Side, workload: Workload, stamp: Path, bare: float) -> Result:
    stamp.write_text("")
    before = cpu_seconds(side.host) if side.host else 0.0
    editor.screen_bytes = 0
    editor.lua("PROBE.start()")
    editor.start_typing()
    begin = time.monotonic()
    if workload.load:
        side.load(workload.load)
    else:
        side.send(workload.prompt)
    lines = sum(side.wait() for _ in range(workload.agents))
    wall, end = time.monotonic() - begin, time.monotonic_ns()
    editor.stop_typing()
    seen: dict[str, Any] = editor.lua("return PROBE.stop()")
    handled = seen["keys"][1:]  # the first one is the i
    keys = [(at - sent) / 1e6 for at, sent in zip(handled, editor.sent, strict=False)]
    last = max(int(each) for each in stamp.read_text().split())
    return Result(
        wall=wall,
        gap=max(seen["gaps"]),
        gap_p99=percentile(seen["gaps"], 0.99),
        key_p99=percentile(keys, 0.99),
        key_max=max(keys, default=0.0),
        late=(end - last) / 1e6,
        cpu=100 * seen["cpu"] / seen["wall"],
        cpu_seconds=seen["cpu"],
        host_seconds=cpu_seconds(side.host) - before if side.host else 0.0,
        memory=memory_mb(editor.process.pid) - bare,
        host_memory=memory_mb(side.host) if side.host else 0.0,
        lines=lines,
        screen_kb=editor.screen_bytes // 1024,
    )


def percentile(values: list[float], part: float) -> float:
    """The value below which that part of them lies; 0 of none."""
    ordered = sorted(values) or [0.0]
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def median(results: list[Result]) -> Result:
    """Each figure's own median."""

    def middle(name: str) -> Any:
        return statistics.median(getattr(result, name) for result in results)

    return Result(**{name: middle(name) for name in Result.__dataclass_fields__})
