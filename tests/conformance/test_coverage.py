"""Every requirement has a test, and the table says which."""

from __future__ import annotations

import pytest

from .coverage import TABLE, Tests, collect, reasons, render, requirements


@pytest.fixture(scope="module")
def tests() -> Tests:
    return collect()


def test_every_requirement_is_held_by_a_test(tests: Tests) -> None:
    left_out = reasons() | reasons("missing.toml")
    assert [ident for ident in requirements() if ident not in tests and ident not in left_out] == []


def test_what_a_test_holds_is_not_said_to_be_left_out(tests: Tests) -> None:
    assert sorted(reasons().keys() & tests.keys()) == []


def test_only_known_requirements_are_named(tests: Tests) -> None:
    known = requirements().keys()
    assert [ident for ident in (*tests, *reasons()) if ident not in known and ident.startswith("V1-")] == []
    assert len(known) == 218


def test_only_what_may_be_left_out_is(tests: Tests) -> None:
    """Not built: what is optional. A MUST of the stable protocol cannot stand there."""
    assert [ident for ident in reasons() if requirements()[ident].level.rstrip("*") != "MAY"] == []
    assert all(reasons().values())


def test_the_table_is_up_to_date(tests: Tests) -> None:
    assert TABLE.read_text(encoding="utf-8") == render(tests), "run: make conformance"
