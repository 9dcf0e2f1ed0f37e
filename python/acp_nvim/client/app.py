"""The program behind the host: chats and connections by name, and what the user's commands do to them."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from acp_nvim.editor import Editor
from acp_nvim.process.spawn import Spawner
from acp_nvim.service.files import PROTECTED, FileService
from acp_nvim.service.questions import QuestionService
from acp_nvim.service.roots import inside
from acp_nvim.session.entities import Failure, Item, Permission, Session
from acp_nvim.session.events import Event
from acp_nvim.session.ports import AgentError
from acp_nvim.session.store import Store
from acp_nvim.view.follow import Follow
from acp_nvim.view.frames import Frames
from acp_nvim.view.icons import icons_named
from acp_nvim.view.look import Look
from acp_nvim.view.questions import describe
from acp_nvim.view.transcript import Transcript

from . import payloads
from .announce import Announcer, known
from .chat import Chat, Prompt, Wiring
from .connection import Connection, Services
from .diffs import Diffs
from .secrets import Secrets
from .trace import Entry

T = TypeVar("T")


class App:
    """Built when Lua said hello. ``spawn(coroutine function, *args)`` starts a task the runtime owns."""

    def __init__(self, editor: Editor, spawn: Callable[..., None], hello: payloads.Hello) -> None:
        self._editor = editor
        self._spawn = spawn
        own = hello.settings.get("icons")
        self._icons = icons_named(own if isinstance(own, dict) else hello.icons)
        self._ascii = hello.icons == "ascii"
        self._settings = hello.settings
        self._chats: dict[int, Chat] = {}
        self._connections: dict[tuple[str, str], Connection] = {}
        self._shown_traces: dict[int, list[list[Entry]]] = {}
        self._store = Store(time.time, on_error=lambda _session, _event, error: self._report(error))
        self._frames = Frames(editor, report=self._report)
        self._announcer = Announcer(editor)
        self._store.subscribe(self._touch)
        self._store.subscribe(self._announcer.on_event)
        self._follow = Follow(editor, spawn, inside)
        self._store.subscribe(self._follow.on_event)
        self._questions = QuestionService(self._store, show=self._show_question, hide=self._hide_question)
        self._files = FileService(
            editor,
            self._questions,
            protected=self._protected,
            quirks=self._quirks,
            changed=self._wrote,
            chat=self._number,
        )
        self._diffs = Diffs(editor)
        self._secrets = Secrets()
        self._secrets.add_environment(os.environ)  # agents inherit it, and some print what they were given
        self._spawner = Spawner()
        self._services = Services(
            sink=self._store,
            files=self._files,
            questions=self._questions,
            spawner=self._spawner,
            secrets=self._secrets,
            clock=time.time,
            spawn=spawn,
        )
        spawn(self._frames.run)

    # -- what Lua tells

    def handle(self, name: str, payload: Any) -> None:
        """Act on one message of Lua. Raises msgspec.ValidationError for a payload that does not fit."""
        match name:
            case "open":
                self._open(_as(payloads.Open, payload))
            case "send":
                self._send(_as(payloads.Send, payload))
            case "cancel":
                cancel = _as(payloads.Cancel, payload)
                if (chat := self._chats.get(cancel.chat)) is not None:
                    self._spawn(chat.cancel, cancel.queue)
            case "answer":
                answer = _as(payloads.Answer, payload)
                self._questions.answer(answer.id, answer.index, answer.by)
            case "follow":
                follow = _as(payloads.SwitchFollow, payload)
                if (chat := self._chats.get(follow.chat)) is not None:
                    self._follow.switch(chat.n, chat.session, follow.on)
            case "diff":
                self._spawn(self._diff, _as(payloads.ShowDiff, payload))
            case "close":
                self._spawn(self._close, _as(payloads.OfChat, payload).chat)
            case "restart":
                self._spawn(self._restart, _as(payloads.Restart, payload))
            case "login":
                login = _as(payloads.Login, payload)
                self._spawn(self._login, login.chat, login.method)
            case "trace":
                self._trace(_as(payloads.ShowTrace, payload))
            case "trace_item":
                self._trace_item(_as(payloads.ShowTraceItem, payload))
            case "details":
                self._details(_as(payloads.Details, payload))
            case "settings":
                self._settings = _as(payloads.Settings, payload).settings
            case _:
                raise ValueError(f"unknown message {name!r}")

    # -- chats

    def _open(self, request: payloads.Open) -> None:
        if request.chat in self._chats:
            return
        session = Session(f"chat-{request.chat}", request.agent, request.cwd, roots=(request.cwd,))
        session.remote_id = request.session
        connection = self._connection(request)
        transcript = Transcript(
            request.chat, session, icons=self._icons, label=request.agent, first=request.first_block
        )
        wiring = Wiring(self._store, self._frames, self._announcer)
        chat = Chat(request.chat, session, connection, transcript, wiring, reopened=request.first_block > 1)
        chat.first = all(other.session.agent != request.agent for other in self._chats.values())
        self._chats[request.chat] = chat
        self._store.add(session)
        self._frames.add(transcript)
        self._announcer.add(chat)
        self._store.gate(session, partial(self._frames.room, request.chat))
        self._follow.switch(request.chat, session, request.follow)
        self._spawn(chat.start)
        self._spawn(chat.work)

    def _connection(self, request: payloads.Open) -> Connection:
        key = (request.agent, request.cwd)
        connection = self._connections.get(key)
        if connection is None:
            connection = Connection(request.agent, request.cwd, request.config, request.demo, self._services)
            connection.on_lost = partial(self._lost, key)
            self._connections[key] = connection
        elif connection.vacant:
            connection.config, connection.demo = request.config, request.demo
        return connection

    def _chats_of(self, connection: Connection) -> list[Chat]:
        return [chat for chat in self._chats.values() if chat.connection is connection]

    async def _lost(self, key: tuple[str, str], failure: Failure) -> None:
        for chat in self._chats_of(self._connections[key]):
            await chat.lost(failure)

    def _send(self, request: payloads.Send) -> None:
        chat = self._chats.get(request.chat)
        if chat is None:
            return
        context = request.context if isinstance(request.context, list) else []
        chat.send(Prompt(request.text, context), now=request.now, seq=request.seq)
        if request.now and chat.session.turn is not None:
            self._spawn(chat.cancel, False)

    async def _close(self, n: int) -> None:
        chat = self._chats.pop(n, None)
        if chat is None:
            return
        await chat.close()
        self._frames.remove(chat.transcript)
        self._announcer.remove(chat)
        self._follow.remove(chat.session)
        self._files.forget(chat.session)
        self._store.remove(chat.session)
        if not self._chats_of(chat.connection):
            await chat.connection.stop()

    async def _restart(self, request: payloads.Restart) -> None:
        chat = self._chats.get(request.chat)
        if chat is None:
            return
        connection = chat.connection
        if request.config is not None:
            connection.config, connection.demo = request.config, request.demo
        chats = self._chats_of(connection)
        await connection.stop(again=True)
        for each in chats:
            self._spawn(each.start)

    async def _login(self, n: int, method: str | None) -> None:
        chat = self._chats.get(n)
        if chat is None:
            return
        name = chat.session.agent
        try:
            agent = await chat.connection.ready()
        except AgentError as error:
            if chat.failure is not error.failure:  # else the chat says it
                chat.note("error", error.failure.message, [error.failure.remedy or ":AcpTrace"])
            return
        methods = [m for m in (agent.info.auth_methods if agent.info else ()) if m.type == "agent"]
        if method is None:
            if not methods:
                chat.note(
                    "warning",
                    f"{name} offers no login the editor can do.",
                    [chat.connection.login_remedy],
                )
                return
            rows = [known(id=m.id, name=m.name, description=m.description) for m in methods]
            self._announcer.call(chat, "acp.login", "choose", name, rows)
            return
        try:
            await agent.authenticate(method)
        except AgentError as error:
            if error.failure.kind != "transport":  # else its end is told
                chat.note("error", f"not logged in: {error.failure.message}", [":AcpLogin tries again"])
            return
        chat.note("info", f"logged in to {name}")
        for each in self._chats_of(chat.connection):
            if each is chat or (each.failure is not None and each.failure.kind == "auth"):
                self._spawn(each.start)

    # -- questions

    def _show_question(self, session: Session, permission: Permission) -> None:
        chat = self._chat_of(session)
        if chat is None:
            return
        call = session.tool_calls.get(permission.tool_call_id or "")
        question = describe(permission, call, session, self._icons, session.agent)
        self._editor.notify("acp.question", "open", question.payload(chat.n))
        self._frames.wake()

    def _hide_question(self, permission: Permission, outcome: str) -> None:
        self._editor.notify("acp.question", "close", permission.id, outcome)

    def _chat_of(self, session: Session) -> Chat | None:
        return next((chat for chat in self._chats.values() if chat.session is session), None)

    def _report(self, error: Exception) -> None:
        """A fault of ours that nobody else tells: once in Neovim, in full in the health report."""
        where = type(error).__name__
        self._editor.notify("acp.host", "failed", where, "".join(traceback.format_exception(error)))

    def _wrote(self, session: Session, path: str) -> None:
        self._announcer.wrote(session, path)
        self._follow.wrote(session, path)

    def _quirks(self, session: Session) -> dict[str, Any]:
        chat = self._chat_of(session)
        quirks = chat.connection.config.quirks if chat is not None else {}
        return quirks if isinstance(quirks, dict) else {}

    def _number(self, session: Session) -> int | None:
        chat = self._chat_of(session)
        return chat.n if chat is not None else None

    def _protected(self) -> list[str]:
        files = self._settings.get("files")
        protected = files.get("protected") if isinstance(files, dict) else None
        return [str(each) for each in protected] if isinstance(protected, list) else list(PROTECTED)

    def _touch(self, session: Session, _event: Event, touched: Sequence[Item]) -> None:
        chat = self._chat_of(session)
        if chat is not None and touched:
            chat.transcript.touch(touched)
            self._frames.wake()

    async def _diff(self, request: payloads.ShowDiff) -> None:
        chat = self._chats.get(request.chat)
        if chat is not None:
            look = Look(chat.session, self._icons, chat.session.agent)
            await self._diffs.show(request, chat.session, chat.transcript, look)

    # -- trace and details

    def _trace(self, request: payloads.ShowTrace) -> None:
        connections = [c for (agent, _), c in self._connections.items() if agent == request.agent]
        lines: list[str] = []
        behind: list[list[Entry]] = []
        for connection in connections:
            some, entries = connection.trace.lines("ascii" if self._ascii else "unicode")
            if len(connections) > 1:
                lines.append(f"{connection.agent} in {connection.cwd}")
                behind.append([])
            lines.extend(some)
            behind.extend(entries)
        self._shown_traces[request.buf] = behind
        self._editor.notify("acp.trace", "show", request.buf, lines or ["no messages yet"])

    def _trace_item(self, request: payloads.ShowTraceItem) -> None:
        behind = self._shown_traces.get(request.buf, [])
        entries = behind[request.row - 1] if 0 < request.row <= len(behind) else []
        connection = next((c for (agent, _), c in self._connections.items() if agent == request.agent), None)
        if entries and connection is not None:
            self._editor.notify("acp.trace", "open", request.agent, connection.trace.whole(entries))

    def _details(self, request: payloads.Details) -> None:
        chat = self._chats.get(request.chat)
        if chat is None:
            return
        lines = [self._secrets.mask(line) for line in chat.transcript.details(request.block, request.row)]
        self._editor.notify("acp.chat.show", "details", chat.n, lines)


def _as(kind: type[T], payload: Any) -> T:
    return msgspec.convert(payload, kind)
