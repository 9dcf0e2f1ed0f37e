"""Arrays of messages with faults inside, for a client that takes them, and for one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.world import live

pytestmark = pytest.mark.anyio

SHORT, LONG = 3, 60
"""Runs of each version and each client in ``make test`` and in ``make test-long``."""


async def arrays(folder: Path, seed: int, version: int, takes: bool) -> None:
    given = {"batches": "yes" if takes else "no", "settings": {"batches": takes}}
    found = await live(folder, seed, version, **given)
    assert not found, f"seed {seed}, version {version}, {given}:\n" + "\n".join(found)


@pytest.mark.parametrize("takes", [True, False])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(SHORT))
async def test_arrays(tmp_path: Path, seed: int, version: int, takes: bool) -> None:
    await arrays(tmp_path, seed, version, takes)


@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.parametrize("takes", [True, False])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(SHORT, SHORT + LONG))
async def test_many_arrays(tmp_path: Path, seed: int, version: int, takes: bool) -> None:
    await arrays(tmp_path, seed, version, takes)
