"""Messages: boundaries, patches, and the prompt's echo."""

from __future__ import annotations

import pytest
from tests.unit.session.build import chunk, play, prompt, session, timeline, whole

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Message, Note, Plan, PlanEntry, Session, Usage
from acp_nvim.session.events import (
    CommandsSet,
    Event,
    InfoPatch,
    MessageAppend,
    MessageSet,
    NoteShown,
    OptionValue,
    PlanSet,
    ReplayEnded,
    ReplayStarted,
    StateSet,
    ToolPatch,
    TurnAccepted,
    TurnEnded,
    TurnStarted,
    UsageSet,
)

PLAN = PlanSet(Plan("default", entries=[PlanEntry("a")]))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param(
            [chunk("agent", "Hel"), chunk("agent", "lo"), chunk("agent", " **x")],
            ["agent|Hello **x"],
            id="chunks of one role are one message, concatenated as sent",
        ),
        pytest.param(
            [chunk("thought", "hm"), chunk("agent", "a"), chunk("thought", "so"), chunk("agent", "b")],
            ["thought|hm", "agent|a", "thought|so", "agent|b"],
            id="a change of role starts a new message",
        ),
        pytest.param(
            [chunk("agent", "a"), ToolPatch("t1"), chunk("agent", "b")],
            ["agent|a", "tool t1|pending|", "agent|b"],
            id="a tool call in between starts a new message",
        ),
        pytest.param(
            [ToolPatch("t1"), chunk("agent", "a"), ToolPatch("t1", status="completed"), chunk("agent", "b")],
            ["tool t1|completed|", "agent|ab"],
            id="an update of a row above does not",
        ),
        pytest.param(
            [chunk("agent", "a"), PLAN, chunk("agent", "b")],
            ["agent|a", "plan default|a", "agent|b"],
            id="a plan in between starts a new message",
        ),
        pytest.param(
            [
                chunk("agent", "a"),
                UsageSet(Usage(1, 2)),
                CommandsSet([]),
                OptionValue("mode", "x"),
                InfoPatch(title="t"),
                NoteShown(Note("n", "info", "hello")),
                chunk("agent", "b"),
            ],
            ["agent|ab", "note|hello"],
            id="state alone, and a notice, does not",
        ),
        pytest.param(
            [chunk("agent", "a"), chunk("thought", ""), chunk("agent", "b"), chunk("agent", "")],
            ["agent|ab"],
            id="an empty chunk opens nothing and parts nothing",
        ),
        pytest.param(
            [chunk("agent", ""), chunk("agent", "", "m1")],
            [],
            id="nothing but empty chunks is no message",
        ),
        pytest.param(
            [chunk("agent", "a", "m1"), chunk("agent", "b", "m1"), chunk("agent", "c", "m2")],
            ["agent|ab", "agent|c"],
            id="a changed id starts a new message",
        ),
        pytest.param(
            [chunk("agent", "a", "m1"), ToolPatch("t1"), chunk("agent", "b", "m1")],
            ["agent|ab", "tool t1|pending|"],
            id="the same id is the same message, at its place",
        ),
        pytest.param(
            [chunk("agent", "a", "m1"), chunk("agent", "b")],
            ["agent|ab"],
            id="no id joins the open message",
        ),
        pytest.param(
            [chunk("agent", "a"), chunk("agent", "b", "m1")],
            ["agent|a", "agent|b"],
            id="an id after none is another message",
        ),
    ],
)
@pytest.mark.req("V1-90", "V1-91", "V1-92")
def test_boundaries(events: list[Event], expected: list[str]) -> None:
    target = session()
    play(target, *events)
    assert timeline(target) == expected


@pytest.mark.req("V1-93", "V1-101")
def test_other_blocks_stand_at_their_place_and_audiences_apart() -> None:
    target = session()
    image = Block("image", data="eA==", mime="image/png")
    hidden = Block.of_text("for the model")
    hidden.audience = ("assistant",)
    play(
        target,
        chunk("agent", "a"),
        MessageAppend("agent", None, image),
        chunk("agent", "b"),
        MessageAppend("agent", None, hidden),
        chunk("agent", "c"),
    )
    (message,) = target.items
    assert isinstance(message, Message)
    assert [(b.type, str(b.text) if b.text else None) for b in message.blocks] == [
        ("text", "a"),
        ("image", None),
        ("text", "b"),
        ("text", "for the model"),
        ("text", "c"),
    ]


def test_a_message_ends_when_the_next_item_begins() -> None:
    target = session()
    touched = play(target, chunk("thought", "hm"), chunk("thought", "hm"), chunk("agent", "a"))
    thought, text = target.items
    assert isinstance(thought, Message)
    assert isinstance(text, Message)
    assert (thought.started, thought.ended, text.ended) == (1.0, 3.0, None)
    assert touched[2] == [thought, text]  # the reader hears that the thought has ended
    play(target, prompt("x"), start=9.0)
    assert text.ended == 9.0


