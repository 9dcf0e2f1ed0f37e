"""What every version of ACP does with what the agent sends: find its session, apply it, wait for the view."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Protocol

from msgspec import Raw

from acp_nvim.session.entities import Session
from acp_nvim.session.ports import Questions, RequestError
from acp_nvim.wire.acp_v1.elicitation import CreateElicitationRequest
from acp_nvim.wire.decode import Report

from .elicitation import Elicitations, Waiting
from .failures import NOT_FOUND
from .gathered import Gathered
from .links import L, Links


class Notification(Protocol):
    """The parameters of ``session/update``."""

    @property
    def session_id(self) -> str: ...

    @property
    def update(self) -> Any: ...


class Receiving(ABC, Generic[L]):
    """The part of an rpc.Handler that is the same for all.

    ``note`` gets what could not be used, for the trace; ``notified`` and ``elicited`` decode the parameters
    of the version's messages.
    """

    def __init__(
        self,
        links: Links[L],
        sink: Gathered,
        questions: Questions,
        note: Callable[[str], None],
        waiting: Waiting,
        *,
        notified: Callable[[Raw, Report], Notification],
        elicited: Callable[[Raw, Report], CreateElicitationRequest],
    ) -> None:
        self._links = links
        self._sink = sink
        self._questions = questions
        self._note = note
        self._notified = notified
        self._fed: list[Session] = []  # sessions that were told something the reader has not waited for
        self._elicitations = Elicitations(links, sink, questions, self.flush, note, waiting, elicited)

    async def notification(self, method: str, params: Raw) -> None:
        """Apply an update; ``settle`` then waits for the view. Others are ignored (V1-211, V2-18, C08)."""
        if method == "elicitation/complete":
            self._elicitations.complete(params)
            return
        if method != "session/update":
            self._note(f"{method} is unknown: ignored")
            return
        message = self._notified(params, self._note)
        link = self._links.known(message.session_id)
        if link is not None:
            self.update(link, message.update)
            if link.session not in self._fed:
                self._fed.append(link.session)
        elif not self._links.keep(message.session_id, message.update, len(params)):
            self._note(f"update for the unknown session {message.session_id}: ignored")

    async def settle(self) -> None:
        """What was read is applied, and the view has read enough of it: back-pressure (rpc.Handler)."""
        self._sink.release()
        fed, self._fed = self._fed, []
        for session in fed:
            await self._sink.room(session)

    @abstractmethod
    def update(self, link: L, update: Any) -> None:
        """Apply one update, of the version's own type."""

    @abstractmethod
    def flush(self, link: L) -> None:
        """No message goes on for now: half a character that is left becomes U+FFFD."""

    def _link(self, remote_id: str) -> L:
        """The session of a request (V1-61). Raises RequestError."""
        link = self._links.known(remote_id)
        if link is None:
            raise RequestError(NOT_FOUND, "unknown session", {"sessionId": remote_id})
        return link
