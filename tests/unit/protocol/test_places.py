"""Paths of an agent that no file can have never reach what would stumble over them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from acp_nvim.protocol.content import absolute, location
from acp_nvim.protocol.listing import listing
from acp_nvim.session.agent import SessionInfo


@pytest.mark.parametrize(
    "path, made",
    [("a", "/ws/a"), ("/b", "/b"), ("", ""), ("/ws/a\0b", "/ws/a�b"), ("a\0", "/ws/a�"), ("\0", "/ws/�")],
)
def test_a_path_is_absolute_and_has_no_nul(path: str, made: str) -> None:
    assert absolute(path, "/ws") == made
    assert location(path, 0, "/ws").path == made


@pytest.mark.anyio
async def test_sessions_whose_folder_cannot_be_are_left_out() -> None:
    entries = [
        SessionInfo("a", "/ws"),
        SessionInfo("b", "/ws\0"),
        SessionInfo("c", "ws"),
        SessionInfo("d", "/ws", directories=("/a\0b",)),
    ]

    async def page(_cursor: str | None) -> tuple[Sequence[SessionInfo], str | None]:
        return entries, None

    found = await listing(page)
    assert [each.id for each in found.sessions] == ["a"]
