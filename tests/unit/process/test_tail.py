"""The end of stderr: bounded, and whole lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.process.tail import Tail


@given(st.lists(st.binary(max_size=40)), st.integers(1, 50))
def test_what_is_kept_is_the_end(chunks: list[bytes], keep: int) -> None:
    tail = Tail(keep)
    for chunk in chunks:
        tail.feed(chunk)
    data = b"".join(chunks)
    assert tail.total == len(data)
    last = data[-keep:]
    if len(data) > keep and b"\n" in last:
        last = last.partition(b"\n")[2]
    assert tail.text() == last.decode("utf-8", "replace")


def test_memory_is_bounded() -> None:
    tail = Tail()
    for _ in range(100):
        tail.feed(b"x" * 50_000)
    assert tail.total == 5_000_000
    assert len(tail.text()) == 64 * 1024
    assert len(tail._data) <= 3 * 64 * 1024


def test_lines() -> None:
    tail = Tail()
    assert tail.lines() == []
    tail.feed(b"one\r\ntwo\n\nthree\n\n")
    assert tail.lines() == ["one", "two", "", "three"]
