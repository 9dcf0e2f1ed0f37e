"""A turn that brings content, the keys that open it, and what was opened."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Chat, Stage, update
from tests.plugin import Screen, StartScreen, eventually

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))

RECORD = """
_G.opened = {}
vim.ui.open = function(target) table.insert(_G.opened, target) end
"""


def image(data: bytes | str = PNG, mime: str = "image/png", **fields: Any) -> Json:
    text = base64.b64encode(data).decode() if isinstance(data, bytes) else data
    return {"type": "image", "data": text, "mimeType": mime, **fields}


def link(uri: str, **fields: Any) -> Json:
    return {"type": "resource_link", "uri": uri, "name": "here", **fields}


def embedded(uri: str, **fields: Any) -> Json:
    return {"type": "resource", "resource": {"uri": uri, **fields}}


def message(*blocks: Json) -> list[Json]:
    return [update("agent_message_chunk", content=block) for block in blocks]


def play(
    start_screen: StartScreen, agent: MakeAgent, actions: list[Json], *, init: str = "", **options: Any
) -> Chat:
    """A turn that plays these actions; the cursor is in the transcript."""
    played = agent(on={"session/prompt": [*actions, END]})
    stage = Stage(start_screen(size=(120, 40), init=WATCH + RECORD + init, **options), PASSIVE)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send()
    chat.wait_turn()
    chat.screen.api.set_current_win(chat.screen.funcs.bufwinid(chat.buf))
    return chat


def press(chat: Chat, line: str, key: str = "<CR>") -> None:
    """Press a key on the first line of the transcript with this text."""
    screen = chat.screen
    assert screen.funcs.search(r"\V" + line.replace("\\", "\\\\"), "cw"), chat.text()
    screen.keys(key)


def opened(screen: Screen) -> list[str]:
    return list(screen.lua("return _G.opened"))


def wait_opened(screen: Screen, count: int = 1) -> list[str]:
    eventually(lambda: len(opened(screen)) >= count, message=lambda: screen.text() + screen.messages())
    return opened(screen)


def cache(screen: Screen) -> list[Path]:
    return [path for path in (screen.home / "cache_home" / "nvim" / "acp.nvim").rglob("*") if path.is_file()]


def wait_said(chat: Chat, wanted: str) -> None:
    def said() -> str:
        log = chat.screen.lua("return vim.tbl_map(function(m) return m.text end, require('acp.message').log)")
        return "\n".join(log)

    eventually(lambda: wanted in said(), message=lambda: said() + chat.screen.text())
