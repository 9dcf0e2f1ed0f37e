"""The sessions that were used from here, kept in a file, so that a later Neovim can offer them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from anyio import to_thread

from .own_file import alone, read_whole, write_whole

#: Sessions that are remembered in all, and of one folder; of more, those not used for the longest time go.
MOST = 500
MOST_OF_FOLDER = 50
#: Bytes of the file that are read; a larger one is none of ours.
MOST_BYTES = 1 << 20


class Used(msgspec.Struct, frozen=True):
    """A session of an agent. ``time``: seconds since the epoch, when something was last said in it.

    ``home``: the folder of the process that had it. ``chat``: the number of its last chat, as in the name of
    the buffer. ``delete`` and ``fork``: what the agent could do with it.
    """

    agent: str
    id: str
    cwd: str
    home: str
    title: str = ""
    time: int = 0
    chat: int = 0
    delete: bool = False
    fork: bool = False


class _File(msgspec.Struct):
    sessions: list[Used]
    version: int = 1


class Record:
    """One file, the user's alone (0600), written by several Neovims at once: read again before each change.

    ``complain`` is told once, in a sentence, of a file that cannot be read or written; all else goes on
    without it. ``spawn`` starts an owned task.
    """

    def __init__(self, path: Path, spawn: Callable[..., None], complain: Callable[[str], None]) -> None:
        self._path = path
        self._spawn = spawn
        self._complain = complain
        self._complained = False
        self._wanted: dict[tuple[str, str], Used | None] = {}  # changes to be written; None: forget it
        self._writing = False
        self._written = 0  # changes of the file by this Neovim

    async def all(self) -> list[Used]:
        """The sessions of all folders, the last used first."""
        written = -1
        while written != self._written:  # else a change may be neither in what was read nor wanted any more
            written = self._written
            found, problem = await to_thread.run_sync(self._read, abandon_on_cancel=True)
        self._tell(problem)
        for key, used in self._wanted.items():
            found = [each for each in found if (each.agent, each.id) != key]
            found += [used] if used is not None else []
        return sorted(found, key=lambda each: -each.time)

    def keep(self, used: Used) -> None:
        """Remember a session, or what is new of it. Returns at once."""
        self._want((used.agent, used.id), used)

    def forget(self, agent: str, ident: str) -> None:
        """The session is gone. Returns at once."""
        self._want((agent, ident), None)

    def _want(self, key: tuple[str, str], used: Used | None) -> None:
        self._wanted[key] = used
        if not self._writing:
            self._writing = True
            self._spawn(self._flush)

    async def _flush(self) -> None:
        try:
            while self._wanted:
                wanted = dict(self._wanted)
                problem = await to_thread.run_sync(self._change, wanted)
                self._written += 1
                for key, used in wanted.items():
                    if key in self._wanted and self._wanted[key] is used:
                        del self._wanted[key]
                self._tell(problem)
        finally:
            self._writing = False

    def _tell(self, problem: str | None) -> None:
        if problem is not None and not self._complained:
            self._complained = True
            self._complain(problem)

    # -- in a thread

    def _change(self, wanted: dict[tuple[str, str], Used | None]) -> str | None:
        """Returns what is wrong, if something is."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with alone(self._path.with_suffix(".lock")):
                found, problem = self._read()
                if problem is not None:  # what cannot be read is kept beside it, for who wants to look
                    with suppress(OSError):
                        self._path.replace(self._path.with_suffix(".bad"))
                rest = [each for each in found if (each.agent, each.id) not in wanted]
                kept = _bounded([*rest, *(each for each in wanted.values() if each is not None)])
                write_whole(self._path, msgspec.json.encode(_File(kept)))
        except (OSError, UnicodeEncodeError) as error:
            why = getattr(error, "strerror", None) or error
            return f"sessions cannot be remembered: {why}: {self._path}"
        return problem

    def _read(self) -> tuple[list[Used], str | None]:
        bad = f"{self._path} cannot be read: earlier sessions are not known"
        try:
            data = read_whole(self._path, MOST_BYTES + 1)
            if len(data) > MOST_BYTES:
                return [], bad
            return msgspec.json.decode(data, type=_File).sessions, None
        except FileNotFoundError:
            return [], None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return [], bad


def _bounded(every: Sequence[Used]) -> list[Used]:
    """The newest, of each folder and in all, and no more than the file may hold."""
    kept: list[Used] = []
    of_folder: dict[str, int] = {}
    size = 0
    for used in sorted(every, key=lambda each: -each.time):
        size += len(msgspec.json.encode(used)) + 1
        if len(kept) == MOST or size > MOST_BYTES - 1024:
            break
        of_folder[used.cwd] = of_folder.get(used.cwd, 0) + 1
        if of_folder[used.cwd] <= MOST_OF_FOLDER:
            kept.append(used)
    return kept
