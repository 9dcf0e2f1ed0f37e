"""``session/update``: the notification and its variants (sections 7, 9 to 12, 15 and 17)."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET, Meta

from ..acp_v1.updates import Cost, PlanEntry
from ..base import (
    U64,
    UNKNOWN_TAG,
    Lax,
    LaxListOrUnset,
    Marker,
    Patch,
    Patched,
    SkipList,
    Unknown,
    UnknownType,
    Wire,
)
from ..jsonrpc import ErrorBody
from .content import ContentBlock
from .session import AvailableCommand, SessionConfigOption
from .tools import ToolCallContent, ToolCallFields

__all__ = (
    "AgentMessage",
    "AgentMessageChunk",
    "AgentThought",
    "AgentThoughtChunk",
    "AvailableCommandsUpdate",
    "BackgroundTerminal",
    "BackgroundToolCall",
    "BackgroundWork",
    "CompactionSummaryChunk",
    "CompactionUpdate",
    "ConfigOptionUpdate",
    "ContentChunk",
    "Cost",
    "Notice",
    "PlanEntry",
    "PlanFile",
    "PlanItems",
    "PlanMarkdown",
    "PlanRemoved",
    "PlanUpdate",
    "SessionInfoUpdate",
    "SessionUpdate",
    "StateUpdate",
    "TerminalCapabilities",
    "TerminalExitStatus",
    "TerminalOutput",
    "TerminalOutputChunk",
    "TerminalSize",
    "TerminalUpdate",
    "ToolCallContentChunk",
    "ToolCallUpdate",
    "UnknownPlan",
    "UnknownUpdate",
    "UpdateSessionNotification",
    "UsageUpdate",
    "UserMessage",
    "UserMessageChunk",
    "WholeMessage",
)

Cells: TypeAlias = Annotated[int, Meta(ge=1, le=2**16 - 1)]
I64: TypeAlias = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class ContentChunk(Wire, frozen=True, kw_only=True):
    """Its ``meta`` is the chunk's own (V2-81)."""

    message_id: str
    content: ContentBlock


class UserMessageChunk(ContentChunk, frozen=True, tag_field="sessionUpdate", tag="user_message_chunk"):
    pass


class AgentMessageChunk(ContentChunk, frozen=True, tag_field="sessionUpdate", tag="agent_message_chunk"):
    pass


class AgentThoughtChunk(ContentChunk, frozen=True, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    pass


class WholeMessage(Patch, frozen=True, kw_only=True):
    """``content`` replaces all that the message had, chunks included."""

    message_id: str
    content: LaxListOrUnset[ContentBlock] = UNSET


class UserMessage(WholeMessage, frozen=True, tag_field="sessionUpdate", tag="user_message"):
    pass


class AgentMessage(WholeMessage, frozen=True, tag_field="sessionUpdate", tag="agent_message"):
    pass


class AgentThought(WholeMessage, frozen=True, tag_field="sessionUpdate", tag="agent_thought"):
    pass


class BackgroundTerminal(Wire, frozen=True, tag_field="type", tag="terminal"):
    terminal_id: str


class BackgroundToolCall(Wire, frozen=True, tag_field="type", tag="tool_call"):
    tool_call_id: str


BackgroundWork: TypeAlias = BackgroundTerminal | BackgroundToolCall | UnknownType


class StateUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="state_update"):
    """``state``: running, idle, requires_action, or another (V2-58, V2-65).

    ``background`` None: not reported (V2-66). ``stop_reason`` and ``error`` are those of idle (V2-59, V2-60).
    """

    state: str
    background: Lax[list[BackgroundWork] | None] = None
    stop_reason: Lax[str | None] = None
    error: Lax[ErrorBody | None] = None


class ToolCallUpdate(
    ToolCallFields, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="tool_call_update"
):
    """Creates the call, too (V2-87)."""


class ToolCallContentChunk(Wire, frozen=True, tag_field="sessionUpdate", tag="tool_call_content_chunk"):
    tool_call_id: str
    content: ToolCallContent


