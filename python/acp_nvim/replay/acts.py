"""What the recorded user did, told to the Neovim that replays it (lua/acp/replay.lua)."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

Json = dict[str, Any]

#: How often, and with how many seconds in between, Neovim is looked for while it starts.
TRIES = 500
INTERVAL = 0.02


class Acts:
    """A connection to the Neovim's socket; it may come up a moment after us."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._writer: asyncio.StreamWriter | None = None

    async def do(self, act: str, **what: Any) -> None:
        """Have the user do this. Nothing happens if Neovim is gone."""
        with contextlib.suppress(OSError):
            if self._writer is None:
                self._writer = await self._connected()
            self._writer.write(json.dumps({"act": act, **what}).encode() + b"\n")
            await self._writer.drain()

    async def _connected(self) -> asyncio.StreamWriter:
        for _ in range(TRIES):
            try:
                return (await asyncio.open_unix_connection(str(self._socket)))[1]
            except (FileNotFoundError, ConnectionRefusedError):
                await asyncio.sleep(INTERVAL)
        return (await asyncio.open_unix_connection(str(self._socket)))[1]


def path_of(block: Json) -> str:
    """The file that a block of a prompt brings or names."""
    inner = block.get("resource")
    uri = inner.get("uri") if isinstance(inner, dict) else block.get("uri")
    return unquote(str(uri).removeprefix("file://"))


def prompt_text(blocks: Any, cwd: str | None = None) -> str:
    """The prompt as the user wrote it, as far as its blocks tell. ``cwd``: the folder it was written in."""
    if isinstance(blocks, str):
        return blocks
    words: list[str] = []
    files: list[str] = []
    for block in blocks if isinstance(blocks, list) else []:
        if not isinstance(block, dict):
            continue
        if isinstance(block.get("text"), str):
            words.append(block["text"])
        elif block.get("type") in ("resource", "resource_link"):
            files.append(_named(path_of(block), cwd))
    text = "".join(words)
    # A file is named in the text, and its block stands beside it; where it is not, it was given by a command.
    named = [text, *(f"@{file}" for file in files if f"@{file}" not in text)]
    return " ".join(filter(None, named)) or "(a prompt without text)"


def _named(path: str, cwd: str | None) -> str:
    """A path as it is written in a prompt."""
    folder = f"{cwd.rstrip('/')}/" if cwd else ""
    return path.removeprefix(folder) if folder and path.startswith(folder) else path.rpartition("/")[2]


def typed(params: Json, content: Any) -> Json:
    """The values of a form as its page has them typed: choices by their number from 1, numbers as text."""
    schema = params.get("requestedSchema")
    fields = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(content, dict) or not isinstance(fields, dict):
        return {}
    return {name: _typed(fields.get(name), value) for name, value in content.items()}


def _typed(field: Any, value: Any) -> Any:
    if isinstance(value, list):
        choices = _choices(field.get("items") if isinstance(field, dict) else None)
        return [choices.index(each) + 1 for each in value if each in choices]
    choices = _choices(field)
    if value in choices:
        return choices.index(value) + 1
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return value


def _choices(field: Any) -> list[Any]:
    if not isinstance(field, dict):
        return []
    named = field.get("oneOf") or field.get("anyOf")
    if isinstance(named, list):
        return [each.get("const") for each in named if isinstance(each, dict)]
    plain = field.get("enum")
    return plain if isinstance(plain, list) else []
