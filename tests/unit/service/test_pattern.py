"""Patterns of agents: what they mean, and that none holds the host up."""

from __future__ import annotations

import time

import pytest

from acp_nvim.service.pattern import MOST_PATTERN, matches

pytestmark = pytest.mark.anyio

CASES = [
    ("^[a-z]+$", "abc", True),
    ("^[a-z]+$", "abc\n", False),  # the end of the text, not before its last newline
    ("^[a-z]+$", "ab1", False),
    ("b", "abc", True),  # anywhere
    (r"^\d{3}$", "123", True),
    (r"^\d$", "\u0663", False),  # ASCII digits
    (r"^\$$", "$", True),
    ("^[$]$", "$", True),
    ("^[[]$", "[", True),
    (r"^(?<year>\d{4})-\k<year>$", "2024-2024", True),
    (r"^(?<year>\d{4})-\k<year>$", "2024-2025", False),
    (r"(?<=a)b", "ab", True),
    (r"(?<!a)b", "ab", False),
    (r"^a\/b$", "a/b", True),
    (r"^\p{L}+$", "abc", None),  # not known here
    ("(", "abc", None),
    ("x" * (MOST_PATTERN + 1), "x", None),
]


async def test_what_patterns_mean() -> None:
    found = await matches([(pattern, text) for pattern, text, _ in CASES])
    wrong = [(case, got) for case, got in zip(CASES, found, strict=True) if case[2] is not got]
    assert wrong == []


async def test_no_pattern_no_process() -> None:
    assert await matches([]) == []


async def test_one_that_never_ends_costs_the_others_nothing() -> None:
    started = time.monotonic()
    pairs = [("^a$", "a"), ("^(a+)+$", "a" * 40 + "!"), ("^b$", "c")]
    assert await matches(pairs) == [True, None, False]
    assert time.monotonic() - started < 10
