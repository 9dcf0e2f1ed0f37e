"""A question to the user, whoever asks: what it is about, what can be answered, and what was."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from .content import Diff
from .elicitation import Elicitation

PermissionState: TypeAlias = Literal["open", "answered", "withdrawn"]


class PermissionOption(Struct, frozen=True):
    """``kind``: allow_once, allow_always, reject_once, reject_always, or other; ``kind_raw`` as sent."""

    id: str
    name: str
    kind: str
    kind_raw: str = ""


class ToolSubject(Struct, frozen=True):
    """The question is about a tool call."""

    tool_call_id: str


class CommandSubject(Struct, frozen=True):
    """The question is about running a command. Both in full; ``cwd`` None = not said.

    Of a question of ours: ``real_cwd`` is the folder without links, ``why`` is outside (the folder) or other,
    ``env`` has the variables the agent gives it.
    """

    command: str
    cwd: str | None = None
    real_cwd: str | None = None
    why: str | None = None
    env: tuple[tuple[str, str], ...] = ()


class PathSubject(Struct, frozen=True):
    """Our question: the agent wants to touch a file that needs the user's word.

    ``op``: read or write; ``why``: outside, protected, secret (by its name), ignored (by git), modified
    (unsaved edits in the way) or other.
    ``diff``: from what the user has now to what the agent would write. With unsaved edits in the way, also
    ``base``: the text the agent has made its own from, and ``disk``: the file as it is; None: not known.
    """

    op: str
    path: str
    real_path: str
    why: str
    diff: Diff | None = None
    base: str | None = None
    disk: str | None = None

    @property
    def written(self) -> bool:
        """Whether the agent has written the file itself already: the question is about the buffer alone."""
        return self.disk is not None and self.diff is not None and self.disk == self.diff.new_text


class LoginWay(Struct, frozen=True):
    """One of the ways to log in. ``how``: what choosing it does, or why it is not ``usable``."""

    name: str
    description: str | None = None
    how: str = ""
    usable: bool = True


class LoginSubject(Struct, frozen=True):
    """Our question: how to log in to the agent, or (``op`` logout) whether to log out.

    ``said``: the agent's words. ``failed``: why the last attempt failed. The usable ``ways`` are the first
    options of the question, in the same order.
    """

    op: Literal["login", "logout"]
    ways: tuple[LoginWay, ...] = ()
    said: str | None = None
    failed: str | None = None


class UnknownSubject(Struct, frozen=True):
    """The question is about something this version does not know; kept and shown generically."""

    kind: str
    raw: Any


#: An answer to a write that unsaved edits are in the way of: the disk gets the text, the buffer has both.
MERGE = "both"

Subject: TypeAlias = (
    UnknownSubject | ToolSubject | CommandSubject | PathSubject | LoginSubject | Elicitation | None
)


class Permission(Struct):
    """A question to the user, the agent's or ours. Answered once, in whatever way."""

    id: str  # ours, unique in this host
    options: list[PermissionOption]
    title: str | None = None  # the agent's words (v2), None: from the tool call
    description: str | None = None
    subject: Subject = None
    tool_call_id: str | None = None  # the row it stands in
    terminal_id: str | None = None  # the agent's, that it is about
    asked_by: Literal["agent", "client"] = "agent"
    host: str = ""  # of the server that asks, where that must be seen
    state: PermissionState = "open"
    answer: str | None = None  # the option's id; None when open, cancelled or withdrawn
    by: str | None = None  # user, rule, cancel, agent, close
    shown: tuple[Diff, ...] = ()  # the changes it is about, of its tool call as it was when it was asked
    rule: str | None = None  # the user's rule that has answered, in words
    opened: float = 0.0
    closed: float | None = None
