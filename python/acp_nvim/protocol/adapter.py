"""What the clients of all versions of ACP share: requests of ours, their failures, the end."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import anyio
from msgspec import structs

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.entities import Failure, Session
from acp_nvim.session.events import StateSet
from acp_nvim.session.ports import AgentError, Files, Questions, Sink, Terminals
from acp_nvim.wire.base import RequestId
from acp_nvim.wire.decode import Codec
from acp_nvim.wire.tolerant import WireError

from .channel import Channel
from .failures import failure_of
from .gathered import Gathered
from .links import L, Links
from .rpc_errors import ConnectionLostError, RpcError

T = TypeVar("T")


class Ask(Protocol):
    """A request of ours whose failure is an AgentError."""

    async def __call__(
        self,
        method: str,
        params: object,
        codec: Codec[T],
        then: Callable[[T], object] | None = None,
        owner: Session | None = None,
    ) -> T: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an adapter is given.

    ``label`` is the agent's name in messages. ``why_lost`` is awaited, with the reason, when a request was
    cut off by the end of the connection: it knows the process. ``mcp_servers``, ``mcp_problems`` and
    ``path`` as in mcp.Mcp, ``directories`` as in directories.further. ``mask`` takes secrets out of a JSON
    value that is shown. ``asker`` tells whose chat waits for the agent as a whole: there stands what the
    agent asks before there is a session. ``login``: what to do where no login can be done from here.
    """

    sink: Sink
    files: Files
    questions: Questions
    terminals: Terminals
    label: str = "the agent"
    why_lost: Callable[[str], Awaitable[Failure]] | None = None
    mcp_servers: Sequence[Mapping[str, Any]] = ()
    mcp_problems: Sequence[str] = ()
    path: str = os.defpath
    mask: Callable[[Any], Any] = lambda value: value
    directories: Sequence[str] = ()
    asker: Callable[[], Session | None] = lambda: None
    login: str = "log in with the agent's own program, then :AcpRestart"


class Adapter(Generic[L]):
    """``run`` reads the connection and must be running for everything else to get its answers."""

    def __init__(self, channel: Channel, parts: Parts, links: Links[L]) -> None:
        self.info: AgentInfo | None = None
        self._channel = channel
        self._peer = channel.peer
        self._parts = parts
        self._sink = Gathered(parts.sink)
        self._links = links

    async def run(self) -> str:
        """Read until the end of the connection; return why it ended, for people."""
        reason = await self._channel.run()
        self.lost()
        return reason

    def lost(self) -> None:
        """The connection has ended: so have its sessions."""
        for link in self._links:
            self._sink.apply(link.session, StateSet("lost"))

    async def close(self) -> None:
        """End the connection from our side: ``run`` returns. The process is its owner's to stop."""
        await self._channel.close()

    async def abort(self) -> None:
        """Before the connection ends from our side: answer what the agent has asked with -32800 (V1-87)."""
        await self._channel.abort()

    def asked(self, session: Session) -> str | None:
        """The method of the session's oldest request that has no answer yet; its prompt does not count."""
        return self._peer.asked(session)

    async def withdraw(self, session: Session, *, shared: bool) -> None:
        """Take our requests of the session back, with ``shared`` also the connection's: login, list (V1-86).

        They keep waiting for the answer, which is -32800 or a result all the same.
        """
        await self._peer.withdraw(session)
        if shared:
            await self._peer.withdraw(self)

    async def ask(
        self,
        method: str,
        params: object,
        codec: Codec[T],
        then: Callable[[T], object] | None = None,
        owner: Session | None = None,
    ) -> T:
        """A request of ours whose failure is an AgentError; of a session, or of the connection."""
        try:
            return await self._peer.request(method, params, codec, then, owner or self)
        except (RpcError, WireError) as error:
            raise AgentError(self.failure(error, method)) from error
        except ConnectionLostError as error:
            raise AgentError(await self.why_lost(error)) from error

    def failure(self, error: RpcError | WireError, method: str) -> Failure:
        """An agent that wants a login we cannot do is not sent to :AcpLogin (V1-36)."""
        failure = failure_of(error, method)
        mask = self._parts.mask
        failure = structs.replace(failure, message=mask(failure.message), data=mask(failure.data))
        methods = self.info.auth_methods if self.info is not None else ()
        if failure.kind != "auth" or any(each.usable for each in methods):
            return failure
        return structs.replace(failure, remedy=self._parts.login)

    async def why_lost(self, error: ConnectionLostError) -> Failure:
        """What to tell of the end of the connection."""
        if self._parts.why_lost is not None:
            return await self._parts.why_lost(error.reason)
        return Failure(f"{self._parts.label}: {error.reason}", kind="transport", remedy=":AcpRestart")

    def known(self) -> AgentInfo:
        """What the agent has said of itself. Raises AgentError before it has (V1-45)."""
        if self.info is None:
            raise AgentError(Failure("the agent is not connected", kind="transport", remedy=":AcpRestart"))
        return self.info

    async def alive(self) -> None:
        """Raise AgentError when the connection is lost."""
        if self._peer.lost is not None:
            raise AgentError(await self.why_lost(ConnectionLostError(self._peer.lost)))

    def linked(self, session: Session) -> L:
        """The session's link. Raises AgentError when the agent does not have the session."""
        link = self._links.of(session)
        if link is None:
            raise AgentError(not_open())
        return link

    def waiting(self, id_: RequestId) -> tuple[Session, anyio.Event] | None:
        """Whose chat waits for a request of ours, and what is set at its end."""
        found = self._peer.waiting(id_)
        if found is None:
            return None
        owner, params, over = found
        link = self._links.known(getattr(params, "session_id", ""))
        session = owner if isinstance(owner, Session) else link.session if link else self._parts.asker()
        return (session, over) if session is not None else None


def not_open() -> Failure:
    """What to tell when the agent does not have the session."""
    return Failure("the session is not open", kind="transport", remedy=":AcpRestart")
