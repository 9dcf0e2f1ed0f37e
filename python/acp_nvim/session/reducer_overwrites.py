"""Files that an agent writes anew without a word of what is there (C19)."""

from __future__ import annotations

from msgspec import structs

from .content import Diff, ToolContent
from .entities import ToolCall
from .events import OverwriteFound
from .step import Step


def found(step: Step, event: OverwriteFound) -> None:
    """There is a file where the call writes a new one: its diff is against that."""
    call = step.session.tool_calls.get(event.id)
    if call is None:
        return
    call.content = [_against(item, event) if isinstance(item, Diff) else item for item in call.content]
    call.proposed = [_against(item, event) for item in call.proposed]
    for permission in call.open_permissions:
        permission.shown = tuple(_against(item, event) for item in permission.shown)
    step.touch(call)


def said_before(call: ToolCall, item: ToolContent) -> ToolContent:
    """An agent repeats its diffs; what we have found of the file is not to be found a second time."""
    if not isinstance(item, Diff) or item.unsaid is None:
        return item
    for known in (*call.content, *call.proposed):
        if isinstance(known, Diff) and known.replaces and known.changes[0].path == item.unsaid:
            same = known.new_text == item.new_text
            return known if same else structs.replace(known, new_text=item.new_text)
    return item


def _against(item: Diff, event: OverwriteFound) -> Diff:
    if item.unsaid != event.path:
        return item
    change = structs.replace(item.changes[0], op="modify")
    return structs.replace(item, changes=(change,), old_text=event.old_text, replaces=event.replaces)
