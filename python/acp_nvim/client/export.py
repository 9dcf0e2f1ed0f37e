"""``:w name.md``: a chat is written as a Markdown document, without keeping anybody waiting."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio.lowlevel
from anyio import to_thread

from acp_nvim.editor import Editor, NvimError
from acp_nvim.service import disk
from acp_nvim.session.ports import RequestError
from acp_nvim.text.sanitise import one_line
from acp_nvim.view.icons import Icons
from acp_nvim.view.look import Look
from acp_nvim.view.markdown import Markdown

from . import payloads
from .chat import Chat
from .registry import Registry
from .secrets import Secrets

#: Seconds of work on a document between two looks at what else there is to do.
SLICE = 0.005
#: Cells of a reason.
WHY_CELLS = 400


class Exports:
    """Answers the message ``export`` of Lua. ``spawn`` starts an owned task."""

    def __init__(
        self,
        editor: Editor,
        registry: Registry,
        secrets: Secrets,
        icons: Icons,
        spawn: Callable[..., None],
    ) -> None:
        self._editor = editor
        self._registry = registry
        self._secrets = secrets
        self._icons = icons
        self._spawn = spawn

    def write(self, request: payloads.Export) -> None:
        """Write the document; tell Lua once how it went."""
        self._spawn(self._write, request)

    async def _write(self, request: payloads.Export) -> None:
        chat, why = self._registry.get(request.chat), "this chat has ended"
        count = 0
        if chat is not None:
            text = await self._document(chat)
            count = text.count("\n")
            work = partial(_put, request.path, text)
            why = await to_thread.run_sync(work)
        failed = one_line(why, WHY_CELLS) if why else False
        self._editor.notify("acp.chat.export", "done", request.id, failed, count)

    async def _document(self, chat: Chat) -> str:
        """All of it, as it is at the beginning. Secrets are masked."""
        mask = self._secrets.mask
        markdown = Markdown(Look(chat.session, self._icons, chat.session.agent))
        pieces = [mask(markdown.head(time.time()))]
        if chat.tell.reopened:  # of what another host had, only the transcript is left
            try:
                earlier = str(
                    await self._editor.call("acp.chat.export", "earlier", chat.n, chat.transcript.first)
                )
            except NvimError:
                earlier = ""
            pieces.append(f"{mask(earlier)}\n\n---\n\n" if earlier.strip() else "")
        items = list(chat.session.items)
        since = time.monotonic()
        for item in items:
            pieces.append(mask(markdown.item(item)))
            if time.monotonic() - since > SLICE:
                await anyio.lowlevel.checkpoint()
                since = time.monotonic()
        return "".join(pieces).rstrip("\n") + "\n"


def _put(path: str, text: str) -> str:
    """In a thread. Returns what went wrong, if something did."""
    real = Path(path).resolve()
    if not real.parent.is_dir():
        return f"there is no folder {real.parent}; :w ++p makes it"
    try:
        disk.write_text(real, text.encode(errors="replace").decode())
    except RequestError as error:
        return error.message
    return ""
