"""Valid and broken messages in one stream: no message is lost that is not itself broken."""

from __future__ import annotations

import os
import random

import pytest

from .stream import play, stream

pytestmark = pytest.mark.anyio

CHUNK = 50  # valid messages of one connection, and as many broken ones
SEED = os.environ.get("ACP_TEST_SEED", "1")


async def check(first: int, chunks: int) -> None:
    for number in range(first, first + chunks):
        seed = f"{SEED}-{number}"
        lines = stream(seed, CHUNK)
        mixed, problems = await play(lines, random.Random(seed))
        alone, others = await play([line for line in lines if line.valid], random.Random(seed))
        assert [*problems, *others] == [], seed
        assert mixed.valid.everything() == alone.valid.everything(), seed


@pytest.mark.req("V1-05", "V1-09", "V1-12", "V1-89", "V1-114", "V1-214")
@pytest.mark.parametrize("part", range(4))
async def test_broken_messages_cost_only_themselves(part: int) -> None:
    """2,000 valid messages and 2,000 broken ones in all."""
    await check(part * 10, 10)


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_a_hundred_thousand_of_each() -> None:
    await check(1000, 2000)
