"""A session as compact text: what came of a recording, for people to read and for tests to compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from tests.unit.session.build import shown

from acp_nvim.session.asked import CommandSubject, Permission
from acp_nvim.session.content import Block, Diff, ToolContent
from acp_nvim.session.entities import Item, Message, Note, Plan, Session, ToolCall, TurnEnd

LONG = 1000  # characters; what is longer is shown by its beginning, its length and its hash


def session_text(session: Session) -> Iterator[str]:
    """The session's state, then its timeline."""
    yield f"state {session.state}, title {session.title!r}, {len(session.commands)} commands"
    if session.usage is not None:
        yield f"usage {session.usage.used} of {session.usage.size}, cost {session.usage.cost}"
    for option in session.options:
        yield f"option {option.id} ({option.source}, {option.category}): {option.label}"
    for item in session.items:
        yield from _item(item)


def _item(item: Item) -> Iterator[str]:
    match item:
        case Message():
            yield f"{item.role} ({item.origin})"
            for block in item.blocks:
                yield from _indent(_block(block))
        case ToolCall():
            kind = item.kind if item.kind_raw is None else f"{item.kind}={item.kind_raw}"
            yield f"tool {kind} | {shown(item)} (agent: {item.status}) | {item.title}"
            for permission in item.permissions:
                yield from _indent(_permission(permission))
            for place in item.locations:
                yield f"  @ {place.path}" + (f":{place.line}" if place.line else "")
            for content in item.content:
                yield from _indent(_content(content))
        case Plan():
            yield "plan"
            for entry in item.entries:
                yield f"  {entry.status} {entry.content}"
        case TurnEnd():
            turn = item.turn
            flags = [name for name in ("cancelling", "rejected") if getattr(turn, name)]
            error = f" | {turn.error.kind}: {turn.error.message}" if turn.error is not None else ""
            yield f"end | {turn.stop} | {turn.state} | {' '.join(flags) or '-'}{error}"
        case Note():
            yield f"note {item.severity} | {item.title}"
        case _:
            yield repr(item)


def _permission(permission: Permission) -> Iterator[str]:
    options = ", ".join(f"{o.id}={o.name} ({o.kind})" for o in permission.options)
    yield f"? {options} -> {permission.state} {permission.answer} by {permission.by}"
    if isinstance(permission.subject, CommandSubject):
        yield f"  command {permission.subject.command!r} in {permission.subject.cwd}"


def _content(content: ToolContent) -> Iterator[str]:
    match content:
        case Block():
            yield from _block(content)
        case Diff():
            change = content.changes[0]
            yield f"diff {change.op} {change.path}"
            for sign, text in (("-", content.old_text), ("+", content.new_text)):
                yield from (f"{sign}{line}" for line in (text or "").splitlines())
        case _:
            yield repr(content)


def _block(block: Block) -> Sequence[str]:
    if block.text is None:
        return [f"{block.type} {block.uri or block.name or ''}"]
    text = str(block.text)
    if len(text) > LONG:
        digest = sha256(text.encode()).hexdigest()[:16]
        return [f"{text[:60]!r}... {len(text)} characters, sha256 {digest}"]
    return text.split("\n")


def _indent(lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    return (f"  {line}".rstrip() for line in lines)
