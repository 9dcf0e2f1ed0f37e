"""What holds for every event stream, in the shapes of v1 and of v2."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET
from tests.plugin import examples
from tests.unit.session.build import answer, ask, chunk, prompt, session, timeline, whole

from acp_nvim.session.content import Block, TerminalRef
from acp_nvim.session.entities import Message, Plan, PlanEntry, Role, Session, ToolCall
from acp_nvim.session.events import (
    CompactionAppend,
    CompactionPatch,
    Event,
    MessageAppend,
    MessageSet,
    PermissionClosed,
    PlanRemoved,
    PlanSet,
    StateSet,
    TerminalBytes,
    TerminalPatch,
    ToolAppend,
    ToolPatch,
    TurnAccepted,
    TurnCancelling,
    TurnEnded,
)
from acp_nvim.session.reducer import apply
from acp_nvim.session.terminals import Exit

ROLES: list[Role] = ["user", "agent", "thought"]
IDS = st.sampled_from(["1", "2", "3"])
TEXTS = st.sampled_from(["", "a", "b ", "fix", " it", "fix it", "\n", "é🚀"])
STATUSES = st.sampled_from(["pending", "in_progress", "paused", "completed", "failed", "cancelled", "odd"])
roles = st.sampled_from(ROLES)
CALLS = st.sampled_from(["t1", "t2", "t3"])
QUESTIONS = st.sampled_from(["q1", "q2", "q3"])

common = st.one_of(
    st.builds(ToolPatch, CALLS, status=st.one_of(st.just(UNSET), st.none(), STATUSES), title=TEXTS),
    st.builds(lambda *entries: PlanSet(Plan("p", entries=[PlanEntry(e) for e in entries])), TEXTS),
    st.builds(ask, QUESTIONS, st.one_of(st.none(), CALLS)),
    st.builds(answer, QUESTIONS, st.sampled_from(["ok", "always", "no"])),
    st.builds(
        lambda question, outcome, by: PermissionClosed(question, outcome, None, by),
        QUESTIONS,
        st.sampled_from(["cancelled", "withdrawn"]),
        st.sampled_from(["user", "cancel", "agent", "close"]),
    ),
    st.just(TurnCancelling()),
    st.builds(TurnEnded, st.sampled_from(["end_turn", "cancelled", "error", "lost", "odd", None])),
    st.just(prompt("fix it")),
    st.just(PlanRemoved("p")),
    st.builds(CompactionPatch, IDS, status=st.one_of(st.just(UNSET), STATUSES)),
    st.builds(lambda id_, text: CompactionAppend(id_, Block.of_text(text)), IDS, TEXTS),
    st.builds(lambda call: ToolPatch(call, content=[TerminalRef("x")]), CALLS),
    st.builds(
        TerminalPatch, st.just("x"), exit=st.builds(Exit, st.integers(0, 1)), call=st.one_of(st.none(), CALLS)
    ),
    st.just(TerminalBytes("x", b"out")),
    st.just(StateSet("idle", [{"toolCallId": "t1"}, 7, {"terminalId": "x"}])),
)
v1_events = st.one_of(st.builds(chunk, roles, TEXTS, st.one_of(st.none(), IDS)), common)
v2_events = st.one_of(
    st.builds(chunk, roles, TEXTS, IDS),
    st.builds(whole, roles, IDS, TEXTS, TEXTS),
    st.builds(MessageSet, roles, IDS, st.sampled_from([UNSET, None])),
    st.builds(TurnAccepted, st.one_of(st.none(), IDS)),
    st.builds(StateSet, st.sampled_from(["running", "idle", "requires_action", "busy"])),
    st.builds(ToolAppend, CALLS, st.builds(Block.of_text, TEXTS)),
    common,
)
streams = st.one_of(
    st.tuples(st.just("acp-v1"), st.lists(v1_events, max_size=40)),
    st.tuples(st.just("acp-v2"), st.lists(v2_events, max_size=40)),
)


def decided(target: Session) -> dict[str, tuple[Any, ...]]:
    """What is settled for good: answered questions, and turns that are over."""
    asked = {f"question {p.id}": (p.state, p.answer, p.by, p.closed) for p in target.permissions.values()}
    turns = {f"turn {turn.n}": (turn.stop, turn.ended) for turn in target.turns}
    found = {**asked, **turns}
    return {
        name: facts
        for name, facts in found.items()
        if facts[0] not in ("open", None) and facts[-1] is not None
    }


def check(target: Session) -> None:
    """Each entity stands in the timeline once, and what the indexes hold is in it."""
    assert max(Counter(map(id, target.items)).values(), default=1) == 1
    shown = {id(item) for item in target.items}
    for index in (target.messages, target.tool_calls, target.plans):
        assert all(id(entity) in shown for entity in index.values())
    calls = [item.id for item in target.items if isinstance(item, ToolCall)]
    assert len(calls) == len(set(calls)) == len(target.tool_calls)
    keys = [(m.role, m.id) for m in target.items if isinstance(m, Message)]
    assert len(keys) == len(set(keys))
    unended = [m for m in target.items if isinstance(m, Message) and m.ended is None]
    assert len(unended) <= 1
    for permission in target.permissions.values():
        assert permission in target.tool_calls[permission.tool_call_id or ""].permissions


@examples(300)
@given(streams)
@example(
    (
        "acp-v2",
        [
            prompt("x"),
            StateSet("idle", [{"terminalId": "x"}]),
            ToolPatch("t1", content=[TerminalRef("x")]),
            TurnEnded(None),
        ],
    )
)
def test_every_stream_keeps_the_models_promises(stream: tuple[str, list[Event]]) -> None:
    protocol, events = stream
    target = session(protocol)
    for number, event in enumerate(events):
        before, settled = list(target.items), decided(target)
        unseen = {id(item) for item in target.items}
        arrival, running = target.arrival, target.turn is not None
        touched = apply(target, event, float(number))
        assert target.arrival == arrival + 1
        assert target.items[: len(before)] == before  # positions are stable
        assert all(id(item) in {id(t) for t in touched} for item in target.items if id(item) not in unseen)
        assert all(any(item is t for item in target.items) for t in touched)
        assert settled.items() <= decided(target).items()
        check(target)
        if isinstance(event, TurnEnded) and running:
            assert target.turn is None
            # The list of the stream names a call and a terminal.
            beside = {"t1", *(target.terminals["x"].calls if "x" in target.terminals else ())}
            for call in target.tool_calls.values():
                assert call.final or call.open_permissions or (target.background and call.id in beside)
        for call in target.tool_calls.values():
            assert (call.ended is not None) == call.final


@dataclass
class Expected:
    """The messages that a plain reading of V1-90 and V1-91 gives."""

    texts: list[tuple[Role, str]] = field(default_factory=list)
    open: Role | None = None

    def add(self, role: Role, text: str) -> None:
        if not text:
            return
        if self.open == role:
            self.texts[-1] = (role, self.texts[-1][1] + text)
        else:
            self.texts.append((role, text))
            self.open = role


@given(st.lists(st.one_of(st.tuples(roles, TEXTS), st.integers(0, 5)), max_size=60))
def test_text_is_the_concatenation_of_the_chunks(stream: list[tuple[Role, str] | int]) -> None:
    target, expected = session(), Expected()
    seen: set[int] = set()
    for part in stream:
        if isinstance(part, int):
            apply(target, ToolPatch(str(part)), 0.0)
            if part not in seen:
                seen.add(part)
                expected.open = None
        else:
            apply(target, chunk(*part), 0.0)
            expected.add(*part)
    assert [(m.role, m.text) for m in target.items if isinstance(m, Message)] == expected.texts


@given(st.lists(st.tuples(roles, IDS, TEXTS), max_size=60))
def test_ids_alone_decide_where_text_goes(stream: list[tuple[Role, str, str]]) -> None:
    target = session("acp-v2")
    expected: dict[tuple[Role, str], str] = {}
    for role, message_id, text in stream:
        apply(target, MessageAppend(role, message_id, Block.of_text(text)), 0.0)
        if text:
            expected[role, message_id] = expected.get((role, message_id), "") + text
    assert {key: message.text for key, message in target.messages.items()} == expected
    assert timeline(target) == [f"{role}|{text}" for (role, _), text in expected.items()]


@given(st.lists(st.integers(1, 7), max_size=8), st.booleans())
def test_the_echo_is_swallowed_however_it_is_cut(cuts: list[int], with_id: bool) -> None:
    words = "fix the parser, please: é🚀\nand test it"
    target = session()
    apply(target, prompt(words), 0.0)
    rest = words
    for cut in [*cuts, len(words)]:
        apply(target, chunk("user", rest[:cut], "u1" if with_id else None), 0.0)
        rest = rest[cut:]
    apply(target, chunk("agent", "ok"), 0.0)
    assert timeline(target) == [f"user|{words}", "agent|ok"]
