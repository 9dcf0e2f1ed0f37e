"""Tool calls, their content, and permission requests (sections 10 to 12).

Kinds, statuses and option kinds are plain strings: an unknown value is kept (V1-108, V1-109, V1-137).
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ..base import U32, Lax, LaxListOrNone, UnknownType, Wire
from .content import AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent


class ContentItem(Wire, frozen=True, tag_field="type", tag="content"):
    """A content block, one level down (V1-115)."""

    content: ContentBlock


class DiffItem(Wire, frozen=True, tag_field="type", tag="diff"):
    """``old_text`` None: a new file. Whole file or fragment, the protocol does not say (V1-117)."""

    path: str
    new_text: str
    old_text: Lax[str | None] = None


class TerminalItem(Wire, frozen=True, tag_field="type", tag="terminal"):
    terminal_id: str


# A bare content block is taken in this place too (V1-116).
ToolCallContent: TypeAlias = (
    ContentItem
    | DiffItem
    | TerminalItem
    | TextContent
    | ImageContent
    | AudioContent
    | ResourceLink
    | EmbeddedResource
    | UnknownType
)


class ToolCallLocation(Wire, frozen=True):
    """``line`` counts from 1; 0 means no line (V1-125)."""

    path: str
    line: Lax[U32 | None] = None


class ToolCallFields(Wire, frozen=True, kw_only=True):
    """What a tool call may say of itself. None: not said (null means the same, V1-104)."""

    name: Lax[str | None] = None
    kind: Lax[str | None] = None
    status: Lax[str | None] = None
    content: LaxListOrNone[ToolCallContent] = None
    locations: LaxListOrNone[ToolCallLocation] = None
    raw_input: Lax[Any] = None
    raw_output: Lax[Any] = None


class ToolCallUpdate(ToolCallFields, frozen=True, kw_only=True):
    """The patch a permission request carries; ``title`` None: not said."""

    tool_call_id: str
    title: Lax[str | None] = None


class PermissionOption(Wire, frozen=True):
    """``kind``: allow_once, allow_always, reject_once, reject_always, or the agent's own (V1-128)."""

    option_id: str
    name: str
    kind: str


class RequestPermissionRequest(Wire, frozen=True):
    session_id: str
    tool_call: ToolCallUpdate
    options: list[PermissionOption]


class SelectedOutcome(Wire, frozen=True, tag_field="outcome", tag="selected"):
    option_id: str


class CancelledOutcome(Wire, frozen=True, tag_field="outcome", tag="cancelled"):
    pass


class RequestPermissionResponse(Wire, frozen=True):
    """The double nesting of ``outcome`` is real (V1-129)."""

    outcome: SelectedOutcome | CancelledOutcome
