"""The sessions of one connection, and updates that come before their session is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import anyio

from acp_nvim.session.entities import Session

#: Bounds of what is kept for sessions not known yet: sessions, updates of one, bytes of all.
MOST_SESSIONS = 16
MOST_UPDATES = 1000
MOST_BYTES = 8 << 20


@dataclass(slots=True, eq=False)
class Link:
    """One of our sessions and the agent's id for it."""

    session: Session
    remote_id: str
    cancelling: bool = False  # session/cancel was sent, and the turn goes on
    one_prompt: anyio.Lock = field(default_factory=anyio.Lock)  # V1-70


L = TypeVar("L", bound=Link)


class Links(Generic[L]):
    """Finds a link by either id. Session ids are opaque, and there may be several (V1-48).

    ``make`` makes a new link.
    """

    def __init__(self, make: Callable[[Session, str], L]) -> None:
        self._make = make
        self._by_remote: dict[str, L] = {}
        self._by_own: dict[str, L] = {}
        self._early: dict[str, list[Any]] = {}
        self._early_bytes = 0
        self.creating = 0  # requests under way that will tell us a session's id

    def __iter__(self) -> Iterator[L]:
        return iter(list(self._by_own.values()))

    def of(self, session: Session) -> L | None:
        """The link of a session of ours; None: it has none."""
        return self._by_own.get(session.id)

    def known(self, remote_id: str) -> L | None:
        """The link of the agent's session id; None: the id is not known (yet)."""
        return self._by_remote.get(remote_id)

    def add(self, session: Session, remote_id: str) -> L:
        """Know the session from now on; a link it had before ends."""
        self.remove(session)
        link = self._make(session, remote_id)
        self._by_own[session.id] = self._by_remote[remote_id] = link
        return link

    def remove(self, session: Session) -> None:
        """Forget the session; what the agent still says of it is nobody's."""
        link = self._by_own.pop(session.id, None)
        if link is not None and self._by_remote.get(link.remote_id) is link:
            del self._by_remote[link.remote_id]

    def keep(self, remote_id: str, update: Any, size: int) -> bool:
        """Keep an update of a session that may become known (V1-47); False when it cannot be kept."""
        updates = self._early.get(remote_id)
        if (
            not self.creating
            or self._early_bytes + size > MOST_BYTES
            or (updates is None and len(self._early) >= MOST_SESSIONS)
            or (updates is not None and len(updates) >= MOST_UPDATES)
        ):
            return False
        self._early.setdefault(remote_id, []).append(update)
        self._early_bytes += size
        return True

    def take(self, remote_id: str) -> list[Any]:
        """The kept updates of a session that has become known, in the order they came."""
        return self._early.pop(remote_id, [])

    def created(self) -> None:
        """A request that creates a session is over; after the last one nobody will ask for the rest."""
        self.creating -= 1
        if not self.creating:
            self._early.clear()
            self._early_bytes = 0
