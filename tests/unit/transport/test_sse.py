"""Server-sent events, in whatever pieces they come."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.transport.errors import LineTooLongError
from acp_nvim.transport.sse import ServerEvent, SseDecoder


def events(*chunks: bytes) -> list[tuple[str, str]]:
    decoder = SseDecoder()
    return [(each.type, each.data.decode()) for chunk in chunks for each in decoder.decode(chunk)]


@pytest.mark.req("AAP-40")
@pytest.mark.parametrize(
    ("stream", "wanted"),
    [
        pytest.param(b"event: a\ndata: 1\n\n", [("a", "1")], id="LF"),
        pytest.param(b"event: a\rdata: 1\r\r", [("a", "1")], id="CR"),
        pytest.param(b"event: a\r\ndata: 1\r\n\r\n", [("a", "1")], id="CRLF"),
        pytest.param(b"event: a\r\ndata: 1\n\rdata: 2\r\n\n", [("a", "1"), ("", "2")], id="mixed"),
        pytest.param(b"data: 1\ndata: 2\n\n", [("", "1\n2")], id="several data lines"),
        pytest.param(b"data:1\n\n", [("", "1")], id="no space"),
        pytest.param(b"data:  1 \n\n", [("", " 1 ")], id="one space only"),
        pytest.param(b"data: a: b\n\n", [("", "a: b")], id="colon in the value"),
        pytest.param(b": hello\nevent: a\n:\ndata: 1\n\n", [("a", "1")], id="comments"),
        pytest.param(b":\n\n:\n\ndata: 1\n\n", [("", "1")], id="comments as heartbeat"),
        pytest.param(b"id: 7\nretry: 100\nhey: x\ndata: 1\n\n", [("", "1")], id="other fields"),
        pytest.param(b"Data: 0\ndata: 1\n\n", [("", "1")], id="names are exact"),
        pytest.param(b"data\ndata\n\n", [("", "\n")], id="a name alone"),
        pytest.param(b"data:\n\n", [("", "")], id="empty data"),
        pytest.param(b"event: a\n\ndata: 1\n\n", [("", "1")], id="no data, no event"),
        pytest.param(b"event: a\nevent: b\ndata: 1\n\n", [("b", "1")], id="the last type"),
        pytest.param(b"\xef\xbb\xbfdata: 1\n\n", [("", "1")], id="BOM"),
        pytest.param(b"\xef\xbb\xbf\ndata: 1\n\n", [("", "1")], id="BOM, empty line"),
        pytest.param(b"data: 1\n\n\xef\xbb\xbfdata: 2\n\n", [("", "1")], id="BOM in the middle"),
        pytest.param("data: a\u2028b\u0085c\x0bd\n\n".encode(), [("", "a\u2028b\u0085c\x0bd")], id="U+2028"),
        pytest.param(b"data: 1\n", [], id="cut off"),
        pytest.param(b"data: 1\n\ndata: 2", [("", "1")], id="the last cut off"),
        pytest.param(b"\n\n\n", [], id="empty lines"),
    ],
)
def test_an_event_stream(stream: bytes, wanted: list[tuple[str, str]]) -> None:
    assert events(stream) == wanted
    assert events(*(stream[i : i + 1] for i in range(len(stream)))) == wanted


@pytest.mark.req("AAP-40")
def test_a_line_end_cut_in_two_is_one() -> None:
    """C25."""
    first, second = b'event: text_delta\r\ndata: {"delta":\r', b'\ndata: "A"}\r\n\r\n'
    assert events(first, second) == [("text_delta", '{"delta":\n"A"}')]


@pytest.mark.req("AAP-41")
def test_a_character_cut_in_two_is_whole() -> None:
    """C26."""
    first, second = b'event:text_delta\ndata:{"delta":\ndata:"caf\xc3', b'\xa9"}\n\n'
    assert events(first, second) == [("text_delta", '{"delta":\n"café"}')]


LINES = st.lists(
    st.one_of(
        st.sampled_from(["", "", "data: 1", "data:2", "event: x", "event:y", ": note", "id: 1", "data", "z"]),
        st.text(alphabet="aé🚀\u2028:\ufeff ", max_size=6).map(lambda text: "data:" + text),
    ),
    max_size=12,
)


def by_the_book(lines: list[str]) -> list[tuple[str, str]]:
    """The specification's steps, line by line."""
    found, kind, data = [], "", ""
    for line in lines:
        if line == "":
            if data:
                found.append((kind, data.removesuffix("\n")))
            kind = data = ""
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "event":
                kind = value
            elif name == "data":
                data += value + "\n"
    return found


@pytest.mark.req("AAP-40", "AAP-41")
@given(LINES, st.data())
def test_cut_anywhere_it_is_the_same(lines: list[str], data: st.DataObject) -> None:
    ends = [data.draw(st.sampled_from([b"\n", b"\r\n", b"\r"])) for _ in lines]
    # A lone CR followed by an empty line that ends in LF reads as CRLF, as it should.
    for index, line in enumerate(lines[1:], 1):
        if line == "" and ends[index - 1] == b"\r" and ends[index] == b"\n":
            ends[index] = b"\r\n"
            ends[index - 1] = b"\n"
    stream = b"".join(line.encode() + end for line, end in zip(lines, ends, strict=True))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert events(*chunks) == by_the_book(lines)


PARTS = [
    b"\n",
    b"\r",
    b"\r\n",
    b"data",
    b":",
    b" ",
    b"event:x",
    b"id:",
    b"\xef\xbb\xbf",
    b"\0",
    b"\xff\xc3",
    "é\u2028".encode(),
]


@pytest.mark.req("AAP-40", "AAP-41")
@given(st.lists(st.sampled_from(PARTS), max_size=30).map(b"".join), st.lists(st.integers(0, 90), max_size=10))
def test_any_bytes_in_any_pieces(stream: bytes, cuts: list[int]) -> None:
    """All at once, cut anywhere, and byte by byte: the same events, and the same that is not complete."""
    whole, cut, single = SseDecoder(), SseDecoder(), SseDecoder()
    found = whole.decode(stream)
    places = sorted({min(each, len(stream)) for each in cuts} | {0, len(stream)})
    assert [event for a, b in itertools.pairwise(places) for event in cut.decode(stream[a:b])] == found
    assert [event for byte in stream for event in single.decode(bytes([byte]))] == found
    assert whole.pending == cut.pending == single.pending
    small = SseDecoder(limit=20)
    try:
        events = [event for byte in stream for event in small.decode(bytes([byte]))]
    except LineTooLongError:
        return
    assert events == found
    assert all(len(event.data) <= 20 for event in events)


def test_what_is_not_utf8_is_replaced_in_the_type() -> None:
    assert SseDecoder().decode(b"event: \xff\ndata: 1\n\n") == [ServerEvent("\ufffd", b"1")]


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([b"data: " + b"x" * 200], id="a line"),
        pytest.param([b"data: " + b"x" * 50 + b"\n"] * 4, id="many lines"),
        pytest.param([b"x" * 60] * 4, id="no line"),
    ],
)
def test_an_event_is_bounded(chunks: list[bytes]) -> None:
    decoder = SseDecoder(limit=120)
    with pytest.raises(LineTooLongError):
        for chunk in chunks:
            decoder.decode(chunk)


def test_what_is_not_complete_is_known() -> None:
    decoder = SseDecoder()
    assert not decoder.pending
    decoder.decode(b"data: 1\n\n")
    assert not decoder.pending
    decoder.decode(b"data: 2\n")
    assert decoder.pending
