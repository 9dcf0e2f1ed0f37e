"""A Neovim with a screen for the benchmark, and a user who types in it."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import queue
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

msgpack: Any = importlib.import_module("msgpack")  # pynvim brings it; it has no types

ROOT = Path(__file__).resolve().parents[1]
TYPING = 0.05  # seconds between two keys


class Editor:
    """An embedded Neovim, its screen attached, spoken to without pynvim: the driver must cost little.

    Screen events are taken and thrown away by a thread.
    """

    def __init__(
        self, binary: str, folder: Path, env: dict[str, str] | None = None, size: tuple[int, int] = (120, 40)
    ) -> None:
        for name in ("home", "cwd", "run"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        init = folder / "init.lua"
        init.write_text(
            "vim.opt.packpath = { vim.env.VIMRUNTIME }\n"
            f"vim.opt.runtimepath:prepend([==[{ROOT}]==])\n"
            "vim.o.termguicolors = true\n",
            encoding="utf-8",
        )
        environment = {
            **(env or {}),
            "PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(folder / "run"), "TERM": "xterm-256color", "SHELL": "/bin/sh",
        }  # fmt: skip
        self.process = subprocess.Popen(
            [binary, "--embed", "-n", "-i", "NONE", "-u", str(init)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=folder / "cwd",
        )  # fmt: skip
        self.screen_bytes = 0
        self._ids = itertools.count(1)
        self._answers: dict[int, queue.Queue[tuple[Any, Any]]] = {}
        self._notes: queue.Queue[tuple[str, list[Any]]] = queue.Queue()
        self._lock = threading.Lock()
        self._typing: threading.Thread | None = None
        self._stop = threading.Event()
        self.sent: list[int] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.request("nvim_ui_attach", *size, {"rgb": True, "ext_linegrid": True})

    def _read(self) -> None:
        unpacker = msgpack.Unpacker(raw=False, unicode_errors="surrogateescape", max_buffer_size=2**30)
        assert self.process.stdout is not None
        while data := os.read(self.process.stdout.fileno(), 1 << 16):
            unpacker.feed(data)
            for message in unpacker:
                if message[0] == 1:
                    self._answers.pop(message[1]).put((message[2], message[3]))
                elif message[0] == 2 and message[1] != "redraw":
                    self._notes.put((message[1], message[2]))
            self.screen_bytes += len(data)

    def _write(self, message: list[Any]) -> None:
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(msgpack.packb(message))
            self.process.stdin.flush()

    def request(self, method: str, *args: Any) -> Any:
        """Call and wait; RuntimeError with Neovim's message if it fails."""
        ident = next(self._ids)
        answer: queue.Queue[tuple[Any, Any]] = queue.Queue()
        self._answers[ident] = answer
        self._write([0, ident, method, list(args)])
        error, result = answer.get(timeout=120)
        if error:
            raise RuntimeError(error)
        return result

    def lua(self, code: str, *args: Any) -> Any:
        return self.request("nvim_exec_lua", code, list(args))

    def wait(self, name: str, limit: float = 120) -> list[Any]:
        """Wait for a notification and return its arguments."""
        while True:
            got, args = self._notes.get(timeout=limit)
            if got == name:
                return args

    def until(self, code: str, limit: float = 30) -> None:
        """Wait until Lua code returns something true."""
        deadline = time.monotonic() + limit
        while not self.lua(code):
            if time.monotonic() > deadline:
                raise RuntimeError(f"never true: {code}")
            time.sleep(0.02)

    def start_typing(self) -> None:
        """A user types into the current buffer until ``stop_typing``."""

        def work() -> None:
            self._write([2, "nvim_input", ["i"]])
            for n in itertools.count():
                if self._stop.wait(TYPING):
                    return
                self.sent.append(time.monotonic_ns())  # the clock of vim.uv.hrtime()
                self._write([2, "nvim_input", ["x" if n % 60 else "<CR>"]])

        self.sent.clear()
        self._stop.clear()
        self._typing = threading.Thread(target=work, daemon=True)
        self._typing.start()

    def stop_typing(self) -> None:
        self._stop.set()
        if self._typing is not None:
            self._typing.join()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(5)  # it reads a number that may be another file's when the pipe is closed
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
