"""Asking git, bounded in time and in bytes: it is a process of its own, under the reaper's watch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from acp_nvim.process.command import start_command
from acp_nvim.process.environment import absolute_folders
from acp_nvim.process.spawn import LaunchError, Spawner

# What Neovim was started with must not lead to another repository, nor the user's settings to other output or
# to programs; env ends with 127 without a git.
_PLAIN = (
    "core.fsmonitor=false",
    "core.quotePath=false",
    "grep.column=false",
    "grep.fullName=false",
    "submodule.recurse=false",
)
_GIT = (
    "env",
    *(word for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX") for word in ("-u", name)),
    "git",
    "--no-pager",
    *(word for name in _PLAIN for word in ("-c", name)),
)
MISSING = 127


@dataclass(frozen=True, slots=True)
class Said:
    """``code`` None: it was ended by us, because it took too long (``late``) or said too much."""

    data: bytes
    code: int | None
    late: bool = False


class Git:
    def __init__(self, spawner: Spawner) -> None:
        self._spawner = spawner

    async def run(self, folder: str, words: Sequence[str], *, limit: int, seconds: float) -> Said:
        """What a command of git prints, errors included. It never waits for input, and changes nothing."""
        path = absolute_folders(self._spawner.environment().get("PATH", os.defpath))
        env = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "PATH": path}
        try:
            process = await start_command(self._spawner, [*_GIT, *words], cwd=folder, env=env)
        except LaunchError as error:
            return Said(str(error).encode(), MISSING)
        data, code = bytearray(), None
        try:
            with anyio.move_on_after(seconds) as scope:
                while len(data) < limit:
                    await process.readable()
                    piece = process.read()
                    if piece == b"":
                        code = await process.wait()
                        break
                    data += piece or b""
        finally:
            await process.stop()
            process.close()
        return Said(bytes(data[:limit]), code, scope.cancelled_caught)

    async def ignored(self, path: str, roots: Sequence[str]) -> bool:
        """Whether git ignores a file (a real path), or a repository of the roots' the one that it is in.

        What git cannot tell counts as ignored. To the outer ones a file of a submodule is nothing they know.
        """
        tops = await to_thread.run_sync(_tops, path, roots, abandon_on_cancel=True)
        for number, (top, folder) in enumerate(tops):
            words = ["check-ignore", "-q", "--", path]
            said = await self.run(top if number else folder, words, limit=4096, seconds=5)
            if said.code == 0 or (number == 0 and said.code != 1):
                return True
        return False


def repository(folder: str) -> bool:
    """Whether a folder is in a working tree. Touches the disk."""
    return any(_top(each) for each in (Path(folder), *Path(folder).parents))


def _top(folder: Path) -> bool:
    """A worktree and a submodule have a file there; a folder without a HEAD is not git's."""
    found = folder / ".git"
    return (found / "HEAD").exists() or found.is_file()


def _tops(path: str, roots: Sequence[str]) -> list[tuple[str, str]]:
    """The innermost repository of a file and those around it in the roots, each with the file's folder."""
    parents = Path(path).parents
    folder = next((str(each) for each in parents if each.is_dir()), "/")
    found = [str(each) for each in parents if _top(each)]
    bases = [os.path.realpath(root) for root in roots]
    outer = [each for each in found[1:] if any(each == base or each.startswith(f"{base}/") for base in bases)]
    return [(each, folder) for each in (*found[:1], *outer)]
