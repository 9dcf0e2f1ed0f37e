"""Diffs of version 2 of the protocol: what happens to which file, and how, as git would write it."""

from __future__ import annotations

import difflib

from .peer import Json

NO_END = "\\ No newline at end of file\n"
NAMED = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def diff(item: Json) -> Json:
    """The diff of version 1, a file before and after, as one of version 2 (V2-108, V2-109, V2-112)."""
    path, old, new = item["path"], item["oldText"], item["newText"]
    change = {"operation": "add" if old is None else "modify", "path": path, "fileType": "text"}
    return {
        "type": "diff",
        "changes": [change],
        "patch": {"format": "git_patch", "text": git(path, old, new)},
    }


def git(path: str, old: str | None, new: str) -> str:
    """One section of a patch, with absolute paths; ``old`` None: the file is new."""
    name = quoted(path)
    head = [f"diff --git {name} {name}\n", *(["new file mode 100644\n"] if old is None else [])]
    before = _lines(old or "")
    source = "/dev/null" if old is None else name
    hunks = difflib.unified_diff(before, _lines(new), source, name)
    body = [line if line.endswith("\n") else f"{line}\n{NO_END}" for line in hunks]
    return "".join([*head, *body])


def _lines(text: str) -> list[str]:
    """Lines end at a newline alone, as git has it."""
    found = text.split("\n")
    return [line + "\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])


def quoted(path: str) -> str:
    """As git writes a name: in quotes when it has letters that are not plain ASCII."""
    if path.isascii() and path.isprintable() and not {'"', "\\"} & set(path):
        return path
    letters = (
        NAMED.get(letter, letter)
        if letter.isascii() and (letter.isprintable() or letter in NAMED)
        else "".join(f"\\{byte:03o}" for byte in letter.encode("utf-8", "surrogateescape"))
        for letter in path
    )
    return f'"{"".join(letters)}"'
