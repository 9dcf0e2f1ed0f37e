"""The slash commands of the demo: other words for what can be asked for in plain ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .peer import Json


@dataclass(frozen=True, slots=True)
class Command:
    """``words``: the plain request it stands for. ``hint``: what may be typed after it, if anything."""

    name: str
    description: str
    words: str
    hint: str | None = None

    def as_json(self) -> Json:
        told: Json = {"name": self.name, "description": self.description}
        return told if self.hint is None else {**told, "input": {"hint": self.hint}}


COMMANDS = (
    Command("help", "what the demo understands", "help"),
    Command("tour", "show me everything", "show me everything"),
    Command("plan", "do several things, one by one", "plan:", "list files, then show FILE"),
    Command("list", "list the files here", "list files", "FOLDER"),
    Command("show", "read a file", "show", "FILE:3-9"),
    Command("search", "find a text in all files", "search", "TEXT"),
    Command("replace", "edit a file", "replace", "X by Y in FILE"),
    Command("create", "write a new file", "create", "FILE with TEXT"),
    Command("run", "run a command", "run", "COMMAND"),
    Command("ask", "fill in a form, and have a page made of it", "ask me something"),
    Command("page", "look at a page of the web", "open a page"),
    Command("picture", "draw the largest files", "show a picture"),
    Command("mode", "change the mode", "go to mode", "ask, edit or read"),
    Command("name", "give this chat a title", "call this chat", "TITLE"),
    Command("compact", "make room in the context", "compact"),
)


def plain(text: str) -> str:
    """The plain request of a prompt that starts with a command (V1-155); any other text as it is."""
    found = re.match(r"/(\w+)(?:\s+(.*))?$", text, re.DOTALL)
    command = next((each for each in COMMANDS if found and each.name == found[1].lower()), None)
    if found is None or command is None:
        return text
    return f"{command.words} {found[2] or ''}".strip() if command.hint else command.words
