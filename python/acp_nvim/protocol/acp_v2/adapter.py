"""A client of ACP v2 over one connection: implements ``session.ports.Agent``."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Raw, structs

from acp_nvim.protocol.adapter import Adapter, Parts, not_open
from acp_nvim.protocol.channel import Channel
from acp_nvim.protocol.content import UnsupportedBlockError, prompt_blocks
from acp_nvim.protocol.failures import CANCELLED
from acp_nvim.protocol.links import Links
from acp_nvim.protocol.mcp import Mcp
from acp_nvim.protocol.rpc_errors import ConnectionLostError, RpcError
from acp_nvim.protocol.setup import Setup
from acp_nvim.session.agent import AgentInfo, SessionList
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Failure, Session
from acp_nvim.session.events import OptionsSet, TurnCancelling, TurnEnded
from acp_nvim.session.options import Option
from acp_nvim.session.ports import AgentError, Steered
from acp_nvim.wire.acp_v2 import codecs
from acp_nvim.wire.acp_v2 import connection as wire
from acp_nvim.wire.acp_v2 import session as sessions
from acp_nvim.wire.tolerant import WireError

from . import handshake
from .incoming import Incoming
from .lifecycle import Lifecycle
from .link import LinkV2, Sent
from .options import config_options


class AcpV2(Adapter[LinkV2]):
    """See Adapter and Parts. Files and terminals of ours are not offered to an agent of v2."""

    def __init__(self, channel: Channel, parts: Parts) -> None:
        super().__init__(channel, parts, Links(LinkV2))
        self._questions = parts.questions
        self.incoming = Incoming(
            self._links, self._sink, parts.questions, channel, self.waiting, channel.later
        )
        self._turns = self.incoming.turns
        self._lifecycle = Lifecycle(
            self._links,
            self.incoming,
            self._sink,
            parts.questions,
            ask=self.ask,
            info=self.known,
            setup=Setup(
                parts.label, Mcp(parts.mcp_servers, parts.path, parts.mcp_problems), parts.directories
            ),
        )

    def lost(self) -> None:
        """Also work of the agent's own has ended."""
        for link in self._links:
            if link.sent is None and link.session.turn is not None:
                reason = self._peer.lost or "the connection was closed"
                self._turns.end(link, "lost", Failure(f"{self._parts.label}: {reason}", kind="transport"))
        super().lost()

    async def connect(self) -> AgentInfo:
        """Negotiate, once per connection, before anything else (V2-01, V2-10)."""
        await self.ask("initialize", handshake.request(), codecs.ANY, self.connected)
        return self.known()

    def connected(self, answer: Raw) -> None:
        """Take the agent's answer to ``initialize``. Raises AgentError for a version that is not ours."""
        note = self._peer.note
        handshake.check_version(codecs.VERSION.decode(answer, note).protocol_version)
        response = codecs.INITIALIZED.decode(answer, note)
        self._channel.handler = self.incoming
        self._peer.null_ids = False
        self.info = handshake.info(response)

    async def authenticate(self, method_id: str) -> None:
        """Log in by a method of type agent, with exactly its id (V2-26, V2-27)."""
        methods = {method.id: method for method in self.known().auth_methods}
        method = methods.get(method_id)
        if method is None or method.type != "agent":
            why = "cannot be used from here" if method is not None else "is not offered"
            raise AgentError(Failure(f"the login method {method_id} {why}", kind="unsupported"))
        await self.ask("auth/login", wire.LoginAuthRequest(method_id=method_id), codecs.DONE)

    async def logout(self) -> None:
        """Log out, where one can log in (V2-25)."""
        if not self.known().can_logout:
            raise AgentError(Failure(f"{self._parts.label} offers no logout", kind="unsupported"))
        await self.ask("auth/logout", wire.LogoutAuthRequest(), codecs.DONE)

    async def new_session(self, session: Session) -> None:
        """V2-32."""
        await self._lifecycle.new(session)

    async def resume_session(self, session: Session, remote_id: str) -> int | None:
        """V2-35."""
        return await self._lifecycle.resume(session, remote_id, replay=False)

    async def load_session(self, session: Session, remote_id: str) -> int | None:
        """V2-35."""
        return await self._lifecycle.resume(session, remote_id, replay=True)

    async def fork_session(self, session: Session, remote_id: str) -> None:
        """Of the unstable schema of v2, and not offered (V2-156)."""
        raise AgentError(Failure(f"{self._parts.label} cannot fork a session", kind="unsupported"))

    async def list_sessions(self, cwd: str | None = None) -> SessionList:
        """V2-41."""
        return await self._lifecycle.listing(cwd)

    async def delete_session(self, remote_id: str) -> None:
        """V2-44."""
        await self._lifecycle.delete(remote_id)

    async def prompt(self, session: Session, blocks: Sequence[Block]) -> None:
        """Send a prompt and stay until the turn is over (V2-48..57). Never raises AgentError."""
        link = self._links.of(session)
        if link is None:
            self._sink.apply(session, TurnEnded("error", structs.replace(not_open(), unsent=True)))
            return
        async with link.one_prompt:
            sent = link.sent = Sent()
            try:
                await self._prompt(link, sent, blocks)
            except UnsupportedBlockError as error:
                self._turns.end(link, "error", Failure(str(error), kind="unsupported", unsent=True))
            except RpcError as error:
                self._not_taken(link, error)
            except ConnectionLostError as error:
                failure = await self.why_lost(error)
                self._turns.end(link, "lost", structs.replace(failure, unsent=not sent.accepted))
            finally:
                if not sent.ended:
                    stopped = Failure(f"{self._parts.label} was stopped", kind="transport")
                    self._turns.end(link, "lost", stopped)

    async def _prompt(self, link: LinkV2, sent: Sent, blocks: Sequence[Block]) -> None:
        request = sessions.PromptRequest(
            session_id=link.remote_id, prompt=prompt_blocks(blocks, self.known())
        )
        try:
            await self._peer.request(
                "session/prompt",
                request,
                codecs.PROMPTED,
                lambda response: self._turns.accepted(link, response.message_id),
            )
        except WireError:  # it was answered, so it was taken in; the answer has no more to say than an id
            self._turns.accepted(link, None)
        await self._peer.until(sent.over)
        if not sent.ended:
            raise ConnectionLostError(self._peer.lost or "the connection was closed")

    def _not_taken(self, link: LinkV2, error: RpcError) -> None:
        """The message is no part of the conversation, and its text is the user's again (V2-52, V2-56)."""
        failure = structs.replace(self.failure(error, "session/prompt"), unsent=True)
        self._turns.end(link, "cancelled" if error.code == CANCELLED else "error", failure)

    async def cancel(self, session: Session) -> None:
        """Mark the rows, answer what was asked for the turn, tell the agent; it ends the turn (V2-68..72)."""
        link = self._links.of(session)
        if link is None or session.turn is None or link.cancelling:
            return
        link.cancelling = True
        self._sink.apply(session, TurnCancelling())
        self._questions.cancel_all(
            session, "cancel", lambda question: self.incoming.background(link, question)
        )
        try:
            await self._peer.notify(
                "session/cancel", sessions.CancelSessionNotification(session_id=link.remote_id)
            )
        except ConnectionLostError:
            return  # the turn ends as lost
        self._turns.cancelled(link)

    async def steer(self, session: Session, blocks: Sequence[Block], shown: Sequence[Block]) -> Steered:
        """It does not say that it can be: a prompt during a turn is an ordinary one (V2-54)."""
        raise AgentError(Failure("its turns take no more prompts", kind="unsupported"))

    async def cancel_item(
        self, session: Session, *, call: str | None = None, terminal: str | None = None
    ) -> None:
        """V2-73, V2-74. Raises AgentError, also for what does not say that it can be cancelled."""
        remote_id = self.linked(session).remote_id
        known = session.tool_calls.get(call or "") if call else session.terminals.get(terminal or "")
        if known is None or not known.can_cancel:
            raise AgentError(Failure("it cannot be cancelled by itself", kind="unsupported"))
        if call:
            request = sessions.CancelToolCallRequest(session_id=remote_id, tool_call_id=call)
            await self.ask("tool_call/cancel", request, codecs.DONE, owner=session)
        else:
            ending = sessions.CancelTerminalRequest(session_id=remote_id, terminal_id=terminal or "")
            await self.ask("terminal/cancel", ending, codecs.DONE, owner=session)

    async def close_session(self, session: Session) -> None:
        """V2-42."""
        await self._lifecycle.close(session)

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        """V2-131, V2-132. Raises AgentError; then the options are what they were."""
        remote_id = self.linked(session).remote_id
        form = (
            sessions.SetBooleanOptionRequest(session_id=remote_id, config_id=option.id, value=value)
            if isinstance(value, bool)
            else sessions.SetSelectOptionRequest(session_id=remote_id, config_id=option.id, value=value)
        )
        await self.ask(
            "session/set_config_option",
            form,
            codecs.OPTION_SET,
            lambda response: self._sink.apply(session, OptionsSet(config_options(response.config_options))),
            session,
        )
