"""``:AcpTrace``: the lines of an agent's connections, as long as somebody looks at them (ui.md section 7)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from acp_nvim.editor import Editor
from acp_nvim.text.sanitise import one_line

from . import payloads
from .connection import Connection
from .redact import Redact
from .registry import Registry
from .secrets import Secrets
from .trace import Entry
from .trace_file import Conversation, Facts, lines, write
from .trace_rows import Icons, Rows, Source

#: Lines that go to Neovim at once; more of them, as the first time, go in several messages.
MOST_LINES = 2000
#: Sessions that a message names.
MOST_NAMES = 5
NOTHING = "no messages yet"


class Traces:
    """Answers the messages ``trace`` and ``trace_…`` of Lua. One view a buffer."""

    def __init__(
        self,
        editor: Editor,
        registry: Registry,
        secrets: Secrets,
        spawn: Callable[..., None],
        icons: Icons,
        neovim: str,
    ) -> None:
        self._editor = editor
        self._registry = registry
        self._secrets = secrets
        self._spawn = spawn
        self._icons = icons
        self._neovim = neovim
        self._views: dict[int, _View] = {}

    def listen(self, on: Callable[[str, Any, Any], None]) -> None:
        """Take the messages of ours."""
        on("trace", payloads.ShowTrace, self.show)
        on("trace_more", payloads.OfTrace, self.more)
        on("trace_item", payloads.OfTraceRow, self.item)
        on("trace_jump", payloads.OfTraceRow, self.jump)
        on("trace_session", payloads.OfTraceRow, self.session)
        on("trace_write", payloads.WriteTrace, self.write)
        on("trace_closed", payloads.OfTrace, lambda request: self._views.pop(request.buf, None))

    def show(self, request: payloads.ShowTrace) -> None:
        """Fill a buffer with the messages of an agent, one line each."""
        connections = self._registry.of_agent(request.agent)
        self._views[request.buf] = _View(
            request.agent,
            connections,
            Rows(_sources(connections), self._secrets, self._icons, request.session or None),
        )
        self._fill(request.buf, self._views[request.buf], whole=True)
        self._doubt(self._views[request.buf].rows)

    def _doubt(self, rows: Rows) -> None:
        """Say which sessions there are, if there is nothing of the one that is wanted."""
        if rows.session is None or rows.known:
            return
        known = [self._secrets.mask(one_line(session)) for session in list(rows.others)[-MOST_NAMES:]]
        others = f"; there are: {', '.join(known)}" if known else "; no session has begun yet"
        wanted = one_line(rows.session)
        self._editor.notify("acp.message", "info", f"no message of a session '{wanted}'{others}")

    def more(self, request: payloads.OfTrace) -> None:
        """Tell what is new. Nothing is sent if nothing is."""
        view = self._views.get(request.buf)
        connections = self._registry.of_agent(request.agent)
        if view is None and not connections:
            return  # the lines are of a host before us: they are all that is left of it
        if view is None or connections != view.connections:
            session = view.rows.session if view is not None else None
            self.show(payloads.ShowTrace(request.agent, request.buf, session))
        else:
            self._fill(request.buf, view)

    def _fill(self, buf: int, view: _View, *, whole: bool = False) -> None:
        first = view.rows.update()
        all_lines = view.rows.lines
        if first is None and not whole:
            return
        first = 0 if whole or first is None else first
        if not all_lines:
            self._editor.notify("acp.trace", "show", buf, 0, [NOTHING], view.told)
        for at in range(first, len(all_lines), MOST_LINES):
            self._editor.notify("acp.trace", "show", buf, at, all_lines[at : at + MOST_LINES], view.told)

    def item(self, request: payloads.OfTraceRow) -> None:
        """Show the whole message behind a line."""
        view = self._views.get(request.buf)
        entries = view.entries(request.row) if view is not None else []
        if view is not None and entries:
            trace = view.rows.sources[0].trace
            self._editor.notify("acp.trace", "open", request.agent, trace.whole(entries))

    def jump(self, request: payloads.OfTraceRow) -> None:
        """From a request to its answer, and back."""
        view = self._views.get(request.buf)
        row = view.rows.pairs.get(request.row - 1) if view is not None else None
        self._editor.notify("acp.trace", "jump", request.buf, row + 1 if row is not None else 0)

    def session(self, request: payloads.OfTraceRow) -> None:
        """Show only the session of a line, or all again."""
        view = self._views.get(request.buf)
        if view is None:
            return
        session = None
        if view.rows.session is None:
            at = request.row - 1
            session = view.rows.sessions[at] if 0 <= at < len(view.rows.sessions) else None
            if session is None:
                self._editor.notify("acp.message", "info", "this message belongs to no session")
                return
        self.show(payloads.ShowTrace(request.agent, request.buf, session))

    def write(self, request: payloads.WriteTrace) -> None:
        """Write what the buffer shows, as JSON lines."""
        view = self._views.get(request.buf)
        connections = view.connections if view is not None else self._registry.of_agent(request.agent)
        session = view.rows.session if view is not None else None
        said = [
            Conversation(
                each.trace.entries(),
                each.trace.dropped,
                each.info.protocol if each.info is not None else each.config.protocol,
                (each.info.title or each.info.name) if each.info is not None else None,
                each.info.version if each.info is not None else None,
            )
            for each in connections
        ]
        facts = Facts(request.agent, self._neovim, session)
        self._spawn(self._write, Path(request.path), facts, said)

    async def _write(self, path: Path, facts: Facts, said: list[Conversation]) -> None:
        redact = Redact(self._secrets, os.path.expanduser("~"))  # noqa: ASYNC240, PTH111 (reads no disk)
        problem, count = "", 0
        try:
            text = await anyio.to_thread.run_sync(lines, facts, said, redact)
            count = len(text) - 1
            await anyio.to_thread.run_sync(partial(write, path, text))
        except OSError as error:
            problem = error.strerror or str(error)
        self._editor.notify("acp.trace", "written", str(path), count, problem)


class _View:
    """What a buffer shows."""

    def __init__(self, agent: str, connections: list[Connection], rows: Rows) -> None:
        self.agent = agent
        self.connections = connections
        self.rows = rows

    @property
    def told(self) -> dict[str, Any]:
        """What Lua has to know of it."""
        return {"session": self.rows.session or ""}

    def entries(self, row: int) -> list[Entry]:
        """The messages behind a line, from 1."""
        return self.rows.behind[row - 1] if 0 < row <= len(self.rows.behind) else []


def _sources(connections: list[Connection]) -> list[Source]:
    several = len(connections) > 1
    return [Source(each.trace, f"in {Path(each.cwd).name}" if several else "") for each in connections]
