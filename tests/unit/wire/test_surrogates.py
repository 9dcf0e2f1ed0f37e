"""Halves of surrogate pairs are joined across chunks or replaced."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.wire import acp_v1 as w
from acp_nvim.wire.surrogates import SplitText, SurrogateJoiner, clean, clean_tree, split

ROCKET = "\N{ROCKET}"
HIGH, LOW = "\ud83d", "\ude80"
BAD = "\N{REPLACEMENT CHARACTER}"

halves = st.text(st.sampled_from(["a", "é", ROCKET, HIGH, LOW, "\n"]), max_size=12)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("", ""),
        ("plain é " + ROCKET, "plain é " + ROCKET),
        (HIGH + LOW, ROCKET),
        (HIGH, BAD),
        (LOW, BAD),
        (LOW + HIGH, BAD + BAD),
        ("a" + HIGH + "b" + LOW + "c", "a" + BAD + "b" + BAD + "c"),
        (HIGH + HIGH + LOW, BAD + ROCKET),
    ],
)
def test_clean(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned
    assert clean_tree([{text: text}, 1]) == [{cleaned: cleaned}, 1]


@given(halves, st.lists(st.integers(0, 12), max_size=4))
def test_joined_text_is_the_whole_text(text: str, points: list[int]) -> None:
    edges = sorted({0, len(text), *(point % (len(text) + 1) for point in points)})
    joiner = SurrogateJoiner()
    parts = [joiner.feed(split(text[a:b])) for a, b in itertools.pairwise(edges)]
    whole = "".join([*parts, joiner.flush()])
    assert whole == clean(text)
    assert all(type(part) is str for part in parts)
    whole.encode()


@given(halves)
def test_without_a_joiner_the_text_is_still_clean(text: str) -> None:
    split(text).encode()
    assert split(text) == clean(text)


def test_a_pair_cut_between_two_messages() -> None:
    texts = []
    for raw in ("go " + HIGH, LOW + "!"):
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": raw}}
        line = json.dumps({"sessionId": "s1", "update": update}).encode()
        reports: list[str] = []
        chunk = w.SESSION_UPDATE.decode(line, reports.append).update
        assert len(reports) == 1
        assert isinstance(chunk, w.AgentMessageChunk)
        assert isinstance(chunk.content, w.TextContent)
        assert isinstance(chunk.content.text, SplitText)
        texts.append(chunk.content.text)
    joiner = SurrogateJoiner()
    assert "".join(map(joiner.feed, texts)) + joiner.flush() == f"go {ROCKET}!"


def test_an_empty_chunk_between_the_halves() -> None:
    joiner = SurrogateJoiner()
    assert [joiner.feed(split(piece)) for piece in (HIGH, "", LOW)] == ["", "", ROCKET]
    assert joiner.flush() == ""


def test_a_half_left_alone_is_replaced() -> None:
    joiner = SurrogateJoiner()
    assert joiner.feed(split("a" + HIGH)) == "a"
    assert joiner.feed("b") == BAD + "b"
    assert joiner.feed(split(HIGH)) == ""
    assert joiner.flush() == BAD
    assert joiner.flush() == ""
