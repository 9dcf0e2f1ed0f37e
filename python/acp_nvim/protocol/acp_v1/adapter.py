"""A client of ACP v1 over one connection: implements ``session.ports.Agent``."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import anyio
from anyio.abc import TaskGroup

from acp_nvim.protocol.rpc import Lines, Observer, Peer
from acp_nvim.protocol.rpc_errors import ConnectionLostError, RpcError
from acp_nvim.session.entities import AgentInfo, Block, Failure, Option, Session, SessionList
from acp_nvim.session.events import (
    OptionsSet,
    OptionValue,
    StateSet,
    TurnCancelling,
    TurnEnded,
)
from acp_nvim.session.ports import AgentError, Files, Questions, Sink, Terminals
from acp_nvim.wire.acp_v1 import codecs
from acp_nvim.wire.acp_v1 import connection as wire
from acp_nvim.wire.acp_v1 import session as sessions
from acp_nvim.wire.base import RequestId
from acp_nvim.wire.decode import Codec
from acp_nvim.wire.tolerant import WireError

from . import handshake
from .content import UnsupportedBlockError, prompt_blocks
from .failures import CANCELLED, failure_of
from .incoming import Incoming
from .lifecycle import Lifecycle
from .links import Link, Links
from .mcp import Mcp
from .options import config_options

T = TypeVar("T")

#: Seconds that the last answers may take when a connection is ended by us.
ABORT_PATIENCE = 0.5


class AcpV1:
    """``run`` reads the connection and must be running for everything else to get its answers.

    ``label`` is the agent's name in messages. ``why_lost`` is awaited, with the reason, when a request was
    cut off by the end of the connection: it knows the process. ``mcp_servers``, ``mcp_problems`` and
    ``path`` as in mcp.Mcp, ``directories`` as in directories.further. ``mask`` takes secrets out of a JSON
    value that is shown.
    ``observer`` is the trace's: (direction, line, note). ``asker`` tells whose chat waits for the agent as
    a whole: there stands what the agent asks before there is a session.
    """

    def __init__(
        self,
        transport: Lines,
        *,
        sink: Sink,
        files: Files,
        questions: Questions,
        terminals: Terminals,
        label: str = "the agent",
        observer: Observer | None = None,
        why_lost: Callable[[str], Awaitable[Failure]] | None = None,
        mcp_servers: Sequence[Mapping[str, Any]] = (),
        mcp_problems: Sequence[str] = (),
        path: str = os.defpath,
        mask: Callable[[Any], Any] = lambda value: value,
        directories: Sequence[str] = (),
        asker: Callable[[], Session | None] = lambda: None,
        login: str = "log in with the agent's own program, then :AcpRestart",
    ) -> None:
        self.info: AgentInfo | None = None
        self._sink = sink
        self._questions = questions
        self._label = label
        self._login = login
        self._why_lost = why_lost
        self._mask = mask
        self._links = Links()
        observe: Observer = observer or (lambda direction, data, text: None)
        self._asker = asker
        self._incoming = Incoming(self._links, sink, files, questions, terminals, observe, self._waiting)
        self._lifecycle = Lifecycle(
            self._links,
            self._incoming,
            sink,
            questions,
            ask=self._ask,
            info=self._info,
            alive=self._alive,
            label=label,
            mcp=Mcp(mcp_servers, path, mcp_problems),
            folders=directories,
        )
        self._group: TaskGroup | None = None
        self._peer = Peer(transport, self._incoming, spawn=self._spawn, observer=observe)

    async def run(self) -> str:
        """Read until the end of the connection; return why it ended, for people.

        By then every request of ours has failed (V1-19), and no request of the agent runs any more.
        """
        async with anyio.create_task_group() as self._group:
            if self._peer.lost is None:  # not closed before it began
                await self._peer.run()
            self._group.cancel_scope.cancel()
        self._peer.fail("the connection was closed")
        for link in self._links:
            self._sink.apply(link.session, StateSet("lost"))
        return self._peer.lost or ""

    async def close(self) -> None:
        """End the connection from our side: ``run`` returns. The process is its owner's to stop."""
        self._peer.fail("the connection was closed")
        if self._group is not None:
            self._group.cancel_scope.cancel()
        await anyio.lowlevel.checkpoint()

    async def connect(self) -> AgentInfo:
        """Negotiate, once per connection, before anything else (V1-23..32, V1-45)."""
        response = await self._ask("initialize", handshake.request(), codecs.INITIALIZED)
        handshake.check_version(response)
        self.info = handshake.info(response)
        return self.info

    async def authenticate(self, method_id: str) -> None:
        """Log in by a method of type agent, with exactly its id (V1-36, V1-37, C13).

        Also by one of type env_var, once its variables are set: then the agent reads them.
        """
        methods = {method.id: method for method in self._info().auth_methods}
        method = methods.get(method_id)
        if method is None or method.type not in ("agent", "env_var"):
            why = "cannot be used from here" if method is not None else "is not offered"
            raise AgentError(Failure(f"the login method {method_id} {why}", kind="unsupported"))
        await self._ask("authenticate", wire.AuthenticateRequest(method_id=method_id), codecs.DONE)

    async def logout(self) -> None:
        """Log out, where the agent can (V1-42). Sessions may end, go on or fail afterwards (V1-43)."""
        if not self._info().can_logout:
            raise AgentError(Failure(f"{self._label} offers no logout", kind="unsupported"))
        await self._ask("logout", wire.LogoutRequest(), codecs.DONE)

    async def new_session(self, session: Session) -> None:
        """V1-46, V1-47, V1-59."""
        await self._lifecycle.new(session)

    async def resume_session(self, session: Session, remote_id: str) -> int | None:
        """V1-49..52."""
        return await self._lifecycle.take_up(session, remote_id, replay=False)

    async def load_session(self, session: Session, remote_id: str) -> int | None:
        """V1-49..52."""
        return await self._lifecycle.take_up(session, remote_id, replay=True)

    async def fork_session(self, session: Session, remote_id: str) -> None:
        """V1-62."""
        await self._lifecycle.fork(session, remote_id)

    async def list_sessions(self, cwd: str | None = None) -> SessionList:
        """V1-53..56."""
        return await self._lifecycle.listing(cwd)

    async def delete_session(self, remote_id: str) -> None:
        """V1-57."""
        await self._lifecycle.delete(remote_id)

    async def prompt(self, session: Session, blocks: Sequence[Block]) -> None:
        """Send a prompt and stay until the turn is over (V1-67..75, V1-83). Never raises AgentError."""
        link = self._links.of(session)
        if link is None:
            failure = Failure("the session is not open", kind="transport", remedy=":AcpRestart")
            self._sink.apply(session, TurnEnded("error", failure))
            return
        async with link.one_prompt:
            link.replay = "no"
            link.prompting = True
            try:
                await self._prompt(link, blocks)
            except UnsupportedBlockError as error:
                self._turn_over(link, "error", Failure(str(error), kind="unsupported"))
            except WireError:
                # The prompt was answered, so the turn is over; the agent gave no reason that we can read.
                self._turn_over(link, None)
            except RpcError as error:
                # A cancelled request is a cancelled turn; other errors leave the session usable.
                if error.code == CANCELLED:
                    self._turn_over(link, "cancelled")
                else:
                    self._turn_over(link, "error", self._failure(error, "session/prompt"))
            except ConnectionLostError as error:
                self._turn_over(link, "lost", await self._lost(error))
            finally:
                self._turn_over(link, "lost", Failure(f"{self._label} was stopped", kind="transport"))

    async def _prompt(self, link: Link, blocks: Sequence[Block]) -> None:
        request = sessions.PromptRequest(
            session_id=link.remote_id, prompt=prompt_blocks(blocks, self._info())
        )
        await self._peer.request(
            "session/prompt",
            request,
            codecs.PROMPTED,
            lambda response: self._turn_over(link, response.stop_reason),
        )

    async def cancel(self, session: Session) -> None:
        """Mark the rows, answer open questions, tell the agent; it ends the turn (V1-78..83)."""
        link = self._links.of(session)
        if link is None or not link.prompting or link.cancelling:
            return
        link.cancelling = True
        self._sink.apply(session, TurnCancelling())
        self._questions.cancel_all(session, "cancel")
        try:
            await self._peer.notify("session/cancel", sessions.CancelNotification(session_id=link.remote_id))
        except ConnectionLostError:
            return  # the turn ends as lost

    async def close_session(self, session: Session) -> None:
        """V1-58."""
        await self._lifecycle.close(session)

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

    async def abort(self) -> None:
        """Before the connection ends from our side: answer what the agent has asked with -32800 (V1-87)."""
        self._peer.cancel_incoming()
        with anyio.move_on_after(ABORT_PATIENCE):
            await self._peer.answered()

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        """Set an option by the method its source wants (V1-143, V1-152, V1-153). Raises AgentError."""
        link = self._links.of(session)
        if link is None:
            raise AgentError(Failure("the session is not open", kind="transport", remedy=":AcpRestart"))
        remote_id = link.remote_id
        chosen = OptionValue(option.category or "", str(value))
        done: Callable[[object], None] = lambda _: self._sink.apply(session, chosen)  # noqa: E731
        if option.source == "mode":
            mode = sessions.SetSessionModeRequest(session_id=remote_id, mode_id=str(value))
            await self._ask("session/set_mode", mode, codecs.DONE, done, session)
        elif option.source == "model":
            model = sessions.SetSessionModelRequest(session_id=remote_id, model_id=str(value))
            await self._ask("session/set_model", model, codecs.DONE, done, session)
        else:
            form = (
                sessions.SetBooleanOptionRequest(session_id=remote_id, config_id=option.id, value=value)
                if isinstance(value, bool)
                else sessions.SetSelectOptionRequest(session_id=remote_id, config_id=option.id, value=value)
            )
            await self._ask(
                "session/set_config_option",
                form,
                codecs.OPTION_SET,
                lambda response: self._sink.apply(
                    session, OptionsSet(config_options(response.config_options))
                ),
                session,
            )

    def _turn_over(self, link: Link, stop: str | None, error: Failure | None = None) -> None:
        """End the turn; the first end counts. Questions still open are answered now (V1-134)."""
        if not link.prompting:
            return
        link.prompting = link.cancelling = False
        self._incoming.flush(link)
        self._questions.cancel_all(link.session, "agent")
        self._sink.apply(link.session, TurnEnded(stop, error))

    async def _lost(self, error: ConnectionLostError) -> Failure:
        if self._why_lost is not None:
            return await self._why_lost(error.reason)
        return Failure(f"{self._label}: {error.reason}", kind="transport", remedy=":AcpRestart")

    async def _ask(
        self,
        method: str,
        params: object,
        codec: Codec[T],
        then: Callable[[T], None] | None = None,
        owner: Session | None = None,
    ) -> T:
        """A request of ours whose failure is an AgentError; of a session, or of the connection."""
        try:
            return await self._peer.request(method, params, codec, then, owner or self)
        except (RpcError, WireError) as error:
            raise AgentError(self._failure(error, method)) from error
        except ConnectionLostError as error:
            raise AgentError(await self._lost(error)) from error

    def _failure(self, error: RpcError | WireError, method: str) -> Failure:
        """An agent that wants a login we cannot do is not sent to :AcpLogin (V1-36)."""
        failure = failure_of(error, method)
        failure = replace(failure, message=self._mask(failure.message), data=self._mask(failure.data))
        methods = self.info.auth_methods if self.info is not None else ()
        if failure.kind != "auth" or any(each.usable for each in methods):
            return failure
        return replace(failure, remedy=self._login)

    def _info(self) -> AgentInfo:
        if self.info is None:
            raise AgentError(Failure("the agent is not connected", kind="transport", remedy=":AcpRestart"))
        return self.info

    async def _alive(self) -> None:
        """Raise AgentError when the connection is lost."""
        if self._peer.lost is not None:
            raise AgentError(await self._lost(ConnectionLostError(self._peer.lost)))

    def _waiting(self, id_: RequestId) -> tuple[Session, anyio.Event] | None:
        """Whose chat waits for a request of ours, and what is set at its end."""
        found = self._peer.waiting(id_)
        if found is None:
            return None
        owner, params, over = found
        link = self._links.known(getattr(params, "session_id", ""))
        session = owner if isinstance(owner, Session) else link.session if link else self._asker()
        return (session, over) if session is not None else None

    def _spawn(self, start: Callable[[], Awaitable[None]]) -> None:
        assert self._group is not None, "only run() receives requests"
        self._group.start_soon(_started, start)


async def _started(start: Callable[[], Awaitable[None]]) -> None:
    await start()
