"""What an agent says of itself while connecting, and of the sessions it knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct


class AuthVariable(Struct, frozen=True):
    """A variable of the environment in which an agent finds its credentials."""

    name: str
    label: str | None = None
    optional: bool = False


class AuthMethod(Struct, frozen=True):
    """A way to log in. ``args`` and ``env``: of a terminal method; ``variables`` and ``link`` of env_var."""

    id: str
    name: str
    type: str = "agent"  # agent, terminal, env_var, or unknown to us
    description: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    variables: tuple[AuthVariable, ...] = ()
    link: str | None = None

    @property
    def usable(self) -> bool:
        """Whether it can be used from here: its type is one we know."""
        return self.type in ("agent", "terminal", "env_var")


def each_once(methods: Iterable[AuthMethod]) -> tuple[AuthMethod, ...]:
    """The first of each id, in their order; of several with one id rather one that can be used."""
    found: dict[str, AuthMethod] = {}
    for method in methods:
        if method.id not in found or (method.usable and not found[method.id].usable):
            found[method.id] = method
    return tuple(found.values())


class AgentInfo(Struct, frozen=True):
    """What the agent said of itself while connecting. ``protocol``: acp-v1, acp-v2 or aap.

    ``speaks``: that for people. ``states``: it tells the state of its sessions, else that follows from
    turns and questions. ``buffers``: it reads and writes files through us, unsaved edits included.
    ``can_steer``: a prompt can be put into the turn that runs.
    ``links``: a prompt may name files by their address alone.
    """

    protocol: str
    speaks: str = ""
    states: bool = False
    buffers: bool = True
    name: str | None = None
    title: str | None = None
    version: str | None = None
    auth_methods: tuple[AuthMethod, ...] = ()
    can_load: bool = False
    can_resume: bool = False
    can_list: bool = False
    can_close: bool = False
    can_delete: bool = False
    can_logout: bool = False
    can_fork: bool = False
    can_steer: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    links: bool = True
    additional_directories: bool = False
    mcp_stdio: bool = True
    mcp_http: bool = False
    mcp_sse: bool = False
    raw: Any = None


class SessionInfo(Struct, frozen=True):
    """A session an agent says it knows: its own id and title, an absolute folder, the time as it sent it."""

    id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    directories: tuple[str, ...] = ()


class SessionList(Struct, frozen=True):
    """``cut``: why there are more than these; None: these are all."""

    sessions: tuple[SessionInfo, ...]
    cut: str | None = None
