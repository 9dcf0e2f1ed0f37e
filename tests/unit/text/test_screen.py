"""A program's output as lines: progress bars drawn over, no colours."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.text.sanitise import LINE_BYTES
from acp_nvim.text.screen import HIGHEST, TAIL, WIDEST, output


@pytest.mark.req("V1-195")
@pytest.mark.parametrize(
    ("sent", "last", "shown"),
    [
        ("\x1b[1;32mok\x1b[0m\n", None, ["ok"]),
        ("10%\r50%\r100%\n", None, ["100%"]),
        ("abcdef\rXY\n", None, ["XYcdef"]),
        ("crlf\r\nnext\r\n", None, ["crlf", "next"]),
        ("\x1b]0;title\x07text \x1b]52;c;eA==\x1b\\end", None, ["text end"]),
        ("\x1bPq#0\x1b\\x\x1b(B", None, ["x"]),
        ("\x1b_apc\x1b\\a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", None, ["abc"]),
        ("\x9d0;t\x9cx\x9b31my", None, ["xy"]),
        ("ab\b\bcd", None, ["cd"]),
        ("\b\bx", None, ["x"]),
        ("a\tb", None, ["a       b"]),
        ("1\n2\n3\n4\n", 2, ["3", "4"]),
        ("bell\x07", None, ["bell"]),
        ("", 8, []),
        ("\n\n", 8, []),
        ("\x1b[", None, [""]),
        ("a\x1b", None, ["a"]),
        # erasing
        ("downloading 10%\r\x1b[Kdone\n", None, ["done"]),
        ("downloading\x1b[2K\rdone\n", None, ["done"]),
        ("abc\x1b[1Kd", None, ["   d"]),
        ("abc\x1b[2D\x1b[X.", None, ["a.c"]),
        ("\x1b[1G\x1b[0Ka\x1b[1G\x1b[0Kb", None, ["b"]),
        ("a\nb\nc\x1b[2A\x1b[J\rz", None, ["z"]),
        ("a\nb\x1b[1Jc", None, ["", " c"]),
        ("old\n\x1b[2J\x1b[Hnew", None, ["old", "new"]),
        # several bars
        ("one 1%\ntwo 1%\n\x1b[2A\x1b[Kone 9%\n\x1b[Ktwo 9%\n", None, ["one 9%", "two 9%"]),
        ("one\ntwo\x1b[1F1\x1b[1E2", None, ["1ne", "2wo"]),
        ("a\x1b[9Bb\x1b[99Ac", None, ["abc"]),
        ("a\x1b[3Cb\x1b[2;3Hc", None, ["a c b"]),
        ("a\x1b[99999999C\r", None, ["a"]),
        ("\x1b[?25l\x1b[?1049hx\x1b[6n\x1b[>c", None, ["x"]),
        ("ünï\rß", None, ["ßnï"]),
        ("safe\u202egnp", None, ["safe<U+202E>gnp"]),
    ],
)
def test_output(sent: str, last: int | None, shown: list[str]) -> None:
    assert output(sent, last) == shown


@pytest.mark.req("V1-195", "V2-106")
@given(
    st.text(
        st.characters(exclude_categories=()) | st.sampled_from("\x1b[]0123456789;ABCDEFGHJKXm\r\n\b\x9b"),
        max_size=60,
    ),
    st.integers(1, 20),
)
def test_output_is_safe_and_bounded(text: str, last: int) -> None:
    shown = output(text * 3, last)
    assert len(shown) <= last
    for line in shown:
        assert not set(line) & set("\n\r\x1b\x9b\x07\b")
        assert len(line.encode()) <= LINE_BYTES


def test_a_line_goes_on_in_the_next_one() -> None:
    """A terminal has a width: so no sequence has to look at more than a line."""
    assert output("x" * (WIDEST + 3) + "\ra", None) == ["x" * WIDEST, "axx"]
    assert output(f"\x1b[{WIDEST + 9}Gxy", None) == [" " * WIDEST, "xy"]


def test_what_is_far_above_stays() -> None:
    lines = [f"line {number}" for number in range(HIGHEST + 5)]
    shown = output("\n".join(lines) + "\x1b[1J\x1b[99999A\x1b[2Kx", None)
    assert shown[:5] == lines[:5]
    assert shown[5].strip() == "x"
    assert len(shown) == 6 or not any(line.strip() for line in shown[6:-1])


def test_a_cut_beginning_is_no_line() -> None:
    lines = [f"line {number}" for number in range(TAIL // 4)]
    shown = output("\n".join(lines), 100_000)
    assert shown == lines[-len(shown) :]
    assert output("x" * (TAIL + 5), 3) == ["x" * LINE_BYTES] * 3


@pytest.mark.parametrize(
    "piece", ["\x1b[9999B", "\x1b[9999Cx", "x\x1b[A", "\x1b[1J\n", "\r\x1b[K", "x\b", "\x1b]", "\x1b[;;;;"]
)
def test_no_output_takes_long(piece: str) -> None:
    began = time.monotonic()
    output(piece * (TAIL // len(piece)), 50)
    assert time.monotonic() - began < 5  # a quadratic one would take minutes
