"""Two sessions on one connection: a fault is told in both chats, and nothing of one gets into the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.world import live

pytestmark = pytest.mark.anyio

SHORT, LONG = 4, 100
"""Runs of each version in ``make test`` and in ``make test-long``."""


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(SHORT))
async def test_two_sessions(tmp_path: Path, seed: int, version: int) -> None:
    found = await live(tmp_path, seed, version, chats=2)
    assert not found, f"seed {seed}, version {version}:\n" + "\n".join(found)


@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(SHORT, SHORT + LONG))
async def test_two_sessions_often(tmp_path: Path, seed: int, version: int) -> None:
    found = await live(tmp_path, seed, version, chats=2)
    assert not found, f"seed {seed}, version {version}:\n" + "\n".join(found)
