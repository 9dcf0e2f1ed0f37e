"""The benchmark: the real host in a real Neovim beside the in-editor design, a user typing in another window.

``make bench-quick``, or ``python -m bench.run [--nvim PATH] [--only WORKLOAD] [--design DESIGN] [--runs N]``.
Timings are reported, not judged: machines are noisy. Read ratios.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.editor import ROOT, Editor

AGENT = [sys.executable, str(ROOT / "bench/agent.py")]
WORKLOADS = {
    "flood": ("20,000 chunks at once", "go 20000"),
    "pace": ("200 chunks a second, 5 s", "go 1000 200"),
    "tools": ("200 tool calls, 4 updates and a diff each", "tools 200"),
    "diff": ("one diff of 2 MB", "diff 2000000"),
}
DESIGNS = {
    "host": "acp.nvim",
    "chunk": "Lua, each message drawn",
    "batched": "Lua, drawn every 33 ms",
}


@dataclass
class Result:
    """Times in ms but ``wall`` in s and ``cpu`` in % of a core; keys: from sent to handled."""

    wall: float
    gap: float
    gap_p99: float
    key_p99: float
    key_max: float
    cpu: float
    cpu_seconds: float
    lines: int
    screen_kb: int


def start_host(editor: Editor, command: list[str]) -> None:
    editor.lua(
        """
        local python, command = ...
        vim.g.acp_python = python
        require('acp').setup({ agents = { bench = { command = command } } })
        require('acp').chat({ agent = 'bench', focus = false })
        WRITTEN = 0
        local transcript = require('acp.chat.transcript')
        local frame = transcript.frame
        transcript.frame = function(...)
          local result = frame(...)
          WRITTEN = WRITTEN + result.lines
          return result
        end
        vim.api.nvim_create_autocmd('User', { pattern = 'AcpTurnEnd', callback = function()
          PROBE.done(WRITTEN)
        end })
        """,
        sys.executable,
        command,
    )
    editor.until("return require('acp').status().state == 'idle'")


def start_baseline(editor: Editor, command: list[str], mode: str) -> None:
    editor.lua("BASE = dofile(...)", str(ROOT / "bench/baseline/client.lua"))
    editor.lua("local command, mode = ... BASE.start(command, mode, PROBE.done)", command, mode)
    editor.until("return BASE.ready == true")


def warm(editor: Editor) -> None:
    """Load parsers and queries: a compile is once per language and session, and not what is compared."""
    editor.lua(
        """
        for _, lang in ipairs({ 'lua', 'markdown', 'markdown_inline' }) do
          pcall(vim.treesitter.query.get, lang, 'highlights')
        end
        """
    )


def percentile(values: list[float], part: float) -> float:
    ordered = sorted(values) or [0.0]
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def run(binary: str, design: str, prompt: str) -> Result:
    """One run of a workload in a fresh Neovim."""
    word, number, *_ = prompt.split()
    command = [*AGENT, number] if word == "go" else AGENT
    with tempfile.TemporaryDirectory(prefix="acp-bench-") as name:
        editor = Editor(binary, Path(name))
        try:
            editor.lua("PROBE = dofile(...)", str(ROOT / "bench/probe.lua"))
            warm(editor)
            if design == "host":
                start_host(editor, command)
                send = "require('acp').send(...)"
            else:
                start_baseline(editor, command, design)
                send = "BASE.send(...)"
            if design == "host":
                editor.lua(send, "go 40")  # the fence's language is loaded when there is time
                editor.wait("bench_done")
                time.sleep(0.5)
                editor.lua("WRITTEN = 0")
            editor.screen_bytes = 0
            editor.lua("PROBE.start()")
            editor.start_typing()
            begin = time.monotonic()
            editor.lua(send, prompt)
            (lines,) = editor.wait("bench_done")
            wall = time.monotonic() - begin
            editor.stop_typing()
            seen = editor.lua("return PROBE.stop()")
        finally:
            editor.close()
        return result_of(seen, editor, wall, lines)


def result_of(seen: dict[str, Any], editor: Editor, wall: float, lines: int) -> Result:
    handled = seen["keys"][1:]  # the first one is the i
    keys = [(at - sent) / 1e6 for at, sent in zip(handled, editor.sent, strict=False)]
    return Result(
        wall=wall,
        gap=max(seen["gaps"]),
        gap_p99=percentile(seen["gaps"], 0.99),
        key_p99=percentile(keys, 0.99),
        key_max=max(keys, default=0.0),
        cpu=100 * seen["cpu"] / seen["wall"],
        cpu_seconds=seen["cpu"],
        lines=lines,
        screen_kb=editor.screen_bytes // 1024,
    )


def median(results: list[Result]) -> Result:
    def middle(name: str) -> Any:
        return statistics.median(getattr(result, name) for result in results)

    return Result(**{name: middle(name) for name in Result.__dataclass_fields__})


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure acp.nvim beside an in-editor client.")
    parser.add_argument("--nvim", help="Neovim to measure; default: the one the tests use")
    parser.add_argument(
        "--only", choices=WORKLOADS, action="append", help="workload; more than once for more"
    )
    parser.add_argument("--design", choices=DESIGNS, action="append")
    parser.add_argument("--runs", type=int, default=1, help="runs of each; their medians are shown")
    options = parser.parse_args()
    if options.nvim is None:
        from tests.plugin.neovim import find_binary

        options.nvim = find_binary()
    heads = ("workload", "design", "total s", "longest gap ms", "p99 gap ms", "key p99 / max ms", "CPU % / s",
             "lines", "screen KB")  # fmt: skip
    print(f"| {' | '.join(heads)} |")
    print("|---" * len(heads) + "|")
    for name in options.only or WORKLOADS:
        title, prompt = WORKLOADS[name]
        for design in options.design or DESIGNS:
            try:
                r = median([run(options.nvim, design, prompt) for _ in range(options.runs)])
            except Exception as error:
                print(f"| {title} | {DESIGNS[design]} | failed: {error!r} |")
                continue
            print(
                f"| {title} | {DESIGNS[design]} | {r.wall:.2f} | {r.gap:.1f} | {r.gap_p99:.1f} "
                f"| {r.key_p99:.1f} / {r.key_max:.1f} | {r.cpu:.0f} / {r.cpu_seconds:.2f} "
                f"| {r.lines:.0f} | {r.screen_kb:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
