"""What a server says of its agents, and sessions of one (spec sections 1 to 3)."""

from __future__ import annotations

from typing import Any

from msgspec import field

from ..base import Bare, JsonObject, Lax, LaxList


class ToolSpec(Bare, frozen=True):
    """A tool of the server's, or of ours. ``parameters`` is a JSON Schema; older servers say inputSchema."""

    name: str
    description: Lax[str] = ""
    title: Lax[str | None] = None
    parameters: Lax[JsonObject | None] = None
    input_schema: Lax[JsonObject | None] = None


class AgentOption(Bare, frozen=True):
    """``type`` is text, select (with ``options``) or secret; all values are strings (AAP-18)."""

    name: str
    type: Lax[str] = ""
    title: Lax[str | None] = None
    description: Lax[str | None] = None
    options: LaxList[str] = field(default_factory=list)
    default: Lax[str] = ""


class History(Bare, frozen=True):
    """A marker counts when it is there, whatever it is (AAP-08)."""

    compacted: Any = None
    full: Any = None


class Stream(Bare, frozen=True):
    delta: Any = None
    message: Any = None
    none: Any = None


class Application(Bare, frozen=True):
    tools: Any = None


class Image(Bare, frozen=True):
    http: Any = None
    data: Any = None


class Capabilities(Bare, frozen=True):
    history: Lax[History | None] = None
    stream: Lax[Stream | None] = None
    application: Lax[Application | None] = None
    image: Lax[Image | None] = None


class AgentInfo(Bare, frozen=True):
    """One of the server's agents (AAP-07)."""

    name: str
    version: Lax[str | None] = None
    title: Lax[str | None] = None
    description: Lax[str | None] = None
    tools: LaxList[ToolSpec] = field(default_factory=list)
    options: LaxList[AgentOption] = field(default_factory=list)
    capabilities: Lax[Capabilities] = Capabilities()


class Meta(Bare, frozen=True):
    """Of ``GET /meta``."""

    version: Any = None
    agents: LaxList[AgentInfo] = field(default_factory=list)


class ServerToolRef(Bare, frozen=True):
    """An enabled tool of the server's; ``trust``: it may run without a question (AAP-20, AAP-21)."""

    name: str
    trust: Lax[bool] = False


class AgentConfig(Bare, frozen=True):
    name: Lax[str] = ""
    tools: Lax[list[ServerToolRef] | None] = None
    options: Lax[dict[str, str]] = field(default_factory=dict)


class SessionInfo(Bare, frozen=True):
    """A session as the server has it; the values of secret options are placeholders (AAP-14, AAP-16)."""

    session_id: str
    agent: Lax[AgentConfig] = AgentConfig()
    tools: LaxList[ToolSpec] = field(default_factory=list)


class SessionPage(Bare, frozen=True):
    """Of ``GET /sessions``; without ``next`` it is the last (AAP-15)."""

    sessions: LaxList[SessionInfo] = field(default_factory=list)
    next: Lax[str | None] = None


class SessionCreated(Bare, frozen=True):
    session_id: str


class ErrorBody(Bare, frozen=True):
    """What the SDK's server says with 400 and 404; other servers may say more or other (AAP-75)."""

    error: Any = None
    message: Lax[str | None] = None
    detail: Any = None
