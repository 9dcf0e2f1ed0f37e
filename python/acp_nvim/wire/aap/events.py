"""The data of the events of a turn (spec section 6)."""

from __future__ import annotations

from typing import Any

from ..base import Bare, ChunkText, Lax
from .messages import Content


class EventData(Bare, frozen=True):
    """The fields of all events, each of which has some of them; which it is stands outside (AAP-39).

    Text of a delta may end in the middle of a surrogate pair: give it to a ``SurrogateJoiner``.
    """

    event: Lax[str | None] = None
    delta: Lax[ChunkText | None] = None
    text: Lax[str | None] = None
    thinking: Lax[str | None] = None
    tool_call_id: Lax[str | None] = None
    name: Lax[str | None] = None
    input: Any = None
    content: Lax[Content | None] = None
    stop_reason: Lax[str | None] = None
