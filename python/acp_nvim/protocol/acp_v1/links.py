"""The sessions of one connection, and updates that come before their session is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import anyio

from acp_nvim.session.entities import Role, Session
from acp_nvim.wire.acp_v1.updates import SessionUpdate
from acp_nvim.wire.surrogates import SurrogateJoiner

#: Bounds of what is kept for sessions not known yet: sessions, updates of one, bytes of all.
MOST_SESSIONS = 16
MOST_UPDATES = 1000
MOST_BYTES = 8 << 20


@dataclass(slots=True, eq=False)
class Link:
    """One of our sessions and the agent's id for it."""

    session: Session
    remote_id: str
    cancelling: bool = False  # session/cancel was sent, the prompt has no answer yet
    prompting: bool = False
    # After session/load: "show" what is replayed, or "drop" it because the chat has it already.
    replay: Literal["no", "show", "drop"] = "no"
    replayed: int = 0  # updates of the timeline that came since session/load
    joiner: SurrogateJoiner = field(default_factory=SurrogateJoiner)
    joining: tuple[Role, str | None] | None = None  # the message whose text the joiner holds
    one_prompt: anyio.Lock = field(default_factory=anyio.Lock)  # V1-70


class Links:
    """Finds a link by either id. Session ids are opaque, and there may be several (V1-48)."""

    def __init__(self) -> None:
        self._by_remote: dict[str, Link] = {}
        self._by_own: dict[str, Link] = {}
        self._early: dict[str, list[SessionUpdate]] = {}
        self._early_bytes = 0
        self.creating = 0  # requests under way that will tell us a session's id

    def __iter__(self) -> Iterator[Link]:
        return iter(list(self._by_own.values()))

    def of(self, session: Session) -> Link | None:
        return self._by_own.get(session.id)

    def known(self, remote_id: str) -> Link | None:
        return self._by_remote.get(remote_id)

    def add(self, session: Session, remote_id: str) -> Link:
        """Know the session from now on; a link it had before ends."""
        self.remove(session)
        link = Link(session, remote_id)
        self._by_own[session.id] = self._by_remote[remote_id] = link
        return link

    def remove(self, session: Session) -> None:
        link = self._by_own.pop(session.id, None)
        if link is not None and self._by_remote.get(link.remote_id) is link:
            del self._by_remote[link.remote_id]

    def keep(self, remote_id: str, update: SessionUpdate, size: int) -> bool:
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

    def take(self, remote_id: str) -> list[SessionUpdate]:
        """The kept updates of a session that has become known, in the order they came."""
        return self._early.pop(remote_id, [])

    def created(self) -> None:
        """A request that creates a session is over; after the last one nobody will ask for the rest."""
        self.creating -= 1
        if not self.creating:
            self._early.clear()
            self._early_bytes = 0
