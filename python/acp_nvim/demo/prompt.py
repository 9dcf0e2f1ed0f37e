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
            texts.append(text)
            size += len(text)
        elif isinstance(resource, dict) and isinstance(uri := resource.get("uri"), str):
            size += len(str(resource.get("text") or ""))
            parts = urlsplit(uri)
            path = Path(unquote(parts.path))
            if parts.scheme == "file" and path.is_absolute() and path not in attached:
                attached.append(path)
    return "\n".join(texts).strip(), attached, size
