"""Turns: from the prompt to the line that says how it went (mapping.md, Turn)."""

from __future__ import annotations

from . import reducer_messages, reducer_tools, reducer_written
from .entities import Turn, TurnEnd, TurnState
from .events import StateSet, TurnAccepted, TurnEnded, TurnStarted, TurnSteered
from .step import Step


def started(step: Step, event: TurnStarted) -> None:
    """A prompt goes out, or (no blocks) the agent works by itself (V2-62).

    A prompt sent while a turn runs joins that turn: it ends once, when the agent says idle (V2-54).
    """
    session = step.session
    turn = session.turn
    session.waits = False
    if turn is None:
        turn = Turn(len(session.turns) + 1, started=step.now, state="sent" if event.prompt else "running")
        session.turns.append(turn)
        step.end_message()
    if event.prompt:
        turn.prompt = [*turn.prompt, *event.prompt]
        reducer_messages.local(step, turn.n, event.prompt, event.sent or event.prompt)
    if step.derived:
        session.state = "running"


def steered(step: Step, event: TurnSteered) -> None:
    """The user's words stand where the agent has taken them. It may have repeated them already."""
    session = step.session
    if not session.turns:
        return
    turn = session.turns[-1]
    turn.prompt = [*turn.prompt, *event.prompt]
    reducer_messages.steered(step, turn.n, event.prompt, event.sent or event.prompt)


def accepted(step: Step, event: TurnAccepted) -> None:
    """The agent has taken the prompt into the conversation (V2-50)."""
    reducer_messages.accept(step, event.message_id)
    turn = step.session.turn
    if turn is not None:
        turn.message_id = event.message_id or turn.message_id
        if turn.state == "sent":
            turn.state = "accepted"


def cancelling(step: Step) -> None:
    """The user cancelled. The turn itself ends when the agent says so (V1-83)."""
    turn = step.session.turn
    if turn is not None:
        turn.cancelling = True
        reducer_tools.cancelling(step)


def ended(step: Step, event: TurnEnded) -> None:
    """The turn is over: rows come to rest, the message ends, the end line appears.

    Without a running turn it says nothing new: idle after idle is one end (V2-64).
    """
    session = step.session
    turn = session.turn
    if turn is None:
        return
    reducer_messages.release(step)
    cancelled = turn.cancelling or event.stop == "cancelled"
    reducer_tools.finish(step, event.stop, cancelled=cancelled)
    _mark_compactions(step, cancelled=cancelled)
    step.end_message()
    reducer_written.show(step, turn)
    turn.stop, turn.error, turn.confirmed = event.stop, event.error, event.confirmed
    turn.ended = step.now
    turn.state = _final_state(turn.outcome)
    step.place(TurnEnd(turn))
    if step.derived and session.state not in ("closed", "lost"):
        session.state = "idle"
        reducer_tools.refresh(step)


def state(step: Step, event: StateSet) -> None:
    """A snapshot: without ``background`` it is not reported any more (V2-67).

    Beside a turn the calls that a reported list does not name have ended (V2-66), as all have with the agent.
    """
    session = step.session
    session.state = event.state
    session.background = None if not isinstance(event.background, list) else list(event.background)
    turn = session.turn
    if event.state in ("closed", "lost"):
        _mark_compactions(step, cancelled=False)
    if turn is None:
        if isinstance(event.background, list) or event.state in ("closed", "lost"):
            reducer_tools.finish(step, None, cancelled=False)
        return
    if event.state == "requires_action":
        turn.state = "waiting"
    elif event.state in ("running", "busy") and not session.open_permissions:
        turn.state = "running"


def _mark_compactions(step: Step, *, cancelled: bool) -> None:
    """What has not ended by now is not shown as running any more; no result is invented."""
    for compaction in step.session.compactions.values():
        if compaction.status == "in_progress" and compaction.local == "none":
            compaction.local = "cancelled" if cancelled else "unanswered"
            step.touch(compaction)


def _final_state(stop: str | None) -> TurnState:
    if stop in ("error", "lost"):
        return "failed"
    return "cancelled" if stop == "cancelled" else "done"
