"""One queue for the agent's questions and ours: each is answered exactly once (ports.Questions)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Literal, TypeAlias

import anyio

from ..session.asked import Permission
from ..session.elicitation import ACCEPT, Action, Content, Elicitation, Reply
from ..session.entities import Session
from ..session.events import PermissionClosed, PermissionOpened
from ..session.ports import Sink
from .rules import Decision

Outcome: TypeAlias = Literal["selected", "cancelled", "withdrawn"]
By: TypeAlias = Literal["user", "rule", "cancel", "agent", "close"]


@dataclass(slots=True, eq=False)
class _Waiting:
    session: Session
    permission: Permission
    closed: anyio.Event
    opened: bool = False
    option: str | None = None
    content: Content | None = None


class QuestionService:
    """Holds what is asked until it is answered, cancelled or withdrawn.

    ``show(session, permission)`` brings a question to the user's eyes, ``hide(permission, outcome)``
    takes it away again; both only notify the editor. Events go to ``sink``. ``decide(session, permission)``
    is what the user's rules say: a question they answer is not shown. Safe against late, repeated and
    unknown answers: only the first closing of a question counts.
    """

    def __init__(
        self,
        sink: Sink,
        show: Callable[[Session, Permission], None],
        hide: Callable[[Permission, Outcome], None],
        decide: Callable[[Session, Permission], Awaitable[Decision | None]] | None = None,
    ) -> None:
        self._sink = sink
        self._decide = decide
        self._show = show
        self._hide = hide
        self._numbers = count(1)
        self._waiting: dict[str, _Waiting] = {}
        self._used: set[str] = set()

    async def ask(self, session: Session, permission: Permission) -> str | None:
        """Put the question and wait. An id that is empty or was used before is replaced by a new one."""
        return (await self._put(session, permission)).option

    async def elicit(self, session: Session, permission: Permission) -> Reply:
        """As ``ask``, for a form or a page (V1-202)."""
        waiting = await self._put(session, permission)
        if waiting.option is None:
            return Reply("cancel")
        action: Action = "accept" if waiting.option == ACCEPT else "decline"
        return Reply(action, waiting.content)

    async def _put(self, session: Session, permission: Permission) -> _Waiting:
        if not permission.id or permission.id in self._used:
            permission.id = self.new_id()
        self._used.add(permission.id)
        waiting = _Waiting(session, permission, anyio.Event())
        self._waiting[permission.id] = waiting
        try:
            decision = await self._decide(session, permission) if self._decide is not None else None
            if not waiting.closed.is_set():
                self._open(waiting, decision)
            await waiting.closed.wait()
        except BaseException:
            # The agent took it back, or it could not be shown: nobody waits for the answer any more.
            self._close(permission.id, "withdrawn", None, "agent")
            raise
        return waiting

    def _open(self, waiting: _Waiting, decision: Decision | None) -> None:
        """Bring the question to the user, or answer it at once as a rule of theirs says."""
        session, permission = waiting.session, waiting.permission
        waiting.opened = True
        if decision is None or decision.index is None:
            self._sink.apply(session, PermissionOpened(permission))
            self._show(session, permission)
            return
        permission.rule = decision.rule.words
        self._sink.apply(session, PermissionOpened(permission))
        option = permission.options[decision.index - 1].id if decision.index else None
        self._close(permission.id, "selected" if decision.index else "cancelled", option, "rule")

    def new_id(self) -> str:
        """Return an id no question of this host has had."""
        while (name := f"q{next(self._numbers)}") in self._used:
            continue
        return name

    def answer(self, question: str, index: int, by: By = "user") -> bool:
        """Answer with the option at ``index`` in the agent's order, from 1; 0 cancels.

        Returns whether it counted: not when the question is unknown or already closed, nor when it has no
        such option (it stays open then), nor when the option is to send a form: that takes ``fill``.
        """
        waiting = self._waiting.get(question)
        if waiting is None:
            return False
        if index == 0:
            return self._close(question, "cancelled", None, by)
        if not 0 < index <= len(waiting.permission.options):
            return False
        option = waiting.permission.options[index - 1].id
        subject = waiting.permission.subject
        if option == ACCEPT and isinstance(subject, Elicitation):
            if subject.asks:
                return False
            waiting.content = {} if subject.form is not None else None
        return self._close(question, "selected", option, by)

    def fill(self, question: str, content: Content) -> bool:
        """Answer a form with what the user has filled in, checked before (service/forms.py)."""
        waiting = self._waiting.get(question)
        if waiting is None or not isinstance(waiting.permission.subject, Elicitation):
            return False
        waiting.content = content
        return self._close(question, "selected", ACCEPT, "user")

    def find(self, question: str) -> Permission | None:
        """An open question by its id."""
        waiting = self._waiting.get(question)
        return waiting.permission if waiting is not None else None

    def cancel_all(
        self, session: Session, by: str, keep: Callable[[Permission], bool] = lambda permission: False
    ) -> None:
        """Answer every open question of the session with ``cancelled`` (V1-80, V1-208, C15).

        ``by`` agent: the turn has ended by itself. A question of ours outlives that: some agents do not wait
        for their write to be answered (opencode), and it is about the user's file. So does a form or a page
        that belongs to the session, not to a tool call: it has its own request, which the agent can withdraw.
        """
        reason: By = "close" if by == "close" else "user" if by == "user" else "cancel"
        for waiting in list(self._waiting.values()):
            if by == "agent" and _outlives_turn(waiting.permission):
                continue
            if waiting.session is session and not keep(waiting.permission):
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
        if not waiting.opened:  # it was still looked for a rule: nobody has seen it
            waiting.permission.state = "withdrawn" if outcome == "withdrawn" else "answered"
            waiting.permission.by = by
            return True
        shown = _without_secrets(waiting.permission, waiting.content)
        self._sink.apply(waiting.session, PermissionClosed(question, outcome, option, by, shown))
        self._hide(waiting.permission, outcome)
        return True


def _outlives_turn(permission: Permission) -> bool:
    subject = permission.subject
    if isinstance(subject, Elicitation):
        return subject.tool_call_id is None
    return permission.asked_by == "client"


def _without_secrets(permission: Permission, content: Content | None) -> Content | None:
    """What the model may keep of the content: it is shown in the transcript."""
    subject = permission.subject
    if content is None or not isinstance(subject, Elicitation) or subject.form is None:
        return None
    secret = {field.key for field in subject.form.fields if field.secret}
    return {key: value for key, value in content.items() if key not in secret}
