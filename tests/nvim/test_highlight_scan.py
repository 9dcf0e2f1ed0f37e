"""The Markdown line scanner: spans by table, and what must hold for any text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tests.plugin import Neovim, examples

SCAN = """
local lines, after = ...
local scan, all = require('acp.chat.scan'), {}
for i, line in ipairs(lines) do
  local spans = {}
  local steps = scan.line(line, function(from, to, group)
    spans[#spans + 1] = { from, to, group }
  end, after[i])
  all[i] = { steps = steps, spans = spans }
end
return all
"""


def spans(nvim: Neovim, line: str, after: str = "") -> list[tuple[str, str]]:
    """The coloured texts of a line with their groups, the language left out."""
    raw = line.encode()
    (result,) = nvim.lua(SCAN, [line], [after])
    return [(raw[a:b].decode(), group.removeprefix("@").rsplit(".", 1)[0]) for a, b, group in result["spans"]]


LINK = "markup.link"
RAW = "markup.raw"
CASES: list[tuple[str, list[tuple[str, str]]]] = [
    ("plain words, no more", []),
    ("# One", [("# One", "markup.heading.1")]),
    ("### Three `x`", [("### Three `x`", "markup.heading.3"), ("`x`", RAW)]),
    ("####### seven", []),
    ("#nothing", []),
    ("a `code` b", [("`code`", RAW)]),
    ("``a ` b`` c `d`", [("``a ` b``", RAW), ("`d`", RAW)]),
    ("`never closed", []),
    ("`` a ` b", []),
    ("`*a*` *b*", [("`*a*`", RAW), ("*b*", "markup.italic")]),
    ("**bold** *em* __b__ _e_", [
        ("**bold**", "markup.strong"), ("*em*", "markup.italic"), ("__b__", "markup.strong"),
        ("_e_", "markup.italic"),
    ]),
    ("***both***", [("**both**", "markup.strong"), ("***both***", "markup.italic")]),
    ("**a *b* c**", [("*b*", "markup.italic"), ("**a *b* c**", "markup.strong")]),
    ("snake_case_name and 2 * 3 * 4", []),
    ("*a _b* c_", [("*a _b*", "markup.italic")]),
    ("* not closed", [("*", "markup.list")]),
    ("~~gone~~ ~one~", [("~~gone~~", "markup.strikethrough")]),
    ("été**fort**été", [("**fort**", "markup.strong")]),
    ("\\*no\\* \\d", [("\\*", "string.escape"), ("\\*", "string.escape")]),
    ("[a](b)", [("[", LINK), ("a", "markup.link.label"), ("]", LINK), ("(", LINK), ("b", "markup.link.url"),
                (")", LINK)]),
    ("![i](u_(x))", [("![", LINK), ("i", "markup.link.label"), ("]", LINK), ("(", LINK),
                     ("u_(x)", "markup.link.url"), (")", LINK)]),
    ("[a](b", [("[", LINK), ("a", "markup.link.label"), ("]", LINK)]),
    ("[] and ]", []),
    ("see https://x.y/z_a, ok", [("https://x.y/z_a", "markup.link.url")]),
    ("<https://x.y> <b>", [("<https://x.y>", "markup.link.url")]),
    ("the hash", []),
    ("- item", [("-", "markup.list")]),
    ("  12. item *a*", [("12.", "markup.list"), ("*a*", "markup.italic")]),
    ("- [ ] todo", [("-", "markup.list"), ("[ ]", "markup.list.unchecked")]),
    ("- [x] done", [("-", "markup.list"), ("[x]", "markup.list.checked")]),
    ("---", [("---", "punctuation.special")]),
    ("* * *", [("* * *", "punctuation.special")]),
    ("> a *b*", [("> a *b*", "markup.quote"), ("> ", "punctuation.special"), ("*b*", "markup.italic")]),
    ("> - `a`", [("> - `a`", "markup.quote"), ("> ", "punctuation.special"), ("-", "markup.list"),
                 ("`a`", RAW)]),
    ("| a | `|` |", [("|", "punctuation.special"), ("|", "punctuation.special"), ("`|`", RAW),
                     ("|", "punctuation.special")]),
    ("| --- | :-: |", [("| --- | :-: |", "punctuation.special")]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "wanted"), CASES, ids=[case[0] for case in CASES])
def test_spans(nvim: Neovim, line: str, wanted: list[tuple[str, str]]) -> None:
    assert spans(nvim, line) == wanted


def test_the_next_line_tells_the_head_of_a_table(nvim: Neovim) -> None:
    assert spans(nvim, "| ab | c d |", "|---|---|")[:2] == [
        ("ab", "markup.heading"),
        ("c d", "markup.heading"),
    ]
    assert spans(nvim, "a | b", "--- | ---") == [
        ("a", "markup.heading"),
        ("b", "markup.heading"),
        ("|", "punctuation.special"),
    ]
    assert spans(nvim, "a", "---") == []


TEXT = st.text(alphabet="*_~`[]()|\\#->+ 1.ah<:/:é\t", max_size=200)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(TEXT, min_size=20, max_size=20))
def test_any_text(nvim: Neovim, lines: list[str]) -> None:
    results = nvim.lua(SCAN, lines, [*lines[1:], ""])
    for line, result in zip(lines, results, strict=True):
        check(line, result)


def check(line: str, result: dict[str, Any]) -> None:
    size = len(line.encode())
    assert result["steps"] <= 3 * size + 1, line
    for start, end, _ in result["spans"]:
        assert 0 <= start < end <= size, (line, result["spans"])


HOSTILE = ["*a ", "*a _b ", "a* ", "**a*b_ ", "[", "[[](", "[a](", "](", "`a``", "`a``b```c", "~~a ", "|`",
           "> ", "<h", "http://", "\\",
           "_a*", "é*", "- [ ] "]  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_time_is_linear(nvim: Neovim, part: str) -> None:
    for length in (500, 4000):
        line = (part * length)[:length]
        (result,) = nvim.lua(SCAN, [line], [""])
        check(line, result)


def test_only_the_first_4_kb_are_read(nvim: Neovim) -> None:
    (result,) = nvim.lua(SCAN, ["`a` " * 4000], [""])
    assert max(end for _, end, _ in result["spans"]) <= 4096
