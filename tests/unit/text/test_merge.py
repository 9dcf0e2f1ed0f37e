"""Three-way merge by line."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.text.diff import split
from acp_nvim.text.merge import merge

lines = st.lists(
    st.sampled_from(["a\n", "b\n", "c\n", "d\n", "\n", "a\r\n", "日e\u0301\n", "b\r"]), max_size=8
)
texts = st.builds(lambda rows, end: "".join(rows) + end, lines, st.sampled_from(["", "x", "y\r\n"]))


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "expected", "conflicts"),
    [
        ("1\n2\n3\n", "M\n2\n3\n", "1\n2\nT\n", "M\n2\nT\n", 0),
        ("1\n2\n3\n", "1\nM\n3\n", "1\n2\nT\n3\n", None, 1),
        ("1\n2\n3\n4\n", "1\nM\n2\n3\n4\n", "1\n2\n3\nT\n4\n", "1\nM\n2\n3\nT\n4\n", 0),
        ("1\n2\n", "1\nsame\n", "1\nsame\n", "1\nsame\n", 0),
        ("1\n2\n3\n", "1\n3\n", "1\n2\n3\nT\n", "1\n3\nT\n", 0),
        ("1", "M", "T", "<<<<<<< mine\nM\n=======\nT\n>>>>>>> theirs\n", 1),
        (
            "1\r\n2\r\n",
            "1\r\nM\r\n",
            "1\r\nT\r\n",
            "1\r\n<<<<<<< mine\r\nM\r\n=======\r\nT\r\n>>>>>>> theirs\r\n",
            1,
        ),
        ("", "M\n", "T\n", "<<<<<<< mine\nM\n=======\nT\n>>>>>>> theirs\n", 1),
        ("1\n2\n3\n", "", "1\nT\n3\n", "<<<<<<< mine\n=======\n1\nT\n3\n>>>>>>> theirs\n", 1),
    ],
)
def test_examples(base: str, mine: str, theirs: str, expected: str | None, conflicts: int) -> None:
    merged = merge(base, mine, theirs)
    assert merged is not None
    assert merged.conflicts == conflicts
    assert expected is None or merged.text == expected


@given(texts, texts)
def test_one_side_alone(base: str, text: str) -> None:
    for merged in (merge(base, text, base), merge(base, base, text), merge(base, text, text)):
        assert merged is not None
        assert (merged.text, merged.conflicts) == (text, 0)


@given(texts, texts, texts)
def test_no_line_of_either_side_is_lost(base: str, mine: str, theirs: str) -> None:
    """What a side has added is there, as often as it has added it, whatever the other did."""
    merged = merge(base, mine, theirs)
    assert merged is not None
    for side in (mine, theirs):
        assert bare(side) - bare(base) <= bare(merged.text)


def bare(text: str) -> Counter[str]:
    """The lines without their ends, and how often each is there."""
    return Counter(line.rstrip("\r\n") for line in split(text))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.data())
def test_changes_that_do_not_meet(kinds: list[int], data: st.DataObject) -> None:
    """Blocks of three lines, each changed by one side, by none, or by both in the same way."""
    base: list[str] = []
    mine: list[str] = []
    theirs: list[str] = []
    both: list[str] = []
    for number, kind in enumerate(kinds):
        old = [f"{number} first\n", f"{number} middle\n", f"{number} last\n"]
        new = [old[0], *data.draw(st.sampled_from([[], ["x\n"], [f"{number} new\n", "y\n"]])), old[2]]
        base += old
        mine += new if kind in (1, 3) else old
        theirs += new if kind in (2, 3) else old
        both += new if kind else old
    merged = merge("".join(base), "".join(mine), "".join(theirs))
    assert merged is not None
    assert (merged.text, merged.conflicts) == ("".join(both), 0)


def test_too_large() -> None:
    many = "x\n" * 300_000
    assert merge(many, many + "y\n", many) is None
