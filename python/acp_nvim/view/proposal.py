"""A change as it is shown in windows beside each other (ui.md section 6). Everything here is pure.

Work with large texts: run ``propose`` in a thread.
"""

from __future__ import annotations

from acp_nvim.session.content import Change, Diff
from acp_nvim.session.entities import ToolCall
from acp_nvim.text.diff import diff
from acp_nvim.text.sanitise import one_line

from . import facts
from .block import Lines
from .case import Case, Proposal, Side, hunks_only, remarks
from .conflict import conflict
from .look import Look, plural
from .outcome import Outcome, outcome
from .sides import (
    MAX_CHARS,
    MAX_LINES,
    bounded,
    buffer_lines,
    counted,
    ends_notes,
    first_change,
    hidden_in,
    too_large,
)

NOT_TEXT = "not a text file"


def propose(case: Case, look: Look) -> Proposal:
    """Decide what is shown of a change."""
    made = _propose(case, look)
    for side in made.sides:
        side.hidden = hidden_in(side.lines)
    return made


def _propose(case: Case, look: Look) -> Proposal:
    op, shown = case.change.op, look.path(case.path)
    if _binary(case):
        return _one(case, "binary", Side("proposed", case.path, shown, _binary_lines(case), syntax="none"))
    if op == "delete":
        return _delete(case, shown)
    if op in ("move", "copy"):
        return _move(case, look)
    if not any(_says_text(each) for each in case.diffs):
        words = [f"{look.agent} does not say what changes in this file."]
        return _one(case, "edit", Side("proposed", case.path, shown, words, syntax="none"))
    if (made := conflict(case, look)) is not None:
        return made
    found = outcome(case.now, case.diffs, case.hints, done=case.done, seen=case.seen)
    if found.how == "fragment":
        return _fragment(case, found, shown)
    if not found.old:
        return _new(case, found, shown)
    return _compared(case, found, shown, look)


def files(call: ToolCall) -> dict[str, list[Diff]]:
    """The changes of a call by file, in the agent's order. A call that deletes need not say more."""
    found: dict[str, list[Diff]] = {}
    for each in facts.diffs(call):
        for path in dict.fromkeys(change.path for change in each.changes):
            found.setdefault(path, []).append(each)
    if not found and call.kind == "delete" and call.locations:
        path = call.locations[0].path
        found[path] = [Diff((Change("delete", path),))]
    return found


# -- forms


def _compared(case: Case, found: Outcome, shown: str, look: Look) -> Proposal:
    """Two texts beside each other; hunks of them when they are too large."""
    old, new = found.old or "", found.new
    words = {"proposed": ("now", "proposed"), "applied": ("before", "now"), "since": ("before", "after")}
    left_word, right_word = words[found.how]
    if found.how == "proposed" and case.now.text is None:
        left_word = "before"
    verb = "overwrite" if found.overwrite else "edit"
    compared = diff(old, new)
    notes = remarks(case, [*found.notes, *ends_notes(old, new)])
    if compared is None or too_large(old, new, compared):
        return hunks_only(Side(right_word, case.path, shown), verb, old, new, compared, notes)
    left, right = Side(left_word, case.path, shown), Side(right_word, case.path, shown)
    for side, text in ((left, old), (right, new)):
        side.lines, side.ends = buffer_lines(text)
    if found.how == "proposed" and case.now.loaded:
        left.source, left.lines = "buffer", []
    if found.how == "applied" and case.now.loaded:
        right.source, right.lines = "buffer", []
    right.notes = [*counted(verb, compared), *notes]
    proposal = Proposal(verb, case.path, [left, right], first_change(compared))
    if found.overwrite:
        proposal.title, proposal.card = f"{look.agent} wants to overwrite a file", Lines()
        proposal.card.put((shown, "AcpPath"), (" ", ""), *counted("", compared))
    return proposal


def _fragment(case: Case, found: Outcome, shown: str) -> Proposal:
    """Two parts of a file whose place in it is not known."""
    old, new = found.old or "", found.new
    where = f"found {found.found} times" if found.found else "not found"
    compared = diff(old, new)
    left, right = Side("before", case.path, shown), Side("proposed", case.path, shown)
    if case.done:
        right.what = "after"
    left.notes = [(f"fragment, {where} in the file", "AcpWarn")]
    for side, text in ((left, old), (right, new)):
        lines, side.ends = buffer_lines(text)
        side.lines = lines[:MAX_LINES]
    right.notes = [*counted("edit", compared), *remarks(case, [])]
    at = first_change(compared) if compared is not None else [1, 1]
    return Proposal("fragment", case.path, [left, right], at, numbers=False)


