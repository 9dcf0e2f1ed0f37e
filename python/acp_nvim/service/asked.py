"""What an agent has shown of a change before it writes it (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..session.content import Diff
from ..session.entities import Session
from .roots import Place


def approved(session: Session, place: Place, old: str, new: str) -> bool:
    """True when the user has allowed a question of the agent that showed exactly this change."""
    for permission in session.permissions.values():
        chosen = next((o for o in permission.options if o.id == permission.answer), None)
        if chosen is None or not chosen.kind.startswith("allow"):
            continue
        shown = _diffs(permission.shown, place)  # not what the agent has put into the call since
        if any((each.old_text or "", each.new_text) == (old, new) for each in shown):
            return True
    return False


def base(session: Session, place: Place, new: str) -> str | None:
    """The text the agent has made this one from, by its newest diff that ends in it; None: it showed none.

    Agents that read the disk by themselves never ask us for a text, but say in their diff what they read.
    """
    for call in reversed(session.tool_calls.values()):
        # Also those it has dropped since the user was asked about them.
        for each in _diffs((*call.content, *call.proposed), place):
            if each.new_text == new and each.old_text and not each.replaces:
                return each.old_text
    return None


def _diffs(items: Iterable[object], place: Place) -> Iterator[Diff]:
    """The diffs of this file."""
    for item in items:
        if isinstance(item, Diff) and any(c.path in (place.path, place.real) for c in item.changes):
            yield item
