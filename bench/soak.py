"""A mixed load for a long time, and what is left of it: ``python -m bench.soak [--minutes M] [--seed N]``.

Rounds of chats are opened, used in every way, and closed. After each round everything is counted; what has
grown between the first rounds, which load what is loaded once, and the last is named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.plugin.neovim import find_binary

from bench.editor import ROOT, Editor
from bench.process import memory_mb

WARM = 3
"""Rounds after which all that is loaded or cached once is there."""

PATIENCE = 120.0  # seconds for whatever must come to its end
MEMORY_MB = 15.0  # of growth in the second half that are no leak: allocators keep what they had

Counts = dict[str, float]

SETUP = """
local python, bench, demo = ...
vim.g.acp_python = python
vim.fn.tempname() -- Neovim holds its folder for such files open from the first of them on
require('acp').setup({ agents = {
  bench = { command = bench },
  demo = { command = demo, env = { ACP_DEMO_SPEED = '0' } },
}, permission = { open = 'never' } })
DONE, STARTED = 0, 0
local on = vim.api.nvim_create_autocmd
on('User', { pattern = 'AcpTurnStart', callback = function() STARTED = STARTED + 1 end })
on('User', { pattern = 'AcpTurnEnd', callback = function() DONE = DONE + 1 end })
"""

COUNT = """
for _ = 1, 2 do collectgarbage() end
local marks, handles = 0, 0
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  for _, ns in pairs(vim.api.nvim_get_namespaces()) do
    marks = marks + #vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, {})
  end
end
if vim.fn.has('nvim-0.11') == 1 then -- before, Neovim's own handles abort it
  vim.uv.walk(function() handles = handles + 1 end)
