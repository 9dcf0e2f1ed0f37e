"""What runs inside the host's process."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

import pynvim

from acp_nvim.editor import Editor
from acp_nvim.process.spawn import AgentProcess, Spawner
from acp_nvim.runtime import Runtime


class Host:
    """Takes Lua's messages."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self.editor = Editor(nvim)
        self.runtime = Runtime(
            self.editor.loop, lambda *failure: self.editor.notify("acp.host", "failed", *failure)
        )
        self.spawner = Spawner()
        self.agents: list[AgentProcess] = []

    def hello(self, payload: dict[str, Any]) -> None:
        """Answer Lua's first message."""
        info = {"version": platform.python_version(), "python": sys.executable, "pid": os.getpid()}
        self.editor.notify("acp.host", "ready", {**info, "seq": payload["seq"]})

    def event(self, name: str, payload: Any) -> None:
        """Take one message."""
        if name == "open":
            self.runtime.spawn(self._open, payload)

    async def _open(self, payload: dict[str, Any]) -> None:
        self.agents.append(await self.spawner.start(payload["config"]["command"], cwd=payload["cwd"]))
