"""Forms, pages and logins of an agent that breaks: each question ends, and is answered once or taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.world import live

pytestmark = pytest.mark.anyio

SHORT, LONG = 5, 100
"""Runs of each version in ``make test`` and in ``make test-long``."""

ACTS = ["form", "form", "page", "page", "permit", "speak", "exit"]
CHATS = (1, 2)


async def asking(folder: Path, seed: int, version: int) -> None:
    plan = {"acts": ACTS, "most": 6, "login": (0.0, 0.2, 0.5)[seed % 3]}
    found = await live(folder, seed, version, chats=CHATS[seed % 2], **plan)
    assert not found, f"seed {seed}, version {version}:\n" + "\n".join(found)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(SHORT))
async def test_questions(tmp_path: Path, seed: int, version: int) -> None:
    await asking(tmp_path, seed, version)


@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(SHORT, SHORT + LONG))
async def test_many_questions(tmp_path: Path, seed: int, version: int) -> None:
    await asking(tmp_path, seed, version)