end
return {
  buffers = #vim.api.nvim_list_bufs(), windows = #vim.api.nvim_list_wins(),
  autocommands = #vim.api.nvim_get_autocmds({}), extmarks = marks, handles = handles,
  ['Lua MB'] = collectgarbage('count') / 1024,
}
"""


class Soak:
    """One Neovim under load."""

    def __init__(self, binary: str, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.turns = 0
        self.editor = Editor(binary, folder)
        agent = [sys.executable, str(ROOT / "bench/agent.py")]
        demo = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r});"
                " import runpy; runpy.run_module('acp_nvim.demo', run_name='__main__')"]  # fmt: skip
        self.editor.lua(SETUP, sys.executable, agent, demo)
        (folder / "cwd/notes.txt").write_text("hello world\n" * 200)
        self.editor.request("nvim_command", "edit notes.txt")

    def until(self, code: str) -> None:
        """Wait for Lua that returns something true."""
        self.editor.until(code, PATIENCE)

    def command(self, *lines: str) -> None:
        for line in lines:
            self.editor.request("nvim_command", line)

    def turn(self, agent: str, text: str, answer: str | None = None) -> None:
        """A turn to its end; ``answer`` is given to each question."""
        self.command(f"AcpChat {agent}", "stopinsert")
        self.until("return require('acp').status().state == 'idle'")
        done = self.editor.lua("return DONE")
        self.editor.lua("require('acp').send(...)", text)
        deadline = time.monotonic() + PATIENCE
        while self.editor.lua("return DONE") == done:
            if answer and self.editor.lua("return require('acp').status().pending") > 0:
                self.editor.lua("require('acp').permit(...)", answer)
            if time.monotonic() > deadline:
                raise RuntimeError(f"no end of turn: {agent}, {text}")
            time.sleep(0.01)
        self.turns += 1

    def cancelled(self) -> None:
        self.command("AcpChat bench", "stopinsert")
        self.until("return require('acp').status().state == 'idle'")
        done, started = self.editor.lua("return { DONE, STARTED }")
        self.editor.lua("require('acp').send('go 3000 1500')")
        self.until(f"return STARTED > {started}")  # before that it would only come back into the prompt
        time.sleep(self.random.random() * 0.3)
        self.command("AcpCancel")
        self.until(f"return DONE > {done}")
        self.turns += 1

    def restarted(self) -> None:
        self.command("AcpChat demo", "stopinsert", "AcpRestart")
        self.until("return require('acp').status().state == 'idle'")

    def looked_at(self) -> None:
        """Lists, traces and diffs come and go."""
        for command in ("AcpTrace", "AcpSessions"):
            self.command("AcpChat demo", "stopinsert", command)
            self.until("return vim.bo.filetype ~= 'acp-prompt'")
            self.command("close")
        self.command("AcpChat demo", "stopinsert")
        self.editor.lua("pcall(vim.cmd, 'AcpDiff')")
        time.sleep(0.1)
        self.command("silent! tabonly")

    def hidden(self) -> None:
        self.command("AcpChat bench", "stopinsert")
        self.command("wincmd t", "silent! only")
        self.turn("bench", "go 500")

    def round(self, parts: list[Callable[[], None]] | None = None) -> None:
        """Some of everything, in another order each time; then all chats are closed."""
        parts = parts or [
            lambda: self.turn("bench", "go 3000"),
            lambda: self.turn("bench", "think 1000"),
            lambda: self.turn("bench", "tools 20"),
            lambda: self.turn("bench", "diff 300000"),
            lambda: self.turn("bench", "noise 1000000 1"),
            lambda: self.turn("demo", "replace hello by goodbye in notes.txt", "allow_once"),
            lambda: self.turn("demo", "replace goodbye by hello in notes.txt", "allow_once"),
            lambda: self.turn("demo", "replace hello by nothing in notes.txt", "reject_once"),
            lambda: self.turn("demo", "run echo hello", "allow_once"),
            self.cancelled,
            self.restarted,
            self.looked_at,
            self.hidden,
            lambda: self.command("AcpFollow on"),
        ]
        self.command("AcpChat demo", "stopinsert", "AcpChat bench", "stopinsert")
        self.random.shuffle(parts)
        for part in parts:
            part()
        self.command("wincmd t", "silent! tabonly", "silent! only", "buffer notes.txt")
        self.editor.lua(
            """
            for _, buf in ipairs(vim.api.nvim_list_bufs()) do
              if vim.startswith(vim.api.nvim_buf_get_name(buf), 'acp://') then
                pcall(vim.api.nvim_buf_delete, buf, { force = true })
              end
            end
            for _, chat in ipairs(require('acp.chat').list()) do require('acp.chat').finish(chat) end
            """
        )

    def count(self, last: bool = False) -> Counts:
        """What there is, when what was closed has had its time to end.

        An agent whose sessions were listed is kept a while after its last chat: ``last`` waits for that, too.
        """
        deadline, host = time.monotonic() + PATIENCE, {"chats": 1}
        while host["chats"] or (last and host["connections"]):
            self.editor.lua("require('acp.counts').ask()")
            self.until("return require('acp.counts').last")
            host = self.editor.lua("return require('acp.counts').last")
            if time.monotonic() > deadline:
                raise RuntimeError(f"never closed: {host}")
            time.sleep(0.05)
        time.sleep(0.5)
        self.editor.lua("require('acp.counts').ask()")
        self.until("return require('acp.counts').last")
        pid = int(self.editor.lua("return require('acp.host').status().pid"))
        counts: Counts = {
            f"host's {key}": n for key, n in self.editor.lua("return require('acp.counts').last").items()
        }
        counts |= self.editor.lua(COUNT)
        counts["processes"] = len(descendants(self.editor.process.pid))
        for name, each in (("Neovim", self.editor.process.pid), ("host", pid)):
            counts[f"{name} MB"] = memory_mb(each)
            files = Path(f"/proc/{each}/fd")
            if files.exists():
                counts[f"{name}'s open files"] = len(list(files.iterdir()))
        return counts


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    said = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children: dict[int, list[int]] = {}
    for line in said.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found, todo = [], [pid]
    while todo:
        new = children.get(todo.pop(), [])
        found += new
        todo += new
    return found


def growth(rounds: list[Counts]) -> list[str]:
    """What is more in the last rounds than after the first; of memory, what grows from the middle on."""
    grown = []
    for name in rounds[-1]:
        if name.endswith("MB"):
            middle = rounds[WARM + (len(rounds) - WARM) // 2 :]
            if middle[-1][name] - middle[0][name] > MEMORY_MB:
                grown.append(name)
        elif min(each[name] for each in rounds[-2:]) > max(each[name] for each in rounds[:WARM]):
            grown.append(name)
    return grown


def soak(binary: str, seconds: float, seed: int, least: int = WARM + 3) -> tuple[list[Counts], int]:
    """Rounds for so long, at least ``least``: what was counted after each, and the number of turns."""
    with tempfile.TemporaryDirectory(prefix="acp-soak-") as name:
        made = Soak(binary, Path(name), seed)
        rounds: list[Counts] = []
        try:
            end = time.monotonic() + seconds
            while len(rounds) < least or time.monotonic() < end:
                made.round()
                rounds.append(made.count())
                show(rounds, made.turns)
            rounds.append(made.count(last=True))
            show(rounds, made.turns)
        finally:
            made.editor.close()
        return rounds, made.turns


def show(rounds: list[Counts], turns: int) -> None:
    counts = ", ".join(f"{key} {value:.0f}" for key, value in sorted(rounds[-1].items()))
    print(f"round {len(rounds)}, {turns} turns: {counts}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Load acp.nvim for a long time and look for what grows.")
    parser.add_argument("--nvim", help="Neovim to use; default: the one the tests use")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rounds, turns = soak(options.nvim or find_binary(), options.minutes * 60, options.seed)
    first, last, grown = rounds[min(WARM, len(rounds)) - 1], rounds[-1], growth(rounds)
    print(f"\n{len(rounds)} rounds, {turns} turns\n\n| | round {WARM} | last | |\n|---|---|---|---|")
    for name in sorted(last):
        print(f"| {name} | {first[name]:.0f} | {last[name]:.0f} | {'**grows**' if name in grown else ''} |")
    sys.exit(bool(grown))


if __name__ == "__main__":
    main()
