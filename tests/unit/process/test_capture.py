"""Programs that answer at once, and those that do not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from acp_nvim.process import ending
from acp_nvim.process.capture import Captured, capture
from acp_nvim.process.environment import LaunchError
from acp_nvim.process.reaper import Reaper
from acp_nvim.process.spawn import Spawner

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "TERM_GRACE", 0.2)


@asynccontextmanager
async def spawner() -> AsyncIterator[Spawner]:
    made = Spawner()
    made.reaper = Reaper(grace=0.2)
    try:
        yield made
    finally:
        await anyio.to_thread.run_sync(made.reaper.close)


@pytest.mark.parametrize(
    ("program", "limit", "seconds", "expected"),
    [
        ("printf 'a\\0b'; echo no >&2", 100, 20, Captured(0, b"a\0b")),
        ("printf abc; exit 3", 100, 20, Captured(3, b"abc")),
        ("printf abc", 3, 20, Captured(0, b"abc")),
        ("printf abcd; sleep 100", 3, 20, Captured(None, b"abc", cut=True)),
        ("while :; do echo y; done", 10_000, 20, Captured(None, b"y\n" * 5000, cut=True)),
        ("sleep 100", 100, 0.05, Captured(None, b"")),
        ("trap '' TERM; (sleep 100 &) ; sleep 100", 100, 0.05, Captured(None, b"")),
        ("read x && echo got; echo end", 100, 20, Captured(0, b"end\n")),
    ],
)
async def test_what_it_says(
    program: str, limit: int, seconds: float, expected: Captured, here: str, marker: str
) -> None:
    """``marker``: none of them is left."""
    async with spawner() as made:
        argv = ["/bin/sh", "-c", program]
        assert await capture(made, argv, cwd=here, limit=limit, seconds=seconds) == expected


async def test_one_that_is_not_there(here: str) -> None:
    async with spawner() as made:
        with pytest.raises(LaunchError):
            await capture(made, ["no-such-program-here"], cwd=here, limit=1, seconds=1)
