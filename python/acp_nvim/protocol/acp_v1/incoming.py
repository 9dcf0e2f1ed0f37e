"""What the agent sends: updates, and requests for files and permissions (rpc.Handler)."""

from __future__ import annotations

import posixpath

from msgspec import Raw, structs

from acp_nvim.protocol.elicitation import Waiting
from acp_nvim.protocol.gathered import Gathered
from acp_nvim.protocol.links import Links
from acp_nvim.protocol.receiving import Receiving
from acp_nvim.protocol.rpc import Observer
from acp_nvim.protocol.rpc_errors import method_not_found
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Session
from acp_nvim.session.events import (
    CompactionAppend,
    CompactionPatch,
    Event,
    MessageAppend,
    PlanSet,
    ToolPatch,
    TurnCancelling,
    Unknown,
)
from acp_nvim.session.ports import Files, Questions, RequestError, Terminals
from acp_nvim.wire.acp_v1 import client, codecs, tools, updates
from acp_nvim.wire.acp_v1.content import TextContent

from .display import terminal_events
from .link import LinkV1
from .permission import permission
from .terminals import TerminalRequests
from .updates import event, tool_patch

INVALID_PARAMS = -32602
CANCELLED = tools.RequestPermissionResponse(outcome=tools.CancelledOutcome())

# Events that put something into the timeline.
TIMELINE = (MessageAppend, ToolPatch, PlanSet, CompactionPatch, CompactionAppend)


class Incoming(Receiving[LinkV1]):
    """Decodes and dispatches. ``observe`` gets what could not be used, for the trace."""

    def __init__(
        self,
        links: Links[LinkV1],
        sink: Gathered,
        files: Files,
        questions: Questions,
        terminals: Terminals,
        observe: Observer,
        waiting: Waiting,
    ) -> None:
        super().__init__(
            links,
            sink,
            questions,
            lambda text: observe("note", b"", text),
            waiting,
            notified=codecs.SESSION_UPDATE.decode,
            elicited=codecs.CREATE_ELICITATION.decode,
        )
        self._files = files
        self._terminals = TerminalRequests(terminals, lambda each: self._link(each).session, self._note)

    async def request(self, method: str, params: Raw) -> object:
        """Answer a request; what we did not offer is -32601 (V1-174, V1-211)."""
        match method:
            case "session/request_permission":
                return await self._permission(params)
            case "elicitation/create":
                return await self._elicitations.create(params)
            case "fs/read_text_file":
                return await self._read(params)
            case "fs/write_text_file":
                await self._write(params)
                return None
            case _ if method.startswith("terminal/"):
                return await self._terminals.request(method, params)
            case _:
                raise method_not_found(method)

    def update(self, link: LinkV1, update: updates.SessionUpdate) -> None:
        """Apply one update (V1-76, V1-82, V1-88..94, V1-111). Unknown ones stay in the trace (V1-89)."""
        session = link.session
        made: Event = event(update, session.cwd, f"acp-{session.arrival + 1}")
        if isinstance(made, TIMELINE):
            if link.replay != "no":
                link.replayed += 1
            if link.replay == "drop":
                return
            if link.replay == "show" and isinstance(made, MessageAppend):
                made = structs.replace(made, origin="replay")
            if not isinstance(update, updates.ContentChunk) or not self._join(link, update, made):
                self.flush(link)
        elif isinstance(made, Unknown):
            self._note(f"unknown update {made.what}")
        self._sink.apply(session, made)
        if isinstance(update, updates.ToolCallStart | updates.ToolCallPatch):
            self._terminals_of(session, update)

    def _terminals_of(
        self, session: Session, call: updates.ToolCallStart | updates.ToolCallPatch | tools.ToolCallUpdate
    ) -> None:
        for told in terminal_events(call.meta, call.tool_call_id, session):
            self._sink.apply(session, told)

    def flush(self, link: LinkV1) -> None:
        """The running message is over: half a character that is left becomes U+FFFD."""
        rest = link.joiner.flush()
        if rest and link.joining is not None:
            role, message_id = link.joining
            self._sink.apply(link.session, MessageAppend(role, message_id, Block.of_text(rest)))
        link.joining = None

    def _join(self, link: LinkV1, chunk: updates.ContentChunk, made: Event) -> bool:
        """Put a character together that was cut between two chunks. False: the chunk is not text."""
        if not isinstance(made, MessageAppend) or not isinstance(chunk.content, TextContent):
            return False
        key = (made.role, made.id)
        if key != link.joining:
            self.flush(link)
            link.joining = key
        text = chunk.content.text
        joined = link.joiner.feed(text)
        if joined is not text:
            assert made.block.text is not None
            made.block.text = Block.of_text(joined).text
        return True

    async def _permission(self, params: Raw) -> tools.RequestPermissionResponse:
        """Ask the user; several may be open at once (V1-126..129, V1-134..136).

        Withdrawn by ``$/cancel_request`` it is answered with -32800 (V1-85). After a cancel it is
        answered at once (V1-81).
        """
        request = codecs.REQUEST_PERMISSION.decode(params, self._note)
        link = self._link(request.session_id)
        session, call_id = link.session, request.tool_call.tool_call_id
        known = session.tool_calls.get(call_id)
        before = known.raw_input if known is not None else None
        self.flush(link)
        self._sink.apply(session, tool_patch(request.tool_call, session.cwd))
        self._terminals_of(session, request.tool_call)
        if link.cancelling:
            self._sink.apply(session, TurnCancelling())
            return CANCELLED
        question = permission(request.options, session.tool_calls[call_id], before)
        option = await self._questions.ask(session, question)
        if option is None:
            return CANCELLED
        return tools.RequestPermissionResponse(outcome=tools.SelectedOutcome(option_id=option))

    async def _read(self, params: Raw) -> client.ReadTextFileResponse:
        """V1-161; relative paths are refused (V1-172)."""
        request = codecs.READ_TEXT_FILE.decode(params, self._note)
        link = self._link(request.session_id)
        path = _absolute(request.path)
        return client.ReadTextFileResponse(
            content=await self._files.read(link.session, path, request.line, request.limit)
        )

    async def _write(self, params: Raw) -> None:
        """V1-167; relative paths are refused (V1-172)."""
        request = codecs.WRITE_TEXT_FILE.decode(params, self._note)
        link = self._link(request.session_id)
        await self._files.write(link.session, _absolute(request.path), request.content)


def _absolute(path: str) -> str:
    if not posixpath.isabs(path):
        raise RequestError(INVALID_PARAMS, "the path must be absolute", {"path": path})
    return path
