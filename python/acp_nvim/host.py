"""What runs inside the host's process."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

import pynvim

from acp_nvim.editor import Editor


class Host:
    """Takes Lua's messages."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self.editor = Editor(nvim)
        self.events: list[tuple[str, Any]] = []

    def hello(self, payload: dict[str, Any]) -> None:
        """Answer Lua's first message."""
        info = {"version": platform.python_version(), "python": sys.executable, "pid": os.getpid()}
        self.editor.notify("acp.host", "ready", {**info, "seq": payload["seq"]})

    def event(self, name: str, payload: Any) -> None:
        """Take one message."""
        self.events.append((name, payload))
