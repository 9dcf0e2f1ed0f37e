"""A question as the row's body and the card show it."""

from __future__ import annotations

import re
from typing import Any

from msgspec import field

from acp_nvim.session.asked import PermissionOption
from acp_nvim.text.sanitise import one_line

from .block import Lines, Segment

#: An option for always whose own words say so.
_SAYS_ALWAYS = re.compile(r"\b(always|all)\b", re.IGNORECASE)


class Question(Lines):
    """``lines`` and ``marks`` hold the content without the options. ``known`` first lines repeat the row.

    ``what``: verb and target in short. An option has a ``note`` if it is for always and its name hides that,
    and ``about`` if there is something to say of it: then each has a line of its own.

    ``change``: it is about a file, whose change can be shown in windows; then the card does without the rows
    of ``hunks``, each from its first to its last.
    """

    id: str = ""
    title: str = ""
    prompt: str = ""
    what: str = ""
    options: list[dict[str, str]] = field(default_factory=list)
    n_open: int = 1
    known: int = 0
    change: bool = False
    form: dict[str, Any] | None = None  # what there is to fill in before it is accepted
    hunks: list[list[int]] = field(default_factory=list)

    def payload(self, chat: int) -> dict[str, Any]:
        """For ``acp.question.open``."""
        return {
            "id": self.id,
            "chat": chat,
            "n_open": self.n_open,
            "title": self.title,
            "prompt": self.prompt,
            "what": self.what,
            "lines": self.lines,
            "marks": [list(mark) for mark in self.marks],
            "options": self.options,
            **({"hunks": self.hunks} if self.change else {}),
            **({"form": self.form} if self.form is not None else {}),
        }

    def put_options(self, body: Lines) -> None:
        """Add the line of the answers: ``1 Allow once  2 Reject``."""
        segments: list[Segment] = []
        apart = any("about" in option for option in self.options)
        for number, option in enumerate(self.options, 1):
            if apart and segments:
                body.put(*segments)
                segments = []
            group = "AcpWarn" if option["kind"].endswith("_always") else ""
            segments += [("  " if segments else "", ""), (str(number), "AcpKey"), (" ", "")]
            segments.append((option["name"] + option.get("note", ""), group))
            if "about" in option:
                segments.append((f"  {option['about']}", "AcpNote"))
        body.put(*(segments or [("no answers are offered; :AcpPermit cancel refuses", "AcpNote")]))


def shown_option(option: PermissionOption) -> dict[str, str]:
    """The agent's words stay; but what goes on for longer than this once must show."""
    name = one_line(option.name or option.id)
    shown = {"id": option.id, "name": name, "kind": option.kind}
    if option.kind.endswith("_always") and not _SAYS_ALWAYS.search(name):
        shown["note"] = " (always)"
    return shown
