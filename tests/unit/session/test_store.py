"""The store: order, subscribers, gates."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from tests.unit.session.build import session

from acp_nvim.session.entities import Item, Session
from acp_nvim.session.events import Event, InfoPatch, ToolPatch
from acp_nvim.session.store import Store


def test_events_are_numbered_reduced_and_told_in_order() -> None:
    store = Store(lambda: 7.0)
    target = session()
    told: list[tuple[str, str, int, list[str]]] = []

    def subscriber(name: str, of: Session, event: Event, touched: Sequence[Item]) -> None:
        told.append((name, type(event).__name__, of.arrival, [type(item).__name__ for item in touched]))

    store.subscribe(lambda *args: subscriber("a", *args))
    end = store.subscribe(lambda *args: subscriber("b", *args))
    store.apply(target, ToolPatch("t1"))
    end()
    end()
    store.apply(target, InfoPatch("x"))
    assert told == [
        ("a", "ToolPatch", 2, ["ToolCall"]),
        ("b", "ToolPatch", 2, ["ToolCall"]),
        ("a", "InfoPatch", 3, []),
    ]
    assert target.tool_calls["t1"].started == 7.0


def test_a_failing_subscriber_is_reported_and_costs_the_others_nothing() -> None:
    reported: list[str] = []
    told: list[Event] = []
    store = Store(lambda: 0.0, lambda session, event, error: reported.append(str(error)))

    def fail(of: Session, event: Event, touched: Sequence[Item]) -> None:
        raise ValueError("mine")

    store.subscribe(fail)
    store.subscribe(lambda of, event, touched: told.append(event))
    store.apply(session(), InfoPatch("x"))
    assert (reported, told) == (["mine"], [InfoPatch("x")])
    quiet = Store(lambda: 0.0)
    quiet.subscribe(fail)
    quiet.apply(session(), InfoPatch("x"))


def test_an_event_applied_by_a_subscriber_comes_after_for_everybody() -> None:
    store = Store(lambda: 0.0)
    target = session()
    told: list[tuple[str, str | None]] = []

    def first(of: Session, event: Event, touched: Sequence[Item]) -> None:
        assert isinstance(event, InfoPatch)
        if event.title == "1":
            store.apply(of, InfoPatch("2"))
            assert of.title == "2"  # changed at once

    store.subscribe(first)
    store.subscribe(lambda of, event, touched: told.append(("second", getattr(event, "title", None))))
    store.apply(target, InfoPatch("1"))
    assert told == [("second", "1"), ("second", "2")]


def test_sessions_are_held_by_their_own_id() -> None:
    store = Store(lambda: 0.0)
    target = session()
    store.add(target)
    assert store.sessions == {"s": target}
    store.remove(target)
    store.remove(target)
    assert store.sessions == {}


async def _room(store: Store, target: Session, passed: list[str]) -> None:
    await store.room(target)
    passed.append(target.id)


def test_room_waits_for_the_sessions_gate() -> None:
    async def main() -> None:
        store = Store(lambda: 0.0)
        slow, free = session(), Session("free", "agent", "/ws")
        opened = anyio.Event()
        passed: list[str] = []
        store.gate(slow, opened.wait)
        async with anyio.create_task_group() as group:
            group.start_soon(_room, store, slow, passed)
            await _room(store, free, passed)
            await anyio.lowlevel.checkpoint()
            assert passed == ["free"]
            opened.set()
        assert passed == ["free", "s"]
        store.remove(slow)
        await store.room(slow)

    anyio.run(main)
