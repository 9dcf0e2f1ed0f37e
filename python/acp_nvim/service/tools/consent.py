"""The user's word for what a tool is about to do. Nothing is allowed that was not shown."""

from __future__ import annotations

from collections.abc import Hashable

from acp_nvim.session.asked import Permission, PermissionOption, Subject
from acp_nvim.session.entities import Session
from acp_nvim.session.ports import CANCELLED, Questions, RequestError
from acp_nvim.session.rejection import CANCELLED as CANCELLED_TURN
from acp_nvim.session.rejection import CLOSED, REASON, REJECT, reason
from acp_nvim.session.tools import ClientCall

REJECTED = -32603

ALLOW = PermissionOption("allow", "Allow once", "allow_once")


class Consent:
    """Asks, and remembers what was allowed for a session: by a key that says exactly what."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._granted: dict[str, set[Hashable]] = {}

    def granted(self, session: Session, key: Hashable) -> bool:
        """Whether the user has allowed just this for the session."""
        return key in self._granted.get(session.id, ())

    async def ask(
        self, session: Session, call: ClientCall, subject: Subject, key: Hashable | None, always: str
    ) -> None:
        """Ask about it, in the call's row; raises RequestError for a no.

        ``key``: what is allowed if the user chooses ``always``, the words of that answer; None: there is
        no such answer.
        """
        if key is not None and self.granted(session, key):
            return
        options = [ALLOW, REJECT, REASON]
        if key is not None:
            options.insert(1, PermissionOption("always", always, "allow_always"))
        question = Permission(
            "", options, subject=subject, tool_call_id=call.row, asked_by="client", host=call.host
        )
        answer = await self._questions.ask(session, question)
        if answer == "always" and key is not None:
            self._granted.setdefault(session.id, set()).add(key)
        elif answer == REASON.id:
            why = await reason(session, self._questions, call.tool)
            raise RequestError(REJECTED, f"The user rejected this{f': {why}' if why else '.'}")
        elif answer == REJECT.id:
            raise RequestError(REJECTED, "The user rejected this.")
        elif answer is None and question.by in ("cancel", "close"):
            raise RequestError(CANCELLED, CANCELLED_TURN)
        elif answer != ALLOW.id:
            raise RequestError(REJECTED, CLOSED)

    def forget(self, session: Session) -> None:
        """What was allowed for the session is not any more."""
        self._granted.pop(session.id, None)
