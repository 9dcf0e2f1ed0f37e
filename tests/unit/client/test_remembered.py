"""What is remembered of sessions on servers that know no titles."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import anyio
import pytest

from acp_nvim.client import remembered
from acp_nvim.client.remembered import Picked, Remembered
from acp_nvim.client.secrets import Secrets
from acp_nvim.protocol.aap.memory import Known, title_of
from acp_nvim.session.content import Block

pytestmark = pytest.mark.anyio


def known(title: str, second: int = 0) -> Known:
    return Known(title, "/ws", f"2026-01-01T00:00:{second:02}+00:00")


@pytest.mark.req("AAP-14")
async def test_it_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "sessions.json"
    here = Remembered(path, "http://a")
    await here.keep("1", known("one"))
    await here.keep("2", known("two"))
    await Remembered(path, "http://b").keep("1", known("another server's"))
    await here.forget("2")
    await here.forget("3")
    assert await Remembered(path, "http://a").recall() == {"1": known("one")}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(each.name for each in path.parent.iterdir()) == ["sessions.json", "sessions.lock"]


async def test_a_secret_in_a_title_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "sessions.json"
    secrets = Secrets()
    secrets.add(["hunter2-hunter2"])
    await Remembered(path, "http://a", secrets.mask).keep("1", known("log in with hunter2-hunter2"))
    assert b"hunter2" not in path.read_bytes()
    assert [each.title for each in (await Remembered(path, "http://a").recall()).values()] == [
        "log in with •••"
    ]
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_a_broken_file_costs_titles_alone(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    path.write_text('{"http://a": [')
    here = Remembered(path, "http://a")
    assert await here.recall() == {}
    await here.keep("1", known("one"))
    assert await here.recall() == {"1": known("one")}


async def test_a_fifo_in_its_place_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    os.mkfifo(path)
    # Without the guard a thread waits in open() for ever; the other end lets it go, so that the test fails.
    rescue = threading.Timer(5.0, lambda: os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK)))
    rescue.start()
    began = time.monotonic()
    assert await Remembered(path, "http://a").recall() == {}
    rescue.cancel()
    assert time.monotonic() - began < 5.0


async def test_several_neovims_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"

    async def write(server: str) -> None:
        for number in range(20):
            await Remembered(path, server).keep(str(number), known(server))

    servers = [f"http://{name}" for name in "abcd"]
    async with anyio.create_task_group() as group:
        for server in servers:
            group.start_soon(write, server)
    assert [len(await Remembered(path, server).recall()) for server in servers] == [20] * 4


async def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    here = Remembered(tmp_path / "file" / "sessions.json", "http://a")
    await here.keep("1", known("one"))
    assert await here.recall() == {}


async def test_the_oldest_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST", 2)
    here = Remembered(tmp_path / "sessions.json", "http://a")
    for n in (3, 1, 2):
        await here.keep(str(n), known(str(n), n))
    assert sorted(await here.recall()) == ["2", "3"]


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["  fix it \nplease"], "fix it"),
        (["a.py\n```\ncode\n```\n", "why?"], "why?"),
        (["\n\n"], ""),
        ([], ""),
        (["a\x1b[31mb"], "a^[[31mb"),
    ],
)
def test_a_title_is_the_first_line_that_was_said(texts: list[str], title: str) -> None:
    assert title_of([Block.of_text(each) for each in texts]) == title


@pytest.mark.req("AAP-07")
async def test_which_agent_was_picked(tmp_path: Path) -> None:
    path = tmp_path / "agents.json"
    here = Picked(path, "x", "http://a")
    assert await here.recall() is None
    await here.keep("helper")
    await Picked(path, "y", "http://a").keep("other")
    await Picked(path, "x", "http://b").keep("third")
    assert await Picked(path, "x", "http://a").recall() == "helper"
    path.write_text("[")
    assert await here.recall() is None
    await here.keep("again")
    assert await here.recall() == "again"
    await Picked(path / "below a file", "x", "http://a").keep("nowhere")
