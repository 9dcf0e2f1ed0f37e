"""The reducer: the only code that changes a session. One event in, the touched items out.

It knows no wire and no time of its own. Rules: spec/mapping.md, "Rules that make one model enough".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, structs

from . import events as ev
from . import (
    reducer_messages,
    reducer_overwrites,
    reducer_terminals,
    reducer_tools,
    reducer_written,
    turns,
)
from .entities import Compaction, Item, Session
from .step import Step, own


def apply(session: Session, event: ev.Event, now: float) -> list[Item]:
    """Apply the event and return the timeline items that it created or changed, in order.

    ``now`` is in seconds. Changes of the session alone (options, usage, title) give an empty list.
    """
    session.arrival += 1
    step = Step(session, now)
    _HANDLERS[type(event)](step, event)
    return step.touched


def _opened(step: Step, event: ev.SessionOpened) -> None:
    session = step.session
    session.remote_id, session.info = event.remote_id, event.info
    session.roots = event.roots or session.roots
    if step.derived or session.state in ("starting", "closed", "lost"):
        session.state = "idle"  # else the agent has said already what it is (V2-34, V2-36)
    session.waits = event.waits


def _replay_started(step: Step, event: ev.ReplayStarted) -> None:
    step.session.replaying = True


def _replay_ended(step: Step, event: ev.ReplayEnded) -> None:
    """The history is complete: what has no result in it will get none, unless the agent is at work."""
    step.end_message()
    step.session.replaying = False
    if step.derived or step.session.state == "idle":
        reducer_tools.finish(step, None, cancelled=False)


def _plan_set(step: Step, event: ev.PlanSet) -> None:
    """Replace the plan where it first appeared (V1-139, V2-125). An empty one shows nothing (V1-140).

    Without ids of the agent's own (v1) that holds within a turn: a plan of a later turn stands in that turn,
    and what was planned before stays where it was read.
    """
    new = event.plan
    turn = step.session.turns[-1].n if step.session.turns else 0
    plan = step.session.plans.get(new.id)
    if plan is not None and step.derived and plan.turn != turn:
        plan = None
    if plan is None:
        if new.type == "items" and not new.entries:
            step.session.plans.pop(new.id, None)
            return
        plan = structs.replace(new, entries=list(new.entries), turn=turn)
        step.session.plans[plan.id] = plan
        step.place(plan)
        return
    plan.turn = turn
    plan.type, plan.entries, plan.text, plan.uri = new.type, list(new.entries), new.text, new.uri
    plan.raw = new.raw
    step.touch(plan)


def _plan_removed(step: Step, event: ev.PlanRemoved) -> None:
    """The plan keeps its place and is empty (V2-128)."""
    plan = step.session.plans.get(event.id)
    if plan is not None:
        plan.entries, plan.text, plan.uri, plan.raw = [], None, None, None
        step.touch(plan)


def _options_set(step: Step, event: ev.OptionsSet) -> None:
    """The list is complete and replaces ours (V1-153)."""
    step.session.options = list(event.options)


def _option_value(step: Step, event: ev.OptionValue) -> None:
    """Only what is offered, where a config option stands for the modes: their ids may differ (V1-149)."""
    option = step.session.option(event.category)
    if option is None:
        return
    if option.source != "config" or any(choice.value == event.value for choice in option.choices):
        option.value = event.value


def _commands_set(step: Step, event: ev.CommandsSet) -> None:
    step.session.commands = list(event.commands)


def _usage_set(step: Step, event: ev.UsageSet) -> None:
    """A usage without cost keeps the last one, unless it was cleared (V1-158)."""
    old, new = step.session.usage, event.usage
    if event.keep_cost and new.cost is None and old is not None:
        new = structs.replace(new, cost=old.cost)
    step.session.usage = new


def _info(step: Step, event: ev.InfoPatch) -> None:
    """Omitted fields stay, null clears (V1-156)."""
    if event.title is not UNSET:
        step.session.title = event.title
    if event.updated_at is not UNSET:
        step.session.updated_at = event.updated_at
    step.session.meta = reducer_messages.patched(step.session.meta, event.meta)


def _note(step: Step, event: ev.NoteShown) -> None:
    """A line beside the conversation: it does not end the message before it (V1-159)."""
    step.session.items.append(event.note)
    step.touch(event.note)


def _compaction(step: Step, compaction_id: str) -> Compaction:
    compaction = step.session.compactions.get(compaction_id)
    if compaction is None:
        compaction = Compaction(compaction_id)
        step.session.compactions[compaction_id] = compaction
        step.place(compaction)
    return compaction


def _compaction_patch(step: Step, event: ev.CompactionPatch) -> None:
    """Upsert by id (V1-160)."""
    compaction = _compaction(step, event.id)
    compaction.local = "none"
    if event.status is not UNSET:
        compaction.status = event.status
    if event.summary is not UNSET:
        compaction.summary = [own(block) for block in event.summary or ()]
    if event.error is not UNSET:
        compaction.error = event.error
    compaction.meta = reducer_messages.patched(compaction.meta, event.meta)
    step.touch(compaction)


def _compaction_append(step: Step, event: ev.CompactionAppend) -> None:
    compaction = _compaction(step, event.id)
    compaction.local = "none"
    compaction.summary.append(own(event.block))
    step.touch(compaction)


def _cancelling(step: Step, event: ev.TurnCancelling) -> None:
    turns.cancelling(step)


def _unknown(step: Step, event: ev.Unknown) -> None:
    """Kept in the trace; the model has no place for it (V1-89)."""


_HANDLERS: dict[type[ev.Event], Callable[[Step, Any], None]] = {
    ev.SessionOpened: _opened,
    ev.ReplayStarted: _replay_started,
    ev.ReplayEnded: _replay_ended,
    ev.MessageAppend: reducer_messages.append,
    ev.MessageSet: reducer_messages.set_,
    ev.ToolPatch: reducer_tools.patch,
    ev.ToolAppend: reducer_tools.append,
    ev.FileWritten: reducer_written.written,
    ev.OverwriteFound: reducer_overwrites.found,
    ev.TerminalPatch: reducer_terminals.patch,
    ev.TerminalSet: reducer_terminals.set_,
    ev.TerminalBytes: reducer_terminals.append,
    ev.PlanSet: _plan_set,
    ev.PlanRemoved: _plan_removed,
    ev.StateSet: turns.state,
    ev.TurnStarted: turns.started,
    ev.TurnSteered: turns.steered,
    ev.TurnAccepted: turns.accepted,
    ev.TurnCancelling: _cancelling,
    ev.TurnEnded: turns.ended,
    ev.OptionsSet: _options_set,
    ev.OptionValue: _option_value,
    ev.CommandsSet: _commands_set,
    ev.UsageSet: _usage_set,
    ev.InfoPatch: _info,
    ev.NoteShown: _note,
    ev.CompactionPatch: _compaction_patch,
    ev.CompactionAppend: _compaction_append,
    ev.PermissionOpened: reducer_tools.opened,
    ev.PermissionClosed: reducer_tools.closed,
    ev.ElicitationFinished: reducer_tools.finished,
    ev.Unknown: _unknown,
}
