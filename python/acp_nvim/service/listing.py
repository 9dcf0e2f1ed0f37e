"""The files and folders of a project: what git knows and does not ignore, or what a walk finds."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import anyio
from anyio import to_thread

from acp_nvim.process.command import CommandProcess, start_command
from acp_nvim.process.git import git_command, git_environment
from acp_nvim.process.spawn import LaunchError, Spawner
from acp_nvim.text.fuzzy import Paths

MOST = 200_000
"""Paths that are kept of a project: some 40 MB. What comes after them is left out."""

LIMIT_S = 20.0
"""Seconds for one listing."""

_BATCH = 1000
_NAME_BYTES = 1 << 20

#: Folders that hold nothing anybody wrote. Outside of git only: there the user says what is ignored.
SKIPPED = frozenset(
    {
        ".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".cache",
        ".mypy_cache", ".ruff_cache", ".pytest_cache",
    }
)  # fmt: skip


class Listing:
    """The paths of a project below its root, relative to it; those of folders end with a ``/``."""

    def __init__(self, root: str, began: float = 0.0) -> None:
        """``began``: seconds since the epoch, when the listing began."""
        self.root = root
        self.began = began
        self.paths = Paths()
        self.cut = False  # there are more
        self.done = False
        self._known: set[str] = set()

    def add(self, names: Sequence[str]) -> None:
        """Take up files (folders with a ``/`` at the end), and the folders above them."""
        known, paths, last = self._known, self.paths, "/"
        for name in names:
            if name in known or not name:
                continue
            if len(paths) >= MOST:
                self.cut = True
                return
            known.add(name)
            base = paths.add(name)
            if name.startswith(last) and base == len(last):
                continue  # in the folder of the one before
            last = name[:base] or "/"
            while base and (folder := name[:base]) not in known:
                known.add(folder)
                base = paths.add(folder)

    def end(self) -> None:
        """Nothing is added any more."""
        self.done = True
        self._known = set()

    def stale(self, slack: float = 1.0) -> bool:
        """Whether a folder has changed since the listing began, or the root's ``.gitignore``.

        Blocks for some milliseconds: call it in a thread. ``slack``: seconds by which times may be coarse.
        """
        since = self.began - slack
        folders = (path for path in self.paths.whole if path.endswith("/"))
        try:
            changed = any(os.stat(f"{self.root}/{folder}").st_mtime >= since for folder in ("", *folders))  # noqa: PTH116
        except OSError:  # it is gone
            return True
        try:
            return changed or Path(self.root, ".gitignore").stat().st_mtime >= since
        except OSError:
            return False


async def fill(listing: Listing, spawner: Spawner, grown: Callable[[], None]) -> None:
    """List the project: by git if it knows any of it, else by a walk. ``grown`` is called now and then.

    What git tracks comes first, as that is read from one file. Returns when git's processes are gone, which
    is after the listing is done.
    """
    started: list[CommandProcess] = []

    async def ask_git(*arguments: str) -> None:
        argv, env = git_command("ls-files", "-z", *arguments), git_environment(spawner)
        try:
            process = await start_command(spawner, argv, cwd=listing.root, env=env, errors=False)
        except LaunchError:
            return
        started.append(process)
        await _read(listing, process, grown)
        grown()

    try:
        with anyio.move_on_after(LIMIT_S) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(ask_git, "--cached")
                group.start_soon(ask_git, "--others", "--exclude-standard")
                if await anyio.Path(listing.root, ".gitmodules").exists():
                    group.start_soon(ask_git, "--cached", "--recurse-submodules")
            if not listing.paths:  # no git, no repository, or an ignored folder of one
                await _walk(listing, grown)
        listing.cut = listing.cut or scope.cancelled_caught
        listing.end()
        grown()
    finally:
        for process in started:
            process.close()
            await process.stop()


async def _read(listing: Listing, process: CommandProcess, grown: Callable[[], None]) -> None:
    """Take up names that end with NUL. ``grown`` is called when the first are there."""
    rest = b""
    while not listing.cut and len(rest) < _NAME_BYTES:
        await process.readable()
        data = process.read()
        if data is None:
            continue
        if not data:
            return
        whole, _, rest = (rest + data).rpartition(b"\0")
        first = not listing.paths
        listing.add(_texts(whole))
        if first:
            grown()


def _texts(names: bytes) -> list[str]:
    """Names with NUL between them. Those that are no UTF-8 are left out: a prompt cannot hold them."""
    try:
        return names.decode().split("\0")
    except UnicodeDecodeError:
        return [
            text for name in names.split(b"\0") if "\ufffd" not in (text := name.decode("utf-8", "replace"))
        ]


async def _walk(listing: Listing, grown: Callable[[], None]) -> None:
    found = _entries(listing.root)
    while not listing.cut:
        batch = await to_thread.run_sync(lambda: list(islice(found, _BATCH)), abandon_on_cancel=True)
        if not batch:
            return
        listing.add(_texts(b"\0".join(map(os.fsencode, batch))))
        grown()


def _entries(root: str) -> Iterator[str]:
    """What is below the root, the nearest first. Links are named, and not followed."""
    folders = deque([""])
    while folders:
        folder = folders.popleft()
        try:
            entries = os.scandir(f"{root}/{folder}")
        except OSError:
            continue
        with entries:
            for entry in entries:
                path = folder + entry.name
                if not _is_folder(entry):
                    yield path
                elif entry.name not in SKIPPED:
                    folders.append(path + "/")
                    yield path + "/"


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
