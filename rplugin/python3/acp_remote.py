"""What pynvim loads: two messages in, everything else is in the package `acp_nvim`.

The plugin starts this file itself (lua/acp/host.lua); `:UpdateRemotePlugins` finds it too, and nothing
happens twice: commands are defined in Lua, and only a message starts anything. The name of the file must be
nobody else's, because pynvim imports it by that name.
"""

from __future__ import annotations

import gc
import platform
import sys
import traceback
from pathlib import Path
from typing import Any

import pynvim

PACKAGES = str(Path(__file__).resolve().parents[2] / "python")


@pynvim.plugin
class AcpRemote:
    """Hands Lua's messages on. Never raises while being built: pynvim forgets the handlers before that."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._host: Any = None
        self._trouble: dict[str, str] = {}
        try:
            if PACKAGES not in sys.path:
                sys.path.insert(0, PACKAGES)
            from acp_nvim.host import Host

            self._host = Host(nvim)
        except Exception as error:
            self._trouble = self._describe(error)
        gc.freeze()  # what is loaded stays
        gc.enable()  # boot.py has turned it off

    @pynvim.rpc_export("acp:hello")
    def hello(self, payload: dict[str, Any]) -> None:
        """The first message; answered with `acp.host.ready`, or `acp.host.broken`."""
        if self._host is not None:
            try:
                self._host.hello(payload)
            except Exception as error:
                self._trouble = self._describe(error)
        if self._trouble:
            self._tell("broken", {**self._trouble, "seq": payload["seq"]})

    @pynvim.rpc_export("acp:event")
    def event(self, name: str, payload: Any = None) -> None:
        """One message of Lua."""
        try:
            self._host.event(name, payload)
        except Exception:
            self._tell("failed", name, traceback.format_exc())

    @pynvim.function("_AcpRemoteChannel", sync=True)
    def channel(self, _args: list[Any]) -> int:
        """Return the channel of this host; `:UpdateRemotePlugins` skips a file that declares nothing."""
        return int(self._nvim.channel_id)

    def _tell(self, function: str, *args: Any) -> None:
        code = f"require('acp.host').{function}(...)"
        self._nvim.api.exec_lua(code, list(args), async_=True)

    @staticmethod
    def _describe(error: Exception) -> dict[str, str]:
        missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
        return {
            "missing": missing,
            "error": "".join(traceback.format_exception(error)),
            "python": sys.executable,
            "version": platform.python_version(),
        }
