"""Frames: what the transcripts have to tell goes to Neovim in paced, bounded, acknowledged calls.

One call is in flight for all transcripts. When Neovim cannot answer (a prompt, a long macro), text waits
here, ``room`` holds the agents' readers back, and the agents' pipes fill: nothing grows without bound.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import anyio

from acp_nvim.session.entities import Session

from .transcript import FRAME_BYTES, FRAME_EVENTS, Ops, Transcript

#: Seconds from frame to frame, at a steady pace and in a backlog (highlighting.md, recommendation 7).
STEADY = 0.033
BACKLOG = 0.016
#: Characters in a model that the buffer has not seen, above which its agent is not read any more.
ROOM = 1024 * 1024
#: Frames in a row that failed before what they held is given up.
TRIES = 3


class Bridge(Protocol):
    """The part of the editor that is needed here."""

    async def call(self, module: str, function: str, /, *args: Any) -> Any: ...


class Frames:
    """Drives the transcripts. ``run`` is the task; everything else may be called from the same loop.

    ``report`` is told of what Neovim answered with an error; ``gone`` of chats whose buffer is no more.
    """

    def __init__(
        self,
        editor: Bridge,
        *,
        report: Callable[[Exception], None] | None = None,
        gone: Callable[[int], None] | None = None,
        clock: Callable[[], float] = anyio.current_time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._editor = editor
        self._report = report
        self._gone = gone
        self._clock = clock
        self._sleep = sleep
        self._transcripts: dict[int, Transcript] = {}
        self._first: int = 0  # chat that came first in the last frame
        self._wake = anyio.Event()
        self._moved = anyio.Event()  # set after each frame
        self._flying: set[int] = set()  # chats with operations in the call that is under way
        self._failures = 0
        self.sent = 0  # frames, for tests and the benchmark

    def add(self, transcript: Transcript) -> None:
        """Show this transcript from now on."""
        self._transcripts[transcript.chat] = transcript
        self.wake()

    def remove(self, transcript: Transcript) -> None:
        """The chat is gone; who waits for it goes on."""
        self._transcripts.pop(transcript.chat, None)
        self._move()

    def wake(self) -> None:
        """Something has changed in a transcript."""
        self._wake.set()

    async def run(self) -> None:
        """Send frames for ever; sleeps while nothing changes."""
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            while any(transcript.dirty for transcript in self._transcripts.values()):
                started = self._clock()
                full = await self._frame()
                pause = (BACKLOG if full else STEADY) - (self._clock() - started)
                if pause > 0:
                    await self._sleep(pause)

    async def room(self, of: Session | int) -> None:
        """Wait while a session's (or chat's) transcript is too far behind its model."""
        transcript = self._find(of)
        while transcript is not None and transcript.unread > ROOM:
            self._wake.set()
            await self._moved.wait()
            transcript = self._find(of)

    async def settle(self, chat: int) -> None:
        """Return when all that is in the model now is in the buffer (or the chat is gone)."""
        transcript = self._transcripts.get(chat)
        if transcript is None:
            return
        last = transcript.last
        while self._transcripts.get(chat) is transcript:
            if transcript.settled(last) and chat not in self._flying:
                return
            self._wake.set()
            await self._moved.wait()

    # -- one frame

    async def _frame(self) -> bool:
        """Send one frame. Whether it was full, with something left for the next."""
        frames, full = self._collect()
        if not frames:
            self._move()
            return full
        self._flying = {chat for chat, _ in frames}
        try:
            answer = await self._editor.call("acp.chat.transcript", "frame", [list(each) for each in frames])
        except Exception as error:
            self._failed(frames, error)
        else:
            self._failures = 0
            self.sent += 1
            gone = answer.get("gone") if isinstance(answer, dict) else None
            for chat in gone if isinstance(gone, list | tuple) else ():
                self._transcripts.pop(chat, None)
                if self._gone is not None:
                    self._gone(chat)
        finally:
            self._flying = set()
            self._move()
        return full

    def _collect(self) -> tuple[list[tuple[int, Ops]], bool]:
        """Share one frame among the transcripts that have something, another one first each time."""
        dirty = sorted(chat for chat, transcript in self._transcripts.items() if transcript.dirty)
        order = [chat for chat in dirty if chat > self._first] + [
            chat for chat in dirty if chat <= self._first
        ]
        self._first = order[0]
        frames: list[tuple[int, Ops]] = []
        bytes_left, events_left = FRAME_BYTES, FRAME_EVENTS
        for place, chat in enumerate(order):
            shares = len(order) - place
            ops, size = self._transcripts[chat].take(
                max(bytes_left // shares, 1024), max(events_left // shares, 8)
            )
            if ops:
                frames.append((chat, ops))
            bytes_left = max(bytes_left - size, 0)
            events_left = max(events_left - len(ops), 0)
        return frames, any(self._transcripts[chat].dirty for chat in order)

    def _failed(self, frames: list[tuple[int, Ops]], error: Exception) -> None:
        """Neovim did not take the frame: write its blocks anew, unless that failed several times."""
        self._failures += 1
        if self._report is not None:
            self._report(error)
        if self._failures >= TRIES:
            self._failures = 0
            return
        for chat, ops in frames:
            if chat in self._transcripts:
                self._transcripts[chat].again(ops)

    def _move(self) -> None:
        self._moved.set()
        self._moved = anyio.Event()

    def _find(self, of: Session | int) -> Transcript | None:
        if isinstance(of, int):
            return self._transcripts.get(of)
        return next((t for t in self._transcripts.values() if t.session is of), None)
