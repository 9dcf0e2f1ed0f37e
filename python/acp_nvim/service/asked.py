"""What an agent has shown of a change before it writes it (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from ..session.content import Diff
from ..session.entities import Session, ToolCall
from .roots import Place


def approved(session: Session, place: Place, old: str, new: str) -> bool:
    """True when the user has allowed a question of the agent that showed exactly this change."""
    for permission in session.permissions.values():
        call = session.tool_calls.get(permission.tool_call_id or "")
        chosen = next((o for o in permission.options if o.id == permission.answer), None)
        if call is None or chosen is None or not chosen.kind.startswith("allow"):
            continue
        if any((each.old_text or "", each.new_text) == (old, new) for each in _diffs(call, place)):
            return True
    return False


def base(session: Session, place: Place, new: str) -> str | None:
    """The text the agent has made this one from, by its newest diff that ends in it; None: it showed none.

    Agents that read the disk by themselves never ask us for a text, but say in their diff what they read.
    """
    for call in reversed(session.tool_calls.values()):
        for each in _diffs(call, place):
            if each.new_text == new and each.old_text and not each.replaces:
                return each.old_text
    return None


def _diffs(call: ToolCall, place: Place) -> Iterator[Diff]:
    """Its diffs of this file, also those it has dropped since the user was asked about them."""
    for item in (*call.content, *call.proposed):
        if isinstance(item, Diff) and any(c.path in (place.path, place.real) for c in item.changes):
            yield item
