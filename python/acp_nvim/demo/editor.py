"""What the demo over HTTP does with tools of the user's editor, if it was given any.

A script is a generator: it yields words to say, or a call of a tool, for which it is sent the result.
"""

from __future__ import annotations

import re
import shlex
import uuid
from collections.abc import Generator, Iterable
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from .requests import Create, Replace, Run, Tour
from .tour import PROSE, SLIPS

Json: TypeAlias = dict[str, Any]
Script: TypeAlias = Generator[str | Json, str, None]
#: A part of one: it returns a tool's result.
Part: TypeAlias = Generator[str | Json, str, str]

#: What the editor puts before the name of a tool that the server has as well.
PREFIX = "editor_"
#: Files that the tour reads.
MOST_FILES = 4

_SHELL = re.compile(r"[|&;<>()$`\\*?\[\]{}~#!\n]")


class Tools:
    """``declared``: the names of the editor's tools. ``served``: those of the server's own."""

    def __init__(self, declared: Iterable[str], served: Iterable[str]) -> None:
        own = set(served)
        self._names = {name.removeprefix(PREFIX): name for name in declared if name not in own}

    def __bool__(self) -> bool:
        return bool(self._names)

    def has(self, *names: str) -> bool:
        return all(name in self._names for name in names)

    def call(self, name: str, **given: Any) -> Part:
        """Call a tool; its result, also when it is that it was rejected."""
        return (yield {"toolCallId": uuid.uuid4().hex, "name": self._names[name], "input": given})


def script_of(request: object, tools: Tools) -> Script | None:
    """How a request is done with the editor's tools; None: it is not one for these."""
    match request:
        case Tour():
            return _tour(tools)
        case Replace(old=old, new=new, name=str(name)):
            return _one(tools, "edit_file", path=name, old_text=old, new_text=new)
        case Create(name=name, text=text):
            return _one(tools, "write_file", path=name, text=f"{text}\n")
        case Run(command=command):
            return _one(tools, "run_command", command=_argv(command))
        case _:
            return None


def missing(*names: str) -> str:
    listed = ", ".join(f"'{name}'" for name in names)
    return (
        "For that I need tools of your editor. Give them to me in the settings of this agent, as "
        f"`client_tools = {{ {listed} }}`, then `:AcpRestart`."
    )


def _one(tools: Tools, name: str, **given: Any) -> Script:
    if not tools.has(name):
        yield missing(name)
        return
    result = yield from tools.call(name, **given)
    yield _quoted("Your editor says:", result)


def _tour(tools: Tools) -> Script:
    """Files are read, one is changed with a question, a command runs with a question."""
    wanted = ("list_files", "read_file", "edit_file", "write_file", "run_command")
    if not tools.has(*wanted):
        yield missing(*wanted)
        return
    yield "I am on a server: your project I see through **tools of your editor** alone. First I look around. "
    if tools.has("open_buffers"):
        yield from tools.call("open_buffers")
    listed = yield from tools.call("list_files")
    names = [name for name in listed.split("\n") if name and not name.startswith("(")]
    prose = [name for name in names if PurePosixPath(name).suffix in PROSE and not name.startswith(".")]
    changed = yield from _improve(tools, names, prose[:MOST_FILES])
    yield f"Your editor says: {changed.splitlines()[0]}. Now a command. "
    ran = yield from tools.call("run_command", command=["ls", "-l"])
    yield _quoted("It is over:", ran)
    yield "That was all. `:AcpDiff` shows what has changed, and `u` in the file takes it back."


def _improve(tools: Tools, names: list[str], prose: list[str]) -> Part:
    """Correct a slip of the pen; without one, write a small file. What the editor says to that."""
    for name in prose:
        text = yield from tools.call("read_file", path=name)
        for slip, right in SLIPS.items():
            if slip in text:
                yield f"In `{name}` I found “{slip.strip()}”, and would write “{right.strip()}”. "
                given = {"path": name, "old_text": slip, "new_text": right, "replace_all": True}
                return (yield from tools.call("edit_file", **given))
    number = next(n for n in range(1, 1000) if f"demo-note-{n}.md" not in names)
    yield f"I found no slip, so I would write a small note: `demo-note-{number}.md`. "
    text = "# A note of the demo agent\n\nYou allowed this file to be written. You can delete it.\n"
    return (yield from tools.call("write_file", path=f"demo-note-{number}.md", text=text))


def _argv(command: str) -> list[str]:
    """Without a shell where none is needed."""
    if not _SHELL.search(command):
        try:
            return shlex.split(command) or ["true"]
        except ValueError:
            pass
    return ["sh", "-c", command]


def _quoted(words: str, text: str) -> str:
    fence = "```" if "```" not in text else "~~~~"
    return f"{words}\n\n{fence}\n{text.rstrip()}\n{fence}\n\n"
