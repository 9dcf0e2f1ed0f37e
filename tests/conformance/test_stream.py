"""Valid and broken messages in one stream: no message is lost that is not itself broken."""

from __future__ import annotations

import os
import random

import pytest

from .sse import Answer
from .sse import stream as events
from .stream import V1, V2, Version, play, stream

pytestmark = pytest.mark.anyio

CHUNK = 50  # valid messages of one connection, and as many broken ones
SEED = os.environ.get("ACP_TEST_SEED", "1")


VERSIONS = {"v1": V1, "v2": V2}


async def check(version: Version, first: int, chunks: int) -> None:
    for number in range(first, first + chunks):
        seed = f"{SEED}-{number}"
        lines = stream(version, seed, CHUNK)
        mixed, problems = await play(version, lines, random.Random(seed))
        alone, others = await play(version, [line for line in lines if line.valid], random.Random(seed))
        assert [*problems, *others] == [], seed
        assert mixed.valid.everything() == alone.valid.everything(), seed


@pytest.mark.req("V1-05", "V1-09", "V1-12", "V1-89", "V1-114", "V1-214")
@pytest.mark.req("V2-12", "V2-18", "V2-153")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("part", range(4))
async def test_broken_messages_cost_only_themselves(version: str, part: int) -> None:
    """2,000 valid messages and 2,000 broken ones in all, of each version."""
    await check(VERSIONS[version], part * 10, 10)


def check_events(first: int, streams: int) -> None:
    for number in range(first, first + streams):
        seed = f"{SEED}-{number}"
        pieces = events(seed, CHUNK)
        mixed = Answer(pieces, random.Random(seed))
        alone = Answer([each for each in pieces if each.valid], random.Random(seed))
        assert mixed.everything() == alone.everything(), seed
        assert mixed.reading.over, seed
        assert not mixed.pending, seed
        assert not any("ignored" in each or "cannot be read" in each for each in alone.notes), seed


@pytest.mark.req("AAP-09", "AAP-39", "AAP-40", "AAP-41", "AAP-42", "AAP-44")
def test_broken_events_cost_only_themselves() -> None:
    """2,000 valid events and 2,000 broken ones in all."""
    check_events(0, 40)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_hundred_thousand_events() -> None:
    check_events(1000, 2000)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_hundred_thousand_of_each(version: str) -> None:
    await check(VERSIONS[version], 1000, 2000)
