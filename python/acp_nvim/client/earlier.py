"""Sessions of an earlier Neovim: noted while they are used, and offered again in the same folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from acp_nvim.editor import Editor
from acp_nvim.service.roots import real_path
from acp_nvim.session.entities import Item, Session
from acp_nvim.session.events import Event, InfoPatch, TurnEnded, TurnStarted
from acp_nvim.text.sanitise import one_line
from acp_nvim.view.sessions import TITLE_CELLS
from acp_nvim.view.status import topic_of

from .record import Record, Used
from .secrets import Secrets

if TYPE_CHECKING:
    from .chat import Chat
    from .registry import Registry


class Earlier:
    """Subscribes to the store. ``wanted``: whether the user wants sessions to be remembered.

    Only what the agent can take up again is noted, once something was said in it; sessions of the built-in
    agent end with their Neovim.
    """

    def __init__(
        self,
        record: Record,
        registry: Registry,
        editor: Editor,
        secrets: Secrets,
        spawn: Callable[..., None],
        wanted: Callable[[], bool],
    ) -> None:
        self._record = record
        self._registry = registry
        self._editor = editor
        self._secrets = secrets
        self._spawn = spawn
        self._wanted = wanted
        self._noted: dict[str, Used] = {}  # what was noted last, by session of ours
        self._greeted: set[str] = set()  # folders whose first chat was told

    # -- noting

    def on_event(self, session: Session, event: Event, touched: Sequence[Item]) -> None:
        """Note a session when a turn begins or ends, and when its title changes."""
        if isinstance(event, TurnStarted | TurnEnded | InfoPatch):
            chat = self._registry.of(session)
            if chat is not None and (session.turns or chat.continues):
                self.note(chat)

    def note(self, chat: Chat) -> None:
        """Remember the session of a chat as it is now."""
        session, info = chat.session, chat.session.info
        if not self._wanted() or chat.connection.demo or session.remote_id is None:
            return
        if info is None or not (info.can_load or info.can_resume):
            return
        turn = session.turns[-1] if session.turns else None
        used = Used(
            agent=session.agent,
            id=session.remote_id,
            cwd=session.cwd,
            home=chat.connection.cwd,
            title=self._secrets.mask(_title(session)),
            time=int((turn.ended or turn.started) if turn is not None else time.time()),
            chat=chat.n,
            delete=info.can_delete,
            fork=info.can_fork,
        )
        if used != self._noted.get(session.id):  # some agents tell the same title again and again
            self._noted[session.id] = used
            self._record.keep(used)

    def closed(self, chat: Chat) -> None:
        """The chat is gone; its session stays noted."""
        self._noted.pop(chat.session.id, None)

    def gone(self, agent: str, ident: str) -> None:
        """The agent does not have it any more: it is offered no longer."""
        self._record.forget(agent, ident)
        self._editor.notify("acp.sessions", "gone", agent, ident)

    def forget(self, agent: str, ident: str) -> None:
        """The user does not want it any more, or the agent has deleted it."""
        self._record.forget(agent, ident)

    # -- offering

    async def listed(self, cwd: str | None, agent: str | None) -> list[dict[str, Any]]:
        """The sessions of a folder (None: of all), for Lua."""
        if not self._wanted():
            return []
        found = [each for each in await self._record.all() if agent in (None, each.agent)]
        if cwd is not None:
            found = await to_thread.run_sync(_in_folder, found, cwd, abandon_on_cancel=True)
        return [_row(each) for each in found]

    def greet(self, chat: Chat) -> None:
        """The first chat of a folder says in its head how many earlier sessions there are."""
        cwd = chat.session.cwd
        if cwd not in self._greeted:
            self._greeted.add(cwd)
            self._spawn(self._count, chat)

    async def _count(self, chat: Chat) -> None:
        rows = await self.listed(chat.session.cwd, None)
        chats = {(each.session.agent, each.session.remote_id) for each in self._registry}
        count = sum((row["agent"], row["id"]) not in chats for row in rows)
        if count and not chat.closed:
            chat.tell.offer(count)


def remembers(settings: Mapping[str, Any]) -> bool:
    """Whether the settings want it: ``sessions.remember``."""
    sessions = settings.get("sessions")
    return not (isinstance(sessions, Mapping) and sessions.get("remember") is False)


def _title(session: Session) -> str:
    said = session.title or topic_of(session)
    if not said and session.turns:
        blocks = [str(block.text) for block in session.turns[0].prompt if block.type == "text"]
        said = next(iter("".join(blocks).strip().splitlines()), "")
    return one_line(said or "", TITLE_CELLS).strip()


def _in_folder(found: list[Used], cwd: str) -> list[Used]:
    """Those of one folder, whatever its name. Touches the disk."""
    real = os.path.realpath(cwd)
    same = {folder for folder in {each.cwd for each in found} if real_path(folder) == real}
    return [each for each in found if each.cwd in same]


def _row(used: Used) -> dict[str, Any]:
    """The file is the user's, but may hold anything: titles are made fit to be shown."""
    row: dict[str, Any] = {
        "agent": used.agent,
        "id": used.id,
        "cwd": used.cwd,
        "home": used.home,
        "delete": used.delete,
        "fork": used.fork,
    }
    title = one_line(used.title, TITLE_CELLS).strip()
    return {**row, **({"title": title} if title else {}), **({"time": used.time} if used.time > 0 else {})}
