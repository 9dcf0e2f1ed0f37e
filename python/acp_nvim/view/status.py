"""The status of a chat, as Lua keeps it: which of its fields have changed (contract, status fields)."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

from acp_nvim.session.entities import Cost, Failure, Message, Plan, Session, Usage
from acp_nvim.text.sanitise import one_line

#: Cells of a title, a mode or a model; of an error.
LABEL_CELLS = 80
UNIT_CELLS = 12
ERROR_CELLS = 400
#: The first prompt is looked for among so many items.
TOPIC_ITEMS = 50
#: More cannot be told apart by Lua, whose numbers are doubles.
MOST_TOKENS = 2**53

_STATES = {
    "starting": "starting",
    "idle": "idle",
    "running": "running",
    "requires_action": "running",
    "busy": "running",
    "closed": "none",
    "lost": "failed",
}
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


class Status:
    """Of one chat. Remembers what was sent."""

    def __init__(self) -> None:
        self._sent: dict[str, Any] = {}
        self._topic: str | None = None

    def patch(self, session: Session, **known: Any) -> dict[str, Any]:
        """The fields that differ from what was sent; None clears one. ``known`` as in ``status_of``."""
        self._topic = self._topic or topic_of(session)
        now = {**status_of(session, **known), "topic": self._topic}
        changed = {name: value for name, value in now.items() if self._sent.get(name) != value}
        self._sent = now
        return changed


def status_of(
    session: Session,
    *,
    queued: int = 0,
    failure: Failure | None = None,
    starting: bool = False,
    label: str | None = None,
    pending_all: int | None = None,
    silent: int | None = None,
    asking: bool = False,
    login: bool = False,
    logging_in: str | None = None,
) -> dict[str, Any]:
    """All fields that follow from the session, and what the client knows besides.

    ``starting``: the agent is being started, whatever the session says. ``silent`` is in seconds.
    ``asking``: a request is under way that the user may take back (V1-86).
    ``login``: one is needed; ``logging_in``: by which method the user logs in just now.
    """
    turn = session.turn
    pending = len(session.open_permissions)
    fields: dict[str, Any] = {
        "agent": session.agent,
        "label": one_line(label or session.agent, LABEL_CELLS),
        "title": one_line(session.title, LABEL_CELLS) if session.title else None,
        "session": session.remote_id,
        "state": _state(session, pending, failure, starting or (logging_in is not None and turn is None)),
        "stop_reason": _stop_reason(session),
        "pending": pending,
        "queued": queued,
        "mode": _label(session, "mode"),
        "model": _label(session, "model"),
        "usage": _usage(session.usage),
        "plan": _plan(session),
        "started_ms": int(turn.started * 1000) if turn is not None else None,
        "cancelling": turn.cancelling if turn is not None else False,
        "error": one_line(failure.message, ERROR_CELLS) if failure is not None else None,
        "login": True if login else None,
        "logging_in": one_line(logging_in, LABEL_CELLS) if logging_in else None,
        "silent": silent,
        "asking": True if asking else None,
        "blind": _blind(session),
        "can_fork": True if session.info is not None and session.info.can_fork else None,
        "can_steer": True if session.info is not None and session.info.can_steer else None,
        "active_ms": _active(session),
    }
    if pending_all is not None:
        fields["pending_all"] = pending_all
    return fields


def topic_of(session: Session) -> str | None:
    """What a session without a title is about: the first line of the first prompt, once it is complete."""
    for item in islice(session.items, TOPIC_ITEMS):
        if isinstance(item, Message) and item.role == "user":
            if item.ended is None:
                return None
            said = "".join(str(block.text) for block in item.blocks if block.type == "text")
            lines = said.strip().splitlines()
            return one_line(lines[0], LABEL_CELLS) if lines else None
    return None


def _active(session: Session) -> int | None:
    """When the last turn ended or began, in ms since the epoch."""
    if not session.turns:
        return None
    turn = session.turns[-1]
    return int((turn.ended or turn.started) * 1000)


def _state(session: Session, pending: int, failure: Failure | None, starting: bool) -> str:
    if starting:
        return "starting"
    if pending and failure is not None and failure.kind == "auth":
        return "waiting"  # for the user, who can log in
    if failure is not None or session.state == "lost":
        return "failed"
    if pending:
        return "waiting"
    if session.turn is not None and session.state == "idle":
        return "running"
    return _STATES[session.state]


def _blind(session: Session) -> list[str] | None:
    """The folders of a session whose agent does not see unsaved edits there."""
    if session.info is None or session.info.buffers:
        return None
    return list(session.roots or (session.cwd,))


def _stop_reason(session: Session) -> str | None:
    """Of the last turn that has ended; ``none`` when the agent gave no reason."""
    for turn in reversed(session.turns):
        if turn.ended is not None:
            return one_line(turn.outcome, LABEL_CELLS) if turn.outcome else "none"
    return None


def _label(session: Session, category: str) -> str | None:
    option = session.option(category)
    return one_line(option.label, LABEL_CELLS) or None if option is not None else None


def _usage(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    fields: dict[str, Any] = {"used": min(usage.used, MOST_TOKENS), "size": min(usage.size, MOST_TOKENS)}
    if usage.cost is not None and (cost := cost_text(usage.cost)):
        fields["cost"] = cost
    return fields


def cost_text(cost: Cost) -> str:
    """``$0.42``, ``<$0.01``, ``1.50 XAU``, ``12.5 credits``; the unit may be any word (V1-157).

    "" for what is no number.
    """
    if not math.isfinite(cost.amount):
        return ""
    value, unit = abs(cost.amount), one_line(cost.currency, UNIT_CELLS)
    small = 0 < value < 0.005
    if small:
        number = "0.01"
    elif value >= 1e6:
        number = f"{value / 1e6:,.1f}M" if value < 1e12 else f"{value:.1e}"
    else:
        number = f"{value:.2f}"
        if len(unit) != 3:  # no code of a currency
            number = number.rstrip("0").rstrip(".")
    lead = ("-" if cost.amount < 0 else "") + ("<" if small else "")
    sign = _SIGNS.get(unit)
    return f"{lead}{sign}{number}" if sign else f"{lead}{number} {unit}".rstrip()


def _plan(session: Session) -> dict[str, int] | None:
    """How far the newest plan of the last turn is. A finished one is left out once its turn is over."""
    last = session.turns[-1].n if session.turns else 0
    plans: list[Plan] = [plan for plan in session.plans.values() if plan.entries and plan.turn == last]
    if not plans:
        return None
    entries = plans[-1].entries
    done = sum(entry.status == "completed" for entry in entries)
    if done == len(entries) and session.turn is None:
        return None
    return {"done": done, "total": len(entries)}
