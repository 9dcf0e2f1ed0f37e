"""Completion of paths in prompts: what may be meant by what is typed after an ``@``."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import TypeAlias

import anyio.lowlevel
from anyio import to_thread

from acp_nvim.editor import Editor
from acp_nvim.process.spawn import Spawner
from acp_nvim.service import listing as service
from acp_nvim.service.listing import Listing, fill
from acp_nvim.service.projects import Projects
from acp_nvim.text.fuzzy import Search, recent_ranks
from acp_nvim.text.mentions import written
from acp_nvim.text.paths import shorten
from acp_nvim.text.sanitise import clean

from . import payloads
from .chat import Chat
from .registry import Registry

MOST = 50
"""Paths that are offered."""
CELLS = 60
"""Cells of a path as it is shown."""
PAUSE_S = 0.1
"""Seconds between two answers while a project is listed, which has news all the time."""
SLICE = 2000
"""Paths that are looked at in one go: some 3 ms at most."""

Row: TypeAlias = tuple[str, str]
"""A mention, and the path as it is shown."""


class Completion:
    """Answers the message ``complete`` with calls of ``acp.chat.paths.answer``.

    Of each chat its last request counts. While a project is listed there may be more than one answer.
    """

    def __init__(
        self, editor: Editor, registry: Registry, spawner: Spawner, spawn: Callable[..., None]
    ) -> None:
        async def list_all(listing: Listing, grown: Callable[[], None]) -> None:
            await fill(listing, spawner, grown)

        self._editor = editor
        self._registry = registry
        self._spawn = spawn
        self._projects = Projects(list_all, spawn)
        self._newest: dict[int, int] = {}  # the id of the last request, by chat
        self._recent: dict[int, list[str]] = {}

    def ask(self, request: payloads.Complete) -> None:
        """Look for paths. Whatever is still looked for in this chat is not wanted any more."""
        chat = self._registry.get(request.chat)
        if chat is None:
            return
        self._newest[chat.n] = request.id
        fresh = request.recent is not None
        if fresh:
            self._recent[chat.n] = list(request.recent or ())
        self._spawn(self._answer, chat, request, fresh)

    def forget(self, chat: Chat) -> None:
        """The chat is closed."""
        self._newest.pop(chat.n, None)
        self._recent.pop(chat.n, None)
        self._projects.keep(root for other in self._registry for root in _roots(other))

    async def _answer(self, chat: Chat, request: payloads.Complete, fresh: bool) -> None:
        roots, told = _roots(chat), None
        projects = [self._projects.get(root, fresh=fresh) for root in roots]
        while self._newest.get(chat.n) == request.id:
            working = next((project for project in projects if not project.settled), None)
            version = working.version if working is not None else 0
            paths = await self._find([project.listing for project in projects], request)
            if self._newest.get(chat.n) != request.id:
                return
            if paths != told or working is None:
                cut = [project.root for project in projects if project.listing.cut]
                limits = {"most": service.MOST, "cut": cut[0]} if cut else {}
                self._editor.notify("acp.chat.paths", "answer", request.id, paths, working is None, limits)
                told = paths
            if working is None:
                return
            if paths:
                with anyio.move_on_after(PAUSE_S):
                    await working.end()
            await working.news(version)

    async def _find(self, listings: Sequence[Listing], request: payloads.Complete) -> list[Row]:
        """The best paths: relative ones in the session's folder, absolute ones in its further folders."""
        searches = []
        for listing in listings:
            typed = _below(request.typed, listing.root)
            recent = recent_ranks(_within(self._recent.get(request.chat, ()), listing.root))
            search = Search(typed, recent, MOST)
            paths = listing.paths
            for start in range(0, len(paths), SLICE):
                search.look(paths, start, start + SLICE)
                await anyio.lowlevel.checkpoint()
                if self._newest.get(request.chat) != request.id:
                    return []
            searches.append(search)
        ranked = [(rank, place) for place, search in enumerate(searches) for rank in search.best]
        best = nsmallest(MOST, ranked)
        found = [(listings[place].root, rank[-1]) for rank, place in best]
        look = partial(_there, found, listings[0].root)
        return await to_thread.run_sync(look, abandon_on_cancel=True)


def _roots(chat: Chat) -> Sequence[str]:
    return tuple(dict.fromkeys(root.rstrip("/") for root in chat.session.roots or (chat.session.cwd,)))


def _below(typed: str, root: str) -> str:
    """What was typed, as a path below the root where it is one."""
    path = typed.removeprefix("./")
    if path.startswith("~/"):
        path = str(Path.home()) + path[1:]
    return path.removeprefix(root + "/")


def _within(paths: Sequence[str], root: str) -> list[str]:
    start = root + "/"
    return [path[len(start) :] for path in paths if path.startswith(start)]


def _there(found: Sequence[tuple[str, str]], first: str) -> list[Row]:
    """Those that are there now, and that a prompt can hold. Touches the disk."""
    good = []
    for root, path in found:
        if clean(path) != path or not path.isprintable() or '"' in path:
            continue
        try:
            mode = os.lstat(f"{root}/{path}").st_mode
        except OSError:
            continue
        name = path if root == first else f"{root}/{path}"
        good.append(name + "/" if stat.S_ISDIR(mode) and not name.endswith("/") else name)
    return [(written(path), shorten(path, CELLS)) for path in dict.fromkeys(good)]
