"""Every requirement has a test, and the table says which."""

from __future__ import annotations

import pytest

from .coverage import TABLE, collect, reasons, render, requirements


@pytest.mark.timeout(600)  # all tests are collected, perhaps beside as many processes as there are cores
def test_every_requirement_is_held_by_a_test_and_the_table_says_by_which() -> None:
    tests, known, left_out = collect(), requirements(), reasons()
    assert [ident for ident in known if ident not in tests and ident not in left_out] == []
    assert sorted(left_out.keys() & tests.keys()) == []
    assert [ident for ident in tests if ident.startswith("V1-") and ident not in known] == []
    assert TABLE.read_text(encoding="utf-8") == render(tests), "run: make conformance"


def test_only_what_may_be_left_out_is() -> None:
    """Not built: what is optional. A MUST of the stable protocol cannot stand there."""
    known = requirements()
    assert len(known) == 218
    assert [ident for ident in reasons() if known[ident].level.rstrip("*") != "MAY"] == []
    assert all(reasons().values())
