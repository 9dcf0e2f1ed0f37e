"""Short ways to write event streams, and a compact text of a timeline."""

from __future__ import annotations

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.asked import Permission, PermissionOption
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Compaction, Item, Message, Note, Plan, Role, Session, ToolCall
from acp_nvim.session.events import (
    Event,
    MessageAppend,
    MessageSet,
    PermissionClosed,
    PermissionOpened,
    SessionOpened,
    TurnStarted,
)
from acp_nvim.session.reducer import apply

OPTIONS = [
    PermissionOption("ok", "Allow", "allow_once"),
    PermissionOption("always", "Always allow npm", "allow_always"),
    PermissionOption("no", "Reject", "reject_once"),
]


def session(protocol: str = "acp-v1") -> Session:
    new = Session("s", "agent", "/ws")
    apply(new, SessionOpened("r1", AgentInfo(protocol, states=protocol == "acp-v2")), 0.0)
    return new


def play(target: Session, *events: Event, start: float = 1.0) -> list[list[Item]]:
    """Apply the events a second apart; return what each touched."""
    return [apply(target, event, start + number) for number, event in enumerate(events)]


def chunk(role: Role, text: str, message_id: str | None = None) -> MessageAppend:
    return MessageAppend(role, message_id, Block.of_text(text))


def whole(role: Role, message_id: str, *texts: str) -> MessageSet:
    return MessageSet(role, message_id, [Block.of_text(text) for text in texts])


def prompt(*texts: str) -> TurnStarted:
    return TurnStarted(tuple(Block.of_text(text) for text in texts))


def ask(question: str, call: str | None = "t1") -> PermissionOpened:
    return PermissionOpened(Permission(question, list(OPTIONS), tool_call_id=call))


def answer(question: str, option: str) -> PermissionClosed:
    return PermissionClosed(question, "selected", option, "user")


def timeline(target: Session) -> list[str]:
    return [line(item) for item in target.items]


def line(item: Item) -> str:
    """One item as ``kind|state|text``."""
    if isinstance(item, Message):
        return f"{item.role}|{item.text}"
    if isinstance(item, ToolCall):
        return f"tool {item.id}|{shown(item)}|{item.title}"
    if isinstance(item, Plan):
        return f"plan {item.id}|{','.join(entry.content for entry in item.entries)}"
    if isinstance(item, Compaction):
        return f"compaction {item.id}|{item.status}"
    if isinstance(item, Note):
        return f"note|{item.title}"
    return f"end|{item.turn.stop}"


def shown(call: ToolCall) -> str:
    """The state a row shows, in the order of precedence that the view uses."""
    if call.open_permissions:
        return "waiting"
    if call.local in ("rejected", "cancelled"):
        return call.local
    return "no answer" if call.unanswered else call.status
