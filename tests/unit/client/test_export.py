"""A long chat is written in slices: whoever else has something to do comes in between."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.unit.view.helpers import Chat

from acp_nvim.client import export
from acp_nvim.client.export import Exports
from acp_nvim.client.payloads import Export
from acp_nvim.client.secrets import Secrets
from acp_nvim.view.icons import UNICODE

pytestmark = pytest.mark.anyio


async def written(chat: Chat | None, path: Path, earlier: str | None = None) -> tuple[list[Any], int]:
    """What Lua was told, and how often another task came in between. ``earlier``: of a host that was lost."""
    told: list[Any] = []
    turns = 0
    made: Any = None
    if chat is not None:
        tell = SimpleNamespace(reopened=earlier is not None)
        made = SimpleNamespace(session=chat.session, tell=tell, n=1, transcript=SimpleNamespace(first=1))
    registry: Any = SimpleNamespace(get=lambda n: made if n == 1 else None)

    async def call(*_: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        return earlier

    editor: Any = SimpleNamespace(notify=lambda *message: told.append(message), call=call)
    secrets = Secrets()
    secrets.add(["hush-hush-123"])

    async def others() -> None:
        nonlocal turns
        while not told:
            turns += 1
            await anyio.lowlevel.checkpoint()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(others)
            spawn: Any = group.start_soon
            Exports(editor, registry, secrets, UNICODE, spawn).write(Export(1, 7, str(path)))
    return told, turns


async def test_others_come_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "SLICE", 0.0)
    chat = Chat()
    for n in range(500):
        chat.prompt(f"prompt {n}")
        chat.say("answer hush-hush-123 \ud800")
        chat.end()
    path = tmp_path / "chat.md"
    told, turns = await written(chat, path)
    text = path.read_text()
    assert told == [("acp.chat.export", "done", 7, False, text.count("\n"))]
    assert turns > 1000
    assert text.count("\n## ") == 500
    assert "answer ••• \ufffd" in text
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600
    assert os.listdir(tmp_path) == ["chat.md"]  # noqa: PTH208


async def test_no_part_of_it_has_a_secret(tmp_path: Path) -> None:
    chat = Chat()
    chat.session.title = "about hush-hush-123"
    chat.prompt("prompt hush-hush-123")
    chat.tool("t", "title hush-hush-123", "execute", raw_input={"command": "x hush-hush-123"})
    chat.end()
    path = tmp_path / "chat.md"
    await written(chat, path, "before: hush-hush-123")
    text = path.read_text()
    assert "before: •••" in text
    assert "about •••" in text
    assert "hush" not in text


@pytest.mark.parametrize(
    ("place", "why"),
    [("none/chat.md", "there is no folder"), ("folder", "a folder"), ("file/chat.md", "there is no folder")],
)
async def test_where_it_cannot_be_written(tmp_path: Path, place: str, why: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    [message], _ = await written(Chat(), tmp_path / place)
    assert why in message[3]
    assert (tmp_path / "file").read_text() == "mine"


async def test_a_chat_that_is_gone(tmp_path: Path) -> None:
    [message], _ = await written(None, tmp_path / "chat.md")
    assert message[3:] == ("this chat has ended", 0)
    assert os.listdir(tmp_path) == []  # noqa: PTH208
