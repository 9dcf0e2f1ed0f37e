"""Finds out which file a change overwrites when the agent does not say (C19), before the change is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from acp_nvim.editor import Editor
from acp_nvim.session.content import Diff
from acp_nvim.session.entities import Item, Session, ToolCall
from acp_nvim.session.events import Event, OverwriteFound
from acp_nvim.session.ports import Sink

from .now import look

#: A larger file is not compared, only named.
MAX_BYTES = 4_000_000
#: Seconds a question waits for what is found, before it is shown without.
PATIENCE_S = 0.3


class Overwrites:
    """Subscribes to the store; one for the host. What is found goes to ``sink``, as an event.

    Nothing waits for it but a question about the change, and that not for long.
    """

    def __init__(self, editor: Editor, sink: Sink, spawn: Callable[..., None]) -> None:
        self._editor = editor
        self._sink = sink
        self._spawn = spawn
        self._seen: dict[str, set[tuple[str, str]]] = {}  # by session: calls and paths
        self._looking: dict[tuple[str, str], list[anyio.Event]] = {}

    def on_event(self, session: Session, _event: Event, touched: Sequence[Item]) -> None:
        """Called by the store after each event."""
        if session.replaying:
            return  # long done
        for item in touched:
            if isinstance(item, ToolCall) and not item.final:
                self._touched(session, item)

    def remove(self, session: Session) -> None:
        """The session is over."""
        self._seen.pop(session.id, None)

    def busy(self, session: Session, call: str) -> bool:
        """Whether a file of this call is looked at now."""
        return (session.id, call) in self._looking

    async def settled(self, session: Session, call: str) -> None:
        """Wait until nothing of this call is looked at, but not for long."""
        with anyio.move_on_after(PATIENCE_S):
            for each in list(self._looking.get((session.id, call), ())):
                await each.wait()

    def _touched(self, session: Session, call: ToolCall) -> None:
        seen = self._seen.setdefault(session.id, set())
        for each in call.content:
            path = each.unsaid if isinstance(each, Diff) else None
            if path is None or not path.startswith("/") or (call.id, path) in seen:
                continue
            seen.add((call.id, path))
            done = anyio.Event()
            self._looking.setdefault((session.id, call.id), []).append(done)
            self._spawn(self._look, session, call, path, done)

    async def _look(self, session: Session, call: ToolCall, path: str, done: anyio.Event) -> None:
        try:
            now = await look(self._editor, path, MAX_BYTES)
            written = await anyio.to_thread.run_sync(_changed_at, path, abandon_on_cancel=True)
            # What was written since may be the agent's already. Then nobody knows what was there.
            fresh = now.modified or written is None or written < call.started
            diffs = [each for each in call.content if isinstance(each, Diff) and each.unsaid == path]
            if now.exists and fresh and all(each.new_text != now.text for each in diffs):
                found = OverwriteFound(call.id, path, now.text, "edits" if now.modified else "file")
                self._sink.apply(session, found)
        finally:
            key = (session.id, call.id)
            self._looking[key].remove(done)
            if not self._looking[key]:
                del self._looking[key]
            done.set()


def _changed_at(path: str) -> float | None:
    """When the file was changed last, in seconds of the clock; None when there is none."""
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return None
