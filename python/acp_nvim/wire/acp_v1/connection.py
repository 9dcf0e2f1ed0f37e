"""Initialization, capabilities and authentication (sections 2 and 3)."""

from __future__ import annotations

from typing import Any

from msgspec import field

from ..base import U16, Lax, LaxList, Marker, NullDict, NullList, Wire


class Implementation(Wire, frozen=True):
    name: str
    version: str
    title: Lax[str | None] = None


class FileSystemCapabilities(Wire, frozen=True):
    read_text_file: Lax[bool] = False
    write_text_file: Lax[bool] = False


class SessionConfigOptionsCapabilities(Wire, frozen=True):
    boolean: Lax[Marker | None] = None


class ClientSessionCapabilities(Wire, frozen=True):
    compaction: Lax[Marker | None] = None
    config_options: Lax[SessionConfigOptionsCapabilities | None] = None
    notices: Lax[Marker | None] = None


class AuthCapabilities(Wire, frozen=True):
    terminal: Lax[bool] = False


class ElicitationCapabilities(Wire, frozen=True):
    """Empty means no mode at all (V1-33)."""

    form: Lax[Marker | None] = None
    url: Lax[Marker | None] = None


class ClientCapabilities(Wire, frozen=True):
    """What we offer; everything left out counts as unsupported (V1-25)."""

    fs: Lax[FileSystemCapabilities] = FileSystemCapabilities()
    terminal: Lax[bool] = False
    session: Lax[ClientSessionCapabilities | None] = None
    auth: Lax[AuthCapabilities] = AuthCapabilities()
    elicitation: Lax[ElicitationCapabilities | None] = None


class InitializeRequest(Wire, frozen=True):
    protocol_version: U16
    client_capabilities: Lax[ClientCapabilities] = ClientCapabilities()
    client_info: Lax[Implementation | None] = None


class PromptCapabilities(Wire, frozen=True):
    image: Lax[bool] = False
    audio: Lax[bool] = False
    embedded_context: Lax[bool] = False


class McpCapabilities(Wire, frozen=True):
    http: Lax[bool] = False
    sse: Lax[bool] = False


class SessionCapabilities(Wire, frozen=True):
    """``fork`` is of the unstable schema (V1-62)."""

    list_: Lax[Marker | None] = field(name="list", default=None)
    delete: Lax[Marker | None] = None
    additional_directories: Lax[Marker | None] = None
    resume: Lax[Marker | None] = None
    close: Lax[Marker | None] = None
    fork: Lax[Marker | None] = None


class AgentAuthCapabilities(Wire, frozen=True):
    logout: Lax[Marker | None] = None


class AgentCapabilities(Wire, frozen=True):
    """A malformed leaf counts as unsupported (V1-31)."""

    load_session: Lax[bool] = False
    prompt_capabilities: Lax[PromptCapabilities] = PromptCapabilities()
    mcp_capabilities: Lax[McpCapabilities] = McpCapabilities()
    session_capabilities: Lax[SessionCapabilities] = SessionCapabilities()
    auth: Lax[AgentAuthCapabilities] = AgentAuthCapabilities()


class AuthMethod(Wire, frozen=True):
    """``type``: agent (also when the agent said none), terminal, or a type unknown to us (V1-34).

    ``args`` and ``env`` are a terminal method's: appended to, and set over, our own agent command (V1-38).
    ``vars`` and ``link`` are of env_var, which was in drafts and which agents still send; so is ``var_name``,
    of an older draft.
    """

    id: str
    name: str
    type: Lax[str] = "agent"
    description: Lax[str | None] = None
    args: NullList[str] = field(default_factory=list)
    env: NullDict[str] = field(default_factory=dict)
    vars: Any = None
    var_name: Lax[str | None] = None
    link: Lax[str | None] = None


class InitializeResponse(Wire, frozen=True):
    protocol_version: U16
    agent_capabilities: Lax[AgentCapabilities] = AgentCapabilities()
    auth_methods: LaxList[AuthMethod] = field(default_factory=list)
    agent_info: Lax[Implementation | None] = None


class AuthenticateRequest(Wire, frozen=True):
    method_id: str


class LogoutRequest(Wire, frozen=True):
    pass


class Empty(Wire, frozen=True):
    """The result of authenticate, logout, set_mode, session/close, session/delete and set_model.

    Null is as good (V1-14). Also our answer to fs/write_text_file, terminal/kill and terminal/release.
    """


class CancelRequestNotification(Wire, frozen=True):
    """``$/cancel_request``, in both directions (V1-85, V1-86)."""

    request_id: int | str | None
