"""Fixtures of the tests that run commands."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.plugin import none_left

from acp_nvim.process import ending


@pytest.fixture
def marker(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Mark all processes of this test, which have little time to end; at its end none may be alive."""
    monkeypatch.setattr(ending, "TERM_GRACE", 0.3)
    monkeypatch.setenv("ACP_TEST_ID", f"terminals-{os.getpid()}")
    yield f"ACP_TEST_ID=terminals-{os.getpid()}"
    none_left(f"ACP_TEST_ID=terminals-{os.getpid()}")
