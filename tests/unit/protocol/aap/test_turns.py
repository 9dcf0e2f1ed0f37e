"""Turns: what is sent, and what comes back in each mode."""

from __future__ import annotations

import pytest
from tests.agents.aap_faults import answers
from tests.agents.aap_script import Call, Raw, Step, text, thinking
from tests.unit.protocol.aap.bench import offering, opened

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Message

pytestmark = pytest.mark.anyio

PLAIN = [[thinking("Let me ", "see."), text("Hello", " there")]]


@pytest.mark.req("AAP-31", "AAP-32", "AAP-35", "AAP-44", "AAP-45", "AAP-63", "AAP-39", "AAP-24", "AAP-11")
@pytest.mark.parametrize("mode", ["delta", "message", "none"])
async def test_a_turn_in_each_mode(mode: str) -> None:
    async with opened(PLAIN, agents=offering(mode)) as bench:
        assert bench.server.turns == []  # creating a session runs nothing
        turn = await bench.prompt("hi")
        assert bench.timeline == ["user: hi", "thought: Let me see.", "agent: Hello there", "end: end_turn"]
        assert (turn.stop, turn.confirmed, turn.error) == ("end_turn", True, None)
        assert bench.server.turns == [{"messages": [{"role": "user", "content": "hi"}], "stream": mode}]
        (seen,) = bench.server.seen("POST turns")
        wanted = "application/json" if mode == "none" else "text/event-stream"
        assert seen.headers["accept"] == wanted


@pytest.mark.req("AAP-35", "AAP-08")
async def test_the_best_mode_is_chosen_and_none_is_assumed() -> None:
    async with opened([[text("a")]], agents=offering("none", "message")) as bench:
        await bench.prompt()
        assert bench.server.turns[-1]["stream"] == "message"
    async with opened([[text("a")]], agents=[{"name": "x", "version": "1"}]) as bench:
        await bench.prompt()
        assert bench.server.turns[-1]["stream"] == "none"
        assert bench.timeline == ["user: hello", "agent: a", "end: end_turn"]


@pytest.mark.req("AAP-31")
async def test_earlier_history_is_not_sent_again() -> None:
    async with opened([[text("a")], [text("b")]]) as bench:
        await bench.prompt("one")
        await bench.prompt("two")
        assert [each["messages"] for each in bench.server.turns] == [
            [{"role": "user", "content": "one"}],
            [{"role": "user", "content": "two"}],
        ]


@pytest.mark.req("AAP-32", "AAP-33", "AAP-34")
async def test_several_blocks_and_a_picture() -> None:
    async with opened([[text("ok")]]) as bench:
        picture = Block("image", data="aGk=", mime="image/png")
        await bench.prompt("look", Block.of_text("file.py\ncode"), picture)
        (message,) = bench.server.turns[0]["messages"]
        assert message["content"] == [
            {"type": "text", "text": "look"},
            {"type": "text", "text": "file.py\ncode"},
            {"type": "image", "url": "data:image/png;base64,aGk="},
        ]


@pytest.mark.req("AAP-33")
async def test_a_picture_the_agent_does_not_take() -> None:
    async with opened(agents=offering("delta")) as bench:
        turn = await bench.prompt("look", Block("image", data="aGk=", mime="image/png"))
        assert bench.server.turns == []
        assert turn.error is not None
        assert turn.error.message == "the agent takes no image in a prompt"
        assert turn.error.unsent


@pytest.mark.req("AAP-44")
async def test_what_ends_a_message() -> None:
    script: list[Step] = [
        [text("a", "b"), thinking("c"), text("d"), Call("1", "hidden", {}), text("e")],
        [text("f")],
    ]
    async with opened(script, tools={"hidden": lambda _: "ok"}) as bench:
        await bench.prompt()
        assert bench.timeline == [
            "user: hello",
            "agent: ab",
            "thought: c",
            "agent: d",
            "tool 1: hidden completed",
            "agent: e",
            "agent: f",
            "end: end_turn",
        ]


