"""Placing fragments: what is shown is what the agent means, or it is said that nobody knows."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.plugin import examples

from acp_nvim.text.place import Lost, Placed, place

TEXT = "def a():\n    return 1\n\n\ndef b():\n    return 1\n"


@pytest.mark.req("V1-119")
@pytest.mark.parametrize(
    ("text", "old", "new", "near", "wanted"),
    [
        pytest.param("a\nb\nc\n", "b\n", "x\n", None, Placed("a\nx\nc\n", 1), id="whole lines"),
        pytest.param("one two\n", "two", "2", None, Placed("one 2\n", 0), id="in a line"),
        pytest.param("a\nb", "b", "b\nc", None, Placed("a\nb\nc", 1), id="at the end, no newline"),
        pytest.param("a\nb\n", "a\nb\n", "", None, Placed("", 0), id="all of it"),
        pytest.param("a\n", "x\n", "y\n", None, Lost(0), id="nowhere"),
        pytest.param("a\n", "", "y\n", None, Lost(0), id="nothing to look for"),
        pytest.param("a\n\n\nb\n", "\n", "y\n", None, Lost(0), id="only blanks"),
        pytest.param(
            TEXT, "    return 1\n", "    return 2\n", None, Lost(2), id="several places, nothing decides"
        ),
        pytest.param(
            TEXT,
            "    return 1\n",
            "    return 2\n",
            6,
            Placed(TEXT[:-2] + "2\n", 5, 2),
            id="several places, at a line",
        ),
        pytest.param(
            TEXT,
            "    return 1\n",
            "    return 2\n",
            9,
            Placed(TEXT[:-2] + "2\n", 5, 2),
            id="several places, near a line",
        ),
        pytest.param(TEXT, "    return 1\n", "x", 4, Lost(2), id="between two places"),
        pytest.param("x x\n", "x", "y", 1, Lost(2), id="twice in the line that is named"),
        pytest.param(
            "max = 1\nx = 1\n", "x = 1\n", "x = 2\n", None, Placed("max = 1\nx = 2\n", 1, 2), id="whole line"
        ),
        pytest.param(
            "a\r\nb\r\nc\r\n",
            "b\nc\n",
            "x\ny\n",
            None,
            Placed("a\r\nx\r\ny\r\n", 1, 1, "ends"),
            id="CRLF file",
        ),
        pytest.param(
            "a\nb\n", "a\r\nb\r\n", "x\r\nb\r\n", None, Placed("x\nb\n", 0, 1, "ends"), id="CRLF fragment"
        ),
        pytest.param(
            "a\r\nb\nc\n", "a\nb\n", "a\nx\n", None, Placed("a\r\nx\r\nc\n", 0, 1, "ends"), id="mixed ends"
        ),
        pytest.param(
            "a  \n\tb\nc\n",
            "a\n\tb\n",
            "a\n\tx\n",
            None,
            Placed("a  \n\tx\nc\n", 0, 1, "blanks"),
            id="trailing",
        ),
        pytest.param(
            "if x:\n    a\n    b\n",
            "a\nb\n",
            "a\nc\n",
            None,
            Placed("if x:\n    a\n    c\n", 1, 1, "blanks"),
            id="indented less",
        ),
        pytest.param(
            "a\nb\n",
            "  a\n  b\n",
            "  a\n\n  c\n",
            None,
            Placed("a\n\nc\n", 0, 1, "blanks"),
            id="indented more",
        ),
        pytest.param(
            "\ta\n    b\n", "a\nb\n", "a\nc\n", None, Placed("\ta\nc\n", 0, 1, "blanks"), id="indented unlike"
        ),
        pytest.param(
            "a  b", "a b\n", "a c\n", None, Placed("a c", 0, 1, "blanks"), id="no final newline stays so"
        ),
    ],
)
@pytest.mark.req("V1-119")
def test_places(text: str, old: str, new: str, near: int | None, wanted: Placed | Lost) -> None:
    assert place(text, old, new, near) == wanted


def test_every_place() -> None:
    assert place("x y x\nx\n", "x", "z", every=True) == Placed("z y z\nz\n", 0, 3)
    assert place("a\r\na\r\n", "a\n", "b\n", every=True) == Placed("b\r\nb\r\n", 0, 2, "ends")


# Few different lines, so that fragments stand in several places.
LINES = st.lists(st.sampled_from(["", "a", "b", "  a", "a b", "é日", "\t}", "}"]), max_size=14)
ENDS = st.sampled_from(["\n", "\r\n"])


def join(lines: list[str], end: str, *, final: bool = True) -> str:
    text = end.join(lines)
    return text + end if final and lines else text


@given(
    before=LINES,
    old=LINES,
    new=LINES,
    after=LINES,
    context=st.integers(0, 3),
    ends=ENDS,
    theirs=ENDS,
    final=st.booleans(),
    hint=st.sampled_from(["none", "start", "change", "wrong"]),
)
@examples(600)
def test_the_agents_result_or_a_label(
    before: list[str],
    old: list[str],
    new: list[str],
    after: list[str],
    context: int,
    ends: str,
    theirs: str,
    final: bool,
    hint: str,
) -> None:
    """A random edit of a random file, cut to a fragment with a few lines around it."""
    above, below = before[len(before) - min(context, len(before)) :], after[:context]
    text = join(before + old + after, ends, final=final)
    result = join(before + new + after, ends, final=final)
    # The fragment ends like the file does where it reaches its end.
    closed = final or len(below) < len(after)
    one = join(above + old + below, theirs, final=closed)
    other = join(above + new + below, theirs, final=closed)
    start = len(before) - len(above) + 1
    near = {"none": None, "start": start, "change": len(before) + 1, "wrong": 3}[hint]
    placed = place(text, one, other, near)
    if isinstance(placed, Lost) or placed.found > 1 or placed.how == "blanks":
        return  # said so on the screen
    if ends == theirs or (ends == "\r\n" and "\n" in text):
        empty_end = not new and not below and not final  # the newline before the fragment is nobody's
        assert placed.text == result or empty_end
    else:
        assert placed.text.replace("\r\n", "\n") == result.replace("\r\n", "\n") or not final


@given(text=st.text("ab\n \r", max_size=60), first=st.integers(0, 60), size=st.integers(1, 20), new=st.text())
@example(text="\r\na", first=1, size=2, new="")
@examples(400)
def test_any_piece_of_a_text(text: str, first: int, size: int, new: str) -> None:
    """Agents cut in the middle of lines too."""
    old = text[first : first + size]
    placed = place(text, old, new)
    if not old.strip():
        assert isinstance(placed, Lost)
    elif text.count(old) == 1 and isinstance(placed, Placed) and placed.found == 1:
        if text[first - 1 : first + 1] == "\r\n" and placed.how == "ends":
            # An agent that reads "\r\n" as "\n" means the whole end of the line.
            assert unix(placed.text) == unix(text).replace(old, unix(new))
        else:
            assert placed.text == text.replace(old, new)


def unix(text: str) -> str:
    return text.replace("\r\n", "\n")


@given(text=st.text("ab\n", min_size=1, max_size=40), data=st.data())
@examples(200)
def test_the_line_of_the_fragment_decides(text: str, data: st.DataObject) -> None:
    """With the fragment's own line a placed fragment is the right one, however often it stands there."""
    lines = text.split("\n")
    row = data.draw(st.integers(0, len(lines) - 1))
    old = lines[row]
    near_change = place("\n".join(lines), old + "\n", "X\n", row + 1)
    if isinstance(near_change, Placed) and near_change.how == "exact" and row < len(lines) - 1:
        wanted = "\n".join([*lines[:row], "X", *lines[row + 1 :]])
        assert near_change.text == wanted


def test_it_is_bounded() -> None:
    """Repeated lines by the ten thousand, and a fragment that nearly fits everywhere."""
    started = time.monotonic()
    same = "x\n" * 50_000
    assert place(same, "x\n" * 5_000 + "y\n", "z\n") == Lost(0)
    assert isinstance(place(same, "x\n" * 5_000, "z\n", 7_000), Placed | Lost)
    assert isinstance(place("  x\n" * 50_000, "x \n" * 5_000, "z\n", 7_000), Placed | Lost)
    assert time.monotonic() - started < 5
