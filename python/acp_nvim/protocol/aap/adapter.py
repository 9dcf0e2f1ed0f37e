"""A client of AAP v3 of one server: implements ``session.ports.Agent``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType

import anyio
from msgspec import structs

from acp_nvim.protocol.listing import listing
from acp_nvim.session.agent import AgentInfo, SessionInfo, SessionList
from acp_nvim.session.asked import Permission, PermissionOption
from acp_nvim.session.content import Block
from acp_nvim.session.elicitation import ACCEPT, DECLINE, Elicitation, Form, FormChoice, FormField
from acp_nvim.session.entities import Failure, Note, Session
from acp_nvim.session.events import (
    InfoPatch,
    NoteShown,
    OptionsSet,
    ReplayEnded,
    ReplayStarted,
    SessionOpened,
    StateSet,
    TurnCancelling,
    TurnEnded,
)
from acp_nvim.session.options import Option
from acp_nvim.session.ports import CANCELLED, AgentError, ClientTools, Questions, Sink, Steered
from acp_nvim.session.tools import ClientTool
from acp_nvim.wire.aap import VERSION, meta
from acp_nvim.wire.aap.messages import ToolMessage
from acp_nvim.wire.aap.requests import NewAgent, NewSession

from . import client_tools, history
from .about import info_of
from .answering import Answering
from .content import UnsupportedBlockError
from .failures import passing
from .links import ASK, OFF, TRUST, Link, Links
from .memory import Known, Memory, Picks, now, title_of
from .options import SET, TOOL, defaults, offered, settle
from .server import Server
from .turn import Turn


class Aap:
    """``agent`` is the name of one of the server's agents; None: the only one, or the user is asked.

    ``folder``: where sessions are said to be that nobody asks for by folder; the server knows none.
    ``asker`` tells whose chat waits for the connection. ``hide`` is told of an option's name and the secret
    it is set to, before anybody could show it. ``memory`` knows titles, which the server does not.
    ``offers``: the names of those of our ``tools`` that the user wants the agent to have (AAP-25).
    """

    def __init__(
        self,
        server: Server,
        *,
        sink: Sink,
        questions: Questions,
        agent: str | None = None,
        folder: str = "",
        label: str = "the agent",
        asker: Callable[[], Session | None] = lambda: None,
        hide: Callable[[str, str], None] = lambda name, value: None,
        memory: Memory | None = None,
        tools: ClientTools | None = None,
        offers: Sequence[str] = (),
        picks: Picks | None = None,
        options: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self.info: AgentInfo | None = None
        self._server = server
        self._sink = sink
        self._questions = questions
        self._wanted = agent
        self._folder = folder
        self._label = label
        self._asker = asker
        self._hide = hide
        self._memory = memory
        found = [tools.named(name) for name in dict.fromkeys(offers)] if tools is not None else []
        self._own: list[ClientTool] = [each for each in found if each is not None]
        self._answering = Answering(questions, sink, tools, server.place.host)
        self._picks = picks
        self._options = options
        self._links = Links()
        self._agents: dict[str, meta.AgentInfo] = {}
        self._served: meta.AgentInfo | None = None
        self._why: Failure | None = None  # the connection was ended
        self._told = False  # that it takes no tools of ours
        # What is asked of the server, by whom: what it is called, and what gives it up.
        self._asked: list[tuple[object, str, anyio.CancelScope]] = []

    async def connect(self) -> AgentInfo:
        """AAP-06, AAP-07."""
        found = await self._server.meta()
        if found.version != VERSION:
            said = "no version" if found.version is None else f"version {found.version}"
            message = f"the server speaks {said} of AAP; this client speaks version {VERSION}"
            raise AgentError(Failure(message, kind="unsupported", remedy="update the one that is older"))
        self._agents = {agent.name: agent for agent in found.agents}
        self._served = await self._choose()
        self.info = info_of(self._served)
        return self.info

    async def authenticate(self, method_id: str) -> None:
        raise self._cannot("offers no login: the key is in the settings")

    async def logout(self) -> None:
        raise self._cannot("offers no logout")

    async def new_session(self, session: Session) -> None:
        """AAP-11. With what the settings say, as some servers choose a model when a session is made."""
        served, info = self._chosen()
        link = Link(session, "", served, info)
        for name, secret in settle(link, self._options).items():
            self._hide(name, secret)
        link.own = self._offered(served)
        link.declared = client_tools.specs(link.own)
        request = NewSession(NewAgent(served.name, link.refs(), link.given), list(link.declared) or None)
        async with self._asking(session, "POST /sessions"):
            link.remote_id = await self._server.create(request)
        link.fresh = True
        self._open(link)

    async def resume_session(self, session: Session, remote_id: str) -> int | None:
        """Without what was said before; what waits is found when the user goes on (AAP-68)."""
        try:
            async with self._asking(session, "GET /sessions/:id"):
                link = await self._known(session, remote_id)
        except AgentError as error:  # a server that fails has not forgotten it: no other is to be made
            raise AgentError(passing(error.failure)) from error
        if history.kind_of(link.served.capabilities) is not None:
            link.stale = True
        self._open(link)
        await self._recall(link)
        return None

    async def load_session(self, session: Session, remote_id: str) -> int | None:
        """With its history, if the agent has one (AAP-66, AAP-68, AAP-73)."""
        async with self._asking(session, "GET /sessions/:id/history"):
            link = await self._known(session, remote_id)
            kind = history.kind_of(link.served.capabilities)
            if kind is None:
                self._open(link)
                return None
            found = await self._server.history(remote_id, kind, ":AcpRestart")
            link.said = history.last_said(found)
        if not session.blank:  # what stands there is more than what may be a summary (AAP-72, AAP-74)
            link.owed = history.unanswered(found, link)
            self._open(link)
            return len(found)
        self._sink.apply(session, ReplayStarted())
        try:
            count = history.replay(found, link, self._sink)
        finally:
            self._sink.apply(session, ReplayEnded())
        link.owed = history.unanswered(found, link)
        self._open(link)
        await self._recall(link)
        return count

    async def fork_session(self, session: Session, remote_id: str) -> None:
        raise self._cannot("cannot fork a session")

    async def list_sessions(self, cwd: str | None = None) -> SessionList:
        """The sessions of this agent, all pages (AAP-15). They have no folder: they are of the asked one."""
        served, _ = self._chosen()
        known = await self._memory.recall() if self._memory is not None else {}

        def told(ident: str) -> SessionInfo:
            mine = known.get(ident)
            if mine is None:
                return SessionInfo(ident, cwd or self._folder)
            return SessionInfo(ident, mine.cwd, mine.title or None, mine.updated_at)

        async def page(after: str | None) -> tuple[list[SessionInfo], str | None]:
            found = await self._server.sessions(after)
            own = [each for each in found.sessions if each.agent.name in ("", served.name)]
            return [told(each.session_id) for each in own], found.next

        async with self._asking(self, "GET /sessions"):
            return await listing(page)

    async def delete_session(self, remote_id: str) -> None:
        """AAP-17."""
        async with self._asking(self, "DELETE /sessions/:id"):
            await self._server.delete(remote_id)
        if self._memory is not None:
            await self._memory.forget(remote_id)

    async def prompt(self, session: Session, blocks: Sequence[Block]) -> None:
        """Send a prompt and stay until the turn is over. Never raises AgentError."""
        link = self._links.of(session)
        if link is None:
            failure = self._why or Failure("the session is not open", kind="transport", remedy=":AcpRestart")
            self._sink.apply(session, TurnEnded("error", structs.replace(failure, unsent=True)))
            return
        async with link.one_prompt:  # AAP-36
            why = self._why
            if why is not None:  # the chat is about to hear of it
                self._sink.apply(session, TurnEnded("lost", structs.replace(why, unsent=True)))
                return
            turn = Turn(link, self._server, self._sink, self._answering, self._remember)
            ended = TurnEnded("cancelled")
            try:
                with anyio.CancelScope() as link.scope:
                    end = await turn.run(blocks)
                    ended = TurnEnded(end.stop, end.error, end.confirmed)
            except AgentError as error:
                ended = TurnEnded(
                    "error", structs.replace(error.failure, unsent=bool(blocks) and not turn.reached)
                )
            except UnsupportedBlockError as error:
                ended = TurnEnded("error", Failure(str(error), kind="unsupported", unsent=True))
            except BaseException:
                self._over(link, TurnEnded("lost", Failure(f"{self._label} was stopped", kind="transport")))
                raise
            if self._why is not None:
                ended = TurnEnded("lost", self._why)
            if ended.stop == "cancelled":
                # What tools of ours have done is told with the next prompt; nothing that was allowed is.
                link.cancelled = True
                link.answers = {k: each for k, each in link.answers.items() if isinstance(each, ToolMessage)}
            self._over(link, ended)

    async def cancel(self, session: Session) -> None:
        """Close the stream; the server may go on all the same (AAP-38, AAP-62)."""
        link = self._links.of(session)
        if link is None or link.scope is None or link.cancelling:
            return
        link.cancelling = True
        self._sink.apply(session, TurnCancelling())
        self._questions.cancel_all(session, "cancel")
        link.scope.cancel()

    async def steer(self, session: Session, blocks: Sequence[Block], shown: Sequence[Block]) -> Steered:
        raise self._cannot("takes one prompt a turn")

    async def cancel_item(
        self, session: Session, *, call: str | None = None, terminal: str | None = None
    ) -> None:
        raise self._cannot("cannot cancel a single tool call")

    async def close_session(self, session: Session) -> None:
        """A session in which nothing was said is not left behind on the server."""
        link = self._links.of(session)
        self._links.remove(session)
        if link is not None and link.fresh and self._why is None:
            self._questions.cancel_all(session, "close")
            async with self._asking(session, "DELETE /sessions/:id"):
                await self._server.delete(link.remote_id)

    def asked(self, session: Session) -> str | None:
        """What the session has asked the server for, and waits."""
        return next((what for owner, what, _ in self._asked if owner is session), None)

    async def withdraw(self, session: Session, *, shared: bool) -> None:
        """Give up what the session has asked for, with ``shared`` also what the connection has."""
        for owner, _, scope in list(self._asked):
            if owner is session or (shared and owner is self):
                scope.cancel()

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        """Goes to the server with the next post (AAP-19, AAP-20)."""
        link = self._links.of(session)
        if link is None:
            raise AgentError(Failure("the session is not open", kind="transport", remedy=":AcpRestart"))
        text = str(value)
        name = option.id.removeprefix(TOOL)
        if option.category == "tool" and name in link.tools:
            link.tools[name] = text
        else:
            if option.type == "secret":
                self._hide(option.id, text)
                if link.fresh and link.given.get(option.id) == text and option.id not in link.wanted:
                    return  # the server has it
            link.values[option.id] = (SET if text else "") if option.type == "secret" else text
            link.wanted[option.id] = text
        self._sink.apply(session, OptionsSet(offered(link)))

    async def end(self, why: Failure) -> None:
        """The connection is over: turns end, nothing is asked any more."""
        self._why = why
        for _, _, scope in list(self._asked):
            scope.cancel()
        for link in self._links:
            if link.scope is not None:
                link.scope.cancel()
            else:
                self._sink.apply(link.session, StateSet("lost"))

    # -- inside

    async def _choose(self) -> meta.AgentInfo:
        """The agent of the settings, or the only one, or the one the user picks, or has picked once."""
        names = ", ".join(self._agents) or "none"
        setting = f"{self._server.place.setting}.agent"
        if self._wanted is not None:
            if self._wanted in self._agents:
                return self._agents[self._wanted]
            message = f"the server has no agent {self._wanted}; it has: {names}"
            raise AgentError(Failure(message, kind="invalid", remedy=f"set {setting} to one of them"))
        if len(self._agents) == 1:
            return next(iter(self._agents.values()))
        before = await self._picks.recall() if self._picks is not None else None
        if before in self._agents:
            return self._agents[before]
        session = self._asker()
        if session is not None and self._agents:
            picked = await self._ask_which(session)
            if picked is not None:
                if self._picks is not None:
                    await self._picks.keep(picked.name)
                return picked
        message = f"which of the server's agents? It has: {names}"
        raise AgentError(Failure(message, kind="invalid", remedy=f"set {setting} to one of them"))

    async def _ask_which(self, session: Session) -> meta.AgentInfo | None:
        choices = tuple(
            FormChoice(each.name, each.title or each.name, each.description) for each in self._agents.values()
        )
        title = "the server has several agents: which one?"
        field = FormField("agent", "choice", "agent", required=True, choices=choices)
        form = Elicitation(title, Form((field,)))
        options = [PermissionOption(ACCEPT, "Answer", "other"), PermissionOption(DECLINE, "None", "other")]
        question = Permission("", options, title, subject=form, asked_by="client")
        reply = await self._questions.elicit(session, question)
        return self._agents.get(str((reply.content or {}).get("agent")))

    async def _known(self, session: Session, remote_id: str) -> Link:
        """A session the server has (AAP-16: placeholders of secrets are not its values)."""
        found = await self._server.session(remote_id)
        served, info = self._chosen()
        if found.agent.name not in ("", served.name):
            served = self._agents.get(found.agent.name, served)
            info = info_of(served)
        link = Link(session, remote_id, served, info, declared=tuple(found.tools))
        link.own = self._offered(served)
        enabled = {ref.name: TRUST if ref.trust else ASK for ref in found.agent.tools or ()}
        link.tools = {tool.name: enabled.get(tool.name, OFF) for tool in served.tools}
        link.tools |= enabled
        link.sent_tools = dict(link.tools)
        secret = {option.name for option in served.options if option.type == "secret"}
        link.values = defaults(served.options) | found.agent.options
        link.values = {name: SET if name in secret and text else text for name, text in link.values.items()}
        return link

    def _open(self, link: Link) -> None:
        self._links.add(link)
        self._sink.apply(link.session, SessionOpened(link.remote_id, link.info, waits=bool(link.owed)))
        self._sink.apply(link.session, OptionsSet(offered(link)))
        if self._own and not link.own and not self._told:
            self._told = True
            title = f"{self._label} takes no tools of the editor"
            line = f"{self._server.place.setting}.client_tools counts for nothing with this server"
            self._sink.apply(
                link.session, NoteShown(Note("client tools", "info", title, [line], beside=True))
            )

    def _offered(self, served: meta.AgentInfo) -> dict[str, ClientTool]:
        """Our tools, if the agent takes any, by the names it is told (AAP-25, AAP-26)."""
        return client_tools.named_apart(self._own, served) if client_tools.takes(served.capabilities) else {}

    async def _remember(self, link: Link, blocks: Sequence[Block]) -> None:
        """A session is called by what was said in it first, as the server has no title for it (AAP-14)."""
        session, moment = link.session, now()
        title = session.title or title_of(blocks)
        self._sink.apply(session, InfoPatch(title or None, moment))
        if self._memory is not None:
            await self._memory.keep(link.remote_id, Known(title, session.cwd, moment))

    async def _recall(self, link: Link) -> None:
        if self._memory is not None and link.session.title is None:
            known = (await self._memory.recall()).get(link.remote_id)
            if known is not None and known.title:
                self._sink.apply(link.session, InfoPatch(known.title, known.updated_at))

    def _over(self, link: Link, ended: TurnEnded) -> None:
        link.scope, link.cancelling = None, False
        self._questions.cancel_all(link.session, "agent")
        self._sink.apply(link.session, ended)

    @asynccontextmanager
    async def _asking(self, owner: object, what: str) -> AsyncIterator[None]:
        """What is asked meanwhile can be withdrawn; then it fails. Raises AgentError."""
        if self._why is not None:
            raise AgentError(self._why)
        scope = anyio.CancelScope()
        entry = (owner, what, scope)
        self._asked.append(entry)
        try:
            with scope:
                yield
        finally:
            self._asked.remove(entry)
        if scope.cancelled_caught:
            raise AgentError(self._why or Failure("it was taken back", CANCELLED, kind="cancelled"))

    def _chosen(self) -> tuple[meta.AgentInfo, AgentInfo]:
        if self._served is None or self.info is None:
            raise AgentError(Failure("the agent is not connected", kind="transport", remedy=":AcpRestart"))
        return self._served, self.info

    def _cannot(self, what: str) -> AgentError:
        return AgentError(Failure(f"{self._label} {what}", kind="unsupported"))
