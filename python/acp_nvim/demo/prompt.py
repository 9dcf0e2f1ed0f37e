"""From a prompt to its turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from . import act, tour
from .peer import INVALID_PARAMS, Json, RpcError
from .project import DemoError
from .requests import Plan, Tour, parse
from .turn import Turn


async def play(turn: Turn, text: str) -> None:
    """One turn: understand the prompt and do it, and then what was said meanwhile."""
    session = turn.session
    session.added = []
    if not session.titled and text:
        session.entitle(text)
        await turn.entitled()
    await _answer(turn, text)
    while session.added:
        added, turn.attached = session.added.pop(0)
        await turn.heard(added)
        await _answer(turn, added)
    session.added = None


async def _answer(turn: Turn, text: str) -> None:
    """Do one thing. Problems are part of the answer."""
    try:
        match parse(text):
            case Tour():
                await tour.tour(turn)
            case Plan() as plan:
                await tour.follow(turn, plan)
            case action:
                await act.do(turn, action)
    except DemoError as error:
        await turn.say(str(error))


def said(ident: str, text: str) -> Json:
    """The update of the user's message."""
    block = {"type": "text", "text": text}
    return {"sessionUpdate": "user_message_chunk", "messageId": ident, "content": block}


def read(blocks: Any) -> tuple[str, list[Path], int]:
    """Text, attached files and number of characters of a prompt. Unknown blocks are passed over."""
    if not isinstance(blocks, list):
        raise RpcError(INVALID_PARAMS, "prompt must be a list of content blocks.")
    texts: list[str] = []
    attached: list[Path] = []
    size = 0
    for block in blocks:
        if not isinstance(block, dict):
            continue
        resource = block.get("resource") if block.get("type") == "resource" else block
        if block.get("type") == "text" and isinstance(text := block.get("text"), str):
            if not text.endswith("```\n"):  # else it is context, not words
                texts.append(text)
            size += len(text)
        elif isinstance(resource, dict) and isinstance(uri := resource.get("uri"), str):
            size += len(str(resource.get("text") or ""))
            parts = urlsplit(uri)
            path = Path(unquote(parts.path))
            if parts.scheme == "file" and path.is_absolute() and path not in attached:
                attached.append(path)
    return "\n".join(texts).strip(), attached, size


def parts(blocks: Any) -> list[str]:
    """What a prompt is made of, a line for each block, for people."""
    return [_part(block) for block in blocks if isinstance(block, dict)]


def _part(block: Json) -> str:
    kind = str(block.get("type"))
    resource = block.get("resource")
    content = resource if kind == "resource" and isinstance(resource, dict) else block
    text, data, uri = content.get("text"), content.get("data"), content.get("uri")
    facts = [kind.replace("_", " ")]
    if isinstance(text, str):
        facts.append(f"{len(text):,} characters")
    if isinstance(data, str):
        facts.append(f"{content.get('mimeType')}, {len(data) * 3 // 4 - data[-2:].count('='):,} bytes")
    return ", ".join(facts) + (f": `{uri}`" if isinstance(uri, str) else "")