def _new(case: Case, found: Outcome, shown: str) -> Proposal:
    """A new file in one window: a diff against nothing is a green wall."""
    lines, ends = buffer_lines(found.new)
    count = 0 if not found.new else len(lines)
    side = Side("now" if found.how == "applied" else "proposed", case.path, shown, lines, ends=ends)
    if len(lines) > MAX_LINES or len(found.new) > MAX_CHARS:
        side.lines = bounded(lines)
    side.notes = [("new file, ", ""), (plural(count, "line"), "AcpAdd"), *remarks(case, found.notes)]
    return Proposal("new", case.path, [side], [1])


def _delete(case: Case, shown: str) -> Proposal:
    """The text that goes, or has gone."""
    given = next((each.old_text for each in case.diffs if each.old_text), "")
    text = case.now.text if case.now.text is not None else given
    lines, ends = buffer_lines(text)
    count = 0 if not text else len(lines)
    side = Side("proposed", case.path, shown, bounded(lines), group="AcpDelete", syntax="none", ends=ends)
    word = "delete, "
    if case.done and not case.now.exists:
        side.what, word = "before", "deleted, "
    side.notes = [(word, ""), (plural(count, "line"), "AcpDelete"), *remarks(case, [])]
    return Proposal("delete", case.path, [side], [1])


def _move(case: Case, look: Look) -> Proposal:
    """One window when only the name changes, else the old path left and the new one right."""
    change = case.change
    old_path = change.old_path or case.path
    old_shown, new_shown = look.path(old_path), look.path(case.path)
    source = case.before if case.before is not None and case.before.exists else case.now
    text = source.text or ""
    found = outcome(source, case.diffs, case.hints, done=False)
    before, after = text, text
    if found.how in ("proposed", "applied") and any(_says_text(each) for each in case.diffs):
        before, after = found.old or "", found.new
    word = f"{one_line(change.op)}"
    if before == after:
        lines, ends = buffer_lines(text)
        side = Side("proposed", case.path, f"{old_shown} -> {new_shown}", bounded(lines), ends=ends)
        side.notes = [(f"{word}, text unchanged", ""), *remarks(case, [])]
        return Proposal(change.op, case.path, [side], [1])
    compared = diff(before, after)
    left, right = Side("now", old_path, old_shown), Side("proposed", case.path, new_shown)
    for side, each in ((left, before), (right, after)):
        side.lines, side.ends = buffer_lines(each)
    if source.loaded and source is case.before and found.how == "proposed":
        left.source, left.lines = "buffer", []
    right.notes = [*counted(word, compared), *remarks(case, found.notes)]
    return Proposal(change.op, case.path, [left, right], first_change(compared) if compared else [1, 1])


def _one(case: Case, op: str, side: Side) -> Proposal:
    side.notes = [(op, ""), *remarks(case, [])]
    return Proposal(op, case.path, [side], [1], numbers=False)


# -- kinds


def _says_text(each: Diff) -> bool:
    return each.new_text is not None or each.old_text is not None or bool(each.patch)


def _binary(case: Case) -> bool:
    change = case.change
    if change.file_type in ("binary", "directory", "symlink"):
        return True
    mime = (change.mime or "").partition(";")[0]
    told = mime.startswith(("image/", "audio/", "video/", "font/")) or mime == "application/octet-stream"
    if told and not mime.endswith("+xml"):
        return True
    texts = [text for each in case.diffs for text in (each.old_text, each.new_text) if text]
    if any("\0" in text for text in texts):
        return True
    return case.now.exists and case.now.text is None and not texts and not any(e.patch for e in case.diffs)


def _binary_lines(case: Case) -> list[str]:
    change = case.change
    kind = change.mime or change.file_type or "binary file"
    now = _bytes(case.now.size) if case.now.exists else "no file"
    new = next((each.new_text for each in reversed(case.diffs) if each.new_text is not None), None)
    size = _bytes(len(new.encode("utf-8", "replace"))) if new is not None else "not said"
    if change.op == "delete":
        size = "deleted"
    rows = [f"type      {one_line(kind)}", f"now       {now}", f"proposed  {size}", ""]
    if change.file_type in ("directory", "symlink"):
        return [*rows, f"A {change.file_type} has no diff."]
    why = case.now.why
    return [
        *rows,
        "A binary file has no diff." if not why or why.startswith(NOT_TEXT) else f"No diff: {why}.",
    ]


def _bytes(size: int) -> str:
    return plural(size, "byte")
