"""Opens content of an agent when the user presses a key on its line: pictures, embedded texts, links.

Nothing is opened by itself, and nothing outside Neovim but files of our own making and addresses the user has
seen in full. What is to happen is decided here; Lua asks and shows (lua/acp/content.lua).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio

from acp_nvim.editor import Editor
from acp_nvim.service.roots import inside
from acp_nvim.service.saved import Saved
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Session
from acp_nvim.text.media import decoded, media_of
from acp_nvim.text.sanitise import lines, one_line, split_long
from acp_nvim.text.url import BadUrlError, inspect
from acp_nvim.view.content import file_path
from acp_nvim.view.places import look

from .announce import known
from .payloads import OpenAddress, OpenContent
from .registry import Registry

#: Lines of one call into Neovim: what comes with it is decoded between two keys.
PIECE_LINES = 2000
#: Cells of what is told about something that is not opened.
SAID_CELLS = 400

#: A file that is only large, or no text, is the user's to look at.
_OPENED = ("binary", " MB")


class Contents:
    """One for the host. ``cache`` is Neovim's cache folder; ``spawn`` starts an owned task."""

    def __init__(self, editor: Editor, registry: Registry, spawn: Callable[..., None], cache: str) -> None:
        self._editor = editor
        self._registry = registry
        self._spawn = spawn
        self._saved = Saved(Path(cache) / "acp.nvim")
        spawn(self._sweep)

    async def _sweep(self) -> None:
        await anyio.to_thread.run_sync(self._saved.sweep)

    def open(self, request: OpenContent) -> None:
        """Answer with ``acp.content.answer(id, what)``: once, unless the chat is gone."""
        self._spawn(self._open, request)

    def address(self, request: OpenAddress) -> None:
        """Say what is to be known of an address before it is opened; answers as ``open`` does."""
        if self._registry.get(request.chat) is not None:
            self._editor.notify("acp.content", "answer", request.id, _web(request.url))

    async def _open(self, request: OpenContent) -> None:
        chat = self._registry.get(request.chat)
        if chat is None:
            return
        block = chat.transcript.content(request.block, request.place)
        if block is not None and block.type == "resource" and block.text is not None:
            file = file_path(block.uri) if request.how == "file" else None
            if file is None:
                await self._text(request.id, block)
                return
        answer = await self._target(block, chat.session)
        self._editor.notify("acp.content", "answer", request.id, known(**answer))

    async def _target(self, block: Block | None, session: Session) -> dict[str, Any]:
        if block is None:
            return _say("it is not there any more")
        if block.data:
            return await self._save(block)
        if block.type in ("link", "image", "resource") and block.uri:
            return await self._address(block.uri, session)
        if block.type == "unknown":
            return _say("nobody knows how to open this; K shows all of it")
        return _say(f"this {one_line(block.type, 20)} is empty")

    async def _save(self, block: Block) -> dict[str, Any]:
        """Data that is what it says goes to the user's program; anything else is only saved (V1-98)."""
        kind = block.type if block.type in ("image", "audio") else "resource"
        try:
            data = await anyio.to_thread.run_sync(decoded, block.data or "")
        except ValueError as error:
            return _say(f"the data of this {kind} is damaged: {error}")
        media = media_of(block.mime)
        fits = media is not None and media.starts.match(data) is not None
        suffix = media.suffix if media is not None and fits else ".bin"
        try:
            path = await anyio.to_thread.run_sync(self._saved.put, kind, suffix, data)
        except OSError as error:
            return _say(f"this {kind} cannot be saved: {error.strerror or error}")
        mime = one_line(block.mime or "no type", 60)
        if not fits:
            why = f"it is no {mime}" if media is not None else f"{mime} is not opened"
            return {"kind": "saved", "path": str(path), "text": why}
        name = one_line(block.title or block.name or "", 200) or None
        return {"kind": "open", "path": str(path), "type": kind, "mime": mime, "name": name}

    async def _address(self, uri: str, session: Session) -> dict[str, Any]:
        """Where a link leads: into the project, to a file elsewhere, to the web, or nowhere (V1-100)."""
        try:
            scheme = urlsplit(uri).scheme.lower()
        except ValueError:
            scheme = ""
        if scheme in ("http", "https"):
            return _web(uri)
        file = file_path(uri)
        if file is None:
            return _say(f"not opened: {one_line(uri)} is no address of the web, and no file here")
        path, line = file
        roots = [*session.roots, session.cwd]
        found = await anyio.to_thread.run_sync(look, path, roots, inside)
        outside = found.why == "outside the project"
        if outside:
            found = await anyio.to_thread.run_sync(look, path, ["/"], inside)
        if found.why is not None and not found.why.endswith(_OPENED):
            return _say(f"not opened: {one_line(path)}: {found.why}")
        # Outside it is the real path that is asked about, and no link leads anywhere else afterwards.
        where = found.real if outside else path
        return {"kind": "file", "path": where, "line": line, "shown": one_line(where), "ask": outside or None}

    async def _text(self, ident: int, block: Block) -> None:
        """An embedded text, in pieces, because it may be large."""
        rows = await anyio.to_thread.run_sync(_rows, str(block.text))
        for first in range(0, len(rows), PIECE_LINES):
            if not await self._editor.call("acp.content", "piece", ident, rows[first : first + PIECE_LINES]):
                return  # nobody waits any more
        answer = {
            "kind": "text",
            "name": one_line(_name(block), 100),
            "mime": (block.mime or "").partition(";")[0].strip().lower() or None,
        }
        self._editor.notify("acp.content", "answer", ident, known(**answer))


def _web(url: str) -> dict[str, Any]:
    try:
        found = inspect(url)
    except BadUrlError as error:
        return _say(f"this address is not opened: {error}")
    return {"kind": "url", "url": found.text, "host": found.host, "warnings": list(found.warnings)}


def _rows(text: str) -> list[str]:
    return [piece for line in lines(text) for piece in split_long(line)]


def _name(block: Block) -> str:
    """What the text is called: the end of its address."""
    try:
        path = unquote(urlsplit(block.uri or "").path)
    except ValueError:
        path = ""
    return path.rstrip("/").rpartition("/")[2] or block.name or "text"


def _say(text: str) -> dict[str, Any]:
    return {"kind": "say", "text": one_line(text, SAID_CELLS)}
