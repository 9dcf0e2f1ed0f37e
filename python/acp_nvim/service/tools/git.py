"""Asking git, bounded in time and in bytes: it is a process of its own, under the reaper's watch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread

from acp_nvim.process.capture import Captured, capture
from acp_nvim.process.git import MISSING, git_command, git_environment
from acp_nvim.process.spawn import LaunchError, Spawner

# The user's own settings must not change what the tools read out of the output.
_SETTINGS = ("grep.column=false", "grep.fullName=false", "submodule.recurse=false")


class Git:
    """Of all sessions."""

    def __init__(self, spawner: Spawner) -> None:
        self._spawner = spawner

    async def run(self, folder: str, words: Sequence[str], *, limit: int, seconds: float) -> Captured:
        """What a command of git prints, errors included. It never waits for input, and changes nothing."""
        argv, env = git_command(*words, settings=_SETTINGS), git_environment(self._spawner)
        try:
            return await capture(
                self._spawner, argv, cwd=folder, limit=limit, seconds=seconds, env=env, errors=True
            )
        except LaunchError as error:
            return Captured(MISSING, str(error).encode())

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
