"""The files of a session's folder: finding, naming, searching, reading and writing them."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".mypy_cache", ".ruff_cache"}
    | {".pytest_cache", ".tox", ".direnv", ".cache"}
)
MAX_FILES = 5000  # a demo started in the home folder must end some day
MAX_BYTES = 1024 * 1024  # larger files are neither shown nor changed


class DemoError(Exception):
    """Something the user should read as it is: said in the chat, the turn goes on or ends kindly."""


@dataclass(frozen=True, slots=True)
class Match:
    """One line (1-based) of a file that holds the searched text."""

    path: Path
    line: int
    text: str


def decode(data: bytes) -> str | None:
    """Text of a file exactly as it is, line ends and byte-order mark included; None when it is not text."""
    if b"\0" in data[:8192]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def read_disk(path: Path) -> str:
    """The text of a file on disk. Raises DemoError with the reason in words."""
    try:
        if not path.is_file():
            raise DemoError(
                f"There is no file `{path.name}`." if not path.exists() else f"`{path.name}` is not a file."
            )
        if path.stat().st_size > MAX_BYTES:
            raise DemoError(f"`{path.name}` is larger than 1 MB: too large for a demo.")
        text = decode(path.read_bytes())
    except OSError as error:
        raise DemoError(f"`{path.name}` cannot be read: {error.strerror}.") from None
    if text is None:
        raise DemoError(f"`{path.name}` is not a text file.")
    return text


def write_disk(path: Path, text: str) -> None:
    """Write a file, its folders too. Raises DemoError with the reason in words."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise DemoError(f"`{path.name}` cannot be written: {error.strerror}.") from None


def delete_disk(path: Path) -> None:
    """Delete a file. Raises DemoError with the reason in words."""
    try:
        path.unlink()
    except OSError as error:
        raise DemoError(f"`{path.name}` cannot be deleted: {error.strerror}.") from None


def move_disk(path: Path, target: Path) -> None:
    """Move a file to a name that is free, making folders. Raises DemoError with the reason in words."""
    if exists(target):
        raise DemoError(f"`{target.name}` has come into being while I asked, so I did not move anything.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)
    except OSError as error:
        raise DemoError(f"`{path.name}` cannot be moved: {error.strerror}.") from None


def is_folder(path: Path) -> bool:
    return path.is_dir()


def exists(path: Path) -> bool:
    """Also true for a link to nowhere."""
    return path.exists() or path.is_symlink()


class Project:
    """The folder of one session. ``cwd`` is absolute."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self._root = Path(os.path.realpath(cwd))

    def show(self, path: Path) -> str:
        """The name of a file for people: relative to the folder, with ``/``."""
        return path.relative_to(self.cwd).as_posix() if path.is_relative_to(self.cwd) else str(path)

    def inside(self, name: str) -> Path:
        """The absolute path of ``name``; DemoError when it leaves the folder, also through links."""
        path = Path(os.path.normpath(self.cwd / Path(name).expanduser()))
        if not Path(os.path.realpath(path)).is_relative_to(self._root):
            raise DemoError(f"`{name}` is outside of `{self.cwd}`. The demo stays inside the project.")
        return path

    async def find(self, name: str) -> Path:
        """The file or folder the user means: its path, else the only one of that name. Raises DemoError."""
        for candidate in dict.fromkeys((name, name.rstrip(".,;:!?"))):
            path = self.inside(candidate or ".")
            if path.exists():
                return path
        wanted = name.rstrip(".,;:!?")
        names = {self.show(path): path async for path in self.files()}
        same = [path for shown, path in names.items() if shown == wanted or shown.endswith("/" + wanted)]
        if len(same) == 1:
            return same[0]
        if same:
            several = ", ".join(f"`{self.show(path)}`" for path in same[:5])
            raise DemoError(f"Several files are named `{wanted}`: {several}. Say which one.")
        close = difflib.get_close_matches(wanted, [*names, *{Path(shown).name for shown in names}], 1, 0.6)
        hint = f" Did you mean `{close[0]}`?" if close else " `list files` shows what is here."
        raise DemoError(f"There is no file `{wanted}`.{hint}")

    async def files(self, below: Path | None = None) -> AsyncIterator[Path]:
        """All files that are not ignored, sorted, at most ``MAX_FILES``."""
        top = below or self.cwd
        if top.is_file():
            yield top
            return
        listed = await self._git_files(top)
        count = 0
        for path in listed if listed is not None else []:
            if path.is_file() and not SKIPPED.intersection(path.relative_to(self.cwd).parts):
                yield path
                count += 1
                if count >= MAX_FILES:
                    return
        if listed is not None:
            return
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if name not in SKIPPED)
            await asyncio.sleep(0)  # a large tree must not keep a cancel waiting
            for name in sorted(names):
                if (path := Path(folder, name)).is_file() and _speakable(name):
                    yield path
                    count += 1
                    if count >= MAX_FILES:
                        return

    async def texts(self, below: Path | None = None) -> AsyncIterator[tuple[Path, str]]:
        """All text files with what is on disk; binary, huge and unreadable ones are passed over."""
        async for path in self.files(below):
            await asyncio.sleep(0)
            with contextlib.suppress(DemoError):
                yield path, read_disk(path)

    async def search(self, text: str, below: Path | None = None, limit: int = 200) -> list[Match]:
        """Lines that contain ``text``. Small letters match both cases, as with 'smartcase'."""
        fold = text == text.lower()
        found: list[Match] = []
        async for path, content in self.texts(below):
            if text not in (content.lower() if fold else content):
                continue
            for number, line in enumerate(content.split("\n"), 1):
                if text in (line.lower() if fold else line):
                    found.append(Match(path, number, line.strip()))
                    if len(found) >= limit:
                        return found
        return found

    async def _git_files(self, top: Path) -> list[Path] | None:
        """What git does not ignore; None outside of a work tree, in an ignored folder, or without git."""
        try:
            process = await asyncio.create_subprocess_exec(
                *(
                    "git",
                    "-C",
                    str(self.cwd),
                    "ls-files",
                    "-z",
                    "-c",
                    "-o",
                    "--exclude-standard",
                    "--",
                    str(top),
                ),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError:
            return None
        try:
            output, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode != 0:
            return None
        names = sorted({os.fsdecode(name) for name in output.split(b"\0") if name})
        return [self.cwd / name for name in names if _speakable(name)] or None


def _speakable(name: str) -> bool:
    """Whether a name can be sent as JSON text: file names that are not UTF-8 cannot."""
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)
