"""Unsaved edits of the user in the way of what an agent writes, as windows (ui.md section 6; pure)."""

from __future__ import annotations

from acp_nvim.text.diff import LineDiff, diff

from .case import Case, Proposal, Side, hunks_only, remarks
from .look import Look
from .sides import MAX_CHANGES, buffer_lines, counted, ends_notes, first_change, line_in, too_large


def conflict(case: Case, look: Look) -> Proposal | None:
    """What the user has, what the disk has, and what the agent writes: three windows.

    Two where the disk has nothing else to show. None when this is no such question, or not any more.
    """
    now, disk = case.now, case.now.disk
    new = next((each.new_text for each in reversed(case.diffs) if each.new_text is not None), None)
    if case.conflict is None or now.text is None or not now.loaded or new is None:
        return None
    compared = diff(now.text, new)
    there = diff(now.text, disk) if disk is not None and disk not in (now.text, new) else None
    verb, shown = ("edit" if there is None else "conflict"), look.path(case.path)
    words = ends_notes(now.text, new)
    right = Side("proposed", case.path, shown)
    if disk == new:
        right.what, verb = "on disk", "written already"
    elif now.disk_why:
        words.insert(0, now.disk_why)
    elif there is None and disk not in (None, now.text):
        words.insert(0, "the disk has another text")  # too large to be compared
    if compared is None or _too_large(now.text, new, compared, disk, there):
        if there is not None:
            words.insert(0, "the disk has another text")
        return hunks_only(right, verb, now.text, new, compared, remarks(case, words))
    right.lines, right.ends = buffer_lines(new)
    right.notes = [*counted(verb, compared), *remarks(case, words)]
    sides, at = [Side("now", case.path, shown, source="buffer"), right], first_change(compared)
    if there is not None and disk is not None:
        middle = Side("on disk", case.path, shown)
        middle.lines, middle.ends = buffer_lines(disk)
        if case.conflict.base not in (None, disk):
            middle.notes = [(f"changed since {look.agent} saw it", "AcpWarn")]
        sides.insert(1, middle)
        at.insert(1, line_in(there, at[0]))
    return Proposal("conflict" if there is not None else "edit", case.path, sides, at)


def _too_large(now: str, new: str, compared: LineDiff, disk: str | None, there: LineDiff | None) -> bool:
    if too_large(now, new, compared):
        return True
    if there is None or disk is None:
        return False
    return too_large(now, disk, there) or len(compared.changes) + len(there.changes) > MAX_CHANGES