def test_events_are_not_changed_by_what_follows() -> None:
    target = session()
    first = chunk("agent", "a", "m1")
    blocks = whole("agent", "m2", "b")
    play(target, first, chunk("agent", "x", "m1"), blocks, chunk("agent", "y", "m2"))
    assert str(first.block.text) == "a"
    assert timeline(target) == ["agent|ax", "agent|by"]


V2_CASES = [
    pytest.param(
        [chunk("agent", "a", "1"), chunk("agent", "b", "2"), chunk("agent", "c", "1")],
        ["agent|ac", "agent|b"],
        id="V2-78 interleaved",
    ),
    pytest.param(
        [chunk("agent", "a", "1"), chunk("thought", "b", "1"), whole("user", "1", "c")],
        ["agent|a", "thought|b", "user|c"],
        id="V2-77 each kind has its own ids",
    ),
    pytest.param(
        [chunk("agent", "old", "1"), whole("agent", "1", "new", "er"), chunk("agent", "!", "1")],
        ["agent|newer!"],
        id="V2-79 a whole message replaces the chunks, later ones append",
    ),
    pytest.param([whole("agent", "1", "a"), MessageSet("agent", "1")], ["agent|a"], id="omitted keeps"),
    pytest.param([whole("agent", "1", "a"), MessageSet("agent", "1", None)], ["agent|"], id="null empties"),
    pytest.param([whole("agent", "1", "a"), MessageSet("agent", "1", [])], ["agent|"], id="a list empties"),
    pytest.param(
        [MessageSet("agent", "1"), whole("agent", "2", "b"), chunk("agent", "a", "1")],
        ["agent|a", "agent|b"],
        id="V2-80 V2-82 an empty one keeps its place",
    ),
]


@pytest.mark.parametrize(("events", "expected"), V2_CASES)
@pytest.mark.req("V2-77", "V2-78", "V2-79", "V2-80", "V2-82")
def test_whole_messages_and_chunks(events: list[Event], expected: list[str]) -> None:
    target = session("acp-v2")
    play(target, *events)
    assert timeline(target) == expected


@pytest.mark.req("V2-84")
def test_meta_patches_by_key() -> None:
    target = session("acp-v2")

    def meta(value: dict[str, object] | None) -> dict[str, object]:
        play(target, MessageSet("agent", "1", meta=value))
        return target.messages["agent", "1"].meta

    assert meta({"a": 1, "b": {"c": 1}}) == {"a": 1, "b": {"c": 1}}
    assert meta({"b": {"d": 2}}) == {"a": 1, "b": {"d": 2}}
    assert meta({"a": None}) == {"b": {"d": 2}}
    assert meta({}) == {"b": {"d": 2}}
    play(target, MessageSet("agent", "1"))
    assert target.messages["agent", "1"].meta == {"b": {"d": 2}}
    assert meta(None) == {}


def resource(uri: str) -> Block:
    return Block("resource", uri=uri, text=Block.of_text("content").text)


@pytest.mark.parametrize(
    ("start", "events", "expected"),
    [
        pytest.param(prompt("fix it"), [chunk("user", "fix it")], [], id="C11 at once"),
        pytest.param(
            prompt("fix it\n"), [chunk("user", " fi"), chunk("user", "x it "), chunk("agent", "ok")],
            ["agent|ok"], id="in pieces, blanks around it changed",
        ),
        pytest.param(
            prompt("fix it"), [chunk("agent", "ok"), chunk("user", "fix it")], ["agent|ok"], id="late",
        ),
        pytest.param(
            prompt("fix it"), [chunk("user", "fix"), chunk("agent", "ok"), chunk("user", "fix it")],
            ["agent|ok"], id="a part, then whole",
        ),
        pytest.param(
            prompt("fix it"), [chunk("user", "fix it", "u1"), chunk("user", " (more)", "u1")],
            [], id="its rest, by the id",
        ),
        pytest.param(
            prompt("fix it"), [chunk("user", "fix"), chunk("user", "ed?")], ["user|fixed?"],
            id="another message that begins alike is shown whole",
        ),
        pytest.param(
            prompt("fix it"), [chunk("user", "fix it"), chunk("agent", "ok"), chunk("user", "fix it")],
            ["agent|ok", "user|fix it"], id="only once",
        ),
        pytest.param(
            prompt("fix it"), [chunk("user", "steer left")], ["user|steer left"], id="other words",
        ),
        pytest.param(
            TurnStarted((resource("file:///a"), Block.of_text("fix it"))),
            [
                MessageAppend("user", None, resource("file:///a")),
                chunk("user", "fix it"),
                chunk("user", "rendered"),
            ],
            [], id="with its context",
        ),
        pytest.param(
            TurnStarted(
                (resource("file:///a"), Block.of_text("fix it")),
                (Block.of_text("/a: content"), Block.of_text("fix it")),
            ),
            [chunk("user", "/a: content"), chunk("user", "fix it")], [], id="with context sent as words",
        ),
        pytest.param(prompt("a", "b"), [chunk("user", "a"), chunk("user", "b")], [], id="two text blocks"),
    ],
)  # fmt: skip
@pytest.mark.req("V1-75")
def test_the_echo_is_shown_once(start: TurnStarted, events: list[Event], expected: list[str]) -> None:
    target = session()
    play(target, start, *events, TurnEnded("end_turn"))
    shown = timeline(target)
    assert shown[1:-1] == expected
    assert sum(line.startswith("user|") for line in shown) == 1 + sum(
        line.startswith("user|") for line in expected
    )


