"""How sessions begin, are taken up again, are listed, and end (spec section 4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import anyio

from acp_nvim.protocol.adapter import Ask
from acp_nvim.protocol.links import Links
from acp_nvim.protocol.listing import listing
from acp_nvim.protocol.sessions import Sessions
from acp_nvim.protocol.setup import Place, Setup
from acp_nvim.session.agent import AgentInfo, SessionInfo, SessionList
from acp_nvim.session.entities import Session
from acp_nvim.session.events import (
    OptionsSet,
    ReplayEnded,
    ReplayStarted,
    SessionOpened,
)
from acp_nvim.session.options import Option
from acp_nvim.session.ports import Questions, Sink
from acp_nvim.wire.acp_v1 import codecs
from acp_nvim.wire.acp_v1 import session as wire

from .incoming import Incoming
from .link import LinkV1
from .mcp import mcp_server
from .options import offered

T = TypeVar("T")

#: Seconds without an update after which a replay is over that went on after the answer, and the longest wait.
REPLAY_QUIET = 0.2
REPLAY_LIMIT = 20.0


class Lifecycle(Sessions[LinkV1]):
    """Of one connection. ``info`` raises AgentError before ``initialize`` (V1-45), ``alive`` at the end."""

    def __init__(
        self,
        links: Links[LinkV1],
        incoming: Incoming,
        sink: Sink,
        questions: Questions,
        *,
        ask: Ask,
        info: Callable[[], AgentInfo],
        alive: Callable[[], Awaitable[None]],
        setup: Setup,
    ) -> None:
        super().__init__(links, sink, questions, ask=ask, info=info, setup=setup, done=codecs.DONE)
        self._incoming = incoming
        self._alive = alive

    async def new(self, session: Session) -> None:
        """Create it, and apply what came for it before its id did (V1-46, V1-47, V1-59)."""
        where, place = self._where(session)
        await self._create("session/new", wire.NewSessionRequest(**where), session, where, place)

    async def fork(self, session: Session, remote_id: str) -> None:
        """Go on from an old session in a new one that knows what was said in it (V1-62)."""
        if not self._info().can_fork:
            raise self._cannot("fork a session")
        where, place = self._where(session)
        request = wire.ForkSessionRequest(session_id=remote_id, **where)
        await self._create("session/fork", request, session, where, place)

    async def _create(
        self, method: str, request: object, session: Session, where: dict[str, Any], place: Place
    ) -> None:
        def created(response: wire.NewSessionResponse) -> None:
            link = self._links.add(session, response.session_id)
            self._opened(link, response, where, offered(response) or [])
            self._setup.tell(self._sink, session, place)
            for update in self._links.take(response.session_id):
                self._incoming.update(link, update)

        self._links.creating += 1
        try:
            await self._ask(method, request, codecs.SESSION_CREATED, created, session)
        finally:
            self._links.created()

    async def take_up(self, session: Session, remote_id: str, *, replay: bool) -> int | None:
        """Take an old session up again, with replay (load) or without (resume); the other way if need be.

        Returns how many updates were replayed, None without a replay. What is replayed into a session that
        shows something already is dropped (V1-49..52).
        """
        info = self._info()
        if not (info.can_load or info.can_resume):
            raise self._cannot("take up a session again")
        load = info.can_load and (replay or not info.can_resume)
        where, place = self._where(session)
        link = self._links.add(session, remote_id)
        try:
            if load:
                await self._load(link, wire.LoadSessionRequest(session_id=remote_id, **where), where)
            else:
                await self._ask(
                    "session/resume",
                    wire.ResumeSessionRequest(session_id=remote_id, **where),
                    codecs.SESSION_RESUMED,
                    lambda response: self._opened(link, response, where, offered(response)),
                    session,
                )
        except BaseException:
            self._links.remove(session)
            raise
        self._setup.tell(self._sink, session, place)
        return link.replayed if load else None

    async def _load(self, link: LinkV1, request: wire.LoadSessionRequest, where: dict[str, Any]) -> None:
        """The session is known before it is asked for, as its history comes before the answer (V1-50).

        Some agents answer first and replay then, so the replay is over when nothing has come for a while.
        """
        session = link.session
        link.replay = "show" if session.blank else "drop"
        self._sink.apply(session, ReplayStarted())
        try:
            await self._ask(
                "session/load",
                request,
                codecs.SESSION_LOADED,
                lambda response: self._opened(link, response, where, offered(response)),
                session,
            )
            with anyio.move_on_after(REPLAY_LIMIT):
                seen = -1
                while seen != link.replayed:
                    seen = link.replayed
                    await anyio.sleep(REPLAY_QUIET)
                    await self._sink.room(session)  # else the reader waits, and more may be in the pipe
            await self._alive()
        finally:
            self._incoming.flush(link)
            self._sink.apply(session, ReplayEnded())

    async def listing(self, cwd: str | None) -> SessionList:
        """The sessions the agent knows of; ``cwd`` None: of all folders (V1-53..56)."""
        if not self._info().can_list:
            raise self._cannot("list its sessions")

        async def page(cursor: str | None) -> tuple[list[SessionInfo], str | None]:
            request = wire.ListSessionsRequest(cwd=cwd, cursor=cursor)
            found = await self._ask("session/list", request, codecs.SESSIONS_LISTED)
            return [_info(entry) for entry in found.sessions], found.next_cursor

        return await listing(page)

    async def delete(self, remote_id: str) -> None:
        """Have the agent forget a session; one it does not know is forgotten (V1-57, V1-58)."""
        if not self._info().can_delete:
            raise self._cannot("delete a session")
        await self._end("session/delete", wire.DeleteSessionRequest(session_id=remote_id))

    async def close(self, session: Session) -> None:
        """End the session; one the agent does not know any more is closed, too (V1-58)."""

        def request(link: LinkV1) -> wire.CloseSessionRequest | None:
            return wire.CloseSessionRequest(session_id=link.remote_id) if self._info().can_close else None

        await self._close(session, request)

    def _opened(
        self,
        link: LinkV1,
        setup: wire.SessionSetup,
        where: Mapping[str, Any],
        options: Sequence[Option] | None,
    ) -> None:
        """The agent has the session: apply what its answer says (V1-60, V1-142, V1-145, V1-149)."""
        roots = (link.session.cwd, *where["additional_directories"])
        self._sink.apply(link.session, SessionOpened(link.remote_id, self._info(), roots))
        if options is not None:
            self._sink.apply(link.session, OptionsSet(options))

    def _where(self, session: Session) -> tuple[dict[str, Any], Place]:
        """Folder, further folders and MCP servers of a request."""
        place = self._setup.place(session, self._info())
        servers = [mcp_server(each) for each in place.servers]
        where = {"cwd": session.cwd, "mcp_servers": servers, "additional_directories": place.folders}
        return where, place


def _info(entry: wire.SessionInfo) -> SessionInfo:
    return SessionInfo(
        entry.session_id, entry.cwd, entry.title, entry.updated_at, tuple(entry.additional_directories)
    )
