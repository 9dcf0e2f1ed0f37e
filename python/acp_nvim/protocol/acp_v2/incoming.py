"""What the agent sends: updates and questions (rpc.Handler)."""

from __future__ import annotations

import anyio
from msgspec import Raw, structs

from acp_nvim.protocol.channel import Channel
from acp_nvim.protocol.elicitation import Waiting
from acp_nvim.protocol.gathered import Gathered
from acp_nvim.protocol.links import Links
from acp_nvim.protocol.receiving import Receiving
from acp_nvim.protocol.rpc_errors import method_not_found
from acp_nvim.session.asked import (
    CommandSubject,
    Permission,
    PermissionOption,
    Subject,
    ToolSubject,
    UnknownSubject,
)
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Role
from acp_nvim.session.events import (
    CompactionAppend,
    CompactionPatch,
    Event,
    MessageAppend,
    MessageSet,
    PlanRemoved,
    PlanSet,
    TerminalBytes,
    TerminalPatch,
    TerminalSet,
    ToolAppend,
    ToolPatch,
    TurnCancelling,
    Unknown,
)
from acp_nvim.session.ports import Questions
from acp_nvim.wire.acp_v2 import codecs, tools, updates
from acp_nvim.wire.acp_v2.content import TextContent
from acp_nvim.wire.base import UnknownType
from acp_nvim.wire.surrogates import SplitText, SurrogateJoiner

from .link import LinkV2
from .turns import Later, Turns, in_background
from .updates import events, tool_patch

CANCELLED = tools.RequestPermissionResponse(outcome=tools.CancelledOutcome())
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")

# Events that put something into the timeline.
TIMELINE = (
    MessageAppend,
    MessageSet,
    ToolPatch,
    ToolAppend,
    PlanSet,
    PlanRemoved,
    CompactionPatch,
    CompactionAppend,
    TerminalPatch,
    TerminalSet,
    TerminalBytes,
)


class Incoming(Receiving[LinkV2]):
    """Decodes and dispatches."""

    def __init__(
        self,
        links: Links[LinkV2],
        sink: Gathered,
        questions: Questions,
        channel: Channel,
        waiting: Waiting,
        later: Later,
    ) -> None:
        super().__init__(
            links,
            sink,
            questions,
            channel.note,
            waiting,
            notified=codecs.SESSION_UPDATE.decode,
            elicited=codecs.CREATE_ELICITATION.decode,
        )
        self.turns = Turns(sink, later, self.flush)

    async def request(self, method: str, params: Raw) -> object:
        """Answer a request. There are no files and no terminals of ours in v2 (V2-18, V2-23)."""
        match method:
            case "session/request_permission":
                return await self._permission(params)
            case "elicitation/create":
                return await self._elicitations.create(params)
            case _:
                raise method_not_found(method)

    def update(self, link: LinkV2, update: updates.SessionUpdate) -> None:
        """Apply one update, whatever the session does just now (V2-11, V2-37, V2-63, V2-92)."""
        session = link.session
        if isinstance(update, updates.StateUpdate):
            self.turns.state(link, update)
            return
        if isinstance(update, updates.UserMessage | updates.UserMessageChunk):
            self.turns.echo(link, update.message_id)
        for made in events(update, session.cwd, f"acp-{session.arrival + 1}", self._note):
            self._apply(link, update, made)

    def _apply(self, link: LinkV2, update: updates.SessionUpdate, made: Event) -> None:
        if isinstance(made, TIMELINE):
            if link.replay != "no":
                link.replayed += 1
            if link.replay == "drop":
                return
            if link.replay == "show" and isinstance(made, MessageAppend | MessageSet):
                made = structs.replace(made, origin="replay")
            if isinstance(made, MessageSet) and made.blocks is not None:
                link.joiners.pop((made.role, made.id), None)
            if isinstance(made, MessageAppend) and isinstance(update, updates.ContentChunk):
                self._join(link, made, update)
        elif isinstance(made, Unknown):
            self._note(f"unknown update {made.what}")
        self._sink.apply(link.session, made)

    def _join(self, link: LinkV2, made: MessageAppend, chunk: updates.ContentChunk) -> None:
        """Put a character together that was cut between two chunks of a message."""
        key: tuple[Role, str] = (made.role, chunk.message_id)
        if not isinstance(chunk.content, TextContent):
            self._rest(link, key)
            return
        text = chunk.content.text
        if not isinstance(text, SplitText) and key not in link.joiners:
            return
        joiner = link.joiners.pop(key, None) or SurrogateJoiner()
        made.block.text = Block.of_text(joiner.feed(text)).text
        if isinstance(text, SplitText) and text.tail:
            link.joiners[key] = joiner

    def flush(self, link: LinkV2) -> None:
        """No message goes on for now: half a character that is left becomes U+FFFD."""
        for key in list(link.joiners):
            self._rest(link, key)

    def _rest(self, link: LinkV2, key: tuple[Role, str]) -> None:
        joiner = link.joiners.pop(key, None)
        if joiner is not None and (rest := joiner.flush()):
            self._sink.apply(link.session, MessageAppend(*key, Block.of_text(rest)))

    async def _permission(self, params: Raw) -> tools.RequestPermissionResponse:
        """Ask the user; several may be open at once (V2-116..124).

        Withdrawn by ``$/cancel_request`` it is answered with the outcome cancelled (V2-75). After a cancel
        what belongs to the foreground is answered at once (V2-71).
        """
        request = codecs.REQUEST_PERMISSION.decode(params, self._note)
        link = self._link(request.session_id)
        question = self._question(link, request)
        if link.cancelling and not self.background(link, question):
            self._sink.apply(link.session, TurnCancelling())
            return CANCELLED
        try:
            option = await self._questions.ask(link.session, question)
        except anyio.get_cancelled_exc_class():
            return CANCELLED
        if option is None:
            return CANCELLED
        return tools.RequestPermissionResponse(outcome=tools.SelectedOutcome(option_id=option))

    def _question(self, link: LinkV2, request: tools.RequestPermissionRequest) -> Permission:
        """A tool call's patch is applied first (V2-118); the ids of a command only link (V2-119)."""
        session = link.session
        subject: Subject = None
        call: str | None = None
        terminal: str | None = None
        match request.subject:
            case tools.ToolCallSubject(tool_call=patch):
                self.flush(link)
                self._sink.apply(session, tool_patch(patch, session.cwd))
                call, subject = patch.tool_call_id, ToolSubject(patch.tool_call_id)
            case tools.CommandSubject() as said:
                subject, terminal = CommandSubject(said.command, said.cwd), said.terminal_id
                shown = session.terminals.get(terminal or "")
                places = [said.tool_call_id, *(shown.calls if shown is not None else ())]
                call = next((each for each in places if each in session.tool_calls), None)
            case UnknownType(kind=kind, raw=raw):
                subject = UnknownSubject(kind, raw)
        return Permission(
            id="",  # given by the queue of questions
            options=[
                PermissionOption(o.option_id, o.name, o.kind if o.kind in KINDS else "other", o.kind)
                for o in request.options
            ],
            title=request.title,
            description=request.description,
            subject=subject,
            tool_call_id=call,
            terminal_id=terminal,
        )

    def background(self, link: LinkV2, question: Permission) -> bool:
        """Whether a question is about work that goes on apart from the turn."""
        return in_background(link, question.tool_call_id, question.terminal_id)
