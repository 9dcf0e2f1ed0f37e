"""Where a path of an agent really leads, and whether that is inside the session's roots (V1-172, V1-173)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..session.ports import RequestError

INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
#: Characters of a path: no system opens a longer one, and each of its folders is looked at.
MOST_PATH = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """A path an agent named. ``path`` as it said it, ``real`` without links and ``..``.

    ``why``: None, ``outside`` (under no root) or ``protected`` (matches ``files.protected``). ``key`` is the
    same for all names of the file that differ in case only, or in the name of its folder.
    """

    path: str
    real: str
    why: str | None
    key: str = ""


def resolve(path: str, roots: Sequence[str], protected: Sequence[str]) -> Place:
    """Find the real place of ``path``. Touches the disk: run it in a thread.

    Of a path that does not exist the deepest existing part is resolved; a dangling link leads to its
    target. Raises RequestError -32602 for a relative path and for one no file can have.
    """
    if len(path) > MOST_PATH:
        raise RequestError(INVALID_PARAMS, "the path is too long")
    if not path.startswith("/"):
        raise RequestError(INVALID_PARAMS, "the path must be absolute", {"path": path})
    try:
        os.fsencode(path)
        real = os.path.realpath(path)
    except ValueError as error:  # a NUL, or a lone surrogate
        raise RequestError(INVALID_PARAMS, "the path is not valid") from error
    except OSError as error:  # a link that may not be read, as those in /proc of another user
        raise RequestError(INTERNAL_ERROR, f"{path}: {error.strerror or error}") from error
    bases = [os.path.realpath(root) for root in roots]
    if not any(inside(real, base) for base in bases):
        return Place(path, real, "outside", _key(real))
    # A link inside the project may carry a protected name, or lead to one: both count.
    said = os.path.normpath(path)
    below = (*relative(said, (*roots, *bases)), *relative(real, bases), *_names_below(real, bases))
    why = "protected" if any(matches(name, protected) for name in below) else None
    return Place(path, real, why, _key(real))


def real_path(path: str) -> str | None:
    """A path without links and ``..``; None when that cannot be said. Touches the disk."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def _key(real: str) -> str:
    """The folder by device and inode: it stays when the file is replaced."""
    folder, name = os.path.split(real)
    try:
        found = Path(folder).stat()
    except OSError:
        return real.casefold()
    return f"{found.st_dev}:{found.st_ino}/{name.casefold()}"


def inside(real: str, base: str) -> bool:
    """True when ``real`` is ``base`` or lies under it. Both are real paths.

    Folders are compared by device and inode too: on a disk that ignores case, or through a bind mount,
    one folder has several names.
    """
    return base in (real, "/") or real.startswith(base + "/") or _below(real, base) is not None


def _below(real: str, base: str) -> str | None:
    """The name ``real`` has below the folder ``base``, found by device and inode; None: it is elsewhere."""
    try:
        wanted = Path(base).stat()
    except OSError:
        return None
    for folder in (Path(real), *Path(real).parents):
        try:
            found = folder.stat()
        except OSError:
            continue
        if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
            return str(Path(real).relative_to(folder))
    return None


def _names_below(real: str, bases: Iterable[str]) -> list[str]:
    """The names ``real`` has below the bases that it is not under by name."""
    others = [base for base in bases if base not in (real, "/") and not real.startswith(base + "/")]
    return [name for name in (_below(real, base) for base in others) if name is not None]


def relative(path: str, bases: Iterable[str]) -> list[str]:
    """The names ``path`` has below each base it is under by name; its own name when under none."""
    prefixes = [base.rstrip("/") + "/" for base in bases]
    return [path[len(prefix) :] for prefix in prefixes if path.startswith(prefix)] or [path.lstrip("/")]


def matches(name: str, globs: Sequence[str], *, exact: bool = False) -> bool:
    """True when a relative path matches one of the globs, at any depth; ``exact``: in its case, too."""
    return any(_pattern(glob, exact).fullmatch(name) is not None for glob in globs)


@lru_cache(maxsize=256)
def _pattern(glob: str, exact: bool) -> re.Pattern[str]:
    """``*`` and ``?`` stay in a folder, ``**`` crosses them; ``x/**`` is ``x`` too; ``/x`` is at a root.

    What is between two stars is looked for once, at the first place where it stands: nothing that fits there
    and not further on would fit with a later one. So no name takes long, however many stars there are.
    """
    rest = glob.lstrip("/")
    tail = ""
    if rest.endswith("/**"):
        rest, tail = rest[:-3], "(?:/.*)?"
    # What crosses folders, and what is between. Within a name ``**/`` is ``**`` and a ``/``.
    chunks = re.split(r"((?<![^/])\*\*/|\*\*)", rest)
    lead = "" if glob.startswith("/") else "(?:.*?/)??"
    body = ""
    for index in range(0, len(chunks), 2):
        if index:
            lead = "(?:.*?/)??" if chunks[index - 1] == "**/" else ".*?"
        last = index == len(chunks) - 1
        body += f"{lead}{_chunk(chunks[index])}" if last else f"(?>{lead}{_chunk(chunks[index])})"
    return re.compile(body + tail, re.DOTALL | (0 if exact else re.IGNORECASE))


def _chunk(glob: str) -> str:
    """A pattern for a part of a glob without ``**``."""
    pieces = [""]
    for part in re.split(r"(\*|\?|\[!?[^\]/]+\])", glob):
        if part == "*":
            pieces.append("")
        elif part == "?":
            pieces[-1] += "[^/]"
        elif len(part) > 2 and part.startswith("[") and part.endswith("]"):
            pieces[-1] += _of_set(part)
        else:
            pieces[-1] += re.escape(part)
    first, *middle = pieces
    last = "[^/]*?" + middle.pop() if middle else ""
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + last


def _of_set(part: str) -> str:
    """A pattern for ``[abc]`` or ``[!a-z]``; what is none stands for itself. No folder's end is in it."""
    inside = part[1:-1]
    negated = inside[0] in "!^"
    words = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
    words = re.sub("-{2,}", lambda found: r"\-" * len(found[0]), words)  # no range, for Python not either
    made = f"(?!/)[{'^' if negated else ''}{words}]"
    try:
        re.compile(made)
    except re.error:  # as of [z-a]
        return re.escape(part)
    return made
