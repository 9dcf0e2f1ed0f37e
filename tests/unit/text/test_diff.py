"""The line diff: right for every text, and in bounded time (C20, C36)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.text import diff as module
from acp_nvim.text.diff import (
    NO_NEWLINE,
    Hunk,
    LineDiff,
    count_patch,
    diff,
    diff_lines,
    split,
)

some_lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "x\r\n", "y"]), max_size=30)


def apply_hunks(old: Sequence[str], hunks: Sequence[Hunk], new: Sequence[str]) -> list[str]:
    """Rebuild the new side from the old one and the hunks."""
    result: list[str] = []
    at = 0
    for hunk in hunks:
        for change in hunk.changes:
            result.extend(old[at : change.a])
            result.extend(new[change.c : change.d])
            at = change.b
    result.extend(old[at:])
    return result


def unified(old: str, new: str, context: int = 3) -> list[str]:
    found = diff(old, new)
    assert found is not None
    return [line for hunk in found.hunks(context) for line in found.unified(hunk)]


@pytest.mark.parametrize(
    ("old", "new", "body"),
    [
        ("a\n", "a\n", []),
        ("", "a\nb\n", ["@@ -0,0 +1,2 @@", "+a", "+b"]),
        ("a\nb\n", "", ["@@ -1,2 +0,0 @@", "-a", "-b"]),
        ("a\nb\nc\n", "a\nB\nc\n", ["@@ -1,3 +1,3 @@", " a", "-b", "+B", " c"]),
        ("a\r\n", "a\n", ["@@ -1 +1 @@", "-a\r", "+a"]),
        ("a", "a\n", ["@@ -1 +1 @@", "-a", NO_NEWLINE, "+a"]),
        ("a\nb", "A\nb", ["@@ -1,2 +1,2 @@", "-a", "+A", " b"]),
        ("a\n", "a", ["@@ -1 +1 @@", "-a", "+a", NO_NEWLINE]),
        ("a\u2028b\n", "a\u2028c\n", ["@@ -1 +1 @@", "-a\u2028b", "+a\u2028c"]),
    ],
)
def test_unified(old: str, new: str, body: list[str]) -> None:
    assert unified(old, new) == body


def test_changes_close_to_each_other_are_one_hunk() -> None:
    old = [f"{i}\n" for i in range(20)]
    new = [line.upper() if i not in (2, 7, 16) else "x\n" for i, line in enumerate(old)]
    found = diff_lines(old, new)
    assert [hunk.header for hunk in found.hunks(3)] == ["@@ -1,11 +1,11 @@", "@@ -14,7 +14,7 @@"]
    assert [hunk.header for hunk in found.hunks(1)] == [
        "@@ -2,3 +2,3 @@",
        "@@ -7,3 +7,3 @@",
        "@@ -16,3 +16,3 @@",
    ]


def check(found: LineDiff, old: list[str], new: list[str], context: int) -> None:
    hunks = found.hunks(context)
    assert apply_hunks(old, hunks, new) == new
    for hunk in hunks:
        body = [line for line in found.unified(hunk)[1:] if line != NO_NEWLINE]
        assert [line[1:] for line in body if line[0] != "+"] == [
            line.removesuffix("\n") for line in old[hunk.a : hunk.b]
        ]
        assert [line[1:] for line in body if line[0] != "-"] == [
            line.removesuffix("\n") for line in new[hunk.c : hunk.d]
        ]
    for before, after in itertools.pairwise(hunks):
        assert before.b <= after.a
        assert before.d <= after.c


@given(some_lines, some_lines, st.integers(0, 3))
def test_hunks_make_new_from_old(old: list[str], new: list[str], context: int) -> None:
    found = diff_lines(old, new)
    check(found, old, new, context)
    assert found.added - found.removed == len(new) - len(old)


@given(st.lists(st.integers(0, 200), max_size=200), st.lists(st.integers(0, 200), max_size=200))
def test_the_same_without_difflib(old: list[int], new: list[int]) -> None:
    before, after = [f"{i}\n" for i in old], [f"{i}\n" for i in new]
    kept = module.GAP_CELLS
    module.GAP_CELLS = 16
    try:
        check(diff_lines(before, after), before, after, 2)
    finally:
        module.GAP_CELLS = kept


@given(st.text("ab\n\r"), st.text("ab\n\r"))
def test_split_keeps_all(old: str, new: str) -> None:
    assert "".join(split(old)) == old
    found = diff(old, new)
    assert found is not None
    assert "".join(apply_hunks(found.old, found.hunks(), found.new)) == new


def test_large_texts_take_bounded_time() -> None:
    """50,000 lines, every second one changed, few of them unique: difflib would take minutes."""
    old = [f"{i % 7}\n" for i in range(50_000)]
    new = [f"x{i}\n" if i % 2 else line for i, line in enumerate(old)]
    started = time.perf_counter()
    found = diff_lines(old, new)
    assert time.perf_counter() - started < 20
    assert apply_hunks(old, found.hunks(), new) == new


def test_too_large() -> None:
    assert diff("\n" * module.MAX_LINES, "x\n") is None


def test_count_patch() -> None:
    patch = "--- a\n+++ b\n@@ -1,3 +1,4 @@\n a\n-b\n--- c\n+B\n+++ d\n+e\n\\ No newline at end of file\n"
    assert count_patch(patch) == (3, 2)
