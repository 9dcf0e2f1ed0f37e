"""Exit codes in words."""

from __future__ import annotations

import pytest

from acp_nvim.process.exits import describe_exit


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "ended with exit code 0"),
        (3, "ended with exit code 3"),
        (-9, "was ended by SIGKILL"),
        (-15, "was ended by SIGTERM"),
        (-11, "was ended by SIGSEGV"),
        (137, "ended with exit code 137 (SIGKILL)"),
        (255, "ended with exit code 255"),
        (-200, "was ended by signal 200"),
        (None, "is still running, but closed its output"),
    ],
)
def test_words(code: int | None, words: str) -> None:
    assert describe_exit(code) == words
