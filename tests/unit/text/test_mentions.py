"""Mentions in what the user writes: where they are, and how they may be read."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.text.mentions import MOST, WORDS, Mention, find, written


def plain(text: str) -> list[tuple[str, int | None, int | None]]:
    """The mentions as they are read when nothing of their name is there."""
    return [(each.plain.path, each.plain.first, each.plain.last) for each in find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@a.py", [("a.py", None, None)]),
        ("see @a.py:7", [("a.py", 7, 7)]),
        ("see @src/a.py:7-13, and", [("src/a.py", 7, 13)]),
        ("@a.py:13-7", [("a.py", 7, 13)]),
        ("@src/", [("src/", None, None)]),
        ('@"a b.md":7-13 x', [("a b.md", 7, 13)]),
        ('@"a b.md".', [("a b.md", None, None)]),
        ('@"a:7"', [("a:7", None, None)]),
        ("(@a.py)", [("a.py", None, None)]),
        ('"@a.py"', [("a.py", None, None)]),
        ("[@a.py]: x", [("a.py", None, None)]),
        ("is it @a.py?!", [("a.py", None, None)]),
        ("one\n@b.py\n\t@c.py", [("b.py", None, None), ("c.py", None, None)]),
        ("@src/日本語.py:3。", [("src/日本語.py:3。", None, None)]),
        ("@a.py:0", [("a.py:0", None, None)]),
        ("@a.py:99999999", [("a.py:99999999", None, None)]),
        ("@~/x @./buffer @../y", [("~/x", None, None), ("./buffer", None, None), ("../y", None, None)]),
        ("@@a", [("@a", None, None)]),
        # None at all.
        ("mail me@x.org", []),
        ("x@a.py", []),
        ("@", []),
        ("@ a", []),
        ('@"', [('"', None, None)]),
        # Code.
        ("`@a.py` and @b.py", [("b.py", None, None)]),
        ("` @a.py", [("a.py", None, None)]),
        ("```\n@a.py\n```\n@b.py", [("b.py", None, None)]),
        ("````py\n```\n@a.py\n````\n@b.py", [("b.py", None, None)]),
        ("~~~\n@a.py", []),
        ("```x``` @a.py", [("a.py", None, None)]),
    ],
)
def test_where_they_are(text: str, expected: list[tuple[str, int | None, int | None]]) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "there", "path", "first", "length"),
    [
        ("@a.", {"a."}, "a.", None, 3),
        ("@a.", {"a"}, "a", None, 2),
        ("@a.", {"a", "a."}, "a.", None, 3),
        ("@a:7", {"a:7"}, "a:7", None, 4),
        ("@a:7", {"a:7", "a"}, "a", 7, 4),
        ("@a:7).", {"a"}, "a", 7, 4),
        ("@app/[id]/page.tsx.", {"app/[id]/page.tsx"}, "app/[id]/page.tsx", None, 18),
        ("@x]", {"x]"}, "x]", None, 3),
    ],
)
def test_what_is_there_decides(text: str, there: set[str], path: str, first: int | None, length: int) -> None:
    (mention,) = find(text)
    reading = mention.read(there.__contains__)
    assert reading is not None
    assert (reading.path, reading.first, reading.end) == (path, first, length)


def test_what_is_not_there_is_not_read() -> None:
    (mention,) = find("@nothere.py.")
    assert mention.read(lambda _: False) is None
    assert mention.plain.end == len("@nothere.py")


@pytest.mark.parametrize(
    ("text", "word", "lines"),
    [
        ("@buffer", "buffer", None),
        ("(@buffer).", "buffer", None),
        ("@buffer:3-4", "buffer", 3),
        ("@selection,", "selection", None),
        ("@diagnostics:all.", "diagnostics", None),
        ("@diff!", "diff", None),
        ("@quickfix", "quickfix", None),
        ("@./buffer", None, None),
        ("@buffers", None, None),
        ("@diff:3", None, 3),
        ("@diff/x", None, None),
        ('@"diff"', None, None),
    ],
)
def test_words(text: str, word: str | None, lines: int | None) -> None:
    (mention,) = find(text)
    assert (mention.word, mention.plain.first) == (word, lines)


@pytest.mark.parametrize(
    ("text", "clear"),
    [
        ("@alice", False),
        ("@property", False),
        ("@a.py", True),
        ("@src/a", True),
        ("@a:7", True),
        ('@"a"', True),
    ],
)
def test_a_bare_name_may_be_anything(text: str, clear: bool) -> None:
    assert [each.clear for each in find(text)] == [clear]


def test_there_is_a_bound() -> None:
    assert len(find("@a " * (MOST + 10))) == MOST
    assert find("@" + "a" * 5000) == []
    assert find('@"' + "a" * 5000 + '"') == []


NAMES = st.text(
    st.characters(exclude_characters='"\0/\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029', codec="utf-8"),
    min_size=1,
    max_size=12,
)
LINES = st.none() | st.integers(1, 9_999_999)


@given(st.lists(NAMES, min_size=1, max_size=3), LINES, LINES)
@example(["buffer"], None, None)
@example(["diagnostics:all"], None, None)
@example(["a b"], 7, 13)
@example(["a:7"], None, None)
@example(["a."], 1, None)
def test_what_is_written_is_read_again(names: list[str], first: int | None, last: int | None) -> None:
    path = "/".join(names)
    if first is None or last is None:
        last = first
    else:
        first, last = sorted((first, last))
    if "`" in path:
        return  # code is no mention: such a path is quoted, and then it may not stand alone in a line
    text = written(path, first, last)
    mentions = find(f"see {text} or not")
    assert len(mentions) == 1
    mention = mentions[0]
    assert mention.word is None
    read = mention.plain
    assert (read.path.removeprefix("./"), read.first, read.last) == (path.removeprefix("./"), first, last)
    assert read.end == len("see ") + len(text)


@given(st.text('@"`~ab:./-179\n ()[],!?', max_size=60))
def test_any_text(text: str) -> None:
    last = 0
    for mention in find(text):
        assert text[mention.start] == "@"
        assert mention.start >= last
        assert mention.plain in mention.readings
        ends = [each.end for each in mention.readings]
        assert ends == sorted(ends, reverse=True)
        assert ends[0] <= len(text)
        assert all("\n" not in text[mention.start : end] for end in ends)
        assert mention.word is None or mention.word in WORDS
        last = ends[0]
    assert isinstance(find(text), list)
    assert all(isinstance(each, Mention) for each in find(text))


def test_a_number_nobody_counts_to_is_no_line() -> None:
    """Python does not read one of more than 4300 digits."""
    assert plain(f'@"a b":{"9" * 5000}') == [("a b", None, None)]
    assert plain(f'@"a b":1-{"9" * 5000}') == [("a b", 1, 1)]
    assert plain(f"@./a:{'9' * 3000}") == [(f"./a:{'9' * 3000}", None, None)]
