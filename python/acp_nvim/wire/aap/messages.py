"""Messages of a conversation: in a history, in an answer that is no stream, and in the turns we send."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from ..base import UNKNOWN_TAG, Bare, JsonObject, Lax, LaxList, LaxListOrNone, SkipList, Unknown, UnknownType


class TextBlock(Bare, frozen=True, tag_field="type", tag="text"):
    text: str


class ThinkingBlock(Bare, frozen=True, tag_field="type", tag="thinking"):
    thinking: str


class ToolUseBlock(Bare, frozen=True, tag_field="type", tag="tool_use"):
    tool_call_id: str
    name: str
    input: Lax[JsonObject] = field(default_factory=dict)


class ImageBlock(Bare, frozen=True, tag_field="type", tag="image"):
    """``url`` is an address, or a ``data:`` URI."""

    url: str


ContentBlock: TypeAlias = TextBlock | ThinkingBlock | ToolUseBlock | ImageBlock | UnknownType
Content: TypeAlias = str | SkipList[ContentBlock]


class SystemMessage(Bare, frozen=True, tag_field="role", tag="system"):
    content: Lax[str] = ""


class UserMessage(Bare, frozen=True, tag_field="role", tag="user"):
    content: Content


class AssistantMessage(Bare, frozen=True, tag_field="role", tag="assistant"):
    content: Content


class ToolMessage(Bare, frozen=True, tag_field="role", tag="tool"):
    """The result of a call (AAP-30)."""

    tool_call_id: str
    content: Content


class UnknownRole(Unknown, frozen=True, tag_field="role", tag=UNKNOWN_TAG):
    """A role this version does not know."""


HistoryMessage: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage | UnknownRole


class ToolPermissionMessage(Bare, frozen=True, tag_field="role", tag="tool_permission"):
    """The user's answer for a tool of the server's (AAP-56)."""

    tool_call_id: str
    granted: bool
    reason: str | None = None


class Histories(Bare, frozen=True):
    full: LaxListOrNone[HistoryMessage] = None
    compacted: LaxListOrNone[HistoryMessage] = None


class HistoryResponse(Bare, frozen=True):
    """Of ``GET /sessions/:id/history`` (AAP-67)."""

    history: Lax[Histories] = Histories()


class TurnResponse(Bare, frozen=True):
    """The answer to a turn that is no stream (AAP-63)."""

    stop_reason: Lax[str | None] = None
    messages: LaxList[HistoryMessage] = field(default_factory=list)
