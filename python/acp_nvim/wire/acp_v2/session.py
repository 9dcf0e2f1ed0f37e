"""Sessions, MCP servers, prompts and config options (sections 5, 6, 8, 16, 17 and 20)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from ..acp_v1.content import ContentBlock
from ..acp_v1.session import EnvVariable, HttpHeader, SelectOption
from ..base import UNKNOWN_TAG, Lax, LaxList, LaxListOrNone, NullList, SkipList, UnknownType, Wire

__all__ = (
    "AvailableCommand",
    "BooleanConfigOption",
    "CancelSessionNotification",
    "CancelTerminalRequest",
    "CancelToolCallRequest",
    "CloseSessionRequest",
    "CommandInput",
    "DeleteSessionRequest",
    "EnvVariable",
    "HttpHeader",
    "ListSessionsRequest",
    "ListSessionsResponse",
    "McpServer",
    "McpServerHttp",
    "McpServerStdio",
    "NewSessionRequest",
    "NewSessionResponse",
    "PromptRequest",
    "PromptResponse",
    "ReplayFromStart",
    "ResumeSessionRequest",
    "ResumeSessionResponse",
    "SelectConfigOption",
    "SelectEntry",
    "SelectOption",
    "SessionConfigOption",
    "SessionInfo",
    "SessionSetup",
    "SetBooleanOptionRequest",
    "SetSelectOptionRequest",
    "SetSessionConfigOptionResponse",
    "UnknownConfigOption",
)


class McpServerStdio(Wire, frozen=True, tag_field="type", tag="stdio"):
    name: str
    command: str
    args: NullList[str] = field(default_factory=list)
    env: NullList[EnvVariable] = field(default_factory=list)


class McpServerHttp(Wire, frozen=True, tag_field="type", tag="http"):
    name: str
    url: str
    headers: NullList[HttpHeader] = field(default_factory=list)


McpServer: TypeAlias = McpServerStdio | McpServerHttp


class SelectEntry(Wire, frozen=True):
    """An option (``value``), or a group of options (``group_id``, ``options``): V2-130."""

    name: str
    value: str | None = None
    group_id: str | None = None
    description: Lax[str | None] = None
    options: LaxListOrNone[SelectOption] = None

    def __post_init__(self) -> None:
        if self.group_id is None and self.value is None:
            raise ValueError("an option needs `value`, a group `groupId`")


class SelectConfigOption(Wire, frozen=True, tag_field="type", tag="select"):
    config_id: str
    name: str
    current_value: str
    options: list[SelectEntry]
    description: Lax[str | None] = None
    category: Lax[str | None] = None


class BooleanConfigOption(Wire, frozen=True, tag_field="type", tag="boolean"):
    config_id: str
    name: str
    current_value: bool
    description: Lax[str | None] = None
    category: Lax[str | None] = None


class UnknownConfigOption(UnknownType, frozen=True, tag_field="type", tag=UNKNOWN_TAG):
    needs = ("configId", "name")


SessionConfigOption: TypeAlias = SelectConfigOption | BooleanConfigOption | UnknownConfigOption


class CommandInput(Wire, frozen=True):
    """``type`` is text, or one we do not know: then there is no ``hint`` for us (V2-135)."""

    type: str
    hint: str | None = None

    def __post_init__(self) -> None:
        if self.type == "text" and self.hint is None:
            raise ValueError("missing field `hint`")


class AvailableCommand(Wire, frozen=True):
    """``type`` is command, which the older text leaves out (V2-134), or another (V2-136)."""

    name: str
    description: str
    type: str = "command"
    input: Lax[CommandInput | None] = None


class SessionSetup(Wire, frozen=True, kw_only=True):
    """What the answer to new and resume may say; None: it says nothing (V2-33)."""

    config_options: LaxListOrNone[SessionConfigOption] = None
    available_commands: LaxListOrNone[AvailableCommand] = None


class NewSessionRequest(Wire, frozen=True):
    """``cwd`` absolute (V2-32)."""

    cwd: str
    additional_directories: NullList[str] = field(default_factory=list)
    mcp_servers: NullList[McpServer] = field(default_factory=list)


class NewSessionResponse(SessionSetup, frozen=True, kw_only=True):
    session_id: str


class ReplayFromStart(Wire, frozen=True, tag_field="type", tag="start"):
    """All that the agent has kept (V2-35)."""


class ResumeSessionRequest(Wire, frozen=True):
    """``replay_from`` None: nothing is replayed (V2-35)."""

    session_id: str
    cwd: str
    additional_directories: NullList[str] = field(default_factory=list)
    mcp_servers: NullList[McpServer] = field(default_factory=list)
    replay_from: ReplayFromStart | None = None


class ResumeSessionResponse(SessionSetup, frozen=True):
    pass


class ListSessionsRequest(Wire, frozen=True):
    cwd: str | None = None
    cursor: str | None = None


class SessionInfo(Wire, frozen=True):
    """``updated_at`` is RFC 3339."""

    session_id: str
    cwd: str
    additional_directories: NullList[str] = field(default_factory=list)
    title: Lax[str | None] = None
    updated_at: Lax[str | None] = None


class ListSessionsResponse(Wire, frozen=True):
    """``next_cursor`` None: the last page; an empty one is a cursor (V2-41)."""

    sessions: LaxList[SessionInfo]
    next_cursor: str | None = None


class DeleteSessionRequest(Wire, frozen=True):
    session_id: str


class CloseSessionRequest(Wire, frozen=True):
    session_id: str


class SetSelectOptionRequest(Wire, frozen=True, tag_field="type", tag="id"):
    session_id: str
    config_id: str
    value: str


class SetBooleanOptionRequest(Wire, frozen=True, tag_field="type", tag="boolean"):
    session_id: str
    config_id: str
    value: bool


class SetSessionConfigOptionResponse(Wire, frozen=True):
    """The complete list (V2-132)."""

    config_options: SkipList[SessionConfigOption]


class PromptRequest(Wire, frozen=True):
    session_id: str
    prompt: list[ContentBlock]


class PromptResponse(Wire, frozen=True):
    """The message was taken in, no more. The older text has no ``message_id`` (V2-50)."""

    message_id: Lax[str | None] = None


class CancelSessionNotification(Wire, frozen=True):
    session_id: str


class CancelToolCallRequest(Wire, frozen=True):
    session_id: str
    tool_call_id: str


class CancelTerminalRequest(Wire, frozen=True):
    session_id: str
    terminal_id: str
