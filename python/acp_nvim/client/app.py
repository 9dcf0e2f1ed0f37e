"""The program behind the host: it is put together here, and chats begin and end here."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from acp_nvim.editor import Editor
from acp_nvim.process.spawn import Spawner
from acp_nvim.service.files import FileService
from acp_nvim.service.questions import QuestionService
from acp_nvim.service.roots import inside
from acp_nvim.service.terminals import TerminalService
from acp_nvim.service.tools import ToolBox
from acp_nvim.session.entities import Item, Session
from acp_nvim.session.events import Event, TurnEnded, TurnStarted
from acp_nvim.session.store import Store
from acp_nvim.view.follow import Follow
from acp_nvim.view.frames import Frames
from acp_nvim.view.icons import icons_named
from acp_nvim.view.look import Look

from . import payloads
from .announce import Announcer
from .asking import Asking
from .chat import Chat, Wiring
from .chats import Chats
from .completion import Completion
from .connection import Connection
from .contents import Contents
from .counts import Counts
from .diffs import Diffs
from .earlier import Earlier, remembers
from .export import Exports
from .forms import Forms
from .history import History, keeps
from .items import Items
from .login import Logins
from .login_terminal import LoginTerminals
from .logout import Logouts
from .mentions import Mentions
from .options import Options
from .overwrites import Overwrites
from .queued import Queued
from .record import Record
from .registry import Registry
from .rules import PermissionRules
from .secrets import Secrets
from .services import Services
from .sessions import Sessions
from .settings import Settings
from .shown import Shown
from .terminals import TerminalViews
from .traces import Traces

T = TypeVar("T")


class App:
    """Built when Lua said hello. ``spawn(coroutine function, *args)`` starts a task the runtime owns."""

    def __init__(self, editor: Editor, spawn: Callable[..., None], hello: payloads.Hello) -> None:
        self._editor = editor
        self._spawn = spawn
        own = hello.settings.get("icons")
        self._icons = icons_named(own if isinstance(own, dict) else hello.icons)
        self._settings = settings = Settings(hello.settings)
        self._registry = Registry()
        self._store = Store(time.time, on_error=lambda _session, _event, error: self._report(error))
        self._frames = Frames(editor, report=self._report)
        self._announcer = Announcer(editor)
        self._store.subscribe(self._touch)
        self._store.subscribe(self._announcer.on_event)
        self._follow = Follow(editor, spawn, inside)
        self._store.subscribe(self._follow.on_event)
        self._overwrites = Overwrites(editor, self._store, spawn)
        rules = PermissionRules(self._registry, settings)
        self._asking = Asking(
            editor,
            self._registry,
            self._frames,
            self._announcer,
            self._overwrites,
            self._icons,
            spawn,
            closed=lambda permission: self._forms.closed(permission),
        )
        self._questions = QuestionService(
            self._store, show=self._asking.show, hide=self._asking.hide, decide=rules.decide
        )
        self._files = FileService(
            editor,
            self._questions,
            protected=settings.protected,
            quirks=self._quirks,
            changed=self._wrote,
            chat=self._number,
            written=self._store.apply,
        )
        self._diffs = Diffs(editor)
        self._store.subscribe(self._overwrites.on_event)
        self._secrets = Secrets()
        self._secrets.add_environment(os.environ)  # agents inherit it, and some print what they were given
        self._spawner = Spawner()
        self._terminals = TerminalService(
            self._spawner, self._store, self._questions, spawn, ask=settings.asks_about_commands
        )
        self._store.subscribe(self._terminals.on_event)
        self._terminal_views = TerminalViews(editor, self._registry, spawn)
        self._store.subscribe(self._terminal_views.on_event)
        self._tools = ToolBox(
            editor, self._files, self._terminals, self._questions, self._store, self._spawner, self._report
        )
        self._store.subscribe(self._tools.on_event)
        self._services = Services(
            sink=self._store,
            files=self._files,
            questions=self._questions,
            terminals=self._terminals,
            tools=self._tools,
            spawner=self._spawner,
            secrets=self._secrets,
            clock=time.time,
            spawn=spawn,
            asker=self._asker,
            cache=Path(hello.cache) / "acp.nvim",
        )
        self._login_terminals = LoginTerminals(editor, self._spawner)
        self._logins = Logins(
            self._registry, editor, self._store, self._questions, self._login_terminals, self._secrets, spawn
        )
        self._logouts = Logouts(self._registry, self._questions, self._logins, self._secrets, spawn)
        self._options = Options(self._registry, self._announcer, self._logins, spawn)
        self._store.subscribe(self._options.on_event)
        self._forms = Forms(self._registry, editor, self._questions, self._secrets, spawn)
        self._shown = Shown(editor, self._registry, self._secrets)
        self._traces = Traces(editor, self._registry, self._secrets, spawn, hello.icons, hello.version)
        record = Record(Path(hello.state) / "acp.nvim" / "sessions.json", spawn, self._warn)
        self._earlier = Earlier(
            record, self._registry, editor, self._secrets, spawn, lambda: remembers(settings.now)
        )
        self._store.subscribe(self._earlier.on_event)
        self._sessions = Sessions(
            self._registry, editor, lambda *key: self._chats.connection(*key), spawn, self._earlier
        )
        self._exports = Exports(editor, self._registry, self._secrets, self._icons, spawn)
        self._items = Items(editor, self._registry, spawn)
        self._history = History(
            Path(hello.state) / "acp.nvim",
            editor,
            self._secrets,
            spawn,
            self._warn,
            lambda: keeps(settings.now),
        )
        self._queued = Queued(self._registry, self._announcer, spawn)
        self._contents = Contents(editor, self._registry, spawn, hello.cache)
        self._mentions = Mentions(editor, self._registry, self._spawner, spawn, self._services.cache)
        self._completion = Completion(editor, self._registry, self._spawner, spawn)
        self._counts = Counts(editor, self._registry, self._store, self._questions)
        wiring = Wiring(
            self._store,
            self._frames,
            self._announcer,
            self._logins,
            self._earlier,
            self._mentions,
            self._history,
        )
        self._chats = Chats(
            self._registry,
            wiring,
            self._services,
            self._queued,
            self._icons,
            spawn,
            begun=self._begun,
            over=self._over,
            keep=self._sessions.keep,
        )
        self._handlers: dict[str, Callable[[Any], None]] = {}
        self._listen()
        spawn(self._frames.run)

    # -- what Lua tells

    def handle(self, name: str, payload: Any) -> None:
        """Act on one message of Lua. Raises msgspec.ValidationError for a payload that does not fit."""
        if name not in self._handlers:
            raise ValueError(f"unknown message {name!r}")
        self._handlers[name](payload)

    def _on(self, name: str, kind: type[T], act: Callable[[T], None]) -> None:
        """From now on ``act`` is done with the payload of a message, as a ``kind``."""
        self._handlers[name] = lambda payload: act(msgspec.convert(payload, kind))

    def _listen(self) -> None:
        self._on("open", payloads.Open, self._chats.open)
        self._on("close", payloads.OfChat, self._chats.close)
        self._on("restart", payloads.Restart, self._chats.restart)
        self._on("send", payloads.Send, self._chats.send)
        self._on("queued", payloads.ChangeQueued, self._queued.change)
        self._on("mentions", payloads.Mentions, self._mentions.ask)
        self._on("paste_image", payloads.PasteImage, self._mentions.paste)
        self._on("history", payloads.OfFolder, self._history.tell)
        self._on("history_forget", payloads.OfFolder, self._history.forget)
        self._on("cancel", payloads.Cancel, self._chats.cancel)
        self._on("answer", payloads.Answer, partial(self._asking.answer, self._questions))
        self._on("form", payloads.FillForm, self._forms.form)
        self._on("page_failed", payloads.PageFailed, self._forms.page_failed)
        self._on("follow", payloads.SwitchFollow, self._switch_follow)
        self._on("diff", payloads.ShowDiff, lambda request: self._spawn(self._diff, request))
        self._on("terminal", payloads.ShowTerminal, self._terminal_views.show)
        self._on("settings", payloads.Settings, self._settings.renew)
        self._on("outdated", payloads.OfChat, self._chats.outdated)
        self._on("login", payloads.Login, self._logins.login)
        self._on("option", payloads.SetOption, self._options.set)
        self._on("sessions", payloads.ListSessions, self._sessions.ask)
        self._on("sessions_end", payloads.EndSessions, self._sessions.end)
        self._on("session_delete", payloads.DeleteSession, self._sessions.delete)
        self._on("session_forget", payloads.ForgetSession, self._sessions.forget)
        self._on("logout", payloads.OfChat, self._logouts.logout)
        self._on("login_ended", payloads.LoginEnded, self._login_terminals.ended)
        self._traces.listen(self._on)
        self._on("counts", payloads.Nothing, self._counts.tell)
        self._on("details", payloads.Details, self._shown.details)
        self._on("cancel_item", payloads.Details, self._items.cancel)
        self._on("export", payloads.Export, self._exports.write)
        self._on("content", payloads.OpenContent, self._contents.open)
        self._on("address", payloads.OpenAddress, self._contents.address)
        self._on("complete", payloads.Complete, self._completion.ask)

    # -- chats

    def _begun(self, chat: Chat, request: payloads.Open) -> None:
        self._follow.switch(chat.n, chat.session, request.follow)
        self._history.tell(payloads.OfFolder(request.cwd))

    def _over(self, chat: Chat) -> None:
        self._questions.cancel_all(chat.session, "close")  # what was asked before there was a session
        self._follow.remove(chat.session)
        self._overwrites.remove(chat.session)
        self._options.forget(chat)
        self._earlier.closed(chat)
        self._files.forget(chat.session)
        self._completion.forget(chat)
        self._terminals.close(chat.session)

    def _switch_follow(self, request: payloads.SwitchFollow) -> None:
        chat = self._registry.get(request.chat)
        if chat is not None:
            self._follow.switch(chat.n, chat.session, request.on)

    def _report(self, error: Exception) -> None:
        """A fault of ours that nobody else tells: once in Neovim, in full in the health report."""
        where = type(error).__name__
        self._editor.notify("acp.host", "failed", where, "".join(traceback.format_exception(error)))

    def _warn(self, text: str) -> None:
        self._editor.notify("acp.message", "warn", text)

    def _wrote(self, session: Session, path: str) -> None:
        self._announcer.wrote(session, path)
        self._follow.wrote(session, path)

    def _quirks(self, session: Session) -> dict[str, Any]:
        chat = self._registry.of(session)
        quirks = chat.connection.config.quirks if chat is not None else {}
        return quirks if isinstance(quirks, dict) else {}

    def _number(self, session: Session) -> int | None:
        chat = self._registry.of(session)
        return chat.n if chat is not None else None

    def _asker(self, connection: Connection) -> Session | None:
        """The chat that waits for an agent as a whole: whose user has asked for something, else one without a
        session, else the newest.
        """
        chats = self._registry.sharing(connection)
        asking = [chat for chat in chats if chat.asking]
        waiting = [chat for chat in chats if chat.starting or chat.failure is not None]
        return (asking or waiting or chats)[-1].session if chats else None

    def _touch(self, session: Session, event: Event, touched: Sequence[Item]) -> None:
        chat = self._registry.of(session)
        if chat is None:
            return
        if touched:
            chat.transcript.touch(touched)
            self._frames.wake()
        if isinstance(event, TurnStarted) and not event.prompt:
            chat.queue.began()
        elif isinstance(event, TurnEnded) and not chat.queue.ended_own():
            self._spawn(chat.queue.ended, session.turns[-1])

    async def _diff(self, request: payloads.ShowDiff) -> None:
        chat = self._registry.get(request.chat)
        if chat is not None:
            look = Look(chat.session, self._icons, chat.session.agent)
            await self._diffs.show(request, chat.session, chat.transcript, look)
