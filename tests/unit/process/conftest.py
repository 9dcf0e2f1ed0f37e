"""Fixtures for tests that start processes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.plugin import none_left


@pytest.fixture
def marker(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Mark all processes of this test; at its end none may be alive."""
    value = str(uuid.uuid4())
    monkeypatch.setenv("ACP_TEST_ID", value)
    yield f"ACP_TEST_ID={value}"
    none_left(f"ACP_TEST_ID={value}")


@pytest.fixture
def here(tmp_path: Path) -> str:
    """A working directory."""
    return str(tmp_path)
