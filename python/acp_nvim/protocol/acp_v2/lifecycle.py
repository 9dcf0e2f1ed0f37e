"""How sessions begin, are taken up again, are listed, and end (spec section 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from acp_nvim.protocol.adapter import Ask
from acp_nvim.protocol.links import Links
from acp_nvim.protocol.listing import listing
from acp_nvim.protocol.sessions import Sessions
from acp_nvim.protocol.setup import Place, Setup
from acp_nvim.session.agent import AgentInfo, SessionInfo, SessionList
from acp_nvim.session.entities import Session
from acp_nvim.session.events import CommandsSet, OptionsSet, ReplayEnded, ReplayStarted, SessionOpened
from acp_nvim.session.ports import Questions, Sink
from acp_nvim.wire.acp_v2 import codecs
from acp_nvim.wire.acp_v2 import session as wire

from .incoming import Incoming
from .link import LinkV2
from .mcp import mcp_server
from .options import commands, config_options


class Lifecycle(Sessions[LinkV2]):
    """Of one connection. ``info`` raises AgentError before ``initialize``."""

    def __init__(
        self,
        links: Links[LinkV2],
        incoming: Incoming,
        sink: Sink,
        questions: Questions,
        *,
        ask: Ask,
        info: Callable[[], AgentInfo],
        setup: Setup,
    ) -> None:
        super().__init__(links, sink, questions, ask=ask, info=info, setup=setup, done=codecs.DONE)
        self._incoming = incoming

    async def new(self, session: Session) -> None:
        """Create it, and apply what came for it before its id did (V2-32..34)."""
        where, place = self._where(session)

        def created(response: wire.NewSessionResponse) -> None:
            link = self._links.add(session, response.session_id)
            self._opened(link, response, place)
            self._setup.tell(self._sink, session, place)
            for update in self._links.take(response.session_id):
                self._incoming.update(link, update)

        self._links.creating += 1
        try:
            request = wire.NewSessionRequest(**where)
            await self._ask("session/new", request, codecs.SESSION_CREATED, created, session)
        finally:
            self._links.created()

    async def resume(self, session: Session, remote_id: str, *, replay: bool) -> int | None:
        """Take an old session up again (V2-35..40, V2-45). Returns how many updates were replayed.

        What is replayed into a session that shows something already is dropped (V2-38). When the agent is
        still at work in it, that is a turn (V2-36).
        """
        where, place = self._where(session)
        request = wire.ResumeSessionRequest(
            session_id=remote_id, **where, replay_from=wire.ReplayFromStart() if replay else None
        )
        link = self._links.add(session, remote_id)
        link.replay = "show" if session.blank else "drop"
        self._sink.apply(session, ReplayStarted())

        def resumed(response: wire.ResumeSessionResponse) -> None:
            self._incoming.flush(link)
            self._opened(link, response, place)
            self._sink.apply(session, ReplayEnded())
            link.replay = "no"
            self._incoming.turns.resumed(link)

        try:
            await self._ask("session/resume", request, codecs.SESSION_RESUMED, resumed, session)
        except BaseException:
            self._links.remove(session)
            raise
        finally:
            if session.replaying:
                self._sink.apply(session, ReplayEnded())
        self._setup.tell(self._sink, session, place)
        return link.replayed if replay else None

    async def listing(self, cwd: str | None) -> SessionList:
        """The sessions the agent knows of; ``cwd`` None: of all folders (V2-41)."""
        self._must_have_sessions()

        async def page(cursor: str | None) -> tuple[list[SessionInfo], str | None]:
            request = wire.ListSessionsRequest(cwd=cwd, cursor=cursor)
            found = await self._ask("session/list", request, codecs.SESSIONS_LISTED)
            return [_info(entry) for entry in found.sessions], found.next_cursor

        return await listing(page)

    async def delete(self, remote_id: str) -> None:
        """Have the agent forget a session; one it does not know is forgotten (V2-43, V2-44)."""
        if not self._info().can_delete:
            raise self._cannot("delete a session")
        await self._end("session/delete", wire.DeleteSessionRequest(session_id=remote_id))

    async def close(self, session: Session) -> None:
        """End the session with all its work; one the agent does not know is closed (V2-42, V2-43)."""
        await self._close(session, lambda link: wire.CloseSessionRequest(session_id=link.remote_id))

    def _opened(self, link: LinkV2, setup: wire.SessionSetup, place: Place) -> None:
        """The agent has the session: apply what its answer says; null says nothing (V2-33)."""
        session = link.session
        self._sink.apply(session, SessionOpened(link.remote_id, self._info(), (session.cwd, *place.folders)))
        if setup.config_options is not None:
            self._sink.apply(session, OptionsSet(config_options(setup.config_options)))
        if setup.available_commands is not None:
            self._sink.apply(session, CommandsSet(commands(setup.available_commands)))

    def _where(self, session: Session) -> tuple[dict[str, Any], Place]:
        """Folder, further folders and MCP servers of a request."""
        self._must_have_sessions()
        place = self._setup.place(session, self._info())
        servers = [mcp_server(each) for each in place.servers]
        return {
            "cwd": session.cwd,
            "mcp_servers": servers,
            "additional_directories": place.folders,
        }, place

    def _must_have_sessions(self) -> None:
        """V2-22."""
        if not self._info().can_resume:
            raise self._cannot("hold a conversation: it offers no sessions")


def _info(entry: wire.SessionInfo) -> SessionInfo:
    return SessionInfo(
        entry.session_id, entry.cwd, entry.title, entry.updated_at, tuple(entry.additional_directories)
    )
