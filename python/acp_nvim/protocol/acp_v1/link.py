"""What v1 remembers of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from acp_nvim.protocol.links import Link
from acp_nvim.session.entities import Role
from acp_nvim.wire.surrogates import SurrogateJoiner


@dataclass(slots=True, eq=False)
class LinkV1(Link):
    """``cancelling`` lasts until the prompt has its answer."""

    prompting: bool = False
    # After session/load: "show" what is replayed, or "drop" it because the chat has it already.
    replay: Literal["no", "show", "drop"] = "no"
    replayed: int = 0  # updates of the timeline that came since session/load
    joiner: SurrogateJoiner = field(default_factory=SurrogateJoiner)
    joining: tuple[Role, str | None] | None = None  # the message whose text the joiner holds
