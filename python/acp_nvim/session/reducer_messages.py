"""Messages: where chunks go (V1-90..93, V2-77..82), and the prompt's echo (V1-75, V2-51)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from .content import Block
from .entities import Echo, Message, Origin, Role, Session, TurnEnd
from .events import MessageAppend, MessageSet
from .step import Step, own


def append(step: Step, event: MessageAppend) -> None:
    """Append a block. An empty text opens no message and joins nothing.

    Without an id the block joins the open message of the same role, else starts a message (V1-91).
    """
    block = event.block
    if block.type == "text" and (block.text is None or not block.text.length):
        return
    if event.role == "user" and _absorb(step, event):
        return
    _append(step, event)


def _append(step: Step, event: MessageAppend) -> None:
    session = step.session
    role, message_id = event.role, event.id
    if message_id is None:
        if session.open_message is not None and session.open_message[0] == role:
            message_id = session.open_message[1]
        else:
            message_id = _invent(session, role)
    message = session.messages.get((role, message_id))
    if message is None:
        message = _create(step, role, message_id, event.origin)
    elif message.ended is not None:
        message.ended = step.now
    _extend(message, event.block)
    if event.meta:
        message.meta = {**message.meta, **event.meta}
    step.touch(message)


def set_(step: Step, event: MessageSet) -> None:
    """Replace a message's blocks, creating it when its id is new (V2-79, V2-82)."""
    if event.role == "user" and _absorb(step, event):
        return
    _set(step, event)


def _set(step: Step, event: MessageSet) -> None:
    message = step.session.messages.get((event.role, event.id))
    if message is None:
        message = _create(step, event.role, event.id, event.origin)
    if event.blocks is None:
        message.blocks = []
    elif event.blocks is not UNSET:
        message.blocks = [own(block) for block in event.blocks]
    message.meta = patched(message.meta, event.meta)
    step.touch(message)


def local(step: Step, n: int, blocks: Sequence[Block], sent: Sequence[Block]) -> None:
    """Show the user's prompt at once (V1-75) and expect the echo of what was sent."""
    session = step.session
    release(step)
    message_id = f"local:{n}" if ("user", f"local:{n}") not in session.messages else _invent(session, "user")
    message = _create(step, "user", message_id, "local")
    message.blocks = [own(block) for block in blocks]
    step.end_message()  # complete: what the agent sends is never a part of it
    session.echo = Echo(message, _said(sent), by_id=not step.derived)


def steered(step: Step, n: int, blocks: Sequence[Block], sent: Sequence[Block]) -> None:
    """Show what the user has said during the turn, unless the agent has repeated it before its answer."""
    text = _said(sent)
    for item in reversed(step.session.items):
        if isinstance(item, TurnEnd) or (isinstance(item, Message) and item.origin == "local"):
            break
        if isinstance(item, Message) and item.role == "user" and item.text.strip() == text:
            item.origin, item.blocks = "local", [own(block) for block in blocks]
            step.touch(item)
            return
    local(step, n, blocks, sent)


def accept(step: Step, message_id: str | None) -> None:
    """The prompt's response came. With an id our copy is known by it from now on (V2-50, V2-51).

    An id that already is another message's is no id of ours: that message stays what it is.
    """
    echo = step.session.echo
    if echo is None:
        return
    if message_id is not None:
        step.session.messages.setdefault(("user", message_id), echo.message)
        echo.done = True
    elif echo.by_id:
        echo.by_id = False  # the older v2 text: no id in the response, so only the text can tell
    release(step, keep=True)


def release(step: Step, *, keep: bool = False) -> None:
    """Show held messages that proved not to be the echo. A part of the prompt's text was the echo.

    ``keep``: the turn goes on, an echo may still come.
    """
    session = step.session
    echo = session.echo
    if echo is None:
        return
    held, echo.held = echo.held, []
    if not keep:
        session.echo = None
        if not echo.by_id:
            return
    for event in held:
        if isinstance(event, MessageAppend):
            append(step, event)
        else:
            set_(step, event)


def patched(old: dict[str, Any], new: dict[str, Any] | UnsetType | None) -> dict[str, Any]:
    """``_meta`` patches by top-level key; a key with null goes away (V2-84)."""
    if new is UNSET:
        return old
    if new is None:
        return {}
    return {key: value for key, value in {**old, **new}.items() if value is not None}


def _said(blocks: Sequence[Block]) -> str:
    return "".join(str(b.text) for b in blocks if b.type == "text" and b.text is not None).strip()


def _create(step: Step, role: Role, message_id: str, origin: Origin) -> Message:
    session = step.session
    message = Message(role, message_id, origin="replay" if session.replaying else origin, started=step.now)
    step.place(message)
    session.messages[role, message_id] = message
    session.open_message = (role, message_id)
    return message


def _extend(message: Message, block: Block) -> None:
    """Concatenate text exactly as sent (V1-92); another kind of block, or another audience, stands alone."""
    last = message.blocks[-1] if message.blocks else None
    if (
        last is not None
        and last.text is not None
        and block.text is not None
        and last.type == block.type == "text"
        and last.audience == block.audience
    ):
        last.text.append(str(block.text))
    else:
        message.blocks.append(own(block))


def _invent(session: Session, role: Role) -> str:
    """An id of ours for a message without one."""
    number = session.arrival
    while (role, f"v1:{number}") in session.messages:
        number += 1
    return f"v1:{number}"


def _absorb(step: Step, event: MessageAppend | MessageSet) -> bool:
    """Take a user's message that is the echo of our prompt. True: it is not to be shown (now)."""
    session = step.session
    if session.replaying or event.origin == "replay":
        return False
    if event.id is not None:
        known = session.messages.get(("user", event.id))
        if known is not None:
            # Our copy says what the user typed; the agent's version of it adds nothing to that.
            return known.origin == "local"
    echo = session.echo
    if echo is None:
        return False
    if echo.by_id and not echo.done:
        echo.held.append(event)
        return True
    return _same(step, echo, event)


def _same(step: Step, echo: Echo, event: MessageAppend | MessageSet) -> bool:
    session = step.session
    run = echo.place == len(session.items)  # nothing came in between: without ids this is one message
    if echo.done:
        # The rest of it: context that we sent along may come back in another form.
        return run and event.id is None and any(b.type != "text" for b in echo.message.blocks)
    if not run:
        echo.at = 0  # what was held is a part of the echo, and that ended there
        echo.held.clear()
    blocks = [event.block] if isinstance(event, MessageAppend) else (event.blocks or ())
    if all(_fits(echo, block) for block in blocks):
        echo.place = len(session.items)
        if echo.at < len(echo.text):
            echo.held.append(event)
        else:
            echo.done = True
            echo.held.clear()
            if event.id is not None:
                session.messages["user", event.id] = echo.message
        return True
    held, echo.held, echo.at = echo.held, [], 0
    for earlier in held:  # it began like the prompt but is another message
        if isinstance(earlier, MessageAppend):
            _append(step, earlier)
        else:
            _set(step, earlier)
    return False


def _fits(echo: Echo, block: Block) -> bool:
    """True when the block goes on where the echo stands; moves on in it."""
    if block.type != "text":
        return any(
            b.type == block.type and (b.uri, b.data) == (block.uri, block.data) for b in echo.message.blocks
        )
    piece = str(block.text)
    if not echo.at:
        piece = piece.lstrip()
    if echo.text.startswith(piece, echo.at):
        echo.at += len(piece)
        return True
    if echo.text[echo.at :] == piece.rstrip():
        echo.at = len(echo.text)
        return True
    return False
