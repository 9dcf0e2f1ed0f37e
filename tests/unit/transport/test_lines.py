"""Framing (V1-04, V1-06, cases C02 to C04)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.transport import LineDecoder, LineTooLongError


def cut(data: bytes, points: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(point % (len(data) + 1) for point in points)})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def feed(pieces: list[bytes], limit: int = 1 << 20) -> list[bytes]:
    decoder = LineDecoder(limit)
    lines = [line for piece in pieces for line in decoder.decode(piece)]
    return lines + decoder.flush()


def expected(data: bytes) -> list[bytes]:
    return [line for line in (line.removesuffix(b"\r") for line in data.split(b"\n")) if line]


bits = st.sampled_from(
    [
        b"\n",
        b"\r",
        b"\r\n",
        b"a",
        "é".encode(),
        "🚀".encode(),
        b"\x0b\x0c\x85",
        "\u2028".encode(),
        b"\0",
        b"\xff",
    ]
)
streams = st.lists(bits, max_size=60).map(b"".join)


@pytest.mark.req("V1-04")
@given(streams, st.lists(st.integers(0, 400), max_size=12))
def test_cut_points_do_not_matter(data: bytes, points: list[int]) -> None:
    assert feed(cut(data, points)) == expected(data)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n\r\n\n", []),
        (b"a\nb", [b"a", b"b"]),
        (b"a\r\r\n", [b"a\r"]),
        (b'{"x":1}', [b'{"x":1}']),
        ("caf\u00e9 \U0001f680\n".encode(), ["caf\u00e9 \U0001f680".encode()]),
        ("one\u2028line\x85\n".encode(), ["one\u2028line\x85".encode()]),
    ],
)
def test_byte_by_byte(data: bytes, lines: list[bytes]) -> None:
    assert feed([data[i : i + 1] for i in range(len(data))]) == lines


@pytest.mark.req("V1-06")
@given(streams, st.lists(st.integers(0, 400), max_size=12), st.integers(1, 8))
def test_no_line_over_the_bound_gets_through(data: bytes, points: list[int], limit: int) -> None:
    short = all(len(line) <= limit for line in data.split(b"\n"))
    try:
        lines = feed(cut(data, points), limit)
    except LineTooLongError as error:
        assert not short
        assert all(len(line) <= limit for line in error.lines)
    else:
        assert short
        assert lines == expected(data)


def test_fails_as_soon_as_the_bound_is_crossed() -> None:
    decoder = LineDecoder(100)
    assert decoder.decode(b"A" * 100) == []
    with pytest.raises(LineTooLongError, match="longer than 100 bytes"):
        decoder.decode(b"A")
    assert decoder.flush() == [], "what was read of the line is not kept"


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_lines_before_the_long_one_are_told(end: bytes) -> None:
    with pytest.raises(LineTooLongError) as caught:
        LineDecoder(10).decode(b"one\r\n\ntwo\n" + b"A" * 11 + end)
    assert caught.value.lines == [b"one", b"two"]


def test_a_long_line_in_small_pieces_is_linear() -> None:
    decoder = LineDecoder()
    for _ in range(200_000):
        assert decoder.decode(b"A" * 64) == []
    (line,) = decoder.decode(b"\n")
    assert len(line) == 200_000 * 64