class TerminalOutput(Wire, frozen=True):
    """``data`` is base64: all that was written so far (V2-99)."""

    data: str


class TerminalExitStatus(Wire, frozen=True):
    exit_code: Lax[I64 | None] = None
    signal: Lax[str | None] = None


class TerminalSize(Wire, frozen=True):
    cols: Cells
    rows: Cells


class TerminalCapabilities(Wire, frozen=True):
    cancel: Lax[Marker | None] = None


class TerminalUpdate(Patch, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="terminal_update"):
    """V2-98."""

    terminal_id: str
    command: Patched[str] = UNSET
    cwd: Patched[str] = UNSET
    output: Patched[TerminalOutput] = UNSET
    exit_status: Patched[TerminalExitStatus] = UNSET
    size: Patched[TerminalSize] = UNSET
    capabilities: Patched[TerminalCapabilities] = UNSET


class TerminalOutputChunk(Wire, frozen=True, tag_field="sessionUpdate", tag="terminal_output_chunk"):
    """``data`` is base64, decoded on its own (V2-100)."""

    terminal_id: str
    data: str


class PlanItems(Wire, frozen=True, tag_field="type", tag="items"):
    plan_id: str
    entries: SkipList[PlanEntry]


class PlanFile(Wire, frozen=True, tag_field="type", tag="file"):
    """Of the unstable schema (V2-128)."""

    plan_id: str
    uri: str


class PlanMarkdown(Wire, frozen=True, tag_field="type", tag="markdown"):
    """Of the unstable schema (V2-128)."""

    plan_id: str
    content: str


class UnknownPlan(UnknownType, frozen=True, tag_field="type", tag=UNKNOWN_TAG):
    """V2-127."""

    needs = ("planId",)


class PlanUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="plan_update"):
    plan: PlanItems | PlanFile | PlanMarkdown | UnknownPlan


class PlanRemoved(Wire, frozen=True, tag_field="sessionUpdate", tag="plan_removed"):
    """Of the unstable schema (V2-128)."""

    plan_id: str


class AvailableCommandsUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="available_commands_update"):
    available_commands: SkipList[AvailableCommand]


class ConfigOptionUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="config_option_update"):
    """The complete list (V2-132)."""

    config_options: SkipList[SessionConfigOption]


class SessionInfoUpdate(Patch, frozen=True, tag_field="sessionUpdate", tag="session_info_update"):
    """V2-137."""

    title: Patched[str] = UNSET
    updated_at: Patched[str] = UNSET


class UsageUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="usage_update"):
    """Tokens in the context, and its size. ``cost`` UNSET: keep the last one; None: clear it (V2-138)."""

    used: U64
    size: U64
    cost: Patched[Cost] = UNSET


class Notice(Wire, frozen=True, tag_field="sessionUpdate", tag="notice"):
    """``severity``: info, warning, error, or another (V2-139)."""

    severity: str
    title: str
    description: Lax[str | None] = None


class CompactionUpdate(Patch, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="compaction_update"):
    """V2-140."""

    compaction_id: str
    status: str
    summary: LaxListOrUnset[ContentBlock] = UNSET
    error: Patched[str] = UNSET


class CompactionSummaryChunk(Wire, frozen=True, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    compaction_id: str
    content: ContentBlock


class UnknownUpdate(Unknown, frozen=True, tag_field="sessionUpdate", tag=UNKNOWN_TAG):
    """An update this version does not know: kept, and shown in the trace (V2-150)."""


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | UserMessage
    | AgentMessageChunk
    | AgentMessage
    | AgentThoughtChunk
    | AgentThought
    | StateUpdate
    | ToolCallUpdate
    | ToolCallContentChunk
    | TerminalUpdate
    | TerminalOutputChunk
    | PlanUpdate
    | PlanRemoved
    | AvailableCommandsUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | UnknownUpdate
)


class UpdateSessionNotification(Wire, frozen=True):
    session_id: str
    update: SessionUpdate
