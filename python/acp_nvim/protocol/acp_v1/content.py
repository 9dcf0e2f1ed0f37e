"""Tool content of v1: wire -> model (spec section 11)."""

from __future__ import annotations

from acp_nvim.protocol.content import absolute, block
from acp_nvim.session.content import Change, Diff, TerminalRef, ToolContent, UnknownContent
from acp_nvim.wire.acp_v1 import tools
from acp_nvim.wire.base import UnknownType


def tool_content(item: tools.ToolCallContent, cwd: str) -> ToolContent:
    """An item of a tool call's content; a bare content block is taken too (V1-115, V1-116)."""
    match item:
        case tools.ContentItem():
            return block(item.content)
        case tools.DiffItem():
            change = Change("add" if item.old_text is None else "modify", absolute(item.path, cwd))
            return Diff((change,), item.old_text, item.new_text)
        case tools.TerminalItem():
            return TerminalRef(item.terminal_id)
        case UnknownType():
            return UnknownContent(item.raw)
        case _:
            return block(item)
