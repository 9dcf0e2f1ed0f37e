"""``session/update``: the notification and its variants (sections 8, 13 and 15)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET, UnsetType

from ..base import U64, UNKNOWN_TAG, Lax, LaxList, LaxListOrUnset, Unknown, Wire
from .content import ContentBlock
from .session import SessionConfigOption
from .tools import ToolCallFields


class ContentChunk(Wire, frozen=True, kw_only=True):
    """``message_id`` None: the agent gave none (V1-90)."""

    content: ContentBlock
    message_id: Lax[str | None] = None


class UserMessageChunk(ContentChunk, frozen=True, tag_field="sessionUpdate", tag="user_message_chunk"):
    pass


class AgentMessageChunk(ContentChunk, frozen=True, tag_field="sessionUpdate", tag="agent_message_chunk"):
    pass


class AgentThoughtChunk(ContentChunk, frozen=True, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    pass


class ToolCallStart(ToolCallFields, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="tool_call"):
    """A field that was left out is None, so that a second ``tool_call`` of an id wipes nothing."""

    tool_call_id: str
    title: str


class ToolCallPatch(
    ToolCallFields, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="tool_call_update"
):
    """The fields of a ``ToolCallUpdate`` (tools.py)."""

    tool_call_id: str
    title: Lax[str | None] = None


class PlanEntry(Wire, frozen=True):
    """``priority``: high, medium, low. ``status``: pending, in_progress, completed."""

    content: str
    priority: str
    status: str


class PlanUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="plan"):
    """The whole plan (V1-139)."""

    entries: LaxList[PlanEntry]


class CommandInput(Wire, frozen=True):
    hint: str


class AvailableCommand(Wire, frozen=True):
    name: str
    description: str
    input: Lax[CommandInput | None] = None


class AvailableCommandsUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="available_commands_update"):
    available_commands: LaxList[AvailableCommand]


class CurrentModeUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="current_mode_update"):
    """``mode_id`` is the older name of ``current_mode_id`` (V1-144); one of them is there."""

    current_mode_id: str | None = None
    mode_id: Lax[str | None] = None

    def __post_init__(self) -> None:
        if self.current_mode_id is None and self.mode_id is None:
            raise ValueError("missing field `currentModeId`")

    @property
    def mode(self) -> str:
        return self.current_mode_id if self.current_mode_id is not None else self.mode_id or ""


class ConfigOptionUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="config_option_update"):
    """The complete list (V1-153)."""

    config_options: LaxList[SessionConfigOption]


class SessionInfoUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="session_info_update"):
    """UNSET stays, None clears (V1-156)."""

    title: Lax[str | UnsetType | None] = UNSET
    updated_at: Lax[str | UnsetType | None] = UNSET


class Cost(Wire, frozen=True):
    amount: float
    currency: str


class UsageUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="usage_update"):
    """Tokens in the context, and its size. ``cost`` None: keep the last one (V1-158)."""

    used: U64
    size: U64
    cost: Lax[Cost | None] = None


class Notice(Wire, frozen=True, tag_field="sessionUpdate", tag="notice"):
    """``severity``: info, warning, error, or another."""

    severity: str
    title: str
    description: Lax[str | None] = None


class CompactionUpdate(Wire, frozen=True, tag_field="sessionUpdate", tag="compaction_update"):
    """``summary`` and ``error``: UNSET stays, None clears (V1-160)."""

    compaction_id: str
    status: str
    summary: LaxListOrUnset[ContentBlock] = UNSET
    error: Lax[str | UnsetType | None] = UNSET


class CompactionSummaryChunk(Wire, frozen=True, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    compaction_id: str
    content: ContentBlock


class UnknownUpdate(Unknown, frozen=True, tag_field="sessionUpdate", tag=UNKNOWN_TAG):
    """An update this version does not know: kept, and shown in the trace (V1-89)."""


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallStart
    | ToolCallPatch
    | PlanUpdate
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
    | UnknownUpdate
)


class SessionNotification(Wire, frozen=True):
    session_id: str
    update: SessionUpdate
