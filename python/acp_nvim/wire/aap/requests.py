"""The bodies we send (spec section 2)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from ..base import Bare
from .messages import ToolMessage, ToolPermissionMessage, UserMessage
from .meta import ServerToolRef, ToolSpec

TurnMessage: TypeAlias = UserMessage | ToolMessage | ToolPermissionMessage


class NewAgent(Bare, frozen=True):
    name: str
    tools: list[ServerToolRef] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)


class NewSession(Bare, frozen=True):
    """``POST /sessions`` (AAP-11)."""

    agent: NewAgent
    tools: list[ToolSpec] | None = None


class AgentChange(Bare, frozen=True):
    """What is different from now on; ``tools`` replaces the whole list, None leaves it (AAP-19, AAP-20)."""

    tools: list[ServerToolRef] | None = None
    options: dict[str, str] | None = None


class NewTurn(Bare, frozen=True):
    """``POST /sessions/:id/turns`` (AAP-24, AAP-31)."""

    messages: list[TurnMessage]
    stream: str | None = None
    agent: AgentChange | None = None
    tools: list[ToolSpec] | None = None
