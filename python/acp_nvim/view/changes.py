"""What a change does to a file besides its lines, in words."""

from __future__ import annotations

from acp_nvim.session.content import Diff
from acp_nvim.text.sanitise import one_line

from .look import Look

#: Cells of a word of the agent's own.
WORD_CELLS = 40


def words(diff: Diff, look: Look) -> str:
    """``delete``, ``move from a.py``, ``new directory``; "" where the lines say it all (V2-111)."""
    if not diff.changes:
        return ""
    change = diff.changes[0]
    said: list[str] = []
    if change.op not in ("add", "modify"):
        said.append(one_line(change.op, WORD_CELLS))
    elif change.op == "add" and diff.new_text is None and not diff.patch:
        said.append("new")
    if change.file_type not in (None, "text"):
        said.append(one_line(change.file_type, WORD_CELLS))
    if change.old_path and change.old_path != change.path:
        said.append(f"from {look.path(change.old_path)}")
    return " ".join(said)
