"""The stage for demo and pictures: a scratch copy of the sample project, a Neovim that is not the user's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from acp_nvim.replay.neovim import StageError

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "demo/sample"

HINT = "acp.nvim demo   type: show me everything   <C-s> sends   g? keys   :qa ends"

INIT = """\
vim.opt.packpath = {{ vim.env.VIMRUNTIME }}
vim.opt.runtimepath = {{ [==[{root}]==], vim.env.VIMRUNTIME }}
vim.g.acp_python = [==[{python}]==]
vim.o.tabline = '%#TabLineSel# ' .. ([==[{hint}]==]):gsub('%%', '%%%%') .. ' %#TabLineFill#'
vim.o.showtabline = 2
vim.o.number = true
require('acp').setup({{
  agents = {{ demo = {{ protocol = '{protocol}', env = {{ ACP_DEMO_SPEED = '{speed:g}' }} }} }},
}})
vim.api.nvim_create_autocmd('VimEnter', {{
  callback = vim.schedule_wrap(function()
    vim.cmd('AcpChat demo')
    if vim.bo.filetype == 'acp-prompt' then vim.cmd('startinsert') end
  end),
}})
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """``project``: the scratch copy; ``init``: Lua that opens the chat on it."""

    folder: Path
    project: Path
    init: str

    @property
    def environment(self) -> dict[str, str]:
        """The caller's environment, but no file of the user's Neovim is read or written."""
        home = self.folder / "xdg"
        names = ("CONFIG_HOME", "DATA_HOME", "STATE_HOME", "CACHE_HOME", "CONFIG_DIRS", "DATA_DIRS")
        kept = {
            k: v for k, v in os.environ.items() if k not in ("NVIM_APPNAME", "VIMINIT", "MYVIMRC", "NVIM")
        }
        return {**kept, **{f"XDG_{name}": str(home / name.lower()) for name in names}}


def build(folder: Path, speed: float, python: str = sys.executable, protocol: str = "acp-v1") -> Stage:
    """Set up a fresh stage in ``folder``. ``speed``: words a second of the demo agent, 0 without pauses.

    ``protocol`` is the setting of that name.

    Raises StageError when the folder holds anything that was not made here.
    """
    mark = folder / ".acp-demo"
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise StageError(
            f"{folder} is not empty and not of the demo: remove it, or name another with --folder."
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    mark.touch()
    project = folder / "project"
    shutil.copytree(SAMPLE, project, ignore=shutil.ignore_patterns("__pycache__"))
    if git := shutil.which("git"):
        who = ["-c", "user.name=demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--no-verify", "-m", "Start"]):
            subprocess.run([git, *who, *arguments], cwd=project, check=True, stdout=subprocess.DEVNULL)
    init = INIT.format(root=ROOT, python=python, hint=HINT, speed=speed, protocol=protocol)
    (folder / "init.lua").write_text(init, encoding="utf-8")
    return Stage(folder, project, init)
