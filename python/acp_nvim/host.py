"""The pynvim side: Lua's messages come in, the program is built when Lua says hello."""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec
import pynvim

from . import __version__
from .client.app import App
from .client.payloads import Hello
from .editor import Editor
from .runtime import Runtime


class Host:
    """Made by the plugin class (rplugin/python3/acp_remote.py); its methods are RPC handlers."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._editor = Editor(nvim)
        self._runtime = Runtime(self._editor.loop, self._failed)
        self._app: App | None = None

    def hello(self, payload: dict[str, Any]) -> None:
        """Lua has started us: build the program and answer ``acp.host.ready``."""
        hello = msgspec.convert(payload, Hello)
        if self._app is None:
            self._app = App(self._editor, self._runtime.spawn, hello)
        self._editor.notify(
            "acp.host",
            "ready",
            {
                "plugin": __version__,
                "version": ".".join(map(str, sys.version_info[:3])),
                "python": sys.executable,
                "pid": os.getpid(),
                "seq": hello.seq,
            },
        )

    def event(self, name: str, payload: Any) -> None:
        """Something happened in Neovim (client/payloads.py)."""
        if self._app is not None:
            self._app.handle(name, payload)

    def _failed(self, where: str, traceback: str) -> None:
        self._editor.notify("acp.host", "failed", where, traceback)
