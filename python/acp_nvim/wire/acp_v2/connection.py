"""Initialization, capabilities and authentication (sections 1, 3 and 4).

Every capability is an object: there or not (V2-21).
"""

from __future__ import annotations

from msgspec import field

from ..acp_v1 import connection as v1
from ..acp_v1.connection import CancelRequestNotification, ElicitationCapabilities, Empty, Implementation
from ..acp_v1.session import EnvVariable
from ..base import U16, Lax, LaxList, Marker, NullList, Wire

__all__ = (
    "AgentAuthCapabilities",
    "AgentCapabilities",
    "AuthMethod",
    "CancelRequestNotification",
    "ClientAuthCapabilities",
    "ClientCapabilities",
    "ElicitationCapabilities",
    "Empty",
    "Implementation",
    "InitializeEitherRequest",
    "InitializeRequest",
    "InitializeResponse",
    "LoginAuthRequest",
    "LogoutAuthRequest",
    "McpCapabilities",
    "PromptCapabilities",
    "SessionCapabilities",
    "Versioned",
)


class ClientAuthCapabilities(Wire, frozen=True):
    terminal: Lax[Marker | None] = None


class ClientCapabilities(Wire, frozen=True):
    """What we offer. There is no ``fs`` and no ``terminal`` in v2."""

    auth: Lax[ClientAuthCapabilities | None] = None
    elicitation: Lax[ElicitationCapabilities | None] = None


class InitializeRequest(Wire, frozen=True, kw_only=True):
    protocol_version: U16
    info: Implementation
    capabilities: Lax[ClientCapabilities] = ClientCapabilities()


class InitializeEitherRequest(InitializeRequest, frozen=True, kw_only=True):
    """Version 2 is offered, and an agent that knows only v1 reads the other two members (V2-07)."""

    client_capabilities: v1.ClientCapabilities
    client_info: Implementation


class PromptCapabilities(Wire, frozen=True):
    image: Lax[Marker | None] = None
    audio: Lax[Marker | None] = None
    embedded_context: Lax[Marker | None] = None


class McpCapabilities(Wire, frozen=True):
    stdio: Lax[Marker | None] = None
    http: Lax[Marker | None] = None


class SessionCapabilities(Wire, frozen=True):
    prompt: Lax[PromptCapabilities | None] = None
    mcp: Lax[McpCapabilities | None] = None
    delete: Lax[Marker | None] = None
    additional_directories: Lax[Marker | None] = None


class AgentAuthCapabilities(Wire, frozen=True):
    """Says nothing about logging in: ``auth_methods`` do (V2-25)."""


class AgentCapabilities(Wire, frozen=True):
    """``session`` None: the agent has no session methods at all (V2-22)."""

    session: Lax[SessionCapabilities | None] = None
    auth: Lax[AgentAuthCapabilities | None] = None


class AuthMethod(Wire, frozen=True):
    """``type``: agent, terminal, or one unknown to us (V2-26).

    ``args`` and ``env`` are a terminal method's; ``env`` is a list here (V2-28).
    """

    type: str
    method_id: str
    name: str
    description: Lax[str | None] = None
    args: NullList[str] = field(default_factory=list)
    env: NullList[EnvVariable] = field(default_factory=list)


class InitializeResponse(Wire, frozen=True):
    protocol_version: U16
    info: Implementation
    capabilities: Lax[AgentCapabilities] = AgentCapabilities()
    auth_methods: LaxList[AuthMethod] = field(default_factory=list)


class Versioned(Wire, frozen=True):
    """An answer to ``initialize``, as far as one needs to know how to read the rest (V2-02)."""

    protocol_version: U16


class LoginAuthRequest(Wire, frozen=True):
    method_id: str


class LogoutAuthRequest(Wire, frozen=True):
    pass
