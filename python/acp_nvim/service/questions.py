"""One queue for the agent's questions and ours: each is answered exactly once (ports.Questions)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Literal, TypeAlias

import anyio

from ..session.entities import Permission, Session
from ..session.events import PermissionClosed, PermissionOpened
from ..session.ports import Sink

Outcome: TypeAlias = Literal["selected", "cancelled", "withdrawn"]
By: TypeAlias = Literal["user", "rule", "cancel", "agent", "close"]


@dataclass(slots=True, eq=False)
class _Waiting:
    session: Session
    permission: Permission
    closed: anyio.Event
    option: str | None = None


class QuestionService:
    """Holds what is asked until it is answered, cancelled or withdrawn.

    ``show(session, permission)`` brings a question to the user's eyes, ``hide(permission, outcome)``
    takes it away again; both only notify the editor. Events go to ``sink``. Safe against late, repeated and
    unknown answers: only the first closing of a question counts.
    """

    def __init__(
        self,
        sink: Sink,
        show: Callable[[Session, Permission], None],
        hide: Callable[[Permission, Outcome], None],
    ) -> None:
        self._sink = sink
        self._show = show
        self._hide = hide
        self._numbers = count(1)
        self._waiting: dict[str, _Waiting] = {}
        self._used: set[str] = set()

    async def ask(self, session: Session, permission: Permission) -> str | None:
        """Put the question and wait. An id that is empty or was used before is replaced by a new one."""
        if not permission.id or permission.id in self._used:
            permission.id = self.new_id()
        self._used.add(permission.id)
        waiting = _Waiting(session, permission, anyio.Event())
        self._waiting[permission.id] = waiting
        try:
            self._sink.apply(session, PermissionOpened(permission))
            self._show(session, permission)
            await waiting.closed.wait()
        except BaseException:
            # The agent took it back, or it could not be shown: nobody waits for the answer any more.
            self._close(permission.id, "withdrawn", None, "agent")
            raise
        return waiting.option

    def new_id(self) -> str:
        """Return an id no question of this host has had."""
        while (name := f"q{next(self._numbers)}") in self._used:
            continue
        return name

    def answer(self, question: str, index: int, by: By = "user") -> bool:
        """Answer with the option at ``index`` in the agent's order, from 1; 0 cancels.

        Returns whether it counted: not when the question is unknown or already closed, nor when it has no
        such option (it stays open then).
        """
        waiting = self._waiting.get(question)
        if waiting is None:
            return False
        if index == 0:
            return self._close(question, "cancelled", None, by)
        if not 0 < index <= len(waiting.permission.options):
            return False
        return self._close(question, "selected", waiting.permission.options[index - 1].id, by)

    def cancel_all(self, session: Session, by: str) -> None:
        """Answer every open question of the session with ``cancelled`` (V1-80, C15).

        ``by`` agent: the turn has ended by itself. A question of ours outlives that: some agents do not wait
        for their write to be answered (opencode), and it is about the user's file.
        """
        reason: By = "close" if by == "close" else "user" if by == "user" else "cancel"
        for waiting in list(self._waiting.values()):
            if waiting.session is session and not (by == "agent" and waiting.permission.asked_by == "client"):
                self._close(waiting.permission.id, "cancelled", None, reason)

    def open(self, session: Session | None = None) -> list[Permission]:
        """The open questions, oldest first; of one session, or all."""
        return [w.permission for w in self._waiting.values() if session is None or w.session is session]

    def _close(self, question: str, outcome: Outcome, option: str | None, by: By) -> bool:
        waiting = self._waiting.pop(question, None)
        if waiting is None:
            return False
        waiting.option = option
        # First the agent's answer: whatever the view makes of the event must not keep it back.
        waiting.closed.set()
        self._sink.apply(waiting.session, PermissionClosed(question, outcome, option, by))
        self._hide(waiting.permission, outcome)
        return True
