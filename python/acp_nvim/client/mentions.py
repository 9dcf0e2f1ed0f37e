"""Tells Lua what stands in a prompt: its mentions while they are typed, and a picture that is pasted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from anyio import to_thread

from acp_nvim.editor import Editor
from acp_nvim.process.spawn import Spawner
from acp_nvim.service.pasted import Pasted
from acp_nvim.session.content import Block
from acp_nvim.text.sanitise import one_line

from .announce import known
from .chat import Chat
from .clipboard import ClipboardError, picture
from .context import Sources
from .payloads import Mentions as Request
from .payloads import PasteImage
from .prompt import Prompt
from .registry import Registry
from .seen import Seen

#: Cells of a note.
NOTE_CELLS = 80


class Mentions:
    """One for the host. ``cache``: our folder under Neovim's cache; ``spawn`` starts an owned task."""

    def __init__(
        self, editor: Editor, registry: Registry, spawner: Spawner, spawn: Callable[..., None], cache: Path
    ) -> None:
        self._editor = editor
        self._registry = registry
        self._spawner = spawner
        self._spawn = spawn
        self._pasted = Pasted(cache / "pasted")
        self._sources = Sources(editor, spawner, str(self._pasted.folder))
        self._newest: dict[int, Request] = {}  # by chat
        self._busy: set[int] = set()
        spawn(self._sweep)

    async def _sweep(self) -> None:
        await to_thread.run_sync(self._pasted.sweep)

    async def compose(self, prompt: Prompt, chat: Chat) -> tuple[list[Block], list[Block]]:
        """The blocks of a prompt that goes out now: to send, and to show."""
        info = chat.agent.info if chat.agent is not None else None
        return await self._sources.compose(prompt, chat.session, info, chat.n)

    # -- as the user types

    def ask(self, request: Request) -> None:
        """Answer with ``acp.chat.mentions.show``: one at a time a chat, then the newest of what came."""
        self._newest[request.chat] = request
        if request.chat not in self._busy:
            self._busy.add(request.chat)
            self._spawn(self._answer, request.chat)

    async def _answer(self, chat: int) -> None:
        try:
            while (request := self._newest.pop(chat, None)) is not None:
                of = self._registry.get(chat)
                if of is None:
                    return
                info = of.agent.info if of.agent is not None else None
                seen = await self._sources.see(request.text, of.session, info, request.spot)
                shown = [item for each in seen if (item := _shown(each, request.text)) is not None]
                self._editor.notify("acp.chat.mentions", "show", chat, request.seq, shown)
        finally:
            self._busy.discard(chat)

    # -- a picture of the clipboard

    def paste(self, request: PasteImage) -> None:
        """Answer with ``acp.chat.mentions.pasted``."""
        self._spawn(self._paste, request)

    async def _paste(self, request: PasteImage) -> None:
        path = problem = ""
        try:
            suffix, data = await picture(self._spawner, str(Path.home()))
            path = str(await to_thread.run_sync(self._pasted.put, suffix, data))
        except ClipboardError as error:
            problem = one_line(str(error))
        except OSError as error:
            problem = f"the picture cannot be saved: {one_line(error.strerror or str(error))}"
        self._editor.notify("acp.chat.mentions", "pasted", request.chat, request.id, path, problem)


def _shown(seen: Seen, text: str) -> dict[str, Any] | None:
    """A mention for Lua: its place in rows from 0 and bytes, and what is said beside it."""
    if seen.quiet:
        return None
    start, end = seen.mention.start, seen.reading.end
    line = text.rfind("\n", 0, start) + 1
    return known(
        row=text.count("\n", 0, start),
        col=len(text[line:start].encode("utf-8", "surrogateescape")),
        stop=len(text[line:end].encode("utf-8", "surrogateescape")),
        note=one_line(seen.note, NOTE_CELLS),
        warn=bool(seen.why),
        path=seen.path if seen.how == "text" and seen.path else None,
    )