@pytest.mark.req("AAP-46")
async def test_each_mode_may_have_the_events_of_the_other() -> None:
    raw = b'event: text\ndata: {"text": "one"}\n\nevent: text_delta\ndata: {"delta": "two"}\n\n'
    async with opened([[Raw(raw), text("three")]], agents=offering("message")) as bench:
        await bench.prompt()
        assert bench.timeline == ["user: hello", "agent: one", "agent: two", "agent: three", "end: end_turn"]


@pytest.mark.req("AAP-39")
async def test_the_type_in_the_data_wins() -> None:
    raw = (
        b'event: text\ndata: {"event": "text_delta", "delta": "a"}\n\n'
        b'data: {"event": "text_delta", "delta": "b"}\n\n'
    )
    async with opened([[Raw(raw)]]) as bench:
        await bench.prompt()
        assert bench.timeline[1] == "agent: ab"


@pytest.mark.req("AAP-42", "AAP-09")
async def test_what_is_not_understood_is_told_in_the_trace_alone() -> None:
    raw = (
        b"event: error\ndata: Internal Server Error\n\n"
        b'event: progress\ndata: {"percent": 5}\n\n'
        b"event: text_delta\ndata: {}\n\n"
        b'event: text_delta\ndata: {"delta": 5}\n\n'
        b'event: text_delta\ndata: {"delta": "a", "more": [1]}\n\n'
        b": a comment\n\n"
    )
    async with opened([[Raw(raw), text("b")]]) as bench:
        turn = await bench.prompt()
        assert bench.timeline == ["user: hello", "agent: ab", "end: end_turn"]
        assert turn.error is None
        assert any(note.startswith("error cannot be read") for note in bench.notes)
        assert "progress is not understood: ignored" in bench.notes


@pytest.mark.req("AAP-41")
async def test_characters_may_be_cut_anywhere() -> None:
    event = 'event: text_delta\ndata: {"delta": "café 🚀\u2028x"}\n\n'.encode()
    pieces = [Raw(event[at : at + 1]) for at in range(len(event))]
    halves = Raw(
        b'event: text_delta\ndata: {"delta": "a\\ud83d"}\n\n'
        b'event: text_delta\ndata: {"delta": "\\ude80b"}\n\n'
    )
    async with opened([[*pieces, halves]]) as bench:
        await bench.prompt()
        (message,) = [m for m in bench.session.items if isinstance(m, Message) and m.role == "agent"]
        assert message.text == "café 🚀\u2028xa🚀b"


@pytest.mark.req("AAP-43")
async def test_an_answer_that_is_no_stream_after_all() -> None:
    body = b'{"stopReason": "end_turn", "messages": [{"role": "assistant", "content": "hi"}]}'
    async with opened() as bench:
        bench.server.fail("POST turns", answers(200, body))
        await bench.prompt()
        assert bench.timeline == ["user: hello", "agent: hi", "end: end_turn"]


@pytest.mark.req("AAP-43", "AAP-75")
async def test_an_answer_that_is_no_answer() -> None:
    async with opened() as bench:
        bench.server.fail("POST turns", answers(200, b"<html>Welcome</html>", "text/html"))
        turn = await bench.prompt()
        assert turn.error is not None
        assert turn.error.message == "the answer to the prompt is not AAP (text/html)"
        assert turn.error.remedy == "is agents.remote.url right? :AcpTrace has the answer"


@pytest.mark.req("AAP-63", "AAP-64", "AAP-65")
async def test_blocks_of_an_answer_that_is_no_stream() -> None:
    body = b"""{"stopReason": "max_tokens", "messages": [
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"},
            {"type": "tool_use", "toolCallId": "1", "name": "clock", "input": {}},
            {"type": "image", "url": "data:image/gif;base64,aGk="}, {"type": "sound", "x": 1}]},
        {"role": "tool", "toolCallId": "1", "content": [{"type": "text", "text": "noon"}]},
        {"role": "assistant", "content": "done"}]}"""
    async with opened(agents=offering("none")) as bench:
        bench.server.fail("POST turns", answers(200, body))
        await bench.prompt()
        assert bench.timeline == [
            "user: hello",
            "thought: hm",
            "agent: a",
            "tool 1: clock completed",
            "agent: [image]",
            "agent: [unknown]",
            "agent: done",
            "end: max_tokens",
        ]
        assert bench.texts("1") == "noon"
