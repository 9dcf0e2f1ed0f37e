"""What AAP servers do not know, kept in files of ours: of sessions their titles, folders and times; and which
of a server's agents the user has picked. A file is the user's alone (0600).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec
from anyio import to_thread

if TYPE_CHECKING:
    from acp_nvim.protocol.aap.memory import Known

#: Sessions that are remembered, of all servers; of more, those not used for the longest time are forgotten.
MOST = 1000


class Entry(msgspec.Struct):
    title: str
    cwd: str
    updated_at: str


class Remembered:
    """Implements ``protocol.aap.memory.Memory`` for one server.

    Another Neovim may write it, too: it is read again before each change. A file that is broken, or cannot
    be written, costs titles and nothing else. ``mask`` takes secrets out of a title, typed by somebody.
    """

    def __init__(self, path: Path, url: str, mask: Callable[[str], str] = str) -> None:
        self._path = path
        self._url = url
        self._mask = mask
        self._one = anyio.Lock()

    async def recall(self) -> Mapping[str, Known]:
        """The sessions of this server by id."""
        from acp_nvim.protocol.aap.memory import Known

        entries = await to_thread.run_sync(self._read)
        own = entries.get(self._url, {})
        return {ident: Known(each.title, each.cwd, each.updated_at) for ident, each in own.items()}

    async def keep(self, remote_id: str, known: Known) -> None:
        entry = Entry(self._mask(known.title), known.cwd, known.updated_at)

        def change(entries: dict[str, dict[str, Entry]]) -> None:
            entries.setdefault(self._url, {})[remote_id] = entry

        await self._change(change)

    async def forget(self, remote_id: str) -> None:
        def change(entries: dict[str, dict[str, Entry]]) -> None:
            entries.get(self._url, {}).pop(remote_id, None)

        await self._change(change)

    async def _change(self, change: Callable[[dict[str, dict[str, Entry]]], None]) -> None:
        def work() -> None:
            entries = self._read()
            change(entries)
            _write(self._path, _newest(entries))

        async with self._one:
            await to_thread.run_sync(work)

    def _read(self) -> dict[str, dict[str, Entry]]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, dict[str, Entry]])
        except (OSError, msgspec.DecodeError):
            return {}


class Picked:
    """Implements ``protocol.aap.memory.Picks`` for one agent of the settings, ``label``, at one address.

    A file that is broken, or cannot be written, costs a question more.
    """

    def __init__(self, path: Path, label: str, url: str) -> None:
        self._path = path
        self._key = f"{label} {url}"

    async def recall(self) -> str | None:
        return (await to_thread.run_sync(self._read)).get(self._key)

    async def keep(self, name: str) -> None:
        def work() -> None:
            _write(self._path, self._read() | {self._key: name})

        await to_thread.run_sync(work)

    def _read(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
        except (OSError, msgspec.DecodeError):
            return {}


def _write(path: Path, content: object) -> None:
    """Whole or not at all: another Neovim may read it just now."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    except OSError:
        return
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(content))
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)


def _newest(entries: dict[str, dict[str, Entry]]) -> dict[str, dict[str, Entry]]:
    every = [(each.updated_at, url, ident) for url, own in entries.items() for ident, each in own.items()]
    for _, url, ident in sorted(every)[: max(len(every) - MOST, 0)]:
        del entries[url][ident]
    return {url: own for url, own in entries.items() if own}
