"""A patch of several files in Git's form, cut into its files (pure).

The paths of ACP v2 are absolute and have no ``a/`` and ``b/`` before them (V2-112); what has, as Git itself
writes it, is read as well (D-14).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NOWHERE = "/dev/null"
_HEADER = "diff --git "
_NAMED = ("--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to ")
_ESCAPE = re.compile(r"\\(?:([0-7]{3})|(.))")
_LETTERS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


@dataclass(frozen=True, slots=True)
class Section:
    """The part of a patch that is about one file; ``names``: all that it calls the file."""

    names: frozenset[str]
    text: str

    def about(self, *paths: str | None) -> bool:
        """Whether it is about a file of one of these paths."""
        return any(path in self.names for path in paths if path)


def sections(patch: str) -> list[Section]:
    """The files of a patch, in order. What stands before the first one belongs to nothing."""
    parts: list[list[str]] = []
    for line in patch.split("\n"):
        if line.startswith(_HEADER):
            parts.append([])
        if parts:
            parts[-1].append(line)
    return [Section(_names(part), "\n".join(part).removesuffix("\n") + "\n") for part in parts]


def _names(lines: list[str]) -> frozenset[str]:
    found: set[str] = set()
    for line in lines[1:]:
        if line.startswith(("@@", "GIT binary patch")):
            break
        for word in _NAMED:
            if line.startswith(word):
                found.add(unquoted(line.removeprefix(word).split("\t")[0].rstrip("\r")))
    if not found:  # a file without text, or only its mode: the header is all there is
        found.update(_header(lines[0].removeprefix(_HEADER).rstrip("\r")))
    found.discard(NOWHERE)
    return frozenset(found | {name[2:] for name in found if name.startswith(("a/", "b/"))})


def _header(said: str) -> list[str]:
    """Two names with a blank between them, of which each may have blanks: most often they are the same."""
    if said.startswith('"') or said.endswith('"'):
        return [unquoted(each) for each in re.findall(r'"(?:[^"\\]|\\.)*"|\S+', said)]
    half = len(said) // 2
    if said[half : half + 1] == " " and said[:half].removeprefix("a/") == said[half + 1 :].removeprefix("b/"):
        return [said[:half], said[half + 1 :]]
    return said.split(" ")


def unquoted(name: str) -> str:
    """A name as Git writes unusual ones, ``"a\\303\\244.txt"``, without its quotes."""
    if len(name) < 2 or not (name.startswith('"') and name.endswith('"')):
        return name
    raw, at = bytearray(), 0
    body = name[1:-1]
    for match in _ESCAPE.finditer(body):
        raw += body[at : match.start()].encode()
        code, letter = match.groups()
        raw += (
            bytes([int(code, 8) & 255 if code else _LETTERS[letter]])
            if code or letter in _LETTERS
            else letter.encode()
        )
        at = match.end()
    raw += body[at:].encode()
    return raw.decode(errors="replace")
