"""Sessions, MCP servers, prompts, modes and config options (sections 4 to 7 and 14)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from ..base import Lax, LaxList, LaxListOrNone, NullList, UnknownType, Wire
from .content import ContentBlock


class EnvVariable(Wire, frozen=True):
    name: str
    value: str


class HttpHeader(Wire, frozen=True):
    name: str
    value: str


class McpServerStdio(Wire, frozen=True):
    """``args`` and ``env`` are sent even when empty (V1-63)."""

    name: str
    command: str
    args: NullList[str]
    env: NullList[EnvVariable]


class McpServerHttp(Wire, frozen=True, tag_field="type", tag="http"):
    """``headers`` are sent even when empty (V1-64)."""

    name: str
    url: str
    headers: NullList[HttpHeader]


class McpServerSse(Wire, frozen=True, tag_field="type", tag="sse"):
    name: str
    url: str
    headers: NullList[HttpHeader]


# Only sent: the stdio form has no tag, so this union cannot be decoded.
McpServer: TypeAlias = McpServerStdio | McpServerHttp | McpServerSse


class SessionMode(Wire, frozen=True):
    id: str
    name: str
    description: Lax[str | None] = None


class SessionModeState(Wire, frozen=True):
    current_mode_id: str
    available_modes: LaxList[SessionMode]


class SessionModel(Wire, frozen=True):
    """Never stabilised, yet agents of the field still send it and know no other way (section 21)."""

    model_id: str
    name: str
    description: Lax[str | None] = None


class SessionModelState(Wire, frozen=True):
    current_model_id: str
    available_models: LaxList[SessionModel]


class SelectOption(Wire, frozen=True):
    value: str
    name: str
    description: Lax[str | None] = None


class SelectEntry(Wire, frozen=True):
    """An option (``value``), or a group of options (``group``, ``options``): V1-146."""

    name: str
    value: str | None = None
    group: str | None = None
    description: Lax[str | None] = None
    options: LaxListOrNone[SelectOption] = None

    def __post_init__(self) -> None:
        if self.group is None and self.value is None:
            raise ValueError("an option needs `value`, a group `group`")


class SelectConfigOption(Wire, frozen=True, tag_field="type", tag="select"):
    id: str
    name: str
    current_value: str
    options: list[SelectEntry]
    description: Lax[str | None] = None
    category: Lax[str | None] = None


class BooleanConfigOption(Wire, frozen=True, tag_field="type", tag="boolean"):
    id: str
    name: str
    current_value: bool
    description: Lax[str | None] = None
    category: Lax[str | None] = None


SessionConfigOption: TypeAlias = SelectConfigOption | BooleanConfigOption | UnknownType


class NewSessionRequest(Wire, frozen=True):
    """``cwd`` absolute; ``mcp_servers`` sent even when empty (V1-46)."""

    cwd: str
    mcp_servers: NullList[McpServer]
    additional_directories: NullList[str] = field(default_factory=list)


class SessionSetup(Wire, frozen=True, kw_only=True):
    """What a new, loaded or resumed session may say of its options."""

    modes: Lax[SessionModeState | None] = None
    models: Lax[SessionModelState | None] = None
    config_options: LaxListOrNone[SessionConfigOption] = None


class NewSessionResponse(SessionSetup, frozen=True, kw_only=True):
    session_id: str


class LoadSessionRequest(Wire, frozen=True):
    session_id: str
    cwd: str
    mcp_servers: NullList[McpServer]
    additional_directories: NullList[str] = field(default_factory=list)


class LoadSessionResponse(SessionSetup, frozen=True):
    """The end of the replay (V1-50)."""


class ResumeSessionRequest(Wire, frozen=True):
    session_id: str
    cwd: str
    mcp_servers: NullList[McpServer] = field(default_factory=list)
    additional_directories: NullList[str] = field(default_factory=list)


class ResumeSessionResponse(SessionSetup, frozen=True):
    pass


class ForkSessionRequest(Wire, frozen=True):
    """Of the unstable schema; answered as ``session/new`` is (V1-62)."""

    session_id: str
    cwd: str
    mcp_servers: NullList[McpServer] = field(default_factory=list)
    additional_directories: NullList[str] = field(default_factory=list)


class ListSessionsRequest(Wire, frozen=True):
    cwd: str | None = None
    cursor: str | None = None


class SessionInfo(Wire, frozen=True):
    """``updated_at`` is ISO 8601."""

    session_id: str
    cwd: str
    additional_directories: LaxList[str] = field(default_factory=list)
    title: Lax[str | None] = None
    updated_at: Lax[str | None] = None


class ListSessionsResponse(Wire, frozen=True):
    """``next_cursor`` None: the last page (V1-54). A broken entry is dropped (V1-56)."""

    sessions: LaxList[SessionInfo]
    next_cursor: Lax[str | None] = None


class DeleteSessionRequest(Wire, frozen=True):
    session_id: str


class CloseSessionRequest(Wire, frozen=True):
    session_id: str


class SetSessionModeRequest(Wire, frozen=True):
    session_id: str
    mode_id: str


class SetSessionModelRequest(Wire, frozen=True):
    session_id: str
    model_id: str


class SetSelectOptionRequest(Wire, frozen=True):
    """``session/set_config_option`` of a select: no ``type`` (V1-152)."""

    session_id: str
    config_id: str
    value: str


class SetBooleanOptionRequest(Wire, frozen=True, tag_field="type", tag="boolean"):
    session_id: str
    config_id: str
    value: bool


class SetSessionConfigOptionResponse(Wire, frozen=True):
    """The complete list (V1-153)."""

    config_options: LaxList[SessionConfigOption]


class PromptRequest(Wire, frozen=True):
    session_id: str
    prompt: list[ContentBlock]


class SteerRequest(Wire, frozen=True):
    """``_session/steering``, no part of the specification: an extension of agents that say so in the
    ``_meta`` of ``initialize`` (V1-211).
    """

    session_id: str
    prompt: list[ContentBlock]


class SteerResponse(Wire, frozen=True):
    """``injected``, ``startedNewTurn``, ``promptRequired`` (no turn runs), ``failed``, or unknown to us."""

    outcome: Lax[str] = ""


class PromptResponse(Wire, frozen=True):
    """``stop_reason``: end_turn, max_tokens, max_turn_requests, refusal, cancelled, or unknown (V1-74)."""

    stop_reason: str


class CancelNotification(Wire, frozen=True):
    session_id: str
