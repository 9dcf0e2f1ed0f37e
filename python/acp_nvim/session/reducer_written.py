"""Files that were written for the agent: those that no tool call of its own tells of get a row of ours.

Most agents have a call for each file they write, before or shortly after: it is decided when the turn ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from .asked import PathSubject
from .content import Diff
from .entities import ToolCall, Turn, Written
from .events import FileWritten
from .step import Step

_CHANGES = ("edit", "delete", "move")


def written(step: Step, event: FileWritten) -> None:
    """Remember the write. Several to one file are one change; outside a turn it is shown at once."""
    turn = step.session.turn
    if turn is None:
        _row(step, event.diff)
        return
    path = event.diff.changes[0].path
    before, diff = turn.written.get(path), event.diff
    names = frozenset((path, *event.names))
    if before is not None:
        first = before.diff
        diff = structs.replace(diff, changes=first.changes, old_text=first.old_text, replaces=first.replaces)
        names |= before.names
    turn.written[path] = Written(diff, names)


def show(step: Step, turn: Turn) -> None:
    """Add the rows of what the turn wrote without a word."""
    if not turn.written:
        return
    calls = [call for call in step.session.tool_calls.values() if call.started >= turn.started]
    named = {name for call in calls for name in _names(call)}
    for each in turn.written.values():
        same = each.diff.old_text == each.diff.new_text and not each.diff.replaces
        if not same and not each.names & named:
            _row(step, each.diff)
    turn.written.clear()  # texts of whole files


def _row(step: Step, diff: Diff) -> None:
    number = sum(call.id.startswith("written:") for call in step.session.tool_calls.values()) + 1
    call = ToolCall(f"written:{number}", kind="edit", status="completed", content=[diff], side="client")
    call.started = call.ended = step.now
    step.session.tool_calls[call.id] = call
    step.place(call)


def _names(call: ToolCall) -> Iterator[str]:
    """The files that this call is known to change."""
    for item in (*call.content, *call.proposed):
        if isinstance(item, Diff):
            yield from (change.path for change in item.changes)
    for permission in call.permissions:
        if isinstance(permission.subject, PathSubject) and permission.subject.op == "write":
            yield permission.subject.path
    if call.kind in _CHANGES:
        yield from (place.path for place in call.locations)
        if isinstance(call.raw_input, dict):
            yield from (value for value in call.raw_input.values() if isinstance(value, str))
