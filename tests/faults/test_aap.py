"""Faults of a server of AAP at every point of a turn, against the whole host; the seed names the run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.remote import live

pytestmark = pytest.mark.anyio

SHORT, LONG = 20, 400
"""Runs in ``make test`` and in ``make test-long``."""


@pytest.mark.parametrize("seed", range(SHORT))
async def test_faults(tmp_path: Path, seed: int) -> None:
    found = await live(tmp_path, seed)
    assert not found, f"seed {seed}:\n" + "\n".join(found)


@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(SHORT, SHORT + LONG))
async def test_many_faults(tmp_path: Path, seed: int) -> None:
    found = await live(tmp_path, seed)
    assert not found, f"seed {seed}:\n" + "\n".join(found)
