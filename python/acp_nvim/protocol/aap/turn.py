"""One turn of the user's: a prompt, and all posts it takes until the agent is done (spec sections 5 to 8)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import anyio
from msgspec import structs

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Failure
from acp_nvim.session.events import ToolPatch, TurnAccepted
from acp_nvim.session.ports import AgentError, Sink
from acp_nvim.transport.errors import HttpFailedError, LineTooLongError
from acp_nvim.transport.http import Streamed
from acp_nvim.transport.sse import SseDecoder
from acp_nvim.wire.aap import codecs
from acp_nvim.wire.aap.messages import ToolPermissionMessage, UserMessage
from acp_nvim.wire.aap.meta import Capabilities, Stream
from acp_nvim.wire.aap.requests import AgentChange, NewTurn, TurnMessage
from acp_nvim.wire.tolerant import WireError

from . import history
from .answering import Answering
from .client_tools import differ, specs
from .content import user_message
from .links import Link
from .reading import Reading
from .server import Server

#: Posts of one turn; a model that calls tools for ever is stopped (AAP-61).
MOST_POSTS = 60
#: Seconds for the history that tells what became of a call: the turn does not wait for more.
HISTORY_PATIENCE = 10.0

#: What stands in the row of a tool that ran and whose result nobody told (AAP-58).
UNTOLD = "(it was allowed; the server has not told its result)"

#: What the user is told when the connection broke off before the answer: the SDK's server keeps a prompt
#: only when it has answered it, so its history need not tell.
DOUBT = "the server may have it all the same: see whether it runs, then send again"


@dataclass(frozen=True, slots=True)
class End:
    """As in ``events.TurnEnded``."""

    stop: str | None
    error: Failure | None = None
    confirmed: bool = True


def mode_of(capabilities: Capabilities) -> str:
    """AAP-35."""
    offers = capabilities.stream or Stream()
    return "delta" if offers.delta is not None else "message" if offers.message is not None else "none"


class Turn:
    """Used once. Its task is cancelled when the user cancels: that closes the stream (AAP-38).

    ``arrived`` is awaited with the user's words as soon as the server has them.
    """

    def __init__(
        self,
        link: Link,
        server: Server,
        sink: Sink,
        answering: Answering,
        arrived: Callable[[Link, Sequence[Block]], Awaitable[None]],
    ) -> None:
        self._link = link
        self._server = server
        self._sink = sink
        self._answering = answering
        self._arrived = arrived
        self._posts = 0
        self.reached = False  # the server has got the user's words

    async def run(self, blocks: Sequence[Block]) -> End:
        """Without blocks: answer what an old session waits for, as always (AAP-68). Raises AgentError.

        Calls that were left open by a cancelled turn are denied first: a message alone would leave them
        without an answer in the server's history (AAP-62).
        """
        link = self._link
        if link.stale:
            await self._reload()
        end = End(None)
        if link.owed:
            end = await self._talk(await self._answering.answers(link, link.owed))
            if blocks and link.owed:
                raise AgentError(Failure("the tool calls of the turn before do not end", remedy="send again"))
        if blocks and end.error is None:
            takes = (link.served.capabilities or Capabilities()).image
            end = await self._talk([user_message(blocks, takes)], said=blocks)
        return end

    async def _talk(self, messages: Sequence[TurnMessage], *, said: Sequence[Block] = ()) -> End:
        """Post, and post answers as long as calls wait for them (AAP-54, AAP-55, AAP-60).

        ``said``: the user's words, if these messages are they.
        """
        while True:
            allowed = self._allowed(messages)
            reading = await self._post(messages, said=said)
            said = ()
            await self._settle(allowed)
            if not reading.over and (reading.complaint or not reading.anything):
                return End("error", self._server.complaint(reading.complaint) or _nothing())
            calls = reading.open
            if reading.stop != "tool_use" and (reading.over or not calls):
                # A stream that ends in peace without a reason: as the SDK's server does it (AAP-50).
                why = self._server.complaint(reading.complaint) or _failed()
                error = why if reading.stop == "error" else None
                if not reading.over:
                    return End("end_turn", confirmed=await self._is_whole(reading))
                return End(reading.stop, error)
            if not calls:
                return End("end_turn", confirmed=reading.over)  # AAP-53
            self._link.owed = calls
            if self._posts >= MOST_POSTS:
                return End("max_turn_requests")
            messages = await self._answering.answers(self._link, calls)

    async def _post(self, messages: Sequence[TurnMessage], *, said: Sequence[Block]) -> Reading:
        """One post and its answer. Raises AgentError; what had come by then stays (AAP-51)."""
        link = self._link
        self._posts += 1
        request = self._request(messages)
        reading = Reading(link, self._sink, self._server)
        link.stale = True  # until the answer is complete, nobody knows what the server makes of it
        async with self._turn(request, asked=bool(said)) as streamed:
            self._taken(request)
            if said:
                self.reached = True
            try:
                if said:
                    await self._arrived(link, said)
                await self._read(streamed, reading)
            except HttpFailedError as error:
                raise AgentError(self._broken(error)) from error
            except LineTooLongError as error:
                raise AgentError(Failure(f"{error}: the turn was given up", remedy="send again")) from error
            finally:
                reading.end()
                if not reading.over:  # what is known to wait, should there be no history to tell (AAP-62)
                    link.owed = [call for call in reading.open if link.waits(call.name)]
            link.stale = False
        return reading

    @asynccontextmanager
    async def _turn(self, request: NewTurn, *, asked: bool) -> AsyncIterator[Streamed]:
        """A refused post has changed nothing. ``asked``: it has the user's words."""
        try:
            async with self._server.turn(self._link.remote_id, request) as streamed:
                if streamed.answer.content_type == "text/html":  # of something between us and the server
                    raise AgentError(self._no_answer("text/html"))
                yield streamed
        except AgentError as error:
            if error.failure.code is not None:
                self._link.stale = False
            elif asked and not self.reached and _is_cut(error):
                self.reached = await self._has(request)
                failure = self._only_words() if self.reached else structs.replace(error.failure, remedy=DOUBT)
                raise AgentError(failure) from error
            raise

    async def _has(self, request: NewTurn) -> bool:
        """Whether the server has the user's words although its answer did not begin: sent again they would
        be there twice. That cannot be told of words that are the same as those before.
        """
        (message,) = request.messages
        words = message.content if isinstance(message, UserMessage) else None
        kind = history.kind_of(self._link.served.capabilities)
        if kind is None or words == self._link.said:
            return False
        with anyio.move_on_after(HISTORY_PATIENCE):
            try:
                return history.last_said(await self._server.history(self._link.remote_id, kind)) == words
            except AgentError as error:
                self._server.note(f"no history: {error.failure.message}")
        return False

    async def _read(self, streamed: Streamed, reading: Reading) -> None:
        kind = streamed.answer.content_type
        if kind == "text/event-stream":
            decoder = SseDecoder()
            async with aclosing(streamed.pieces()) as pieces:
                async for piece in pieces:
                    for event in decoder.decode(piece):
                        reading.event(event)
                    if reading.over:
                        return
                    await self._sink.room(self._link.session)
            if decoder.pending:
                self._server.note("the stream ended in the middle of an event: ignored")
            return
        body = (await streamed.rest()).body
        self._server.seen(kind or "body", body)
        try:
            reading.whole(self._server.decode(body, codecs.TURN))
        except WireError as error:
            raise AgentError(self._no_answer(kind)) from error

    def _request(self, messages: Sequence[TurnMessage]) -> NewTurn:
        """With what has changed since the last, and nothing else (AAP-24)."""
        link = self._link
        tools = link.refs() if link.tools != link.sent_tools else None
        options = dict(link.wanted) if link.wanted else None
        change = AgentChange(tools, options) if tools is not None or options is not None else None
        ours = specs(link.own)  # AAP-69: perhaps it knows those of another application, or of other settings
        return NewTurn(
            list(messages),
            stream=mode_of(link.served.capabilities),
            agent=change,
            tools=list(ours) if differ(link.declared, ours) else None,
        )

    def _taken(self, request: NewTurn) -> None:
        """The server has taken the post: what it was told need not be told again."""
        link = self._link
        link.owed, link.answers, link.cancelled, link.fresh = [], {}, False, False
        for message in request.messages:
            if isinstance(message, UserMessage):
                link.said = message.content
        if request.agent is not None and request.agent.tools is not None:
            link.sent_tools = {each.name: "trust" if each.trust else "ask" for each in request.agent.tools}
            link.sent_tools |= {name: how for name, how in link.tools.items() if how == "off"}
        for name, value in (request.agent.options or {} if request.agent is not None else {}).items():
            if link.wanted.get(name) == value:
                del link.wanted[name]
        if request.tools is not None:
            link.declared = tuple(request.tools)
        self._sink.apply(link.session, TurnAccepted())

    # -- tool calls

    def _allowed(self, messages: Sequence[TurnMessage]) -> set[str]:
        """The rows of the calls that these messages allow."""
        granted = [m.tool_call_id for m in messages if isinstance(m, ToolPermissionMessage) and m.granted]
        return {self._link.rows.get(each, each) for each in granted}

    async def _settle(self, rows: set[str]) -> None:
        """Allowed calls have run by now, and the SDK's server tells no result but in the history (AAP-58)."""
        link = self._link
        left = rows - link.done
        kind = history.kind_of(link.served.capabilities)
        if left and kind is not None:
            with anyio.move_on_after(HISTORY_PATIENCE):
                try:
                    history.fill(await self._server.history(link.remote_id, kind), link, self._sink, left)
                except AgentError as error:
                    self._server.note(f"no history: {error.failure.message}")
        for row in left - link.done:
            link.done.add(row)
            content = [Block.of_text(UNTOLD)]
            self._sink.apply(link.session, ToolPatch(row, status="completed", content=content))

    async def _is_whole(self, reading: Reading) -> bool:
        """Whether the server has kept what it said as its answer: the SDK's does so when it is complete, and
        then loses the last event (AAP-50). Said of half an answer, that it is done would be wrong.
        """
        words = "".join(reading.words)
        kind = history.kind_of(self._link.served.capabilities)
        if kind is None or not words:
            return False
        with anyio.move_on_after(HISTORY_PATIENCE):
            try:
                found = await self._server.history(self._link.remote_id, kind)
            except AgentError as error:
                self._server.note(f"no history: {error.failure.message}")
            else:
                return history.answered(found).endswith(words) and not history.unanswered(found, self._link)
        return False

    async def _reload(self) -> None:
        """What the server has made of a turn that was cancelled, or broke off (AAP-38). Raises AgentError."""
        link = self._link
        kind = history.kind_of(link.served.capabilities)
        if kind is not None:
            try:
                found = await self._server.history(link.remote_id, kind, "send again")
            except AgentError as error:
                if error.failure.kind in ("transport", "auth", "not_found"):
                    raise
                self._server.note(f"no history: {error.failure.message}")  # the user can go on all the same
            else:
                history.fill(found, link, self._sink)
                link.owed = history.unanswered(found, link)
                link.said = history.last_said(found)
        link.stale = False

    def _no_answer(self, kind: str) -> Failure:
        """``kind`` is the type of what came instead."""
        return self._server.no_aap(f"the prompt is not AAP ({kind or 'it has no type'})")

    def _only_words(self) -> Failure:
        message = "the connection broke off before an answer came, but the server has your prompt"
        remedy = ":AcpSessions loads what it has made of it; what you send now comes after it"
        return Failure(message, kind="transport", remedy=remedy)

    def _broken(self, error: HttpFailedError) -> Failure:
        """It broke off in the middle. Nothing is sent again by itself: the turn may have run (AAP-51)."""
        failure = self._server.broken(error)
        if error.cause != "cut":
            return failure
        loads = history.kind_of(self._link.served.capabilities) is not None
        remedy = "what came is kept; :AcpSessions loads what the server has" if loads else "what came is kept"
        return structs.replace(
            failure, message="the connection broke off in the middle of the answer", remedy=remedy
        )


def _is_cut(error: AgentError) -> bool:
    """Whether nobody knows how far the post has got."""
    return isinstance(error.__cause__, HttpFailedError) and error.__cause__.cause == "cut"


def _failed() -> Failure:
    """The protocol has no words for why."""
    return Failure("the server's agent failed; it does not say why", remedy="send again")


def _nothing() -> Failure:
    """AAP-50: as when a model fails in message mode."""
    return Failure("the server ended the turn without a word", remedy="send again, or see :AcpTrace")
