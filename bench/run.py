"""The benchmark: the real host in a real Neovim beside the in-editor design, a user typing in another window.

``make bench-quick`` (under a minute), ``make bench`` (all, medians of three, writes ``bench/results.md``), or
``python -m bench.run [--nvim PATH] [--only WORKLOAD] [--design DESIGN] [--runs N] [--write FILE]``.
Timings are reported, not judged: machines are noisy. Read ratios.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.plugin.neovim import find_binary

from bench import report
from bench.measure import Result, median, run
from bench.startup import first_command, idle, plugin_start
from bench.workloads import DESIGNS, WORKLOADS


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure acp.nvim beside an in-editor client.")
    parser.add_argument("--nvim", help="Neovim to measure; default: the one the tests use")
    parser.add_argument(
        "--only", choices=WORKLOADS, action="append", help="workload; more than once for more"
    )
    parser.add_argument("--design", choices=DESIGNS, action="append")
    parser.add_argument("--runs", type=int, default=1, help="runs of each; their medians are shown")
    parser.add_argument("--write", type=Path, help="measure everything and write the report there")
    options = parser.parse_args()
    binary = options.nvim or find_binary()
    names = options.only or [name for name, each in WORKLOADS.items() if each.quick != bool(options.write)]
    found: dict[tuple[str, str], Result] = {}
    print("\n".join(report.HEAD))
    for name in names:
        workload = WORKLOADS[name]
        for design in options.design or workload.designs:
            try:
                found[name, design] = median([run(binary, design, workload) for _ in range(options.runs)])
            except Exception as error:
                print(f"| {workload.title} | {DESIGNS[design]} | failed: {error!r} |")
                continue
            print(report.row(workload, design, found), flush=True)
    if options.write:
        print("start, idle and memory …", file=sys.stderr)
        start = report.Start(plugin_start(binary), first_command(binary), idle(binary))
        options.write.write_text(report.page(binary, options.runs, found, start), encoding="utf-8")


if __name__ == "__main__":
    main()
