"""Where a tool call works: which file, and which line. ``look`` touches the disk: run it in a thread."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from acp_nvim.session.content import Diff
from acp_nvim.session.entities import ToolCall
from acp_nvim.text.diff import diff
from acp_nvim.text.place import Placed, place

from . import facts

#: What is followed; a call of another kind counts as an edit when it brings a diff.
FOLLOWED = frozenset({"read", "search", "edit"})
#: A larger file is not opened by itself: Neovim takes 2 ms for each MB of short lines, in which keys wait.
MAX_BYTES = 4 * 1024 * 1024
#: Bytes at the beginning of a file that tell whether it is text.
PROBE_BYTES = 8192

_BOMS_WITH_NULS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@", re.MULTILINE)


class Place(Struct, frozen=True):
    """A place an agent works at. ``path`` is absolute, without ``..``; ``line`` counts from 1.

    ``change``: the call's diff of this file, which may tell the line. ``done``: the change is in the file.
    """

    call: str
    path: str
    line: int | None
    verb: str
    change: Diff | None = None
    done: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it another place than the one the same call named before."""
        change, texts = self.change, None
        if change is not None:  # what we have found ourselves makes it no other place
            texts = ((change.old_text or "") * (not change.replaces), change.new_text, change.patch)
        return self.path, self.line, hash(texts)


class Found(Struct, frozen=True):
    """What is at a place: why it is not opened (None: it is), its real path, and its text if asked for."""

    why: str | None
    real: str
    missing: bool = False


def place_of(call: ToolCall, cwd: str) -> Place | None:
    """The newest place of a call: its last location, else the last file of its diffs."""
    verb = facts.verb(call)
    changes = [item for item in facts.diffs(call) if item.changes]
    if verb not in FOLLOWED:
        if not changes or verb in ("delete", "move"):
            return None
        verb = "edit"
    subject = facts.subject_of(call)
    said, line = None, None
    if call.locations:
        said, line = call.locations[-1].path, call.locations[-1].line
    elif changes:
        said = changes[-1].changes[-1].path
    elif subject is not None and (location := facts.location(call)) is not None:
        said, line = location.path, location.line
    if not said:
        return None
    path = _absolute(said, cwd)
    own = [item for item in changes if any(_absolute(each.path, cwd) == path for each in item.changes)]
    return Place(call.id, path, line, verb, own[-1] if own else None, call.status == "completed")


def look(path: str, roots: Sequence[str], inside: Callable[[str, str], bool]) -> Found:
    """Look whether a file may be opened. ``inside(real path, real root)``: whether a path is in a root."""
    try:
        os.fsencode(path)
        real = os.path.realpath(path)
        if not any(inside(real, os.path.realpath(root)) for root in roots):
            return Found("outside the project", real)
        info = Path(real).stat()
    except (FileNotFoundError, NotADirectoryError):
        return Found("no such file", real, missing=True)
    except OSError as error:
        return Found((error.strerror or "cannot be read").lower(), path)
    except ValueError:  # a NUL, or a lone surrogate
        return Found("not a path", path)
    if stat.S_ISDIR(info.st_mode):
        return Found("a folder", real)
    if not stat.S_ISREG(info.st_mode):
        return Found("not a regular file", real)
    if info.st_size > MAX_BYTES:
        return Found(f"{info.st_size / 1024 / 1024:.0f} MB", real)
    try:
        with open(real, "rb", opener=_without_waiting) as file:
            head = file.read(PROBE_BYTES)
    except OSError as error:
        return Found((error.strerror or "cannot be read").lower(), real)
    if b"\0" in head and not head.startswith(_BOMS_WITH_NULS):
        return Found("binary", real)
    return Found(None, real)


def line_on_disk(real: str, change: Diff, done: bool, near: int | None = None) -> int | None:
    """``line_in`` for a file that no buffer has other text of."""
    try:
        with open(real, "rb", opener=_without_waiting) as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    return line_in(text, change, done, near)


def line_in(text: str, change: Diff, done: bool, near: int | None = None) -> int | None:
    """The first changed line of a diff in the file's text as it is now, from 1; None if it is not found.

    v1 diffs may be a part of the file. ``done``: the text has the change already, so its new side is looked
    for first. ``near``: where the change was found before, which decides between several places.
    """
    if change.new_text is None and change.old_text is None:
        return _first_of_patch(change.patch or "")
    old, new, text = (_unix(part) for part in (change.old_text or "", change.new_text or "", text))
    if not old:
        # A new file, or the whole of it written anew.
        compared = diff(text, new)
        return compared.changes[0].a + 1 if compared is not None and compared.changes else 1
    compared = diff(old, new)
    if compared is None or not compared.changes:
        return None
    within = compared.changes[0].a  # the same on both sides: all before it is equal
    sides = [(new, old), (old, new)] if done else [(old, new), (new, old)]
    for side, other in sides:
        first = _find(text, side, other, near)
        if first is not None:
            return first + within + 1
    for side, _ in sides:
        line = _beside(text, side, within)
        if line is not None:
            return line + 1
    return None


def _beside(text: str, side: str, within: int) -> int | None:
    """Where a line of a side stands in a text that differs from it: the user's unsaved edits. From 0.

    The line itself must be there, or the one before it: what was changed elsewhere does not matter.
    """
    compared = diff(side, text)
    if compared is None:
        return None
    for index in (within, within - 1):
        if not 0 <= index < len(compared.old) or not compared.old[index].strip():
            continue
        before = [change for change in compared.changes if change.a <= index]
        if not before:
            return within
        if index >= before[-1].b:
            return before[-1].d + within - before[-1].b
    return None


def _find(text: str, part: str, other: str, near: int | None) -> int | None:
    """The line, from 0, where a part of a text begins; the first of several when nothing decides."""
    placed = place(text, part, other, near)
    if isinstance(placed, Placed):
        return placed.first
    at = text.find(part) if placed.found else -1
    return text.count("\n", 0, at) if at >= 0 else None


def _first_of_patch(patch: str) -> int | None:
    match = _HUNK.search(patch)
    if match is None:
        return None
    line = int(match[1])
    for row in patch[match.end() :].split("\n")[1:]:
        if not row.startswith(" "):
            break
        line += 1
    return max(line, 1)


def _absolute(path: str, cwd: str) -> str:
    return os.path.normpath(os.path.join(cwd, path))  # noqa: PTH118 (Path would not take every text)


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC)
