"""What is shown on request: the trace of an agent, and the details of a row."""

from __future__ import annotations

from typing import Literal

from acp_nvim.editor import Editor

from . import payloads
from .registry import Registry
from .secrets import Secrets
from .trace import Entry


class Shown:
    """Answers the messages ``trace``, ``trace_item`` and ``details`` of Lua."""

    def __init__(
        self, editor: Editor, registry: Registry, secrets: Secrets, style: Literal["unicode", "ascii"]
    ) -> None:
        self._editor = editor
        self._registry = registry
        self._secrets = secrets
        self._style = style
        self._traces: dict[int, list[list[Entry]]] = {}  # what stands behind each line, by buffer

    def trace(self, request: payloads.ShowTrace) -> None:
        """Fill a buffer with the messages of an agent, one line each."""
        connections = self._registry.of_agent(request.agent)
        lines: list[str] = []
        behind: list[list[Entry]] = []
        for connection in connections:
            some, entries = connection.trace.lines(self._style)
            if len(connections) > 1:
                lines.append(f"{connection.agent} in {connection.cwd}")
                behind.append([])
            lines.extend(some)
            behind.extend(entries)
        self._traces[request.buf] = behind
        self._editor.notify("acp.trace", "show", request.buf, lines or ["no messages yet"])

    def trace_item(self, request: payloads.ShowTraceItem) -> None:
        """Show the whole message behind a line of the trace."""
        behind = self._traces.get(request.buf, [])
        entries = behind[request.row - 1] if 0 < request.row <= len(behind) else []
        connection = next(iter(self._registry.of_agent(request.agent)), None)
        if entries and connection is not None:
            self._editor.notify("acp.trace", "open", request.agent, connection.trace.whole(entries))

    def details(self, request: payloads.Details) -> None:
        """Show all that is known of a row."""
        chat = self._registry.get(request.chat)
        if chat is None:
            return
        lines = [self._secrets.mask(line) for line in chat.transcript.details(request.block, request.row)]
        self._editor.notify("acp.chat.show", "details", chat.n, lines)
