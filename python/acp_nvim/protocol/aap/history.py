"""A session's history as the server has it: shown, and searched for what waits (spec section 10)."""

from __future__ import annotations

from collections.abc import Sequence

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Role
from acp_nvim.session.events import MessageAppend, ToolPatch
from acp_nvim.session.ports import Sink
from acp_nvim.wire.aap import messages as wire
from acp_nvim.wire.aap.meta import Capabilities

from .content import image, in_order, tool_content
from .links import Call, Link
from .reading import announced


def kind_of(capabilities: Capabilities) -> str | None:
    """Which history to ask for: full, else compacted; None: the agent has none (AAP-66)."""
    has = capabilities.history
    if has is None:
        return None
    return "full" if has.full is not None else "compacted" if has.compacted is not None else None


def replay(history: Sequence[wire.HistoryMessage], link: Link, sink: Sink) -> int:
    """Show it in a session that shows nothing yet; returns how many messages and calls it has."""
    shown = _Shown(link, sink)
    for message in history:
        match message:
            case wire.UserMessage():
                shown.message("user", message.content)
            case wire.AssistantMessage():
                shown.assistant(message.content)
            case wire.ToolMessage():
                shown.result(message)
            case _:
                continue  # system, and roles we do not know, are not part of the conversation
    return shown.count


def unanswered(history: Sequence[wire.HistoryMessage], link: Link) -> list[Call]:
    """The calls for whose answer the server waits: of the last message, if it is the agent's (AAP-68)."""
    open_calls: dict[str, wire.ToolUseBlock] = {}
    for message in history:
        match message:
            case wire.UserMessage():
                open_calls.clear()
            case wire.AssistantMessage() if not isinstance(message.content, str):
                uses = [each for each in message.content if isinstance(each, wire.ToolUseBlock)]
                open_calls.update({each.tool_call_id: each for each in uses})
            case wire.ToolMessage():
                open_calls.pop(message.tool_call_id, None)
            case _:
                continue
    return [
        Call(
            each.tool_call_id,
            link.rows.setdefault(each.tool_call_id, each.tool_call_id),
            each.name,
            each.input,
        )
        for each in open_calls.values()
    ]


def last_said(history: Sequence[wire.HistoryMessage]) -> wire.Content | None:
    """The user's last message."""
    return next((each.content for each in reversed(history) if isinstance(each, wire.UserMessage)), None)


def answered(history: Sequence[wire.HistoryMessage]) -> str:
    """What the agent has said since the user's last message."""
    said: list[str] = []
    for message in history:
        match message:
            case wire.UserMessage():
                said.clear()
            case wire.AssistantMessage(content=str() as words):
                said.append(words)
            case wire.AssistantMessage():
                said += [each.text for each in message.content if isinstance(each, wire.TextBlock)]
            case _:
                continue
    return "".join(said)


def fill(
    history: Sequence[wire.HistoryMessage], link: Link, sink: Sink, rows: set[str] | None = None
) -> None:
    """Give rows the results that the server has and never told (AAP-58): ``rows``, or all that lack one.

    The newest result of an id counts: ids may be used again.
    """
    results = {m.tool_call_id: m for m in history if isinstance(m, wire.ToolMessage)}
    for call_id, row in link.rows.items():
        found = results.get(call_id)
        if found is None or row in link.done or (rows is not None and row not in rows):
            continue
        call = link.session.tool_calls.get(row)
        if call is None or call.local == "rejected":
            continue  # what is stored for it is the rejection (AAP-59)
        link.done.add(row)
        sink.apply(link.session, ToolPatch(row, status="completed", content=tool_content(found.content)))


class _Shown:
    """Puts messages into the timeline, each under an id of its own."""

    def __init__(self, link: Link, sink: Sink) -> None:
        self.count = 0
        self._link = link
        self._sink = sink

    def message(self, role: Role, content: wire.Content) -> None:
        """All blocks of one message that are of one role."""
        ident = f"aap:{self._link.session.arrival + 1}"
        self.count += 1
        for block in [Block.of_text(content)] if isinstance(content, str) else map(_block, content):
            self._sink.apply(self._link.session, MessageAppend(role, ident, block, origin="replay"))

    def assistant(self, content: wire.Content) -> None:
        if isinstance(content, str):
            self.message("agent", content)
            return
        for block in in_order(content):
            match block:
                case wire.ThinkingBlock():
                    self.message("thought", block.thinking)
                case wire.ToolUseBlock():
                    self.count += 1
                    call = self._link.call(block.tool_call_id, block.name, block.input)
                    self._sink.apply(self._link.session, announced(self._link, call))
                case _:
                    self.message("agent", [block])

    def result(self, message: wire.ToolMessage) -> None:
        """One result a call, however often it is stored (AAP-70)."""
        row = self._link.rows.setdefault(message.tool_call_id, message.tool_call_id)
        if row in self._link.done:
            return
        self._link.done.add(row)
        patch = ToolPatch(row, status="completed", content=tool_content(message.content))
        self._sink.apply(self._link.session, patch)


def _block(block: wire.ContentBlock) -> Block:
    match block:
        case wire.TextBlock(text=text) | wire.ThinkingBlock(thinking=text):
            return Block.of_text(text)
        case wire.ImageBlock():
            return image(block)
        case wire.ToolUseBlock():
            return Block("unknown", raw={"type": "tool_use", "name": block.name, "input": block.input})
        case _:
            return Block("unknown", raw=block.raw)
