"""Text of one read is one event, and nothing else can be told from that."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plugin import examples
from tests.unit.session.build import chunk, session, timeline
from tests.unit.session.test_invariants import streams

from acp_nvim.protocol.gathered import Gathered
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Session
from acp_nvim.session.events import Event, MessageAppend, ToolPatch
from acp_nvim.session.reducer import apply
from acp_nvim.session.store import Store


class Model:
    """A sink that applies events to sessions, and remembers their names."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.rooms = 0

    def apply(self, target: Session, event: Event) -> None:
        self.events.append(type(event).__name__)
        apply(target, event, 0.0)

    async def room(self, target: Session) -> None:
        self.rooms += 1


@examples(300)
@given(streams, st.sets(st.integers(0, 40)))
def test_a_session_is_the_same_however_it_is_read(stream: tuple[str, list[Event]], reads: set[int]) -> None:
    """``reads``: after which events a read of the pipe ends."""
    protocol, events = stream
    direct, gathered = session(protocol), session(protocol)
    sink = Gathered(Model())
    for number, event in enumerate(events):
        apply(direct, copy.deepcopy(event), 0.0)
        sink.apply(gathered, copy.deepcopy(event))
        if number in reads:
            sink.release()
            assert timeline(gathered) == timeline(direct)
    sink.release()
    assert timeline(gathered) == timeline(direct)
    assert gathered.state == direct.state


def test_a_read_of_chunks_is_one_event() -> None:
    model, target = Model(), session()
    sink = Gathered(model)
    for number in range(1000):
        sink.apply(target, chunk("agent", f"{number} "))
    assert model.events == []
    sink.release()
    sink.release()
    assert model.events == ["MessageAppend"]
    assert timeline(target) == ["agent|" + "".join(f"{number} " for number in range(1000))]


@pytest.mark.parametrize(
    "second",
    [
        chunk("thought", "b", "1"),
        chunk("agent", "b", "2"),
        chunk("agent", "b"),
        MessageAppend("agent", "1", Block("image", data="")),
        MessageAppend("agent", "1", Block.of_text("b"), meta={"k": 1}),
        MessageAppend("agent", "1", Block.of_text("b"), origin="replay"),
        ToolPatch("t"),
    ],
)
def test_what_is_another_thing_comes_after_it(second: Event) -> None:
    model, target = Model(), session()
    sink = Gathered(model)
    sink.apply(target, chunk("agent", "a", "1"))
    sink.apply(target, second)
    sink.release()
    assert model.events == ["MessageAppend", type(second).__name__]


def test_the_users_own_words_are_not_held() -> None:
    model = Model()
    Gathered(model).apply(session(), chunk("user", "an echo?"))
    assert model.events == ["MessageAppend"]


def test_two_sessions_of_a_connection() -> None:
    model, one, two = Model(), session(), session()
    sink = Gathered(model)
    for text in "abc":
        sink.apply(one, chunk("agent", text))
        sink.apply(two, chunk("agent", text.upper()))
    sink.release()
    assert (timeline(one), timeline(two)) == (["agent|abc"], ["agent|ABC"])


@pytest.mark.anyio
async def test_nothing_is_held_while_the_view_is_waited_for() -> None:
    store, target = Store(lambda: 0.0), session()
    seen: list[list[str]] = []

    async def gate() -> None:
        seen.append(timeline(target))

    store.add(target)
    store.gate(target, gate)
    sink = Gathered(store)
    sink.apply(target, chunk("agent", "a"))
    await sink.room(target)
    assert seen == [["agent|a"]]
