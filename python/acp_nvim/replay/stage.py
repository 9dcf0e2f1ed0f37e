"""A Neovim that is not the user's, with this checkout's plugin, on a scratch folder."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]

_AGENT = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import runpy; "
    "runpy.run_module('acp_nvim.replay.agent', run_name='__main__')"
)
_INIT = """\
vim.opt.packpath = {{ vim.env.VIMRUNTIME }}
vim.opt.runtimepath = {{ {root}, vim.env.VIMRUNTIME }}
vim.g.acp_python = {python}
vim.o.hidden = true
require('acp.replay').start(vim.json.decode({options}))
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """``folder``: everything that is written is in it. ``project``: where the session works."""

    folder: Path
    project: Path

    @property
    def socket(self) -> Path:
        """Neovim takes the user's acts there."""
        return self.folder / "acts"

    def agent(self, *arguments: str) -> list[str]:
        """The command of the replay's agent, isolated as the demo's."""
        given = ["--folder", str(self.folder), "--socket", str(self.socket)]
        return [sys.executable, "-I", "-c", _AGENT, str(ROOT / "python"), *arguments, *given]

    def command(self, options: dict[str, Any], nvim: str, *, headless: bool) -> list[str]:
        """Write the init file; returns the command line of Neovim."""
        init = self.folder / "init.lua"
        text = _INIT.format(
            root=_lua(str(ROOT)), python=_lua(sys.executable), options=_lua(json.dumps(options))
        )
        init.write_text(text, encoding="utf-8")
        return [nvim, "--clean", "-n", "-u", str(init), *(["--headless"] if headless else [])]

    @property
    def environment(self) -> dict[str, str]:
        """The caller's, but no file of the user's Neovim, nor of its home, is read or written."""
        home = self.folder / "home"
        (home / "run").mkdir(parents=True, exist_ok=True)
        names = ("CONFIG_HOME", "DATA_HOME", "STATE_HOME", "CACHE_HOME", "CONFIG_DIRS", "DATA_DIRS")
        dropped = ("NVIM", "NVIM_APPNAME", "NVIM_LISTEN_ADDRESS", "VIMINIT", "EXINIT", "MYVIMRC")
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        own = {f"XDG_{name}": str(home / name.lower()) for name in names}
        return {**kept, **own, "XDG_RUNTIME_DIR": str(home / "run"), "HOME": str(home)}


def _lua(text: str) -> str:
    """As a string of Lua; JSON's escapes are not all Lua's."""
    level = "=" * 3
    while f"]{level}]" in text:
        level += "="
    return f"[{level}[{text}]{level}]"
