"""The options of a session: told to Lua, and set as the user wishes (spec section 14)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import anyio

from acp_nvim.session.entities import Failure, Item, Session
from acp_nvim.session.events import Event, OptionsSet, OptionValue
from acp_nvim.session.options import Option
from acp_nvim.session.ports import AgentError
from acp_nvim.text.sanitise import one_line
from acp_nvim.view.options import label, rows, typed

from . import payloads
from .announce import TEXT_CELLS, Announcer, known
from .chat import Chat
from .login import Logins
from .option_values import ask, find, offered, remember, said
from .registry import Registry

#: Seconds after which a change that has no answer is spoken about.
PATIENCE = 10.0

#: The options whose change by the agent is worth a line: what it may do, and who answers.
_TOLD = ("mode", "model")


class Options:
    """Answers the message ``option`` of Lua; subscribes to the store. ``spawn`` starts an owned task."""

    def __init__(
        self, registry: Registry, announcer: Announcer, logins: Logins, spawn: Callable[..., None]
    ) -> None:
        self._registry = registry
        self._announcer = announcer
        self._logins = logins
        self._spawn = spawn
        self._rows: dict[str, list[dict[str, Any]]] = {}  # what Lua has, by session
        self._last: dict[str, dict[str, str]] = {}  # the labels of mode and model, by session
        # The values asked for last that have no answer yet, by session and option.
        self._wanted: dict[str, dict[str, str | bool]] = {}

    def forget(self, chat: Chat) -> None:
        """The chat is closed."""
        for kept in (self._rows, self._last, self._wanted):
            kept.pop(chat.session.id, None)

    # -- the store's events

    def on_event(self, session: Session, event: Event, touched: Sequence[Item]) -> None:
        """Tell Lua of every change; the user of one that the agent makes by itself."""
        if not isinstance(event, OptionsSet | OptionValue):
            return
        chat = self._registry.of(session)
        if chat is None:
            return
        now = rows(session.options)
        if now != self._rows.get(session.id, []):
            self._rows[session.id] = now
            self._announcer.call(chat, "acp.options", "update", now)
        self._superseded(chat)
        before = self._last.get(session.id, {})
        self._last[session.id] = after = _told(session)
        for category, name in after.items():
            option = session.option(category)
            asked = option is not None and option.id in self._wanted.get(session.id, {})
            if before.get(category, name) != name and not asked and _under_way(chat):
                chat.tell.note(
                    "info", f"{session.agent} changed the {category}: {before[category]} to {name}"
                )

    def _superseded(self, chat: Chat) -> None:
        """What the agent has changed since is not set again when it is started again."""
        if chat.starting or chat.session.replaying or chat.agent is None:
            return
        now = {option.id: option.value for option in chat.session.options if option.type != "secret"}
        asked = self._wanted.get(chat.session.id, {})
        gone = False
        for kept in (chat.preset, chat.chosen):
            old = [key for key, value in kept.items() if key not in asked and now.get(key, value) != value]
            for ident in old:
                del kept[ident]
            gone = gone or bool(old)
        if gone:
            remember(chat)

    # -- the user's wishes

    def set(self, request: payloads.SetOption) -> None:
        """Ask the agent for a value. Of wishes that come while it thinks about one, the last counts."""
        chat = self._registry.get(request.chat)
        if chat is None:
            return
        option = find(chat.session.options, request.id)
        value = offered(option, request.value) if option is not None else None
        if chat.agent is None or option is None or value is None:
            self._done(chat, request.id, "it is not offered any more")
            return
        wanted = self._wanted.setdefault(chat.session.id, {})
        waits = option.id in wanted
        wanted[option.id] = value
        if not waits:
            self._spawn(self._set, chat, option.id)

    async def _set(self, chat: Chat, ident: str) -> None:
        wanted = self._wanted[chat.session.id]
        error: str | None = None
        try:
            with chat.waiting():
                asked: str | bool | None = None
                while asked != wanted[ident]:
                    asked = wanted[ident]
                    error = await self._ask(chat, ident, asked)
        finally:
            del wanted[ident]
        self._done(chat, typed(ident), error)

    async def _ask(self, chat: Chat, ident: str, value: str | bool) -> str | None:
        """Returns why the value was not set, empty if that is told elsewhere; None when it was."""
        try:
            await self._logins.with_login(chat, partial(self._try, chat, ident, value))
        except AgentError as error:
            return "" if error.failure.kind == "transport" else said(error.failure)
        return None

    async def _try(self, chat: Chat, ident: str, value: str | bool) -> None:
        """Raises AgentError."""
        option = next((each for each in chat.session.options if each.id == ident), None)
        if option is None or chat.agent is None:
            raise AgentError(Failure("it is not offered any more"))
        async with anyio.create_task_group() as group:
            group.start_soon(self._remind, chat, option, value)
            failure = await ask(chat.agent, chat.session, option, value)
            group.cancel_scope.cancel()
        if failure is not None:
            raise AgentError(failure)
        chat.chosen[ident] = value
        remember(chat)

    async def _remind(self, chat: Chat, option: Option, value: str | bool) -> None:
        await anyio.sleep(PATIENCE)
        what = f"{one_line(option.name, TEXT_CELLS)}: {label(option, value)}"
        self._announcer.call(chat, "acp.options", "slow", what)

    def _done(self, chat: Chat, ident: str, error: str | None) -> None:
        self._announcer.call(chat, "acp.options", "done", known(id=ident, error=error))


def _told(session: Session) -> dict[str, str]:
    options = {category: session.option(category) for category in _TOLD}
    return {name: label(option, option.value) for name, option in options.items() if option is not None}


def _under_way(chat: Chat) -> bool:
    """Whether the conversation has begun: until then the agent only says what it begins with."""
    return bool(chat.session.turns) and not chat.session.replaying and not chat.starting
