"""What v2 remembers of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import anyio

from acp_nvim.protocol.links import Link
from acp_nvim.session.entities import Failure, Role
from acp_nvim.wire.surrogates import SurrogateJoiner


@dataclass(slots=True, eq=False)
class Sent:
    """A prompt of ours, from the moment it goes out until its turn has ended."""

    accepted: bool = False  # the agent has answered: it is part of the conversation
    worked: bool = False  # the agent said so since
    echoes: set[str] = field(default_factory=set)  # messages of the user that came since
    # Before the answer: the agent became idle, with what it said then, and the echoes until then.
    idle: tuple[str | None, Failure | None] | None = None
    before_idle: frozenset[str] = frozenset()
    ended: bool = False
    over: anyio.Event = field(default_factory=anyio.Event)


@dataclass(slots=True, eq=False)
class LinkV2(Link):
    """``state``: what the agent has said last, in its own words; None: nothing yet (V2-34, V2-36)."""

    state: str | None = None
    told: int = 0  # how many states the agent has told
    sent: Sent | None = None
    # During session/resume: "show" what is replayed, or "drop" it because the chat has it already.
    replay: Literal["no", "show", "drop"] = "no"
    replayed: int = 0  # updates of the timeline that came meanwhile
    joiners: dict[tuple[Role, str], SurrogateJoiner] = field(default_factory=dict)  # with half a character
