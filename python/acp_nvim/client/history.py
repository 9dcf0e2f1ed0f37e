"""The prompts that were sent in a folder, kept in a file for ``[[`` and ``:AcpHistory`` of later Neovims."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio import to_thread

from acp_nvim.editor import Editor

from . import payloads
from .own_file import alone, write_whole
from .secrets import Secrets

#: Prompts of one folder; of more the oldest go.
MOST = 500
#: Bytes of all prompts of one folder.
MOST_BYTES = 256 * 1024
#: Bytes of one prompt; a longer one is not kept.
LONGEST = 32 * 1024
#: Folders; of more those go whose file is the oldest.
FOLDERS = 100
#: Bytes of a file that is read; a larger one is none of ours. JSON may take six bytes for one.
LARGEST = 8 * MOST_BYTES


class Said(msgspec.Struct, frozen=True):
    """``time``: seconds since the epoch."""

    text: str
    time: int = 0


class _File(msgspec.Struct):
    """``cwd``: for people; the name of the file is what counts."""

    cwd: str
    prompts: list[Said]
    version: int = 1


class _BadFileError(Exception):
    """The file is left as it is."""


class History:
    """One for the host. ``wanted``: whether the user wants prompts to be kept. All methods return at once.

    The files are in ``folder``, one for each folder of a session. What is wrong with them is complained about
    once; the editor has the prompts of its own life all the same.
    """

    def __init__(
        self,
        folder: Path,
        editor: Editor,
        secrets: Secrets,
        spawn: Callable[..., None],
        complain: Callable[[str], None],
        wanted: Callable[[], bool],
    ) -> None:
        self._folder = folder
        self._editor = editor
        self._secrets = secrets
        self._spawn = spawn
        self._complain = complain
        self._wanted = wanted
        self._complained = False
        self._new: dict[str, list[Said]] = {}  # by folder, to be written
        self._writing = False
        self._one = anyio.Lock()  # what is forgotten stays so: one change of a file after the other

    def sent(self, cwd: str, text: str) -> None:
        """A prompt goes out: the agent runs by now, so that its secrets are known."""
        if not self._wanted():
            return
        data = self._secrets.mask(text).encode(errors="replace")  # a text may hold what is no UTF-8
        if len(data) > LONGEST:
            return
        said = Said(data.decode(), int(time.time()))
        self._new.setdefault(cwd, []).append(said)
        if not self._writing:
            self._writing = True
            self._spawn(self._flush)

    def tell(self, request: payloads.OfFolder) -> None:
        """Tell Lua what is kept of a folder."""
        if self._wanted():
            self._spawn(self._load, request.cwd)

    def forget(self, request: payloads.OfFolder) -> None:
        """The user wants nothing to be kept of a folder."""
        self._new.pop(request.cwd, None)
        self._spawn(self._clear, request.cwd)

    async def _load(self, cwd: str) -> None:
        found, problem = await to_thread.run_sync(self._read_or_say, cwd, abandon_on_cancel=True)
        self._tell(problem)
        if problem is None:
            self._editor.notify("acp.chat.history", "loaded", cwd, [said.text for said in found])

    async def _flush(self) -> None:
        try:
            while self._new:
                async with self._one:
                    if self._new:
                        cwd = next(iter(self._new))
                        self._tell(await to_thread.run_sync(self._add, cwd, self._new.pop(cwd)))
        finally:
            self._writing = False

    async def _clear(self, cwd: str) -> None:
        async with self._one:
            problem = await to_thread.run_sync(self._remove, cwd)
        if problem is not None:
            self._complain(problem)
        else:
            self._complained = False

    def _tell(self, problem: str | None) -> None:
        if problem is not None and not self._complained:
            self._complained = True
            self._complain(problem)

    # -- in a thread

    def path_of(self, cwd: str) -> Path:
        """The file of a folder."""
        key = hashlib.sha256(cwd.encode(errors="surrogateescape")).hexdigest()[:24]
        return self._folder / f"prompts-{key}.json"

    def _add(self, cwd: str, new: Sequence[Said]) -> str | None:
        """Returns what is wrong, if something is."""
        path = self.path_of(cwd)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with alone(self._folder / "prompts.lock"):
                kept = _bounded([*_read(path), *new])
                write_whole(path, msgspec.json.encode(_File(ascii(cwd)[1:-1], kept)))
                self._tidy()
        except (OSError, _BadFileError) as error:
            return _why(path, error)
        return None

    def _read_or_say(self, cwd: str) -> tuple[list[Said], str | None]:
        path = self.path_of(cwd)
        try:
            return _read(path), None
        except (OSError, _BadFileError) as error:
            return [], _why(path, error)

    def _remove(self, cwd: str) -> str | None:
        path = self.path_of(cwd)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            return f"the history of prompts is still there: {error.strerror}: {path}"
        return None

    def _tidy(self) -> None:
        """Remove the oldest files when there are too many."""
        files = sorted(self._folder.glob("prompts-*.json"), key=_age, reverse=True)
        for path in files[FOLDERS:]:
            with suppress(OSError):
                path.unlink()


def keeps(settings: Mapping[str, Any]) -> bool:
    """Whether the settings want it: ``history.remember``."""
    history = settings.get("history")
    return not (isinstance(history, Mapping) and history.get("remember") is False)


def _read(path: Path) -> list[Said]:
    """The prompts of a file, the oldest first. Raises OSError, and _BadFileError for a file not of ours."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return []
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise _BadFileError("it is not yours")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _BadFileError("it is too large")
    try:
        return msgspec.json.decode(data, type=_File).prompts
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise _BadFileError("it is damaged") from None


def _bounded(every: Sequence[Said]) -> list[Said]:
    """The newest, each text once, and no more than fit."""
    kept: dict[str, Said] = {}
    size = 0
    for said in reversed(every):
        if said.text in kept:
            continue
        size += len(said.text.encode())
        if len(kept) == MOST or size > MOST_BYTES:
            break
        kept[said.text] = said
    return list(reversed(kept.values()))


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _why(path: Path, error: Exception) -> str:
    why = getattr(error, "strerror", None) or error
    remedy = ":AcpHistory! removes it" if os.path.lexists(path) else "see :help acp-history"
    return f"prompts are not kept for later: {why}: {path}; {remedy}"
