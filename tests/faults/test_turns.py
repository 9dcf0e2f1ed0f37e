"""Faults of an agent at every point of its life, against the whole host; the seed names the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.world import live

pytestmark = pytest.mark.anyio

SHORT, LONG = 12, 150
"""Runs of each version in ``make test`` and in ``make test-long``."""


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(SHORT))
async def test_faults(tmp_path: Path, seed: int, version: int) -> None:
    found = await live(tmp_path, seed, version)
    assert not found, f"seed {seed}, version {version}:\n" + "\n".join(found)


@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(SHORT, SHORT + LONG))
async def test_many_faults(tmp_path: Path, seed: int, version: int) -> None:
    found = await live(tmp_path, seed, version)
    assert not found, f"seed {seed}, version {version}:\n" + "\n".join(found)