@pytest.mark.req("V1-51", "V1-76")
def test_without_a_turn_a_user_message_is_no_echo() -> None:
    target = session()
    play(target, prompt("fix it"), TurnEnded("end_turn"), chunk("user", "fix it"))
    assert timeline(target) == ["user|fix it", "end|end_turn", "user|fix it"]


def own(target: Session) -> Message:
    return next(m for m in target.items if isinstance(m, Message) and m.origin == "local")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([TurnAccepted("u1"), whole("user", "u1", "other words")], ["user|fix it"], id="after"),
        pytest.param([whole("user", "u1", "other words"), TurnAccepted("u1")], ["user|fix it"], id="before"),
        pytest.param(
            [chunk("user", "fix", "u1"), chunk("user", " it", "u1"), TurnAccepted("u1")],
            ["user|fix it"], id="in chunks, before",
        ),
        pytest.param(
            [whole("user", "u0", "fix it"), TurnAccepted("u1"), whole("user", "u1", "fix it")],
            ["user|fix it", "user|fix it"], id="never by content",
        ),
        pytest.param([whole("user", "u1", "fix it"), TurnAccepted(None)], ["user|fix it"], id="no id"),
        pytest.param([TurnAccepted(None), chunk("user", "fix it", "u1")], ["user|fix it"], id="no id, late"),
        pytest.param([whole("user", "u0", "other")], ["user|fix it", "user|other"], id="unaccepted"),
    ],
)  # fmt: skip
@pytest.mark.req("V2-50", "V2-51")
def test_the_echo_of_v2_is_known_by_its_id(events: list[Event], expected: list[str]) -> None:
    target = session("acp-v2")
    play(target, prompt("fix it"), *events, TurnEnded("end_turn"))
    assert timeline(target) == [*expected, "end|end_turn"]


@pytest.mark.req("V2-50")
def test_our_copy_is_known_by_the_agents_id_too() -> None:
    target = session("acp-v2")
    play(target, prompt("fix it"), TurnAccepted("u1"))
    assert target.messages["user", "u1"] is own(target)
    assert target.turn is not None
    assert (target.turn.message_id, target.turn.state) == ("u1", "accepted")


@pytest.mark.req("V1-51")
def test_replayed_messages_say_so() -> None:
    target = session()
    play(target, ReplayStarted(), chunk("user", "old"), ReplayEnded(), chunk("agent", "new"))
    assert [m.origin for m in target.items if isinstance(m, Message)] == ["replay", "live"]
    assert target.turns == []


@pytest.mark.req("V2-62", "V2-63")
def test_a_turn_without_a_prompt() -> None:
    target = session("acp-v2")
    play(
        target,
        StateSet("running"),
        TurnStarted(()),
        chunk("agent", "by myself", "1"),
        StateSet("idle"),
        TurnEnded("end_turn"),
        ToolPatch("t1", status="in_progress"),
    )
    assert timeline(target) == ["agent|by myself", "end|end_turn", "tool t1|in_progress|"]
    assert target.state == "idle"


@pytest.mark.req("V2-54")
def test_a_prompt_sent_while_the_agent_works_joins_the_turn() -> None:
    target = session("acp-v2")
    play(target, prompt("one"), TurnAccepted("u1"), chunk("agent", "a", "1"))
    play(target, prompt("two"), TurnAccepted("u2"), whole("user", "u2", "two"), chunk("agent", "b", "2"))
    play(target, TurnEnded("end_turn"))
    assert timeline(target) == ["user|one", "agent|a", "user|two", "agent|b", "end|end_turn"]
    assert [str(b.text) for b in target.turns[0].prompt] == ["one", "two"]
