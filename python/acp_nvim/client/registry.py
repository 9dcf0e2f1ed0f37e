"""The chats by number, the connections by agent and folder, and who belongs to whom."""

from __future__ import annotations

from collections.abc import Iterator

from acp_nvim.session.entities import Session

from .chat import Chat
from .connection import Connection


class Registry:
    """One for the host. The features of the program (trace, login, …) find their chats here."""

    def __init__(self) -> None:
        self.chats: dict[int, Chat] = {}
        self._of_session: dict[str, Chat] = {}
        self.connections: dict[tuple[str, str], Connection] = {}

    def __iter__(self) -> Iterator[Chat]:
        return iter(list(self.chats.values()))

    def add(self, chat: Chat) -> None:
        """Know a chat from now on."""
        self.chats[chat.n] = self._of_session[chat.session.id] = chat

    def remove(self, n: int) -> Chat | None:
        """Know a chat no more; None: it was not known."""
        chat = self.chats.pop(n, None)
        if chat is not None:
            self._of_session.pop(chat.session.id, None)
        return chat

    def get(self, n: int) -> Chat | None:
        """The chat of this number; None: it was closed meanwhile, which any message of Lua must expect."""
        return self.chats.get(n)

    def of(self, session: Session) -> Chat | None:
        """The chat that shows a session."""
        return self._of_session.get(session.id)

    def sharing(self, connection: Connection) -> list[Chat]:
        """The chats whose sessions live on a connection."""
        return [chat for chat in self.chats.values() if chat.connection is connection]

    def of_agent(self, agent: str) -> list[Connection]:
        """The connections to an agent, one a folder."""
        return [each for (name, _), each in self.connections.items() if name == agent]
