"""The stall watch: for how long an agent has said nothing while its turn runs (ui.md section 4)."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from acp_nvim.session.entities import Session


class Stall:
    """Of one chat. ``limit`` gives the seconds of silence that are worth saying.

    Waits for one moment at a time and only while a turn runs: however much the agent says, it wakes once in
    ``limit``; while a question is open and while the agent is silent it does not wake at all. Who shows the
    seconds counts on from what is told here.
    """

    def __init__(
        self,
        session: Session,
        limit: Callable[[], float],
        tell: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self.seconds: int | None = None  # the silence as it was when it was told; None: there is none
        self._session = session
        self._limit = limit
        self._tell = tell
        self._clock = clock
        self._heard_at = 0.0
        self._heard: anyio.Event | None = None  # somebody waits for the next event

    def heard(self) -> None:
        """Something happened in the session: the agent said something, a question was answered."""
        self._heard_at = self._clock()
        if self._heard is not None:
            self._heard.set()
            self._heard = None
        if self.seconds is not None:
            self.seconds = None
            self._tell()

    async def watch(self) -> None:
        """Watch until cancelled: by its owner, when the turn is over."""
        self._heard_at = self._clock()
        try:
            while True:
                silence = self._clock() - self._heard_at
                if self._session.open_permissions:
                    await self._next()
                elif silence < self._limit():
                    await anyio.sleep(self._limit() - silence)
                else:
                    self.seconds = int(silence)
                    self._tell()
                    await self._next()
        finally:
            self.seconds = self._heard = None

    async def _next(self) -> None:
        self._heard = anyio.Event()
        await self._heard.wait()
