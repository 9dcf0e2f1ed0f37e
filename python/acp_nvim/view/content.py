"""Content that is no text, as one line: what it is and how much of it there is."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote, urlsplit

from acp_nvim.session.content import Block
from acp_nvim.text.sanitise import one_line

#: Cells of what is shown of content this version does not know, of a name, and of an address.
RAW_CELLS = 200
NAME_CELLS = 200
URI_CELLS = 400


def hidden(block: Block) -> bool:
    """Whether a block is for the model alone: its audience names nobody else (V1-101)."""
    return bool(block.audience) and all(each == "assistant" for each in block.audience or ())


def block_line(block: Block) -> str:
    """One safe line, with two blanks before it, for a block that is not text (V1-98, V1-99).

    It begins with a word of ours, so that nothing in it can be taken for Markdown's beginning of a line.
    """
    if block.type not in ("image", "audio", "link", "resource"):
        return "  unknown  " + raw_line(block.raw if block.raw is not None else {"type": block.type})
    uri = block.uri if block.uri and not block.uri.startswith("data:") else None
    name = block.title or block.name
    facts = ", ".join(part for part in (block.mime, size_text(size_of(block))) if part)
    parts = [
        block.type,
        one_line(facts, NAME_CELLS),
        one_line(name or "", NAME_CELLS),
        one_line(uri, URI_CELLS) if uri and uri != name else "",
    ]
    return "  " + "  ".join(part for part in parts if part)


def raw_line(raw: Any) -> str:
    """Content of a kind we do not know: its type and the beginning of what it says."""
    kind = raw.get("type") if isinstance(raw, dict) else None
    return one_line(f"{str(kind or 'content')[:RAW_CELLS]}  {_beginning(raw, 8 * RAW_CELLS)}", RAW_CELLS)


def as_json(raw: Any, indent: int | None = None) -> str:
    """JSON for people; what is no JSON shows as Python would write it."""
    return json.dumps(raw, ensure_ascii=False, indent=indent, default=repr)


#: Bytes. A number of an agent may be larger than any float.
MOST_SIZE = 10**18


def size_text(size: int | None) -> str:
    """``84 kB``, ``2.1 kB``, ``31 B``; "" when unknown, or nothing is so large."""
    if size is None or not 0 <= size < MOST_SIZE:
        return ""
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 10:
            return f"{value:.1f} {unit}"
        if value < 1000:
            return f"{value:.0f} {unit}"
    return f"{value:.0f} GB"


def file_path(uri: str | None) -> tuple[str, int | None] | None:
    """The absolute path and the line (``#L7``) of a ``file:`` address, None for others (V1-100)."""
    if not uri:
        return None
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        return None
    first = parts.fragment.removeprefix("L").split("-")[0]
    return unquote(parts.path), int(first) if first.isdecimal() and len(first) < 10 else None


def size_of(block: Block) -> int | None:
    """The size in bytes (of a text: in characters), as far as it can be told without decoding."""
    if block.size is not None:
        return block.size
    if block.data is not None:
        padding = block.data[-2:].count("=")
        return len(block.data) * 3 // 4 - padding
    return block.text.length if block.text is not None else None


def _beginning(raw: Any, chars: int) -> str:
    """The first characters of the JSON of a value, however large that is."""
    found, left = [], chars
    for piece in json.JSONEncoder(ensure_ascii=False, default=repr).iterencode(raw):
        found.append(piece[:left])
        left -= len(piece)
        if left <= 0:
            break
    return "".join(found)
