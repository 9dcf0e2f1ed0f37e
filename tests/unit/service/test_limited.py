"""The agent's copy of a command's output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.service import limited
from acp_nvim.service.limited import Limited


@pytest.mark.req("V1-181")
@pytest.mark.parametrize(
    ("text", "limit", "wanted"),
    [
        ("aaééé", 5, "éé"),
        ("aaééé", 8, "aaééé"),
        ("aaééé", 7, "aééé"),
        ("日本", 3, "本"),
        ("日本", 2, ""),
        ("日本", 0, ""),
        ("🎸", 4, "🎸"),
        ("a🎸", 3, ""),
        ("", 0, ""),
    ],
)
def test_the_beginning_goes_at_a_character(text: str, limit: int, wanted: str) -> None:
    made = Limited(limit)
    made.feed(text.encode())
    assert (made.text(), made.truncated) == (wanted, wanted != text)


@pytest.mark.req("V1-183")
def test_half_a_character_is_held_back() -> None:
    made = Limited()
    made.feed(b"a\xc3")
    assert made.text() == "a"
    made.feed(b"\xa9\xf0\x9f")
    assert made.text() == "aé"
    made.end()
    assert made.text() == "aé\ufffd"


@pytest.mark.req("V1-181", "V1-183")
@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(0, 60))
def test_any_bytes_in_any_pieces(pieces: list[bytes], limit: int) -> None:
    made = Limited(limit)
    for piece in pieces:
        made.feed(piece)
        assert len(made.text().encode()) <= limit
    made.end()
    whole = b"".join(pieces).decode("utf-8", "replace")
    assert whole.endswith(made.text())
    assert made.truncated == (len(whole.encode()) > limit)
    kept = len(made.text())
    if made.truncated and kept < len(whole):  # not one character more would have fitted
        assert len(whole[len(whole) - kept - 1 :].encode()) > limit


@pytest.mark.req("V1-181")
def test_c18_memory_is_bounded_without_a_limit_and_with_a_huge_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "DEFAULT", 1000)
    monkeypatch.setattr(limited, "MOST", 5000)
    for limit, kept in ((None, 1000), (2**64 - 1, 5000), (3000, 3000)):
        made = Limited(limit)
        for _ in range(200):
            made.feed(b"0123456789" * 10)
        assert (len(made.text()), made.truncated) == (kept, True)
