"""What passes to a terminal buffer, wherever the output is cut."""

from __future__ import annotations

import ast
import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.text.terminal import TerminalFilter

SAFE = re.compile(
    "(?:[^\x00-\x1f\x7f-\x9f\ud800-\udfff]|\r\n|[\r\t\b]"
    "|\x1b\\[[0-9;:]{0,64}m|\x1b\\[[0-9;]{0,64}[A-HKXdf]|\x1b\\[[012]?J|\x1b[78])*"
)
"""The whole language of what may be written."""

WORDS = r"""
\x1b[ \x1b] \x1bP \x1bX \x1b^ \x1b_ \x1b\\ \x1b \x07 \n \r \x18 \b \t \x00 \xff \x20
52;c;ZXZpbA== 0;title 31 m ; : ? 1049 h l 6n c A K J 3 ! q 7 8 ( B text
é日🎸 \xc3 \xa9 \xc2\x9b \xc2\x9d \xc2\x9c a\xe2\x80\xae\xe2\x80\x8d
0000000000000000000000000000000000000000000000000000000000000000000000
"""
PIECES = st.sampled_from(WORDS.split()).map(
    lambda piece: ast.literal_eval(f"b'{piece}'") if piece.isascii() else piece.encode()
)
OUTPUT = st.lists(PIECES | st.binary(max_size=4), max_size=25).map(b"".join)


def passes(data: bytes) -> str:
    return TerminalFilter().feed(data)


@pytest.mark.req("V1-195")
@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("plain\ttext\b\n", "plain\ttext\b\r\n"),
        ("a\r\nb", "a\r\r\nb"),
        ("\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mx\x1b[m", "\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mx\x1b[m"),
        ("\x9b32mgreen", "\x1b[32mgreen"),
        ("\x1b[2A\x1b[5;3H\x1b[1G\x1b7", "\x1b[2A\x1b[5;3H\x1b[1G\x1b7"),
        ("\x1b[0K\x1b[2J\x1b[4X\x1b8", "\x1b[0K\x1b[2J\x1b[4X\x1b8"),
        ("\x1b[3Jkeeps what was written", "keeps what was written"),
        ("\x1b]52;c;ZXZpbA==\x07a\x1b]0;title\x1b\\b\x9d0;t\x9cc", "abc"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never ends\nnext", "\r\nnext"),
        ("\x1bPq#0;2\n!\x1b\\a\x1b_Gf=1;AAAA\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d", "abcd"),
        ("\x1bP1$r\x18a\x1bPx\x1b[31mb", "a\x1b[31mb"),
        ("\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[4h\x1b[20l\x1b=\x1b>", ""),
        ("\x1b[6n\x1b[c\x1b[>c\x1b[=c\x1b[?6n\x1b[x\x1bZ\x05\x1b[18t\x1b[?u\x1b[>4;2m\x1b[?4m", ""),
        ("\x1bc\x1b[!p\x1b[5i\x1b[1;5r\x1b[2 q\x1b(0\x0e\x0f\x1b#8\x1b[s\x1b[3S\x1b[2L", ""),
        ("a\x07\x00\x7f\x0bb", "ab"),
        ("\x85\x84\x8d", ""),
        ("\x1b[3\nm", "\r\nm"),
        ("\x1b[1\x1b[31mx", "\x1b[31mx"),
        ("\x1b[999999A\x1b[00099999mx", "x"),
        (f"\x1b[{'1;' * 40}mx", "x"),
        ("safe\u202egnp\u200b", "safe<U+202E>gnp<U+200B>"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)  # fmt: skip
def test_what_passes(sent: str, shown: str) -> None:
    assert passes(sent.encode()) == shown


@pytest.mark.req("V1-195", "V2-106")
@given(OUTPUT)
def test_nothing_else_passes(data: bytes) -> None:
    assert SAFE.fullmatch(passes(data))


@pytest.mark.req("V1-195", "V2-101")
@given(OUTPUT, st.lists(st.integers(0, 200), max_size=8))
@example(b"\x1b[" + b"0" * 200 + b" 1m", [60, 80, 180, 203])
@example(b"\x1b" + b"(" * 200 + b"B7", [60, 80, 180])
@example("a\u200db\u200d".encode(), [1, 2, 3, 4, 5])
def test_the_cuts_do_not_show(data: bytes, cuts: list[int]) -> None:
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    made = TerminalFilter()
    assert "".join(made.feed(data[a:b]) for a, b in itertools.pairwise(places)) == passes(data)
    single = TerminalFilter()
    assert "".join(single.feed(bytes([byte])) for byte in data) == passes(data)


@given(st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp", "Cn", "Mn", "Co"))))
def test_text_is_kept(text: str) -> None:
    shown = passes(text.encode())
    assert shown == text or "<U+" in shown  # invisible letters are shown


@pytest.mark.parametrize("start", [b"\x1b[", b"\x1b", b"\x1b]", b"\x1bP"])
def test_what_never_ends_is_not_kept(start: bytes) -> None:
    made = TerminalFilter()
    made.feed(start)
    for _ in range(100):
        assert made.feed(b"0000 " * 200 if start == b"\x1b]" else b"(" * 1000) == ""
    assert len(made._held) < 100
