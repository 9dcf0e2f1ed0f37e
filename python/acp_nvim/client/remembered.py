"""What AAP servers do not know, kept in files of ours: of sessions their titles, folders and times; and which
of a server's agents the user has picked. A file is the user's alone (0600).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from anyio import to_thread

from .own_file import alone, read_whole, write_whole

if TYPE_CHECKING:
    from acp_nvim.protocol.aap.memory import Known

#: Sessions that are remembered, of all servers; of more, those not used for the longest time are forgotten.
MOST = 1000
#: Bytes of a file that are read.
MOST_BYTES = 4 << 20

T = TypeVar("T")


class Entry(msgspec.Struct):
    title: str
    cwd: str
    updated_at: str


class Remembered:
    """Implements ``protocol.aap.memory.Memory`` for one server.

    A file that is broken, or cannot be written, costs titles and nothing else. ``mask`` takes secrets out of
    a title, typed by somebody.
    """

    def __init__(self, path: Path, url: str, mask: Callable[[str], str] = str) -> None:
        self._path = path
        self._url = url
        self._mask = mask

    async def recall(self) -> Mapping[str, Known]:
        """The sessions of this server by id."""
        from acp_nvim.protocol.aap.memory import Known

        entries = await to_thread.run_sync(_read, self._path, _ENTRIES)
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
        def changed(entries: dict[str, dict[str, Entry]]) -> dict[str, dict[str, Entry]]:
            change(entries)
            return _newest(entries)

        await to_thread.run_sync(_renew, self._path, _ENTRIES, changed)


class Picked:
    """Implements ``protocol.aap.memory.Picks`` for one agent of the settings, ``label``, at one address.

    A file that is broken, or cannot be written, costs a question more.
    """

    def __init__(self, path: Path, label: str, url: str) -> None:
        self._path = path
        self._key = f"{label} {url}"

    async def recall(self) -> str | None:
        return (await to_thread.run_sync(_read, self._path, _NAMES)).get(self._key)

    async def keep(self, name: str) -> None:
        await to_thread.run_sync(_renew, self._path, _NAMES, lambda names: names | {self._key: name})


_ENTRIES = msgspec.json.Decoder(dict[str, dict[str, Entry]])
_NAMES = msgspec.json.Decoder(dict[str, str])


def _read(path: Path, decoder: msgspec.json.Decoder[dict[str, T]]) -> dict[str, T]:
    try:
        return decoder.decode(read_whole(path, MOST_BYTES))
    except (OSError, msgspec.DecodeError):
        return {}


def _renew(
    path: Path,
    decoder: msgspec.json.Decoder[dict[str, T]],
    change: Callable[[dict[str, T]], dict[str, T]],
) -> None:
    """Change the file as it is now: another Neovim may have written it, or be about to."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone(path.with_suffix(".lock")):
            write_whole(path, msgspec.json.encode(change(_read(path, decoder))))


def _newest(entries: dict[str, dict[str, Entry]]) -> dict[str, dict[str, Entry]]:
    every = [(each.updated_at, url, ident) for url, own in entries.items() for ident, each in own.items()]
    for _, url, ident in sorted(every)[: max(len(every) - MOST, 0)]:
        del entries[url][ident]
    return {url: own for url, own in entries.items() if own}
