"""When the next thing of a recording happens."""

from __future__ import annotations

import asyncio

#: Seconds the recorded user may think: a pause of theirs tells nothing, the agent's do.
LONGEST_THOUGHT = 3.0


class Pace:
    """``speed``: how many times as fast as it was; 0: without any pause."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._at: float | None = None

    async def until(self, at: float, *, thought: bool = False) -> None:
        """Wait as long as the recording did since the last call; ``thought``: it was the user who waited."""
        gap = max(0.0, at - self._at) if self._at is not None else 0.0
        self._at = at
        if thought:
            gap = min(gap, LONGEST_THOUGHT)
        if self._speed and gap:
            await asyncio.sleep(gap / self._speed)
        else:
            await asyncio.sleep(0)
