"""How sessions begin, are taken up again, are listed, and end (spec section 4)."""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import anyio

from acp_nvim.session.entities import AgentInfo, Failure, Note, Option, Session, SessionInfo, SessionList
from acp_nvim.session.events import (
    NoteShown,
    OptionsSet,
    ReplayEnded,
    ReplayStarted,
    SessionOpened,
)
from acp_nvim.session.ports import AgentError, Questions, Sink
from acp_nvim.wire.acp_v1 import codecs
from acp_nvim.wire.acp_v1 import session as wire
from acp_nvim.wire.acp_v1.connection import McpCapabilities
from acp_nvim.wire.decode import Codec

from .directories import further
from .failures import NOT_FOUND
from .incoming import Incoming
from .links import Link, Links
from .mcp import Mcp
from .options import offered

T = TypeVar("T")

#: Bounds of one listing: pages, sessions.
MOST_PAGES = 50
MOST_LISTED = 2000
#: Seconds without an update after which a replay is over that went on after the answer, and the longest wait.
REPLAY_QUIET = 0.2
REPLAY_LIMIT = 20.0


class Ask(Protocol):
    """A request of ours whose failure is an AgentError (adapter.py)."""

    async def __call__(
        self,
        method: str,
        params: object,
        codec: Codec[T],
        then: Callable[[T], None] | None = None,
        owner: Session | None = None,
    ) -> T: ...


class Lifecycle:
    """Of one connection. ``info`` raises AgentError before ``initialize`` (V1-45); ``alive`` once it is lost.

    ``folders`` as in directories.further.
    """

    def __init__(
        self,
        links: Links,
        incoming: Incoming,
        sink: Sink,
        questions: Questions,
        *,
        ask: Ask,
        info: Callable[[], AgentInfo],
        alive: Callable[[], Awaitable[None]],
        label: str,
        mcp: Mcp,
        folders: Sequence[str],
    ) -> None:
        self._links = links
        self._incoming = incoming
        self._sink = sink
        self._questions = questions
        self._ask = ask
        self._info = info
        self._alive = alive
        self._label = label
        self._mcp = mcp
        self._folders = folders

    async def new(self, session: Session) -> None:
        """Create it, and apply what came for it before its id did (V1-46, V1-47, V1-59)."""
        where, problems = self._where(session)
        await self._create("session/new", wire.NewSessionRequest(**where), session, where, problems)

    async def fork(self, session: Session, remote_id: str) -> None:
        """Go on from an old session in a new one that knows what was said in it (V1-62)."""
        if not self._info().can_fork:
            raise self._cannot("fork a session")
        where, problems = self._where(session)
        request = wire.ForkSessionRequest(session_id=remote_id, **where)
        await self._create("session/fork", request, session, where, problems)

    async def _create(
        self, method: str, request: object, session: Session, where: dict[str, Any], problems: Sequence[str]
    ) -> None:
        def created(response: wire.NewSessionResponse) -> None:
            link = self._links.add(session, response.session_id)
            self._opened(link, response, where, offered(response) or [])
            self._tell(session, problems)
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
        where, problems = self._where(session)
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
        self._tell(session, problems)
        return link.replayed if load else None

    async def _load(self, link: Link, request: wire.LoadSessionRequest, where: dict[str, Any]) -> None:
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
        """The sessions the agent knows of, all pages of them; ``cwd`` None: of all folders (V1-53..56).

        Entries without an absolute folder are left out: they could not be opened.
        """
        if not self._info().can_list:
            raise self._cannot("list its sessions")
        found: dict[str, SessionInfo] = {}
        cursors: set[str] = set()
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            request = wire.ListSessionsRequest(cwd=cwd, cursor=cursor)
            try:
                page = await self._ask("session/list", request, codecs.SESSIONS_LISTED)
            except AgentError as error:
                if not cursors or error.failure.kind == "transport":
                    raise
                return SessionList(tuple(found.values()), cut=error.failure.message)
            for entry in page.sessions:
                if posixpath.isabs(entry.cwd):
                    found.setdefault(entry.session_id, _info(entry))
            cursor = page.next_cursor
            if cursor is None:
                return SessionList(tuple(found.values()))
            if len(found) >= MOST_LISTED:
                break
            if cursor in cursors:
                return SessionList(tuple(found.values()), cut="it sends the same page again and again")
            cursors.add(cursor)
        return SessionList(tuple(found.values())[:MOST_LISTED], cut="there are too many")

    async def delete(self, remote_id: str) -> None:
        """Have the agent forget a session; one it does not know is forgotten (V1-57, V1-58)."""
        if not self._info().can_delete:
            raise self._cannot("delete a session")
        await self._end("session/delete", wire.DeleteSessionRequest(session_id=remote_id))

    async def close(self, session: Session) -> None:
        """End the session; one the agent does not know any more is closed, too (V1-58)."""
        link = self._links.of(session)
        if link is None:
            return
        self._questions.cancel_all(session, "close")
        try:
            if self._info().can_close:
                await self._end("session/close", wire.CloseSessionRequest(session_id=link.remote_id))
        finally:
            self._links.remove(session)

    async def _end(self, method: str, request: object) -> None:
        try:
            await self._ask(method, request, codecs.DONE)
        except AgentError as error:
            if error.failure.code != NOT_FOUND:
                raise

    def _opened(
        self,
        link: Link,
        setup: wire.SessionSetup,
        where: Mapping[str, Any],
        options: Sequence[Option] | None,
    ) -> None:
        """The agent has the session: apply what its answer says (V1-60, V1-142, V1-145, V1-149)."""
        roots = (link.session.cwd, *where["additional_directories"])
        self._sink.apply(link.session, SessionOpened(link.remote_id, self._info(), roots))
        if options is not None:
            self._sink.apply(link.session, OptionsSet(options))

    def _where(self, session: Session) -> tuple[dict[str, Any], list[str]]:
        """Folder, further folders and MCP servers of a request, and what could not be passed on."""
        info = self._info()
        takes = McpCapabilities(http=info.mcp_http, sse=info.mcp_sse)
        mcp, problems = self._mcp.servers(takes, session.cwd)
        folders, missing = further(self._folders, session.cwd)
        if folders and not info.additional_directories:
            missing.append(f"{self._label} takes no further folders: agents.{self._label}.directories")
            folders = []
        where = {"cwd": session.cwd, "mcp_servers": mcp, "additional_directories": folders}
        return where, [*problems, *missing]

    def _tell(self, session: Session, problems: Sequence[str]) -> None:
        """One note of all that the agent does not get."""
        if not problems:
            return
        note = Note(f"acp-{session.arrival + 1}", "warning", problems[0])
        if len(problems) > 1:
            note.title, note.lines = f"{self._label} does not get all that the settings name:", list(problems)
        self._sink.apply(session, NoteShown(note))

    def _cannot(self, what: str) -> AgentError:
        return AgentError(Failure(f"{self._label} cannot {what}", kind="unsupported"))


def _info(entry: wire.SessionInfo) -> SessionInfo:
    return SessionInfo(
        entry.session_id, entry.cwd, entry.title, entry.updated_at, tuple(entry.additional_directories)
    )
