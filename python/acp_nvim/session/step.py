"""One application of an event: the session, the time, and what was touched."""

from __future__ import annotations

from msgspec import Struct, structs

from .content import Block, Text
from .entities import Item, Session

FINAL_STATUS = ("completed", "failed", "cancelled")


class Step(Struct):
    """Passed through the reducer's functions. ``now`` is in seconds of the store's clock."""

    session: Session
    now: float
    touched: list[Item] = []

    def touch(self, item: Item) -> None:
        """Note that the item has changed; once, in order of the first change."""
        if not any(known is item for known in self.touched):
            self.touched.append(item)

    def place(self, item: Item) -> None:
        """Put a new item at the end of the timeline. This ends the message before it (V1-91)."""
        self.end_message()
        self.session.items.append(item)
        self.touch(item)

    def end_message(self) -> None:
        """The open message takes no more chunks without an id."""
        session = self.session
        if session.open_message is None:
            return
        message = session.messages[session.open_message]
        session.open_message = None
        if message.ended is None:
            message.ended = self.now
            self.touch(message)

    @property
    def derived(self) -> bool:
        """True when the session's state follows from turns and questions; some agents state it (V2-58)."""
        info = self.session.info
        return info is None or not info.states


def own(block: Block) -> Block:
    """A copy whose text may grow without changing the event it came with."""
    return block if block.text is None else structs.replace(block, text=Text(str(block.text)))
