"""When a turn begins and ends: by what the agent says of its state (spec sections 6 to 8).

The answer to a prompt only says that the message was taken into the conversation (V2-50). The turn ends when
the agent says that it is idle. Two things can come between: work of its own that ends before it has taken
our message, and an agent that is done before it has answered. Where nothing tells them apart, a moment of
silence has to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import UNSET

from acp_nvim.protocol.failures import failure_of
from acp_nvim.protocol.rpc_errors import RpcError
from acp_nvim.session.entities import Failure, SessionState
from acp_nvim.session.events import StateSet, TurnAccepted, TurnEnded, TurnStarted
from acp_nvim.session.ports import Sink
from acp_nvim.wire.acp_v2 import updates as wire
from acp_nvim.wire.base import UnknownType

from .link import LinkV2, Sent

#: Seconds of idleness after which a turn is over that may have ended already.
GRACE = 1.0

STATES: dict[str, SessionState] = {
    "running": "running",
    "idle": "idle",
    "requires_action": "requires_action",
}


class Later(Protocol):
    """Calls a function after some seconds, while the connection lives."""

    def __call__(self, seconds: float, act: Callable[[], None]) -> None: ...


class Turns:
    """Of one connection. ``ending`` is called before a turn ends."""

    def __init__(self, sink: Sink, later: Later, ending: Callable[[LinkV2], None]) -> None:
        self._sink = sink
        self._later = later
        self._ending = ending

    def state(self, link: LinkV2, update: wire.StateUpdate) -> None:
        """What the session does (V2-58..67). During a replay it begins and ends nothing (V2-39)."""
        link.state = update.state
        link.told += 1
        # An unknown state is never taken for idle (V2-65).
        shown = STATES.get(update.state, "busy")
        background = UNSET if update.background is None else [_work(each) for each in update.background]
        self._sink.apply(link.session, StateSet(shown, background))
        if link.replay != "no":
            return
        if update.state == "idle":
            self._idle(link, update)
        elif link.sent is not None:
            link.sent.worked, link.sent.idle = True, None
        else:
            self.resumed(link)

    def resumed(self, link: LinkV2) -> None:
        """The agent works without a prompt of ours: a turn of its own (V2-62)."""
        if link.state not in (None, "idle") and link.session.turn is None:
            self._sink.apply(link.session, TurnStarted())

    def echo(self, link: LinkV2, message_id: str) -> None:
        """A message of the user came."""
        if link.sent is not None:
            link.sent.echoes.add(message_id)

    def accepted(self, link: LinkV2, message_id: str | None) -> None:
        """Our message is part of the conversation (V2-50, V2-51)."""
        sent = link.sent
        if sent is None:
            return
        sent.accepted = True
        self._sink.apply(link.session, TurnAccepted(message_id))
        if sent.idle is None:
            return
        if message_id in sent.before_idle:
            self.end(link, *sent.idle)
        else:
            self._perhaps(link, *sent.idle)

    def cancelled(self, link: LinkV2) -> None:
        """The cancel was sent. Where nothing is active, the agent says nothing of it (V2-70)."""
        if link.state in (None, "idle") and (link.sent is None or link.sent.accepted):
            self._perhaps(link, "cancelled", None)

    def end(self, link: LinkV2, stop: str | None, error: Failure | None = None) -> None:
        """End the turn; the first end counts."""
        sent, link.sent = link.sent, None
        link.cancelling = False
        self._ending(link)
        self._sink.apply(link.session, TurnEnded(stop, error))
        if sent is not None:
            sent.ended = True
            sent.over.set()

    def _idle(self, link: LinkV2, update: wire.StateUpdate) -> None:
        stop, error = update.stop_reason, _failure(update)
        sent = link.sent
        if sent is None:
            if link.session.turn is not None:
                self.end(link, stop, error)
        elif not sent.accepted:
            sent.idle, sent.before_idle = (stop, error), frozenset(sent.echoes)
        elif sent.worked or stop is not None:
            self.end(link, stop, error)
        else:
            self._perhaps(link, stop, error)

    def _perhaps(self, link: LinkV2, stop: str | None, error: Failure | None) -> None:
        told, sent = link.told, link.sent

        def still() -> None:
            if link.told == told and link.sent is sent and link.session.turn is not None:
                self.end(link, stop, error)

        self._later(GRACE, still)


def in_background(link: LinkV2, call: str | None, terminal: str | None) -> bool:
    """Whether it is reported to run apart from the foreground work (V2-68, V2-71)."""
    session = link.session
    known = session.tool_calls.get(call or "")
    terminals = {each.id for each in known.terminals} if known is not None else set()
    if terminal is not None:
        terminals.add(terminal)
    return any(
        (call is not None and item.get("toolCallId") == call) or item.get("terminalId") in terminals
        for item in session.background or []
    )


def _work(item: wire.BackgroundWork) -> dict[str, object]:
    match item:
        case wire.BackgroundTerminal():
            return {"type": "terminal", "terminalId": item.terminal_id}
        case wire.BackgroundToolCall():
            return {"type": "tool_call", "toolCallId": item.tool_call_id}
        case UnknownType():
            return item.raw


def _failure(update: wire.StateUpdate) -> Failure | None:
    """What an ``error`` stop says; an agent need not say anything (V2-60)."""
    if update.stop_reason != "error":
        return None
    if update.error is None:
        return Failure("the agent stopped with an error, and did not say which")
    return failure_of(RpcError(update.error.code, update.error.message, update.error.data), "session/prompt")


__all__ = ("GRACE", "Sent", "Turns", "in_background")
