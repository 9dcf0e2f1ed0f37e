"""What a change makes of a file: the texts before and after, as far as they can be known.

An agent sends the whole file or a part of it, before the change or after it, and says neither. The file as
the user has it now decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct, structs

from acp_nvim.session.content import Diff
from acp_nvim.text.diff import diff, split
from acp_nvim.text.patch import fragments
from acp_nvim.text.place import Lost, Placed, place

How: TypeAlias = Literal["proposed", "applied", "since", "fragment"]

#: The part of a file's lines that must be the agent's, for the agent's text to be the whole file.
ALIKE = 0.5


class Now(Struct, frozen=True):
    """A file as the user has it. ``text`` None: there is none that can be shown, ``why`` says why.

    ``loaded``: in a buffer, whose text this is. ``disk``: what the disk has, where that is something else.
    ``disk_why``: why that cannot be shown. ``modified``: the buffer has unsaved edits. ``size`` in bytes.
    """

    text: str | None = None
    exists: bool = False
    loaded: bool = False
    disk: str | None = None
    disk_why: str = ""
    modified: bool = False
    size: int = 0
    why: str = ""


class Hints(Struct, frozen=True):
    """``near``: a line from 1 the agent named. ``every``: it replaces each place the old text stands in."""

    near: int | None = None
    every: bool = False


class Outcome(Struct, frozen=True):
    """``how``: ``proposed`` (``old`` is what the user has), ``applied`` (``new`` is), ``since`` (neither is:
    the file has changed), ``fragment`` (parts, not found in ``found`` = 0 or several places).

    ``old`` None: there was no file. ``notes`` are for people. ``overwrite``: the agent gave no old text.
    """

    how: How
    old: str | None
    new: str
    notes: tuple[str, ...] = ()
    found: int = 0
    overwrite: bool = False


def outcome(
    now: Now, diffs: Sequence[Diff], hints: Hints, *, done: bool, seen: Sequence[Diff] = ()
) -> Outcome:
    """What ``diffs``, all of one file, make of it. ``done``: the agent says it has made the change.

    ``seen``: the changes the user was asked about: an agent may show all of the file then, a part later.
    """
    for whole in (*diffs, *seen):
        alone = len(diffs) == 1 or whole in seen
        if alone and now.text is not None and whole.new_text == now.text != whole.old_text:
            return Outcome("applied", whole.old_text or None, now.text)
    if now.exists and now.text is None:
        return _apart(now, diffs, hints, done=done)
    if done:
        return (
            _undone(now, diffs, hints)
            or _made(now, diffs, hints, older=False)
            or _apart(now, diffs, hints, done=True)
        )
    return (
        _made(now, diffs, hints, older=True)
        or _undone(now, diffs, hints)
        or _apart(now, diffs, hints, done=False)
    )


class _Part(Struct, frozen=True):
    old: str | None
    new: str
    near: int | None
    whole: bool = True  # it may be the whole file
    over: bool = False  # the agent gave no old text: this one was found by us


def _parts(diffs: Sequence[Diff], hints: Hints) -> list[_Part]:
    found: list[_Part] = []
    for each in diffs:
        if each.new_text is not None or each.old_text is not None:
            over = bool(each.replaces)
            found.append(_Part(each.old_text, each.new_text or "", hints.near, over=over))
        elif each.patch:
            path = each.changes[0].path if each.changes else ""
            parts = [_Part(f.old, f.new, f.near, whole=False) for f in fragments(each.patch, path)]
            found.extend(reversed(parts))  # from below, so that the lines above stay where they are
    return found


def _made(now: Now, diffs: Sequence[Diff], hints: Hints, *, older: bool) -> Outcome | None:
    """Make the change in what the user has; None when it does not fit.

    ``older``: the agent's old text may be an older one of the whole file.
    """
    text = now.text or ""
    result = Outcome("proposed", now.text if now.exists else None, text)
    for part in _parts(diffs, hints):
        if not part.old or part.over:
            overwrite = bool(text) and part.whole
            text = _inserted(text, part) if text and not part.whole else part.new
            result = structs.replace(result, overwrite=result.overwrite or overwrite)
        elif part.whole and part.old in (text, now.disk):
            text = part.new
        else:
            placed = place(text, part.old, part.new, part.near, every=hints.every)
            if isinstance(placed, Placed):
                text = placed.text
                result = structs.replace(result, notes=(*result.notes, *_said(placed, every=hints.every)))
            elif older and part.whole and not placed.found and _alike(text, part.old):
                text = part.new
                result = structs.replace(result, notes=(*result.notes, "the agent has an older text"))
            else:
                return None
    return structs.replace(result, new=text, notes=tuple(dict.fromkeys(result.notes)))


def _undone(now: Now, diffs: Sequence[Diff], hints: Hints) -> Outcome | None:
    """Take the change back from what the user has; None when it is not in it."""
    if now.text is None:
        return None
    text: str | None = now.text
    notes: list[str] = []
    for part in reversed(_parts(diffs, hints)):
        if part.whole and part.new == text and part.new != part.old:
            text = part.old or None
            continue
        if not part.new.strip() or not part.old:
            return None  # a deletion leaves nothing that could be found
        placed = place(text or "", part.new, part.old, part.near, every=hints.every)
        if isinstance(placed, Lost):
            return None
        text = placed.text
        notes += _said(placed, every=hints.every)
    return Outcome("applied", text, now.text, tuple(dict.fromkeys(notes)))


def _apart(now: Now, diffs: Sequence[Diff], hints: Hints, *, done: bool) -> Outcome:
    """The agent's texts alone: they are not in the file, or there is no file."""
    parts = _parts(diffs, hints)
    old = None if all(part.old is None for part in parts) else _joined([part.old or "" for part in parts])
    new = _joined([part.new for part in parts])
    whole = len(parts) == 1 and parts[0].whole
    if now.text is None:
        note = now.why if now.exists else "there is no such file" if old else ""
        return Outcome("since" if done else "proposed", old, new, (note,) if note else ())
    if whole and (_alike(now.text, new) or not old):
        return Outcome("since", old, new, ("the file has changed since",))
    found = 0
    if whole and old:
        placed = place(now.text, old, new, parts[0].near)
        found = placed.found if isinstance(placed, Lost) else 0
    return Outcome("fragment", old or "", new, found=found)


def _joined(texts: Sequence[str]) -> str:
    return "\n".join(text.removesuffix("\n") for text in texts) + "\n" if len(texts) > 1 else "".join(texts)


def _inserted(text: str, part: _Part) -> str:
    """A hunk of a patch without old lines goes where its line number says."""
    rows = split(text)
    at = min(max((part.near or 1) - 1, 0), len(rows))
    if at and not rows[at - 1].endswith("\n"):
        rows[at - 1] += "\n"
    return "".join([*rows[:at], part.new, *rows[at:]])


def _said(placed: Placed, *, every: bool) -> list[str]:
    notes = []
    if every and placed.found > 1:
        notes.append(f"in {placed.found} places")
    elif placed.found > 1:
        notes.append(f"1 of {placed.found} places")
    if placed.how == "blanks":
        notes.append("white space differs")
    return notes


def _alike(text: str, other: str) -> bool:
    """Whether two texts are versions of one file, and not a file and a part of it."""
    compared = diff(text, other)
    if compared is None or not compared.old or not compared.new:
        return False
    ends = compared.old[0] == compared.new[0] or compared.old[-1] == compared.new[-1]
    same = len(compared.old) - compared.removed
    return ends and same >= ALIKE * max(len(compared.old), len(compared.new))
