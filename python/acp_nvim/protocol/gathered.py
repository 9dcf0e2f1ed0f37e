"""Text that came in one read of the pipe reaches the session as one event: so a chunk costs little.

With 100,000 chunks at once half of the host's time went into the model and those who listen to it, a
chunk at a time, of which Neovim then saw one frame for a thousand.
"""

from __future__ import annotations

from acp_nvim.session.entities import Session
from acp_nvim.session.events import Event, MessageAppend
from acp_nvim.session.ports import Sink


class Gathered:
    """A Sink that holds a message's text while more of it may follow in what was read already.

    Nobody can see that: the reader calls ``release`` before it waits for anything and before it handles
    anything but an update, and any other event releases what is held first. The order stays.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._held: tuple[Session, MessageAppend] | None = None

    def apply(self, session: Session, event: Event) -> None:
        """Hold text of the agent, joined to what is held of the same message; apply anything else."""
        if type(event) is not MessageAppend or not _is_text(event):
            self.release()
            self._sink.apply(session, event)
            return
        if self._held is not None and self._held[0] is session and _goes_on(self._held[1], event):
            text = self._held[1].block.text
            assert text is not None
            text.append(str(event.block.text))
            return
        self.release()
        self._held = session, event

    def release(self) -> None:
        """Apply what is held."""
        if self._held is not None:
            held, self._held = self._held, None
            self._sink.apply(*held)

    async def room(self, session: Session) -> None:
        """Wait until the view has read enough, with nothing held."""
        self.release()
        await self._sink.room(session)


def _is_text(event: MessageAppend) -> bool:
    """What is the user's may be an echo, which is compared as it comes."""
    return (
        event.role != "user"
        and event.block.type == "text"
        and event.block.text is not None
        and not event.meta
    )


def _goes_on(held: MessageAppend, event: MessageAppend) -> bool:
    return (
        held.role == event.role
        and held.id == event.id
        and held.origin == event.origin
        and held.block.audience == event.block.audience
    )
