"""The agent's list of sessions, page by page (spec sections 4 and 5)."""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from acp_nvim.session.agent import SessionInfo, SessionList
from acp_nvim.session.ports import AgentError

#: Bounds of one listing: pages, sessions.
MOST_PAGES = 50
MOST_LISTED = 2000

#: From a cursor (None: the beginning) to the sessions of a page and the next cursor (None: the last page).
Page: TypeAlias = Callable[[str | None], Awaitable[tuple[Sequence[SessionInfo], str | None]]]


async def listing(page: Page) -> SessionList:
    """All pages (V1-53..56, V2-41). Raises AgentError when not even the first one can be had.

    Entries without an absolute folder, or with one that cannot be, are left out: they could not be opened.
    """
    found: dict[str, SessionInfo] = {}
    cursors: set[str] = set()
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        try:
            sessions, following = await page(cursor)
        except AgentError as error:
            if not cursors or error.failure.kind == "transport":
                raise
            return SessionList(tuple(found.values()), cut=error.failure.message)
        for entry in sessions:
            if posixpath.isabs(entry.cwd) and "\0" not in "".join((entry.cwd, *entry.directories)):
                found.setdefault(entry.id, entry)
        cursor = following
        if cursor is None:
            return SessionList(tuple(found.values()))
        if len(found) >= MOST_LISTED:
            break
        if cursor in cursors:
            return SessionList(tuple(found.values()), cut="it sends the same page again and again")
        cursors.add(cursor)
    return SessionList(tuple(found.values())[:MOST_LISTED], cut="there are too many")
