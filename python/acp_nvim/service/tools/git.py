"""Asking git, bounded in time and in bytes: it is a process of its own, under the reaper's watch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from acp_nvim.process.command import start_command
from acp_nvim.process.spawn import LaunchError, Spawner

# What Neovim was started with must not lead to another repository; env ends with 127 without a git.
_GIT = (
    "env",
    *(word for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX") for word in ("-u", name)),
    "git",
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.quotePath=false",
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
        env = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
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

    async def ignored(self, path: str) -> bool:
        """Whether git ignores a file (a real path). What git cannot tell counts as ignored."""
        folder = await to_thread.run_sync(_folder, path, abandon_on_cancel=True)
        if folder is None:
            return False
        said = await self.run(folder, ["check-ignore", "-q", "--", path], limit=4096, seconds=5)
        return said.code != 1


def repository(folder: str) -> bool:
    """Whether a folder is in a working tree. Touches the disk."""
    return any((each / ".git").exists() for each in (Path(folder), *Path(folder).parents))


def _folder(path: str) -> str | None:
    """The deepest folder there is above a file; None: no repository is."""
    folder = next((str(each) for each in Path(path).parents if each.is_dir()), "/")
    return folder if repository(folder) else None
