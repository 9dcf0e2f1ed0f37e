"""Windows of a text: exact pieces of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.service.window import window

ABC = "a\nb\nc\n"


@pytest.mark.req("V1-164")
@pytest.mark.parametrize(
    ("text", "line", "limit", "expected"),
    [
        (ABC, None, None, ABC),
        (ABC, 2, 1, "b\n"),
        (ABC, 9, None, ""),
        (ABC, None, 0, ""),
        (ABC, 0, 1, "a\n"),
        (ABC, 0, None, ABC),
        (ABC, 1, 2**40, ABC),
        (ABC, 2**60, 2**60, ""),
        (ABC, 4, 1, ""),
        (ABC, -5, 1, "a\n"),
        (ABC, 2, -1, ""),
        ("a\nb", 2, None, "b"),
        ("a\nb", 2, 7, "b"),
        ("a\r\nb\r\n", 2, 1, "b\r\n"),
        ("a\u2028b\x0cc\x85d\n", 1, 1, "a\u2028b\x0cc\x85d\n"),
        ("a\rb\n", 2, 1, ""),
        ("\n\n\n", 2, 1, "\n"),
        ("", 1, 1, ""),
        ("\ufeffa\nb\n", 1, 1, "\ufeffa\n"),
    ],
)
def test_windows(text: str, line: int | None, limit: int | None, expected: str) -> None:
    assert window(text, line, limit) == expected


texts = st.text(st.sampled_from("ab\n\r\u2028"), max_size=40)
numbers = st.none() | st.integers(-2, 50)


@given(texts, numbers, numbers)
def test_a_window_is_what_the_lines_say(text: str, line: int | None, limit: int | None) -> None:
    lines = [piece + "\n" for piece in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    start = max((line or 1) - 1, 0)
    end = len(lines) if limit is None else start + max(limit, 0)
    assert window(text, line, limit) == "".join(lines[start:end])


@given(texts, st.integers(1, 5))
def test_windows_side_by_side_are_the_text(text: str, step: int) -> None:
    count = text.count("\n") + 1
    assert "".join(window(text, line, step) for line in range(1, count + 1, step)) == text
