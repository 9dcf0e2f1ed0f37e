"""JSON as agents write it when something went wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.wire.tolerant import MAX_DEPTH, WireError, deeper, dump, parse

from .generate import anything


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'"caf\xc3\xa9 \\u00e9"', "café é"),
        (b'"a\xffb"', "a\ufffdb"),
        (b'"\xed\xa0\xbd\xed\xba\x80"', "\ud83d\ude80"),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'"a\tb\x00"', "a\tb\x00"),
        (b"[NaN, Infinity, -Infinity, 1e999, 1.5]", [None, None, None, None, 1.5]),
        (b"9" * 5000, None),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'"\\ud83d"', "\ud83d"),
    ],
)
def test_parse(data: bytes, value: Any) -> None:
    assert parse(data) == value


@pytest.mark.parametrize("data", [b"", b"{", b"{} x", b"ready", b"{'a':1}", b"\xff\xfe", b"[1,]"])
def test_not_json(data: bytes) -> None:
    with pytest.raises(WireError) as caught:
        parse(data)
    assert (caught.value.reason, caught.value.code) == ("syntax", -32700)


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 500 + b"]" * 500])
def test_too_deep(data: bytes) -> None:
    with pytest.raises(WireError) as caught:
        parse(data)
    assert caught.value.reason == "depth"


@given(anything | st.just("\ud83d"))
def test_dump_gives_what_parse_takes(value: Any) -> None:
    assert parse(dump(value)) == value


def test_depth_counts_nesting_not_size() -> None:
    tree: Any = []
    for _ in range(MAX_DEPTH - 1):
        tree = [tree]
    assert not deeper([[] for _ in range(5000)], 2)
    assert not deeper(tree, MAX_DEPTH)
    assert deeper([[tree]], MAX_DEPTH)
