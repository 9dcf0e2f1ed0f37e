"""A file as the user has it now: of the buffer if it is loaded, else of the disk."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio

from acp_nvim.editor import Editor, NvimError
from acp_nvim.service import disk
from acp_nvim.session.ports import RequestError
from acp_nvim.view.outcome import Now


async def look(editor: Editor, path: str, limit: int = disk.MAX_BYTES) -> Now:
    """Read it. A file on disk of more than ``limit`` bytes counts as one that cannot be shown."""
    reading = partial(_on_disk, path, limit)
    try:
        buffer = await editor.call("acp.buffers", "read", path)
    except NvimError:
        buffer = {"loaded": False}
    if not buffer["loaded"]:
        return await anyio.to_thread.run_sync(reading, abandon_on_cancel=True)
    text = str(buffer["text"])
    if "\0" in text or buffer.get("large"):
        why = "too large" if buffer.get("large") else "not a text file"
        return Now(None, exists=True, loaded=True, size=len(text), why=why)
    on_disk, why = None, ""
    if buffer["modified"]:
        found = await anyio.to_thread.run_sync(reading, abandon_on_cancel=True)
        on_disk = found.text
        if on_disk is None:
            why = f"on disk: {found.why}" if found.exists else "not on disk"
    size = len(text.encode("utf-8", "replace"))
    modified = bool(buffer["modified"])
    return Now(text, exists=True, loaded=True, disk=on_disk, disk_why=why, modified=modified, size=size)


def _on_disk(path: str, limit: int) -> Now:
    try:
        text = disk.read_text(Path(path), limit)
    except RequestError as error:
        if error.code == disk.NOT_FOUND:
            return Now()
        return Now(None, exists=True, size=_size(path), why=error.message.partition(":")[0])
    return Now(text, exists=True, size=len(text.encode()))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
