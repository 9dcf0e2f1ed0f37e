"""Follow: from what the agent's tool calls say, which place the editor shows next (design.md section 5).

Newest wins, at most ten jumps a second, nothing runs while nothing happens. What is seen of the disk is seen
in threads. Lua shows the place (``acp.follow.visit``) or notes why there is none (``acp.follow.skip``).
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol

import anyio
from anyio import to_thread
from msgspec import Struct, field

from acp_nvim.session.entities import Item, Session, ToolCall
from acp_nvim.session.events import Event
from acp_nvim.text.sanitise import one_line

from .places import Place, line_in, line_on_disk, look, place_of

#: Seconds between two jumps of one session.
PACE = 0.1
#: Files of one session that do not exist yet and are waited for.
MOST_WAITING = 32
#: Cells of an agent's name beside the mark.
LABEL_CELLS = 40


class Lua(Protocol):
    """The part of the editor that is needed here."""

    def notify(self, module: str, function: str, /, *args: Any) -> None: ...

    async def call(self, module: str, function: str, /, *args: Any) -> Any: ...


class _Trail(Struct, eq=False):
    """What is known of a session that is followed."""

    chat: int
    session: Session
    seen: dict[str, tuple[object, ...]] = {}  # by call: its last place
    next: Place | None = None
    waiting: dict[str, Place] = {}  # by real path of what does not exist yet
    lines: dict[tuple[str, str], int] = field(
        default_factory=dict
    )  # where a call's change of a file was found
    busy: bool = False


class Follow:
    """Subscribes to the store; one for the host.

    ``spawn`` starts a task; ``inside(real path, real root)`` tells whether a path is in a root, by device and
    inode too; it runs in threads.
    """

    def __init__(
        self,
        editor: Lua,
        spawn: Callable[..., None],
        inside: Callable[[str, str], bool],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._editor = editor
        self._spawn = spawn
        self._inside = inside
        self._sleep = sleep
        self._trails: dict[str, _Trail] = {}

    def switch(self, chat: int, session: Session, on: bool) -> None:
        """Follow a session from now on, beginning with the place it works at now; or follow it no more."""
        if not on:
            self._trails.pop(session.id, None)
            return
        if session.id in self._trails:
            return
        trail = self._trails[session.id] = _Trail(chat, session)
        last: Place | None = None
        for call in session.tool_calls.values():
            place = place_of(call, session.cwd)
            if place is not None:
                trail.seen[call.id] = place.key
                last = place
        if last is not None and session.turn is not None:
            self._go(trail, last)

    def remove(self, session: Session) -> None:
        """The session is over."""
        self._trails.pop(session.id, None)

    def on_event(self, session: Session, _event: Event, touched: Sequence[Item]) -> None:
        """Called by the store after each event."""
        trail = self._trails.get(session.id)
        if trail is None or not touched:
            return
        for item in touched:
            # A row of ours about a write stands at the end of the turn: the file was written long before.
            if isinstance(item, ToolCall) and not (item.side == "client" and not item.permissions):
                self._touched(trail, item)

    def wrote(self, session: Session, real: str) -> None:
        """A file was written for the agent: if it was waited for, it is there now."""
        trail = self._trails.get(session.id)
        place = trail.waiting.pop(real, None) if trail is not None else None
        if trail is not None and place is not None:
            self._go(trail, place)

    def _touched(self, trail: _Trail, call: ToolCall) -> None:
        place = place_of(call, trail.session.cwd)
        if place is not None and trail.seen.get(call.id) != place.key:
            trail.seen[call.id] = place.key
            if not trail.session.replaying and not (call.final and call.status != "completed"):
                self._go(trail, place)
        if call.final and trail.waiting:
            for real in [real for real, each in trail.waiting.items() if each.call == call.id]:
                waited = trail.waiting.pop(real)
                if call.status == "completed":
                    self._go(trail, place or waited)
                elif call.local == "none":
                    self._skip(trail, waited, "no such file")

    def _go(self, trail: _Trail, place: Place) -> None:
        trail.next = place
        if not trail.busy:
            trail.busy = True
            self._spawn(self._work, trail)

    async def _work(self, trail: _Trail) -> None:
        """Go to the newest place, until there is none: a task that ends, not a timer."""
        try:
            while (place := trail.next) is not None and self._lives(trail):
                trail.next = None
                await self._visit(trail, place)
                await self._sleep(PACE)
        finally:
            trail.busy = False

    def _lives(self, trail: _Trail) -> bool:
        return self._trails.get(trail.session.id) is trail

    async def _visit(self, trail: _Trail, place: Place) -> None:
        session = trail.session
        roots = tuple(session.roots) or (session.cwd,)
        found = await to_thread.run_sync(
            partial(look, place.path, roots, self._inside), abandon_on_cancel=True
        )
        unsaved: str | None = None
        if found.missing or (found.why is None and place.line is None and place.change is not None):
            # The user may have other text than the disk, or a file that was never written.
            answer = await self._editor.call("acp.follow", "unsaved", place.path)
            unsaved = answer.get("text") if isinstance(answer, dict) else None
        if found.missing and unsaved is None:
            await self._missing(trail, place, found.real)
            return
        if found.why is not None and not found.missing:
            self._skip(trail, place, found.why)
            return
        line = place.line
        if line is None and place.change is not None:
            near = trail.lines.get((place.call, place.path))
            job = (
                partial(line_in, unsaved, place.change, place.done, near)
                if unsaved is not None
                else partial(line_on_disk, found.real, place.change, place.done, near)
            )
            line = await to_thread.run_sync(job, abandon_on_cancel=True)
            if line is not None:
                trail.lines[place.call, place.path] = line
        if self._lives(trail):
            visit = {**self._told(trail, place), "label": one_line(session.agent, LABEL_CELLS)}
            if line is not None:
                visit["line"] = line
            await self._editor.call("acp.follow", "visit", visit)

    async def _missing(self, trail: _Trail, place: Place, real: str) -> None:
        """Wait for the file, as long as its call goes on."""
        trail.waiting.pop(real, None)
        trail.waiting[real] = place
        # Only now: what came while we looked is seen here, what comes later is told to us.
        appeared = await to_thread.run_sync(os.path.exists, real, abandon_on_cancel=True)
        call = trail.session.tool_calls.get(place.call)
        if trail.waiting.get(real) is not place:
            return
        if appeared:
            del trail.waiting[real]
            trail.next = trail.next or place
        elif call is None or call.final:
            self._skip(trail, trail.waiting.pop(real), "no such file")
        elif len(trail.waiting) > MOST_WAITING:
            oldest = next(iter(trail.waiting))
            self._skip(trail, trail.waiting.pop(oldest), "no such file")

    def _skip(self, trail: _Trail, place: Place, why: str) -> None:
        if self._lives(trail):
            self._editor.notify("acp.follow", "skip", {**self._told(trail, place), "why": why})

    def _told(self, trail: _Trail, place: Place) -> dict[str, Any]:
        return {"chat": trail.chat, "path": place.path, "verb": place.verb}
