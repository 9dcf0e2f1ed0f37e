"""The history of prompts: one file a folder, several Neovims, secrets, bounds, and what breaks."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest

from acp_nvim.client import history
from acp_nvim.client.history import History, keeps
from acp_nvim.client.payloads import OfFolder
from acp_nvim.client.secrets import MASK, Secrets

pytestmark = pytest.mark.anyio

CWD = "/ws"


class Neovim:
    """A history with an editor that notes what it is told."""

    def __init__(self, folder: Path, spawn: Any) -> None:
        self.complaints: list[str] = []
        self.told: list[list[str]] = []
        self.secrets = Secrets()
        self.wanted = True
        self.history = History(
            folder, self, self.secrets, spawn, self.complaints.append, lambda: self.wanted  # type: ignore[arg-type]
        )  # fmt: skip

    def notify(self, module: str, function: str, cwd: str, texts: list[str]) -> None:
        assert (module, function) == ("acp.chat.history", "loaded")
        self.told.append(texts)


@asynccontextmanager
async def neovims(folder: Path, count: int = 1) -> AsyncIterator[list[Neovim]]:
    """At the end all is written and told."""
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            spawn: Any = group.start_soon
            yield [Neovim(folder, spawn) for _ in range(count)]


async def stored(folder: Path, cwd: str = CWD) -> list[str]:
    """What the next Neovim gets."""
    async with neovims(folder) as [later]:
        later.history.tell(OfFolder(cwd))
    assert later.complaints == []
    return later.told[0]


def files(folder: Path) -> list[Path]:
    return list(folder.glob("prompts-*.json"))


def only_file(folder: Path) -> Path:
    (path,) = files(folder)
    return path


async def test_they_are_there_in_the_next_neovim_of_that_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "acp.nvim"
    async with neovims(folder) as [here]:
        for text in ("one", "two\nlines", "one", "日本 \udce9"):
            here.history.sent(CWD, text)
    assert await stored(folder) == ["two\nlines", "one", "日本 ?"]
    assert await stored(folder, "/other") == []
    assert stat.S_IMODE(only_file(folder).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(each.name for each in folder.iterdir()) == [only_file(folder).name, "prompts.lock"]


async def test_several_neovims_lose_nothing_of_each_other(tmp_path: Path) -> None:
    async with neovims(tmp_path, 3) as every:
        for n, here in enumerate(every):
            for k in range(5):
                here.history.sent(CWD, f"{n}-{k}")
                await anyio.lowlevel.checkpoint()
    found = await stored(tmp_path)
    assert len(found) == 15
    for n in range(3):
        assert [text for text in found if text.startswith(f"{n}-")] == [f"{n}-{k}" for k in range(5)]


async def test_secrets_are_not_written(tmp_path: Path) -> None:
    async with neovims(tmp_path) as [here]:
        here.secrets.add(["hunter2hunter2"])
        here.history.sent(CWD, "log in with hunter2hunter2, please")
    assert await stored(tmp_path) == [f"log in with {MASK}, please"]
    assert b"hunter2" not in only_file(tmp_path).read_bytes()


async def test_nothing_is_read_or_written_when_it_is_not_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "acp.nvim"
    async with neovims(folder) as [here]:
        here.wanted = False
        here.history.sent(CWD, "one")
        here.history.tell(OfFolder(CWD))
    assert not folder.exists()
    assert here.told == []
    assert keeps({}) and keeps({"history": {}}) and keeps({"history": {"remember": True}})
    assert not keeps({"history": {"remember": False}})


async def test_it_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST", 3)
    monkeypatch.setattr(history, "MOST_BYTES", 20)
    monkeypatch.setattr(history, "LONGEST", 10)
    monkeypatch.setattr(history, "FOLDERS", 2)
    async with neovims(tmp_path) as [here]:
        for text in ("a", "b", "c", "d", "x" * 11):
            here.history.sent(CWD, text)
    assert await stored(tmp_path) == ["b", "c", "d"]
    async with neovims(tmp_path) as [here]:
        for text in ("8888888a", "8888888b", "8888888c"):
            here.history.sent(CWD, text)
    assert await stored(tmp_path) == ["8888888b", "8888888c"]
    os.utime(only_file(tmp_path), (1, 1))
    async with neovims(tmp_path) as [here]:
        for cwd in ("/a", "/b"):
            here.history.sent(cwd, "there")
    assert len(files(tmp_path)) == 2
    assert await stored(tmp_path) == []


BROKEN = [b'{"cwd": "/ws", "prompts": [', b"[]", b"\xff\xfe", b'{"cwd": "", "prompts": [{"text": 1}]}', b""]


@pytest.mark.parametrize("broken", [*BROKEN, b" " * (history.LARGEST + 1)])
async def test_a_broken_file_is_told_once_and_left_alone(tmp_path: Path, broken: bytes) -> None:
    async with neovims(tmp_path) as [here]:
        path = here.history.path_of(CWD)
        path.write_bytes(broken)
        here.history.tell(OfFolder(CWD))
        here.history.sent(CWD, "one")
        here.history.tell(OfFolder(CWD))
    (complaint,) = here.complaints
    assert "prompts are not kept for later" in complaint and ":AcpHistory!" in complaint
    assert (path.read_bytes(), here.told) == (broken, [])
    async with neovims(tmp_path) as [here]:
        here.history.forget(OfFolder(CWD))
    assert here.complaints == [] and not path.exists()
    async with neovims(tmp_path) as [here]:
        here.history.sent(CWD, "two")
    assert await stored(tmp_path) == ["two"]


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "another's"])
async def test_what_is_not_the_users_own_file_is_not_touched(tmp_path: Path, kind: str) -> None:
    if kind == "another's" and os.geteuid() != 0:
        pytest.skip("only root can make a file of somebody else")
    folder = tmp_path / "acp.nvim"
    folder.mkdir()
    good = msgspec.json.encode({"cwd": CWD, "prompts": [{"text": "theirs"}]})
    other = tmp_path / "other"
    other.write_bytes(good)
    async with neovims(folder) as [here]:
        path = here.history.path_of(CWD)
        if kind == "link":
            path.symlink_to(other)
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.write_bytes(good)
            os.chown(path, 4242, 4242)
        before = path.lstat()
        here.history.tell(OfFolder(CWD))
        here.history.sent(CWD, "one")
    assert len(here.complaints) == 1
    assert here.told == []
    assert (path.lstat().st_ino, other.read_bytes()) == (before.st_ino, good)


async def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with neovims(tmp_path / "file" / "acp.nvim") as [here]:
        here.history.sent(CWD, "one")
        await anyio.lowlevel.checkpoint()
        here.history.sent(CWD, "two")
        here.history.tell(OfFolder(CWD))
    (complaint,) = here.complaints
    assert "; see :help acp-history" in complaint  # there is nothing that could be removed


async def test_what_is_forgotten_is_not_written_afterwards(tmp_path: Path) -> None:
    async with neovims(tmp_path) as [here]:
        here.history.sent(CWD, "one")
    async with neovims(tmp_path) as [here]:
        here.history.sent(CWD, "two")
        here.history.forget(OfFolder(CWD))
    assert await stored(tmp_path) == []
