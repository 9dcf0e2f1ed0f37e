"""A client of ACP v1 over one connection: implements ``session.ports.Agent``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from acp_nvim.session.events import OptionsSet, OptionValue, TurnCancelling, TurnEnded, TurnSteered
from acp_nvim.session.options import Option
from acp_nvim.session.ports import AgentError, Steered
from acp_nvim.wire.acp_v1 import codecs
from acp_nvim.wire.acp_v1 import connection as wire
from acp_nvim.wire.acp_v1 import session as sessions
from acp_nvim.wire.tolerant import WireError

from . import handshake
from .incoming import Incoming
from .lifecycle import Lifecycle
from .link import LinkV1
from .options import config_options

# When the turn is over by then, the agent gives the prompt back instead of beginning a turn by itself.
STEERING = {"steering": {"idleBehavior": "promptRequired"}}
STEERED: dict[str, Steered] = {"injected": "taken", "startedNewTurn": "turn"}


class AcpV1(Adapter[LinkV1]):
    """See Adapter and Parts."""

    def __init__(self, channel: Channel, parts: Parts) -> None:
        super().__init__(channel, parts, Links(LinkV1))
        self._questions = parts.questions
        self.incoming = Incoming(
            self._links,
            self._sink,
            parts.files,
            parts.questions,
            parts.terminals,
            channel.observe,
            self.waiting,
        )
        self._lifecycle = Lifecycle(
            self._links,
            self.incoming,
            self._sink,
            parts.questions,
            ask=self.ask,
            info=self.known,
            alive=self.alive,
            setup=Setup(
                parts.label, Mcp(parts.mcp_servers, parts.path, parts.mcp_problems), parts.directories
            ),
        )

    async def connect(self) -> AgentInfo:
        """Negotiate, once per connection, before anything else (V1-23..32, V1-45)."""
        self._channel.handler = self.incoming
        return self.connected(await self.ask("initialize", handshake.request(), codecs.INITIALIZED))

    def connected(self, response: wire.InitializeResponse) -> AgentInfo:
        """Take the agent's answer to ``initialize``. Raises AgentError for a version that is not ours."""
        handshake.check_version(response)
        self._channel.handler = self.incoming
        self.info = handshake.info(response)
        return self.info

    async def authenticate(self, method_id: str) -> None:
        """Log in by a method of type agent, with exactly its id (V1-36, V1-37, C13).

        Also by one of type env_var, once its variables are set: then the agent reads them.
        """
        methods = {method.id: method for method in self.known().auth_methods}
        method = methods.get(method_id)
        if method is None or method.type not in ("agent", "env_var"):
            why = "cannot be used from here" if method is not None else "is not offered"
            raise AgentError(Failure(f"the login method {method_id} {why}", kind="unsupported"))
        await self.ask("authenticate", wire.AuthenticateRequest(method_id=method_id), codecs.DONE)

    async def logout(self) -> None:
        """Log out, where the agent can (V1-42). Sessions may end, go on or fail afterwards (V1-43)."""
        if not self.known().can_logout:
            raise AgentError(Failure(f"{self._parts.label} offers no logout", kind="unsupported"))
        await self.ask("logout", wire.LogoutRequest(), codecs.DONE)

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
            self._sink.apply(session, TurnEnded("error", not_open()))
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
                    self._turn_over(link, "error", self.failure(error, "session/prompt"))
            except ConnectionLostError as error:
                self._turn_over(link, "lost", await self.why_lost(error))
            finally:
                self._turn_over(link, "lost", Failure(f"{self._parts.label} was stopped", kind="transport"))

    async def _prompt(self, link: LinkV1, blocks: Sequence[Block]) -> None:
        request = sessions.PromptRequest(
            session_id=link.remote_id, prompt=prompt_blocks(blocks, self.known())
        )
        await self._peer.request(
            "session/prompt",
            request,
            codecs.PROMPTED,
            lambda response: self._turn_over(link, response.stop_reason),
        )

    async def steer(self, session: Session, blocks: Sequence[Block], shown: Sequence[Block]) -> Steered:
        """By an extension of some agents (V1-211). Raises AgentError.

        An outcome we do not know is no promise: agents answer what they do not know with ``{}``.
        """
        link = self.linked(session)
        try:
            prompt = prompt_blocks(blocks, self.known())
        except UnsupportedBlockError as error:
            raise AgentError(Failure(str(error), kind="unsupported")) from error
        request = sessions.SteerRequest(session_id=link.remote_id, prompt=prompt, meta=STEERING)

        def answered(response: sessions.SteerResponse) -> None:
            if response.outcome in STEERED:
                self.incoming.flush(link)
                self._sink.apply(session, TurnSteered(tuple(shown), tuple(blocks)))

        response = await self.ask("_session/steering", request, codecs.STEERED, answered, session)
        return STEERED.get(response.outcome, "refused")

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

    async def cancel_item(
        self, session: Session, *, call: str | None = None, terminal: str | None = None
    ) -> None:
        """There is no such thing in v1."""
        raise AgentError(Failure("it can only be cancelled with the whole turn", kind="unsupported"))

    async def close_session(self, session: Session) -> None:
        """V1-58."""
        await self._lifecycle.close(session)

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        """Set an option by the method its source wants (V1-143, V1-152, V1-153). Raises AgentError."""
        remote_id = self.linked(session).remote_id
        chosen = OptionValue(option.category or "", str(value))
        done: Callable[[object], None] = lambda _: self._sink.apply(session, chosen)  # noqa: E731
        if option.source == "mode":
            mode = sessions.SetSessionModeRequest(session_id=remote_id, mode_id=str(value))
            await self.ask("session/set_mode", mode, codecs.DONE, done, session)
        elif option.source == "model":
            model = sessions.SetSessionModelRequest(session_id=remote_id, model_id=str(value))
            await self.ask("session/set_model", model, codecs.DONE, done, session)
        else:
            form = (
                sessions.SetBooleanOptionRequest(session_id=remote_id, config_id=option.id, value=value)
                if isinstance(value, bool)
                else sessions.SetSelectOptionRequest(session_id=remote_id, config_id=option.id, value=value)
            )
            await self.ask(
                "session/set_config_option",
                form,
                codecs.OPTION_SET,
                lambda response: self._sink.apply(
                    session, OptionsSet(config_options(response.config_options))
                ),
                session,
            )

    def _turn_over(self, link: LinkV1, stop: str | None, error: Failure | None = None) -> None:
        """End the turn; the first end counts. Questions still open are answered now (V1-134)."""
        if not link.prompting:
            return
        link.prompting = link.cancelling = False
        self.incoming.flush(link)
        self._questions.cancel_all(link.session, "agent")
        self._sink.apply(link.session, TurnEnded(stop, error))
