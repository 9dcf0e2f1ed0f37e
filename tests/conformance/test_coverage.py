"""Every requirement has a test, and the tables say which."""

from __future__ import annotations

import pytest

from .coverage import VERSIONS, collect, read, reasons, render, requirements, table

COUNTS = {"v1": 218, "v2": 156, "aap": 78}


@pytest.mark.timeout(600)  # all tests are collected, perhaps beside as many processes as there are cores
def test_every_requirement_is_held_by_a_test_and_the_tables_say_by_which() -> None:
    tests = collect()
    assert read() == tests, "markers that cannot be read from the file"
    for version in VERSIONS:
        known, left_out = requirements(version), reasons(version)
        assert [ident for ident in known if ident not in tests and ident not in left_out] == []
        assert sorted(left_out.keys() & tests.keys()) == []
        assert [each for each in tests if each.startswith(f"{version.upper()}-") and each not in known] == []
        assert table(version).read_text(encoding="utf-8") == render(version, tests), "run: make conformance"


@pytest.mark.parametrize("version", VERSIONS)
def test_only_what_may_be_left_out_is(version: str) -> None:
    """Not built: what is optional. A MUST of the protocol cannot stand there."""
    known = requirements(version)
    assert len(known) == COUNTS[version]
    left_out = reasons(version).keys()
    assert [ident for ident in left_out if known[ident].level.rstrip("*") != "MAY"] == []
    assert all(reasons(version).values())
