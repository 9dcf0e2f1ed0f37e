"""A chat without Neovim: a store, a session, a transcript, and the buffer its operations fill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.unit.view.buffer import Buffer

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.asked import Permission, PermissionOption
from acp_nvim.session.content import Block, Change, Diff, Location
from acp_nvim.session.entities import Item, Session
from acp_nvim.session.events import (
    Event,
    MessageAppend,
    PermissionClosed,
    PermissionOpened,
    SessionOpened,
    ToolPatch,
    TurnEnded,
    TurnStarted,
)
from acp_nvim.session.step import Step
from acp_nvim.session.store import Store
from acp_nvim.view.icons import UNICODE, Icons
from acp_nvim.view.transcript import Transcript

HOME = "/home/me"
CWD = "/home/me/src/app"

#: The file of the example in ui.md, before and after the agent's edit.
DATE_OLD = (
    '"""Dates as the calendar has them."""\n\n'
    "MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)\n\n\n"
    "def is_leap(year):\n    return year % 4 == 0\n\n"
)
DATE_NEW = DATE_OLD.replace(
    "    return year % 4 == 0\n",
    "    if year % 100 == 0:\n        return year % 400 == 0\n    return year % 4 == 0\n",
)

OPTIONS = (
    PermissionOption("once", "Allow once", "allow_once"),
    PermissionOption("always", "Always allow npm", "allow_always"),
    PermissionOption("reject", "Reject", "reject_once"),
)


class Chat:
    """Events go in, the buffer's text comes out. ``now`` is the store's clock, in seconds."""

    def __init__(self, agent: str = "claude", icons: Icons = UNICODE, label: str = "") -> None:
        self.now = 1000.0
        self.session = Session("s", agent, CWD, roots=(CWD,))
        self.store = Store(lambda: self.now)
        self.transcript = Transcript(1, self.session, icons, label, home=HOME)
        self.buffer = Buffer()
        self.store.subscribe(self._touched)
        self.apply(SessionOpened("remote", AgentInfo("acp-v1")))

    def _touched(self, _session: Session, _event: Event, items: Sequence[Item]) -> None:
        self.transcript.touch(items)

    def apply(self, *events: Event) -> None:
        for event in events:
            self.store.apply(self.session, event)

    def prompt(self, text: str) -> None:
        self.apply(TurnStarted((Block.of_text(text),)))

    def say(self, text: str, role: Any = "agent", message_id: str | None = None) -> None:
        self.apply(MessageAppend(role, message_id, Block.of_text(text)))

    def end_message(self) -> None:
        """What the next item of the timeline, or the end of the turn, does to the open message."""
        step = Step(self.session, self.now)
        step.end_message()
        self.transcript.touch(step.touched)

    def tool(self, tool_id: str, title: str = "", kind: str = "other", **fields: Any) -> None:
        self.apply(ToolPatch(tool_id, title=title, kind=kind, **fields))

    def patch(self, tool_id: str, **fields: Any) -> None:
        self.apply(ToolPatch(tool_id, **fields))

    def ask(self, tool_id: str | None, question: str = "q1", **fields: Any) -> Permission:
        options = fields.pop("options", OPTIONS)
        permission = Permission(question, list(options), tool_call_id=tool_id, **fields)
        self.apply(PermissionOpened(permission))
        return permission

    def answer(self, question: str, option: str | None, outcome: Any = "selected", by: Any = "user") -> None:
        self.apply(PermissionClosed(question, outcome, option, by))

    def end(self, stop: str | None = "end_turn", **fields: Any) -> None:
        self.apply(TurnEnded(stop, **fields))

    def frame(self) -> list[list[Any]]:
        """Take one frame into the buffer."""
        ops, _ = self.transcript.take()
        self.buffer.apply(ops)
        return ops

    def frames(self) -> int:
        """Take all there is; return the number of frames."""
        count = 0
        while self.transcript.dirty:
            self.frame()
            count += 1
            assert count < 10_000
        return count

    def lines(self) -> list[str]:
        """The buffer below the head, folds open."""
        self.frames()
        return self.buffer.text.split("\n")

    def screen(self) -> list[str]:
        """The buffer below the head, folds as the host made them."""
        self.frames()
        return self.buffer.screen()


def at(path: str, line: int | None = None, end: int | None = None) -> list[Location]:
    return [Location(path if path.startswith("/") else f"{CWD}/{path}", line, end)]


def edit(path: str, old: str | None, new: str, op: str = "modify") -> Diff:
    full = path if path.startswith("/") else f"{CWD}/{path}"
    return Diff((Change(op, full),), old, new)


def text(content: str) -> Block:
    return Block.of_text(content)
