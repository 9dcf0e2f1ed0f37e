"""What an agent sent, made fit to be shown (design.md rule 7; C39)."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.text.sanitise import (
    LINE_BYTES,
    Cleaner,
    clean,
    fitting,
    lines,
    one_line,
    split_long,
)
from acp_nvim.text.width import cells_of

anything = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("plain, with\ttab\nand newline", "plain, with\ttab\nand newline"),
        ("done\x07\x1b]52;c;ZXZpbA==\x07", "done^G^[]52;c;ZXZpbA==^G"),
        ("\x7f\x9b\x00", "^?<U+009B>^@"),
        ("safe\u202egnp.exe\u202c", "safe<U+202E>gnp.exe<U+202C>"),
        ("a\u2066b\u2069", "a<U+2066>b<U+2069>"),
        ("zero\u200bwidth\ufeff\u00ad", "zero<U+200B>width<U+FEFF><U+00AD>"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("line\u2028sep", "line<U+2028>sep"),
        ("\ud83d\ude80", "🚀"),
        ("a\ud83db", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("👩\u200d💻 ok", "👩\u200d💻 ok"),
        ("a\u200db", "a<U+200D>b"),
        ("é\u200d\u200dx", "é\u200d<U+200D>x"),
        ("日本語 ünï", "日本語 ünï"),
        ("\u3164", "<U+3164>"),
    ],
)
def test_clean(sent: str, shown: str) -> None:
    assert clean(sent) == shown
    assert clean(shown) == shown


@given(anything)
def test_nothing_invisible_passes(text: str) -> None:
    for char in clean(text):
        assert char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")
    clean(text).encode()


@pytest.mark.parametrize(
    ("sent", "cells", "shown"),
    [
        ("one\ntwo\r\n  three", None, "one two three"),
        ("  tab\there  ", None, "tab here"),
        ("npm install left-pad@1.3.0 --save-exact \\\n  && rm -rf x", 40, "npm install left-pad@1.3.0 …"),
        ("exactly ten", 11, "exactly ten"),
        ("exactly ten!", 11, "exactly …"),
        ("abcdefghijklmnop", 8, "abcdefg…"),
        ("日本語日本語", 7, "日本語…"),
        ("\x1b[31mred", None, "^[[31mred"),
        ("", 5, ""),
    ],
)
def test_one_line(sent: str, cells: int | None, shown: str) -> None:
    assert one_line(sent, cells) == shown


@given(anything, st.integers(8, 80))
def test_one_line_fits(text: str, cells: int) -> None:
    line = one_line(text, cells)
    assert "\n" not in line
    assert "\t" not in line
    assert cells_of(line) <= cells


@pytest.mark.parametrize(
    ("sent", "shown"),
    [("a\r\nb\rc\nd", ["a", "b", "c", "d"]), ("a\n", ["a"]), ("a\n\n", ["a", ""]), ("", [""])],
)
def test_lines(sent: str, shown: list[str]) -> None:
    assert lines(sent) == shown


@given(anything)
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    """Cleaned twice is cleaned once; and a line holds nothing that turns or breaks it."""
    assert clean(clean(text)) == clean(text)
    assert one_line(one_line(text)) == one_line(text)
    line = one_line(text)
    assert not set(line) & {
        "\n",
        "\r",
        "\t",
        "\x1b",
        *map(chr, [*range(0x2028, 0x202F), *range(0x2066, 0x206A)]),
    }
    assert len(line) <= 10 * len(text)  # <U+10FFFF>


@given(st.text(max_size=60), st.integers(4, 30))
def test_split_long(line: str, limit: int) -> None:
    line = clean(line)
    pieces = split_long(line, limit)
    assert "".join(pieces) == line
    assert all(len(piece.encode()) <= limit for piece in pieces)
    assert fitting(line, limit) == len(pieces[0])


def test_a_long_line_is_cut_between_characters() -> None:
    pieces = split_long("é" * LINE_BYTES)
    assert [len(piece) for piece in pieces] == [LINE_BYTES // 2] * 2


@given(anything, st.lists(st.integers(0, 50), max_size=8))
def test_pieces_give_what_the_whole_gives(text: str, cuts: list[int]) -> None:
    whole = Cleaner()
    expected = whole.feed(text) + whole.end()
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    cleaner = Cleaner()
    pieces = [cleaner.feed(text[a:b]) for a, b in itertools.pairwise(places)]
    assert "".join(pieces) + cleaner.end() == expected


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["a\r", "\nb"], "a\nb"),
        (["a\r", "b"], "a\nb"),
        (["a\r", "", "\n", "\nb"], "a\n\nb"),
        (["\ud83d", "\ude80"], "🚀"),
        (["\ud83d", "x"], "\ufffdx"),
        (["\ud83d"], "\ufffd"),
        (["👩", "\u200d", "💻"], "👩\u200d💻"),
        (["a", "\u200d", "b"], "a<U+200D>b"),
        (["👩\u200d", "\u200d", "b"], "👩\u200d<U+200D>b"),
    ],
)
def test_cleaner(pieces: list[str], shown: str) -> None:
    cleaner = Cleaner()
    assert "".join(map(cleaner.feed, pieces)) + cleaner.end() == shown
