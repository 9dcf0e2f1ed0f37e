"""Agents that do not want to end, and a way to see that they did."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.plugin import none_left

STUBBORN = "trap '' TERM HUP INT; while :; do sleep 0.1; done"
"""A shell program that ignores SIGTERM and the end of its input."""

POLITE = 'while read -r line; do echo "$line"; done'
"""A shell program that ends with its input."""

SESSION = "import os,sys; os.setsid(); os.execvp(sys.argv[1], sys.argv[1:])"
"""Python: become a session of its own, then another program."""


def in_session(program: str) -> str:
    """Return shell text that runs a shell program in a session of its own, in the background."""
    return f"'{sys.executable}' -I -S -c '{SESSION}' /bin/sh -c \"{program}\" </dev/null >/dev/null 2>&1 &"


AGENTS = {
    "normal": POLITE,
    "stubborn": STUBBORN,
    "wrapped": f'/bin/sh -c "{STUBBORN}"; true',
    "forks": f"({STUBBORN}) & ({STUBBORN}) & {POLITE}",
    "sessions": f"{in_session(STUBBORN)} {POLITE}",
    "stubborn with sessions": f"{in_session(STUBBORN)} {STUBBORN}",
    "session without environment": f"env -i {in_session(STUBBORN)} {STUBBORN}",
}
"""Shell programs of agents: name -> text."""


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
