"""One Neovim after the other, or beside it, in the same folder and with the same folder for state."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.nvim.stub import AGENT, INIT
from tests.plugin import Neovim, StartNvim, eventually, kill

Start = Callable[..., Neovim]

KEY = "require('acp.chat.draft_files').key(require('acp.chat').get(1))"
"""Lua: the key of the files of the first chat."""


def starts(start_nvim: StartNvim, folder: Path) -> Start:
    """Return a function that starts a Neovim in ``folder/project``, or where it is told."""
    project = folder / "project"
    project.mkdir()

    def begin(cwd: Path = project, init: str = "") -> Neovim:
        env = {"XDG_STATE_HOME": str(folder / "state")}
        return start_nvim(init=INIT + AGENT + init, cwd=cwd, env=env)

    return begin


def home(folder: Path) -> Path:
    """Return where the drafts are."""
    return folder / "state/nvim/acp.nvim"


def files(folder: Path) -> list[Path]:
    """Return all files there."""
    return sorted(home(folder).glob("*"))


def leave(nvim: Neovim) -> None:
    nvim.keys("<Esc>:qa<CR>")
    nvim.wait_exit()


def die(nvim: Neovim) -> None:
    kill(nvim.pid, signal.SIGKILL)
    nvim.wait_exit()


def texts(folder: Path) -> list[str]:
    """Return what stands in the files."""
    found = []
    for path in home(folder).glob("draft-*.json"):
        with suppress(FileNotFoundError):  # it was removed meanwhile
            found.append(str(json.loads(path.read_text())["text"]))
    return sorted(found)


def until_kept(folder: Path, *wanted: str) -> None:
    """Wait until these texts are on the disk, and no others."""
    eventually(
        lambda: texts(folder) == sorted(wanted) and not list(home(folder).glob("*.new")),
        message=lambda: f"{files(folder)}",
    )


def chat(start: Start, *keys: str, init: str = "") -> Neovim:
    """A Neovim with a chat, in whose prompt something was typed."""
    nvim = start(init=init)
    nvim.command("AcpChat")
    nvim.keys(*keys)
    return nvim


def until(nvim: Neovim, condition: str) -> None:
    """Wait until a Lua expression is true."""
    eventually(lambda: nvim.lua(f"return {condition}"), message=condition)


def errors(nvim: Neovim) -> list[str]:
    log: list[dict[str, Any]] = nvim.lua("return require('acp.message').log")
    return [each["text"] for each in log if "saved" in each["text"]]


def name_of(nvim: Neovim, owner: str) -> str:
    return f"{nvim.lua('return ' + KEY)}.of-{owner}.json"
