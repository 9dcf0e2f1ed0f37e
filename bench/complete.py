"""Completion of paths in a project of 50,000 files: how soon it answers, and what the editor feels of it.

``make bench-complete``, or ``python -m bench.complete [--nvim PATH] [--files N] [--runs N]``. Timings are
reported, not judged: machines are noisy.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.editor import ROOT, Editor
from bench.measure import percentile

WORDS = [
    *(
        "app",
        "client",
        "view",
        "service",
        "protocol",
        "editor",
        "transport",
        "wire",
        "text",
        "process",
        "session",
    ),
    *(
        "host",
        "chat",
        "prompt",
        "files",
        "index",
        "match",
        "test",
        "util",
        "core",
        "model",
        "parse",
        "render",
    ),
    *(
        "state",
        "event",
        "handler",
        "config",
        "types",
        "main",
        "setup",
        "build",
        "component",
        "button",
        "list",
    ),
    *("item", "form", "table", "page", "user", "admin", "route", "auth", "login", "store", "cache", "queue"),
]
TYPED = ["@", "c", "l", "i", "e", "n", "t", "a", "p", "p"]
"""The keys of a mention: what is typed is in some paths, scattered in many others."""


def make_project(folder: Path, files: int) -> None:
    """Write a repository of empty files in as many folders as projects have, all but a few tracked."""
    rng = random.Random(7)
    folders = [""]
    while len(folders) < files // 12:
        base = rng.choice(folders)
        if base.count("/") < 6:
            folders.append(f"{base}{rng.choice(WORDS)}{len(folders)}/")
    for number in range(files):
        place = folder / rng.choice(folders)
        place.mkdir(parents=True, exist_ok=True)
        name = f"{rng.choice(WORDS)}_{rng.choice(WORDS)}{number}"
        (place / (name + rng.choice([".py", ".ts", ".lua", ".md"]))).touch()
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True, stdout=subprocess.DEVNULL)
    (folder / "untracked.py").touch()


class Typist:
    """Types into the prompt and notes how long each answer takes, in ms."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        editor.lua(
            """
            local paths = require('acp.chat.paths')
            local answer = paths.answer
            paths.answer = function(id, rows, ended, limits)
              answer(id, rows, ended, limits)
              vim.cmd.redraw()
              vim.rpcnotify(1, 'bench_answer', vim.uv.hrtime(), #rows, ended)
            end
            """
        )

    def key(self, key: str) -> tuple[float, float]:
        """Type it. Returns the times to the first paths and to the last answer."""
        sent = time.monotonic_ns()  # the clock of vim.uv.hrtime()
        self.editor.request("nvim_input", key)
        first = None
        while True:
            at, rows, ended = self.editor.wait("bench_answer", 30)
            if rows and first is None:
                first = (at - sent) / 1e6
            if ended:
                last = (at - sent) / 1e6
                return (last if first is None else first), last


def run(binary: str, project: Path) -> dict[str, list[float]]:
    """A fresh Neovim: the first mention, then more of them, then a fast typist."""
    times: dict[str, list[float]] = {"cold": [], "whole": [], "warm": [], "gaps": []}
    with tempfile.TemporaryDirectory(prefix="acp-bench-") as name:
        editor = Editor(binary, Path(name))
        try:
            editor.lua("vim.cmd.cd(...)", str(project))
            editor.lua("PROBE = dofile(...)", str(ROOT / "bench/probe.lua"))
            editor.lua(
                """
                vim.g.acp_python = ...
                require('acp').setup({ agents = { bench = { command = select(2, ...) } } })
                require('acp').chat({ agent = 'bench' })
                """,
                sys.executable,
                [sys.executable, str(ROOT / "bench/agent.py")],
            )
            editor.until("return require('acp').status().state == 'idle'")
            editor.until("return vim.api.nvim_get_mode().mode == 'i'")
            time.sleep(0.5)
            typist = Typist(editor)
            editor.lua("PROBE.start()")
            first, last = typist.key("@")
            times["cold"].append(first)
            times["whole"].append(last)
            for _ in range(3):
                times["warm"] += [typist.key(key)[0] for key in TYPED[1:]]
                editor.request("nvim_input", "<C-e> ")
                times["warm"].append(typist.key("@")[0])
            for _ in range(10):  # keys that do not wait for answers
                editor.request("nvim_input", "".join(TYPED))
                time.sleep(0.3)
                editor.request("nvim_input", "<C-e> ")
            editor.lua("return 1")
            times["gaps"] = editor.lua("return PROBE.stop()")["gaps"]
        finally:
            editor.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nvim", help="Neovim to measure; default: the one the tests use")
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    if options.nvim is None:
        from tests.plugin.neovim import find_binary

        options.nvim = find_binary()
    with tempfile.TemporaryDirectory(prefix="acp-bench-project-") as name:
        project = Path(name)
        make_project(project, options.files)
        all_times = [run(options.nvim, project) for _ in range(options.runs)]
    together = {key: [value for times in all_times for value in times[key]] for key in all_times[0]}
    print(f"{options.files} files, {options.runs} runs; ms")
    print("| | median | p95 | longest |")
    print("|---|---|---|---|")
    for key, title in (
        ("cold", "first @: key to paths"),
        ("whole", "first @: key to all paths"),
        ("warm", "later keys: key to paths"),
        ("gaps", "gaps of the editor's loop"),
    ):
        values = together[key]
        middle, most = statistics.median(values), percentile(values, 0.95)
        print(f"| {title} | {middle:.1f} | {most:.1f} | {max(values):.1f} |")


if __name__ == "__main__":
    main()
