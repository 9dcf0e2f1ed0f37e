"""The store: holds the sessions, applies events in order, tells those who watch."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from .entities import Item, Session
from .events import Event
from .ports import Clock
from .reducer import apply

Subscriber: TypeAlias = Callable[[Session, Event, Sequence[Item]], None]
Gate: TypeAlias = Callable[[], Awaitable[None]]
ErrorHook: TypeAlias = Callable[[Session, Event, Exception], None]


class Store:
    """Implements ``ports.Sink``. ``clock`` gives seconds.

    ``on_error`` is called with what a subscriber raised; the other subscribers still get the event.
    """

    def __init__(self, clock: Clock, on_error: ErrorHook | None = None) -> None:
        self.sessions: dict[str, Session] = {}
        self._clock = clock
        self._on_error = on_error
        self._subscribers: list[Subscriber] = []
        self._gates: dict[str, Gate] = {}
        self._pending: deque[tuple[Session, Event, list[Item]]] = deque()
        self._telling = False

    def add(self, session: Session) -> None:
        """Hold a session, under its own id."""
        self.sessions[session.id] = session

    def remove(self, session: Session) -> None:
        """Let a session go, with its gate."""
        self.sessions.pop(session.id, None)
        self._gates.pop(session.id, None)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call ``subscriber(session, event, touched)`` after each event; returns what ends it."""
        self._subscribers.append(subscriber)

        def end() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return end

    def gate(self, session: Session, gate: Gate) -> None:
        """Let ``room`` wait for ``gate()`` from now on: the view's word that it has read enough."""
        self._gates[session.id] = gate

    def apply(self, session: Session, event: Event) -> None:
        """Change the session at once, then tell the subscribers, in the order they subscribed.

        A subscriber may apply an event itself: the session changes at once, the others hear of it
        after they have heard of the first.
        """
        self._pending.append((session, event, apply(session, event, self._clock())))
        if self._telling:
            return
        self._telling = True
        try:
            while self._pending:
                self._tell(*self._pending.popleft())
        finally:
            self._telling = False

    async def room(self, session: Session) -> None:
        """Wait until the session's view has read enough; without a view return at once."""
        gate = self._gates.get(session.id)
        if gate is not None:
            await gate()

    def _tell(self, session: Session, event: Event, touched: list[Item]) -> None:
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(session, event, touched)
            except Exception as error:  # one reader's fault must not cost the others their event
                if self._on_error is not None:
                    self._on_error(session, event, error)
