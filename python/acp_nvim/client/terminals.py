"""Terminal buffers: each gets the output of its command, filtered, in paced and bounded pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from acp_nvim.editor import Editor
from acp_nvim.session.entities import Session
from acp_nvim.session.events import Event, TerminalBytes, TerminalPatch, TerminalSet
from acp_nvim.session.terminals import Terminal
from acp_nvim.text.terminal import TerminalFilter
from acp_nvim.view.content import size_text
from acp_nvim.view.terminals import caption

from .payloads import ShowTerminal
from .registry import Registry

#: Bytes of one call into Neovim, and seconds from call to call. What a command writes beyond that waits, and
#: what is too much to be kept is left out.
PIECE = 32768
FRAME = 0.033


@dataclass(slots=True, eq=False)
class _View:
    id: int
    session: Session
    terminal: Terminal
    news: anyio.Event = field(default_factory=anyio.Event)
    open: bool = True


class TerminalViews:
    """Serves the open terminal buffers; ``spawn`` starts an owned task for each."""

    def __init__(self, editor: Editor, registry: Registry, spawn: Callable[..., None]) -> None:
        self._editor = editor
        self._registry = registry
        self._spawn = spawn
        self._views: dict[int, _View] = {}

    def show(self, request: ShowTerminal) -> None:
        """A buffer was opened or closed."""
        if not request.on:
            view = self._views.pop(request.view, None)
            if view is not None:
                view.open = False
                view.news.set()
            return
        chat = self._registry.get(request.chat)
        terminals = chat.session.terminals.values() if chat is not None else ()
        terminal = next((each for each in terminals if each.number == request.number), None)
        if chat is None or terminal is None:
            why = "its output is lost: the host was started again meanwhile"
            self._editor.notify("acp.terminal", "refuse", request.view, why)
            return
        view = self._views[request.view] = _View(request.view, chat.session, terminal)
        self._spawn(self._serve, view)

    def on_event(self, session: Session, event: Event, _touched: object) -> None:
        """Called by the store after each event."""
        if self._views and isinstance(event, TerminalBytes | TerminalPatch | TerminalSet):
            for view in self._views.values():
                if view.session is session and view.terminal.id == event.id:
                    view.news.set()

    async def _serve(self, view: _View) -> None:
        """Send what there is, then what comes, until the buffer is closed."""
        output, position, filtered, told = view.terminal.output, 0, TerminalFilter(), None
        try:
            while view.open:
                view.news = anyio.Event()
                text = ""
                if output is not view.terminal.output:
                    output, position, filtered = view.terminal.output, 0, TerminalFilter()
                    text = "\x1b[0m\x1b[2J\x1b[H"
                at, data = output.since(position, PIECE)
                if at > position:
                    filtered = TerminalFilter()
                    text += _left_out(at - position, first=position == 0)
                text += filtered.feed(data)
                position = at + len(data)
                now = caption(view.terminal, view.session)
                if text or now != told:
                    # ``told`` is sent only when it changed: it rewrites the window's bar.
                    info = now if now != told else None
                    told = now
                    if not await self._editor.call("acp.terminal", "feed", view.id, text, info):
                        return
                    await anyio.sleep(FRAME)
                if position == view.terminal.output.total and output is view.terminal.output:
                    await view.news.wait()
        finally:
            self._views.pop(view.id, None)


def _left_out(size: int, *, first: bool) -> str:
    """The line in place of output that is not kept."""
    line = f"\x1b[0;2m[{size_text(size)} left out]\x1b[0m\r\n"
    return line if first else f"\r\n{line}"
