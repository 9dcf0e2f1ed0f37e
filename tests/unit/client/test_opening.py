"""How a chat gets its session: what an agent says of one it does not have any more."""

from __future__ import annotations

import pytest

from acp_nvim.client.opening import gone
from acp_nvim.session.entities import Failure


@pytest.mark.req("V1-58")
@pytest.mark.parametrize(
    ("message", "kind", "is_gone"),
    [
        ("Resource not found", "not_found", True),
        ("Session not found", "generic", True),
        ("Session not found: ses_4f2a", "generic", True),
        ("Internal error: No conversation found with session ID: 0b1", "generic", True),
        ("no rollout found for thread id 0199", "generic", True),
        ("Internal error: No previous sessions found for this project.", "generic", True),
        ('Invalid session identifier "abc"', "generic", True),
        ("Unknown session: abc", "invalid", True),
        ("the session abc does not exist", "invalid", True),
        ("this session has expired", "generic", True),
        ("no session storage is available", "generic", False),
        ("rate limit reached", "generic", False),
        ("model not found", "generic", False),
        ("could not read the session's file: permission denied", "generic", False),
        ("loading the session timed out", "slow", False),
        ("x cannot take up a session again", "unsupported", False),
        ("no session: not logged in", "auth", False),
        ("the session was not found as the agent was stopped", "cancelled", False),
        ("connection lost: session not found", "transport", False),
    ],
)
def test_gone(message: str, kind: str, is_gone: bool) -> None:
    assert gone(Failure(message, kind=kind)) is is_gone
