"""The answer to one post of a turn, as it comes: events -> the session (spec sections 6 and 9)."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Role
from acp_nvim.session.events import MessageAppend, MessageSet, ToolPatch
from acp_nvim.session.ports import Sink
from acp_nvim.transport.sse import ServerEvent
from acp_nvim.wire.aap import codecs
from acp_nvim.wire.aap import messages as wire
from acp_nvim.wire.aap.events import EventData
from acp_nvim.wire.surrogates import SurrogateJoiner
from acp_nvim.wire.tolerant import WireError

from .content import image, in_order, tool_content
from .failures import said
from .links import TRUST, Call, Link
from .server import Server


class Reading:
    """``stop`` is the reason of the first ``turn_stop``; what comes after that is ignored (AAP-49)."""

    def __init__(self, link: Link, sink: Sink, server: Server) -> None:
        self.over = False  # the server has said that this answer is complete
        self.stop: str | None = None
        self.anything = False  # text, a thought or a tool has come
        self.words: list[str] = []  # the agent's text, in the pieces it came in
        self.complaint = ""  # the words of an event ``error``, which is no event of the protocol
        self._link = link
        self._sink = sink
        self._server = server
        self._calls: dict[str, Call] = {}  # of this answer, by the server's id, in order
        self._results: set[str] = set()
        self._running: tuple[Role, str] | None = None  # the message that deltas extend
        self._joiner = SurrogateJoiner()

    @property
    def open(self) -> list[Call]:
        """The calls of this answer that have no result (AAP-54)."""
        return [call for call in self._calls.values() if call.id not in self._results]

    def event(self, event: ServerEvent) -> None:
        """Apply one event; one that cannot be used is told in the trace, and that is all (AAP-42)."""
        if self.over:
            self._server.note(f"{event.type} after the end of the turn: ignored", event.data)
            return
        self._server.seen(event.type or "event", event.data)
        if event.type == "error":
            self.complaint = said(event.data)
        try:
            data = self._server.decode(event.data, codecs.EVENT)
        except WireError as error:
            self._server.note(f"{event.type or 'an event'} cannot be read: {error}")
            return
        kind = data.event or event.type
        if not self._apply(kind, data):
            self._server.note(f"{kind or 'an event without a type'} is not understood: ignored")

    def whole(self, response: wire.TurnResponse) -> None:
        """Apply an answer that is no stream (AAP-63, AAP-64)."""
        for message in response.messages:
            match message:
                case wire.AssistantMessage():
                    self._assistant(message.content)
                case wire.ToolMessage():
                    self._result(message.tool_call_id, message.content)
                case _:
                    self._server.note("a message of the answer is not the agent's: ignored")
        self.over, self.stop = True, response.stop_reason

    def end(self) -> None:
        """The running message is complete (AAP-44): half a character that is left becomes U+FFFD."""
        rest = self._joiner.flush()
        if rest and self._running is not None:
            role, ident = self._running
            self._keep(role, rest)
            self._sink.apply(self._link.session, MessageAppend(role, ident, Block.of_text(rest)))
        self._running = None

    def _apply(self, kind: str, data: EventData) -> bool:
        match kind:
            case "turn_start":
                return True
            case "text_delta" if data.delta is not None:
                self._extend("agent", data.delta)
            case "thinking_delta" if data.delta is not None:
                self._extend("thought", data.delta)
            case "text" if data.text is not None:
                self._message("agent", Block.of_text(data.text))
            case "thinking" if data.thinking is not None:
                self._message("thought", Block.of_text(data.thinking))
            case "tool_call" if data.tool_call_id is not None:
                self._call(data.tool_call_id, data.name or "", data.input)
            case "tool_result" if data.tool_call_id is not None:
                self._result(data.tool_call_id, data.content if data.content is not None else "")
            case "turn_stop":
                self.over, self.stop = True, data.stop_reason
                self.end()
            case _:
                return False
        return True

    def _extend(self, role: Role, text: str) -> None:
        """A delta extends the message of its kind; there are no ids but ours (AAP-44)."""
        if self._running is None or self._running[0] != role:
            self.end()
            self._running = (role, self._ident())
        self.anything = True
        shown = self._joiner.feed(text)
        self._keep(role, shown)
        self._sink.apply(self._link.session, MessageAppend(role, self._running[1], Block.of_text(shown)))

    def _keep(self, role: Role, words: str) -> None:
        if role == "agent":
            self.words.append(words)

    def _message(self, role: Role, block: Block) -> None:
        """A message of its own (AAP-45)."""
        self.end()
        self.anything = True
        self._keep(role, str(block.text or ""))
        if block.type != "text" or (block.text is not None and block.text.length):
            self._sink.apply(self._link.session, MessageSet(role, self._ident(), [block]))

    def _ident(self) -> str:
        """Of a message that is new: the session's count of events never repeats."""
        return f"aap:{self._link.session.arrival + 1}"

    def _assistant(self, content: wire.Content) -> None:
        if isinstance(content, str):
            self._message("agent", Block.of_text(content))
            return
        for block in in_order(content):
            match block:
                case wire.TextBlock():
                    self._message("agent", Block.of_text(block.text))
                case wire.ThinkingBlock():
                    self._message("thought", Block.of_text(block.thinking))
                case wire.ImageBlock():
                    self._message("agent", image(block))
                case wire.ToolUseBlock():
                    self._call(block.tool_call_id, block.name, block.input)
                case _:
                    self._message("agent", Block("unknown", raw=block.raw))

    def _call(self, call_id: str, name: str, given: Any) -> None:
        self.end()
        self.anything = True
        call = self._calls.get(call_id) or self._link.call(call_id, name, given)
        self._calls[call_id] = call
        self._sink.apply(self._link.session, announced(self._link, call))

    def _result(self, call_id: str, content: wire.Content) -> None:
        """Also of a call of an earlier answer, or of one that was never announced (AAP-47, AAP-48)."""
        self.end()
        self.anything = True
        self._results.add(call_id)
        row = self._link.rows.setdefault(call_id, call_id)
        self._link.done.add(row)
        known = row in self._link.session.tool_calls
        title: str | UnsetType = UNSET if known else "a tool"
        self._sink.apply(
            self._link.session, ToolPatch(row, title=title, status="completed", content=tool_content(content))
        )


def announced(link: Link, call: Call) -> ToolPatch:
    """The row of a call (spec section 13): it runs on the server, unless it waits for us."""
    own = link.own.get(call.name) if link.ours(call.name) else None
    if own is not None:
        return ToolPatch(
            call.row, title=own.title, name=call.name, kind=own.kind, status="pending", raw_input=call.input
        )
    spec = link.spec(call.name)
    runs = not link.ours(call.name) and (spec is None or link.tools.get(call.name) == TRUST)
    return ToolPatch(
        call.row,
        title=(spec.title if spec is not None else None) or call.name or "a tool",
        name=call.name,
        kind="other",
        status="in_progress" if runs else "pending",
        raw_input=call.input,
    )
