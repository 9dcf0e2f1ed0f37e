"""What the rest of Neovim is told: status, User events, and the like, each after the text it speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from acp_nvim.editor import Editor
from acp_nvim.session.asked import Permission
from acp_nvim.session.content import Diff
from acp_nvim.session.entities import Item, Session, ToolCall, Turn
from acp_nvim.session.events import (
    CommandsSet,
    Event,
    InfoPatch,
    PermissionClosed,
    PermissionOpened,
    ReplayEnded,
    TurnStarted,
)
from acp_nvim.text.paths import relative
from acp_nvim.text.sanitise import one_line
from acp_nvim.view.questions import words
from acp_nvim.view.status import LABEL_CELLS, Status

if TYPE_CHECKING:
    from .chat import Chat

#: Cells of a text of the agent in an event; what listens to it may show it anywhere.
TEXT_CELLS = 400
#: Files that a note of one line names.
NAMES = 5


class Announcer:
    """Subscribes to the store; one for the host."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._chats: dict[str, Chat] = {}
        self._statuses: dict[int, Status] = {}
        self._seen: dict[int, int] = {}  # number of the last send told to Lua, by chat
        self._rows: dict[tuple[int, str], tuple[Any, ...]] = {}

    def add(self, chat: Chat) -> None:
        """From now on what happens in the chat's session is told."""
        self._chats[chat.session.id] = chat
        self._statuses[chat.n] = Status()

    def remove(self, chat: Chat) -> None:
        """The chat is closed: nothing more is told of it."""
        self.call(chat, "acp.buffers.watch", "stop")
        self._chats.pop(chat.session.id, None)
        self._statuses.pop(chat.n, None)
        self._seen.pop(chat.n, None)
        for key in [key for key in self._rows if key[0] == chat.n]:
            del self._rows[key]

    # -- the store's events

    def on_event(self, session: Session, event: Event, touched: Sequence[Item]) -> None:
        """Called by the store after each event."""
        chat = self._chats.get(session.id)
        if chat is None:
            return
        chat.stall.heard()
        match event:
            case TurnStarted():
                self.call(chat, "acp.buffers.watch", "start", list(session.roots) or [session.cwd])
                self.status(chat)
                self.fire(chat, "AcpTurnStart", {})
            case PermissionOpened():
                pass  # told of by ``asked``, when it can be answered
            case PermissionClosed():
                self.status(chat)
                data = {"id": event.id, "outcome": event.outcome, "option": event.option, "by": event.by}
                self.fire(chat, "AcpPermissionDone", data)
            case CommandsSet(commands=commands):
                rows = [known(name=c.name, description=c.description, hint=c.hint) for c in commands]
                self.call(chat, "acp.chat.complete", "commands", rows)
                if chat.agent is not None:
                    chat.tell.head("ready")
            case InfoPatch():
                self.status(chat)
            case _:
                if type(event).__name__ not in _TEXT_EVENTS:
                    self.status(chat)
        past = session.replaying or isinstance(event, ReplayEnded)
        for item in touched:
            if isinstance(item, ToolCall):
                self._row(chat, item, past)

    def asked(self, chat: Chat, permission: Permission) -> None:
        """Neovim knows a question now: whoever hears of it can answer it."""
        self.status(chat)
        self.fire(chat, "AcpPermission", _permission(permission, chat.session))

    def _row(self, chat: Chat, call: ToolCall, past: bool) -> None:
        """Tell of a tool call. What is replayed is ``past``: no news, and it changes no file now."""
        key = (chat.n, call.id)
        paths = sorted(
            {location.path for location in call.locations}
            | {change.path for diff in call.content if isinstance(diff, Diff) for change in diff.changes}
        )
        now = (call.kind, call.status, call.title, tuple(paths))
        before = self._rows.get(key)
        if before == now:
            return
        self._rows[key] = now
        if past:
            return
        self.fire(
            chat,
            "AcpToolCall",
            {
                "id": call.id,
                "kind": call.kind,
                "status": call.status,
                "title": one_line(call.title, TEXT_CELLS),
                "paths": paths,
            },
        )
        if call.status == "completed" and call.kind not in _HARMLESS:
            # A command does not say which files it changes.
            known_paths = paths if paths and call.kind in ("edit", "delete", "move") else None
            self._editor.notify("acp.buffers", "refresh", known_paths, chat.n)

    # -- telling

    def fire(self, chat: Chat, name: str, data: dict[str, Any]) -> None:
        """Fire a User event; ``agent``, ``session`` and ``bufnr`` are added by Lua."""
        self._editor.notify("acp.events", "fire", chat.n, name, known(**data))

    def call(self, chat: Chat, module: str, function: str, *args: Any) -> None:
        """Tell a Lua module something about a chat."""
        self._editor.notify(module, function, chat.n, *args)

    def status(self, chat: Chat) -> None:
        """Send the changed fields of the status."""
        status = self._statuses.get(chat.n)
        if status is None:
            return
        if chat.session.state == "lost" and chat.failure is None and not chat.starting:
            return  # why is not known yet: told together
        patch = status.patch(
            chat.session,
            queued=len(chat.queue),
            failure=chat.failure,
            starting=chat.session.state == "starting" or chat.starting,
            login=chat.wants_login,
            logging_in=chat.logging_in,
            silent=chat.slow_s if chat.slow_s is not None else chat.stall.seconds,
            asking=chat.asking > 0,
        )
        # An empty patch still tells Lua that its last send was handled.
        if patch or self._seen.get(chat.n) != chat.queue.seen:
            self._seen[chat.n] = chat.queue.seen
            self.call(chat, "acp.status", "update", patch, chat.queue.seen)

    def turn_ended(self, chat: Chat, turn: Turn) -> None:
        """The turn is over and its text is in the buffer."""
        self.call(chat, "acp.buffers.watch", "stop")
        self.status(chat)
        error = one_line(turn.error.message, TEXT_CELLS) if turn.error is not None else None
        stop = one_line(turn.outcome, LABEL_CELLS) if turn.outcome else "none"
        self.fire(chat, "AcpTurnEnd", {"stop_reason": stop, "error": error})

    def wrote(self, session: Session, path: str) -> None:
        """A file was written for an agent."""
        chat = self._chats.get(session.id)
        if chat is not None:
            self.fire(chat, "AcpFileChanged", {"path": path, "how": "write"})

    async def check_files(self, chat: Chat, paths: list[str] | None) -> None:
        """Let unmodified buffers show what the agent changed on disk; name the others and what is gone."""
        conflicts: list[str] = await self._editor.call("acp.buffers", "check", paths, chat.n)
        if conflicts:
            self._conflicts(chat, conflicts)
        deleted: list[str] = await self._editor.call("acp.buffers", "deleted", chat.n)
        if deleted:
            kept = "your buffer still has it" if len(deleted) == 1 else "your buffers still have them"
            chat.tell.note("info", f"deleted on disk, {kept}: {_named(chat, deleted)}")
        again: list[str] = await self._editor.call("acp.buffers", "again", chat.n)
        if again:
            were = "it was" if len(again) == 1 else "they were"
            chat.tell.note("info", f"written again, {were} deleted on disk: {_named(chat, again)}")

    def _conflicts(self, chat: Chat, conflicts: list[str]) -> None:
        one = len(conflicts) == 1
        title = "a file" if one else f"{len(conflicts)} files"
        names = [relative(path, chat.session.cwd) for path in conflicts]
        remedy = "takes the disk's text, :w! keeps yours"
        chat.tell.note(
            "warning", f"{title} changed on disk under your unsaved edits", [*names, f":e! {remedy}"]
        )


def _named(chat: Chat, paths: list[str]) -> str:
    more = f" and {len(paths) - NAMES} more" if len(paths) > NAMES else ""
    return ", ".join(relative(path, chat.session.cwd) for path in paths[:NAMES]) + more


def known(**fields: Any) -> dict[str, Any]:
    """The fields that have a value: None would be ``vim.NIL`` in Lua, which is true."""
    return {name: value for name, value in fields.items() if value is not None}


#: Tool calls of these kinds change no file.
_HARMLESS = frozenset({"read", "search", "think", "fetch"})

_TEXT_EVENTS = frozenset({"MessageAppend", "MessageSet", "ToolAppend", "TerminalBytes", "Unknown"})


def _permission(permission: Permission, session: Session) -> dict[str, Any]:
    call = session.tool_calls.get(permission.tool_call_id or "")
    title = permission.title or (call.title if call is not None else "")
    if not title.strip():  # ours, or of an agent that says nothing
        title = words(permission, session)
    return {
        "id": permission.id,
        "title": one_line(title, TEXT_CELLS),
        "options": [
            {"id": o.id, "name": one_line(o.name, TEXT_CELLS), "kind": one_line(o.kind, LABEL_CELLS)}
            for o in permission.options
        ],
    }
