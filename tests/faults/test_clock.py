"""The clock is set back, or a year ahead, at any moment: nothing hangs, and no time is negative."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest
from tests.faults.check import problems
from tests.faults.world import live, world

from acp_nvim.view.look import duration

YEAR = 365 * 86400.0


class Jumping:
    """A clock that jumps now and then, from a seed."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._true = time.time
        self.off = 0.0

    def __call__(self) -> float:
        if self._rng.random() < 0.1:
            self.off = self._rng.choice([0.0, -3600.0, YEAR, -YEAR, -1.0])
        return self._true() + self.off


@pytest.mark.anyio
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(3))
async def test_it_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, version: int) -> None:
    monkeypatch.setattr(time, "time", Jumping(seed))
    found = await live(tmp_path, seed, version)
    assert not found, f"seed {seed}, version {version}:\n" + "\n".join(found)


@pytest.mark.anyio
@pytest.mark.long
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("seed", range(3, 43))
async def test_it_jumps_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, version: int
) -> None:
    monkeypatch.setattr(time, "time", Jumping(seed))
    found = await live(tmp_path, seed, version)
    assert not found, f"seed {seed}, version {version}:\n" + "\n".join(found)


@pytest.mark.anyio
async def test_it_is_set_back_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """During the start, and during a turn."""
    now = [time.time()]

    def clock() -> float:
        now[0] -= 60.0
        return now[0]

    monkeypatch.setattr(time, "time", clock)
    async with world(tmp_path, 1, 1) as made:
        made.plan(rate=0, calm=False, acts=["wait"])
        made.open()
        made.send()
        await made.until(lambda: made.lua.status.get("state") == "running", "a turn")
        made.tell("cancel", chat=1)
        await made.until(lambda: "cancelled by you" in made.lua.text, "its end")
        assert not re.search(r"-\d+ (s|min|h)|-\d+\.\d s", made.lua.text)
        await made.close()
    assert not problems(made.outcome())


def test_a_duration_is_never_negative() -> None:
    assert duration(-YEAR) == "0 s"
