"""Logging in to an agent (spec section 3): at most one login on a connection at a time.

Whoever wants one, the user or a request that failed for want of it, gets a question in the one queue. What
was interrupted waits, and goes on after the login (V1-41).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from acp_nvim.editor import Editor
from acp_nvim.session.agent import AuthMethod
from acp_nvim.session.asked import LoginSubject, Permission
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Failure
from acp_nvim.session.events import ToolPatch
from acp_nvim.session.ports import AgentError, Questions, Sink

from . import login_ways, payloads
from .chat import Chat
from .connection import Connection
from .login_terminal import LoginTerminals
from .registry import Registry
from .secrets import Secrets

T = TypeVar("T")

#: Seconds between an answer and its terminal within which the cursor may go there.
PROMPT_TIME = 1.0


def accepted(agent: str) -> str:
    """What is known after a login. An agent may take a wrong key without a word (gemini does)."""
    return f"{agent} has accepted the login; the next prompt shows whether it holds"


class _UserFirstError(Exception):
    """The user has to do something before this method can work; that was said."""


@dataclass(slots=True, eq=False)
class Login:
    """One login, from the question to what it has led to. ``chat``: where it is asked and shown."""

    chat: Chat
    failure: Failure | None  # what the agent answered to the request that needs the login
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    over: anyio.Event = field(default_factory=anyio.Event)
    question: Permission | None = None  # while it is open
    row: str | None = None  # the tool call in whose row the last attempt is shown
    running: AuthMethod | None = None
    done: bool = False
    restart: bool = False  # the login counts only for a new process
    restarted: bool = False  # the process was ended for this login: every chat in it has to start again


class Logins:
    """Answers the message ``login`` of Lua, and the needs of chats. ``spawn`` starts an owned task."""

    def __init__(
        self,
        registry: Registry,
        editor: Editor,
        sink: Sink,
        questions: Questions,
        terminals: LoginTerminals,
        secrets: Secrets,
        spawn: Callable[..., None],
    ) -> None:
        self._registry = registry
        self._editor = editor
        self._sink = sink
        self._questions = questions
        self._terminals = terminals
        self._secrets = secrets
        self._spawn = spawn
        self._logins: dict[Connection, Login] = {}
        self._planned: dict[Connection, str] = {}  # a method that waits for the settings: see :AcpRestart

    # -- who wants a login

    def login(self, request: payloads.Login) -> None:
        """``:AcpLogin``: put the question, or bring the one that is open before the user's eyes."""
        chat = self._registry.get(request.chat)
        if chat is not None:
            if request.config is not None:
                chat.connection.config, chat.connection.demo = request.config, request.demo
            self._spawn(self._on_demand, chat)

    async def _on_demand(self, chat: Chat) -> None:
        quick = chat.connection.state == "ready"
        login = self._logins.get(chat.connection)
        if login is None:
            if not await self._connected(chat):
                return
            login = self._logins.get(chat.connection)  # its start may have led to one
        if login is None:
            if not login_ways.usable(chat.connection):
                title = f"{chat.session.agent} offers no login the editor can do."
                chat.tell.note("warning", title, self._other(chat), beside=True)
                return
            login = self._begin(chat, None)
        if login.running is not None:
            title = f"a login is under way: {login.running.name}"
            chat.tell.note("info", title, [":AcpCancel ends it"], beside=True)
        elif login.question is not None and quick:  # else the user may be somewhere else by now
            self._editor.notify("acp.question", "pick", login.question.id)

    async def _connected(self, chat: Chat) -> bool:
        try:
            await chat.connection.ready()
        except AgentError as error:
            if chat.failure is not error.failure:  # else the chat says it
                remedy = error.failure.remedy or ":AcpTrace"
                chat.tell.note("error", error.failure.message, [remedy], beside=True)
            return False
        return True

    def _other(self, chat: Chat) -> list[str]:
        """What the agent offers that cannot be used from here, and what to do instead."""
        lines = [
            f"{way.name}: {way.how}" + (f": {way.description}" if way.description else "")
            for way in login_ways.ways(chat.connection)
        ]
        return [*lines, chat.connection.login_remedy]

    def wanted(self, chat: Chat, failure: Failure) -> bool:
        """A request of this chat failed for want of a login (V1-41). Whether there is one it can wait for.

        Then the chat is told when it is over: ``go_on`` or ``give_up_login``.
        """
        if not login_ways.usable(chat.connection):
            return False
        if chat.connection not in self._logins:
            self._begin(chat, failure)
        return True

    async def with_login(self, chat: Chat, step: Callable[[], Awaitable[T]]) -> T:
        """Do a step; if the agent wants a login for it, do it again after the login, once.

        Raises AgentError: of the step, also when the user does not log in.
        """
        try:
            return await step()
        except AgentError as error:
            if error.failure.kind != "auth" or not self.wanted(chat, error.failure):
                raise
            login = self._logins[chat.connection]
            await login.over.wait()
            if not login.done:
                raise
        return await step()

    def again(self, chat: Chat) -> None:
        """The user sends a prompt although there was no login: it may have happened elsewhere."""
        self._spawn(chat.start)

    def under_way(self, connection: Connection) -> bool:
        """Whether a login is asked for, or goes on."""
        return connection in self._logins

    # -- who wants it no more

    async def stop(self, chat: Chat) -> bool:
        """``:AcpCancel``: no login any more, if this chat has to do with one. Whether it had.

        The agent is told that it need not go on with its own (V1-86).
        """
        login = self._logins.get(chat.connection)
        if login is None or not (login.chat is chat or chat.held or chat.logging_in):
            return False
        agent = chat.connection.agent_now
        if agent is not None and login.running is not None:
            await agent.withdraw(chat.session, shared=True)
        self._end(login)
        return True

    def _end(self, login: Login) -> None:
        """Who wants a login from now on gets a new one."""
        if self._logins.get(login.chat.connection) is login:
            del self._logins[login.chat.connection]
        login.scope.cancel()

    def lost(self, connection: Connection) -> None:
        """The agent has ended, if not for the login itself."""
        login = self._logins.get(connection)
        if login is not None and not login.restarted:
            self._end(login)

    def closed(self, chat: Chat) -> None:
        """A chat is gone. If the question stood in it, another chat that waits asks instead."""
        login = self._logins.get(chat.connection)
        if login is not None and login.chat is chat:
            self._end(login)

    # -- one login

    def _begin(self, chat: Chat, failure: Failure | None) -> Login:
        login = Login(chat, failure)
        self._logins[chat.connection] = login
        self._spawn(self._run, login)
        return login

    async def _run(self, login: Login) -> None:
        connection = login.chat.connection
        try:
            with login.scope:
                login.done = await self._until_over(login)
                if login.done and login.restart:
                    await self._restart(login)
        finally:
            self._show_running(login, None)
            if self._logins.get(connection) is login:
                del self._logins[connection]
        await self._conclude(login)
        login.over.set()

    async def _conclude(self, login: Login) -> None:
        """What was interrupted goes on, or is given back."""
        connection = login.chat.connection
        chats = self._registry.sharing(connection)
        if not login.done and login.chat.closed and connection not in self._logins:
            heir = next((each for each in chats if each.held is not None), None)
            if heir is not None and heir.held is not None:
                self._begin(heir, heir.held)
        async with anyio.create_task_group() as group:
            for each in chats:
                if login.done and (each is login.chat or each.held or each.wants_login or login.restarted):
                    said = accepted(connection.agent) if each is login.chat else None
                    group.start_soon(each.go_on, said)
                    continue
                stopped = each.failure is not None and each.failure.kind == "cancelled"
                if each.held is not None and connection not in self._logins:
                    each.give_up_login()
                if login.restarted and stopped:  # for the login, which then failed
                    group.start_soon(each.start)

    async def _until_over(self, login: Login) -> bool:
        """Ask and try until the user is logged in (True) or wants it no more."""
        connection = login.chat.connection
        planned = self._planned.pop(connection, None)
        method = next((m for m in login_ways.usable(connection) if m.id == planned), None)
        if method is not None and login_ways.missing(method, connection):
            method = None
        failed: str | None = None
        while True:
            method = method or await self._choose(login, failed)
            if method is None:
                return False
            self._show_running(login, method)
            try:
                await self._log_in(login, method)
            except AgentError as error:
                if error.failure.kind in ("transport", "cancelled"):  # its end is told
                    self._show(login, "cancelled")
                    return False
                failed = self._secrets.mask(error.failure.message)
                self._show(login, "failed", failed)
                self._show_running(login, None)
            except _UserFirstError:
                self._show(login, "cancelled")
                return False
            except anyio.get_cancelled_exc_class():
                self._show(login, "cancelled")
                raise
            else:
                self._show(login, "completed")
                return True
            method = None

    async def _choose(self, login: Login, failed: str | None) -> AuthMethod | None:
        connection = login.chat.connection
        said = login.failure.message if login.failure is not None else None
        login.question = Permission(
            "",
            login_ways.options(connection),
            title=f"log in to {connection.agent}",
            subject=LoginSubject(
                "login", login_ways.ways(connection), self._secrets.mask(said) if said else None, failed
            ),
            asked_by="client",
        )
        try:
            answer = await self._questions.ask(login.chat.session, login.question)
            login.row = login.question.tool_call_id
        finally:
            login.question = None
        if answer is None or answer == login_ways.LATER:
            return None
        return login_ways.usable(connection)[int(answer)]

    async def _log_in(self, login: Login, method: AuthMethod) -> None:
        """Use a method. Raises AgentError when it fails, _UserFirstError when it cannot be used yet."""
        connection = login.chat.connection
        if method.type == "terminal":
            await self._in_terminal(login, method)
            login.restart = True
            return
        if method.type == "env_var" and login_ways.missing(method, connection):
            await self._take_settings(login, method)
        agent = await connection.ready()
        await agent.authenticate(method.id)

    async def _in_terminal(self, login: Login, method: AuthMethod) -> None:
        """Success is exit status 0, and nothing else (V1-38)."""
        connection, since = login.chat.connection, anyio.current_time()
        launch = await connection.launch()
        code = await self._terminals.run(
            login.chat.n,
            f"{connection.agent}: {method.name}",
            launch,
            method.args,
            dict(method.env),
            connection.cwd,
            enter=anyio.current_time() - since < PROMPT_TIME,
        )
        if code is None:
            raise AgentError(Failure(f"{method.name}: its terminal was closed"))
        if code != 0:
            raise AgentError(
                Failure(f"{method.name}: ended with exit code {code}; its terminal is still there")
            )

    async def _take_settings(self, login: Login, method: AuthMethod) -> None:
        """The variables are not in the agent's process: it needs another one that has them."""
        connection, chat = login.chat.connection, login.chat
        absent = login_ways.missing(method, connection)
        known = connection.config.env if isinstance(connection.config.env, dict) else {}
        if not all(name in known for name in absent):
            self._planned[connection] = method.id
            verb = "is" if len(absent) == 1 else "are"
            chat.tell.note(
                "error",
                f"not logged in: {', '.join(absent)} {verb} not set",
                login_ways.how_to_set(method, connection),
                beside=True,
            )
            raise _UserFirstError
        await self._restart(login)

    async def _restart(self, login: Login) -> None:
        """End the agent's process, once no turn of another chat runs in it; the chats start a new one."""
        connection = login.chat.connection
        for each in self._registry.sharing(connection):
            if each.session.turn is not None:
                each.tell.note(
                    "info",
                    f"{connection.agent} has accepted the login, and is started again after this turn",
                )
                await each.queue.turn_over()
        login.restarted = True
        with anyio.CancelScope(shield=True):
            await connection.stop(again=True)

    # -- showing

    def _show_running(self, login: Login, method: AuthMethod | None) -> None:
        """In the status of every chat that waits for the login, and in the row of the question."""
        if method is None and login.running is None:
            return
        login.running = method
        name = method.name if method is not None else None
        for each in self._registry.sharing(login.chat.connection):
            if each is login.chat or each.held or each.logging_in:
                each.logging_in = name
                each.push()
        if method is not None:
            self._show(login, "in_progress", title=method.name)

    def _show(self, login: Login, status: str, text: str | None = None, title: str | None = None) -> None:
        if login.row is None or login.chat.closed:
            return
        patch = ToolPatch(login.row, status=status)
        if title is not None:
            patch = ToolPatch(login.row, status=status, title=title)
        elif text is not None:
            patch = ToolPatch(login.row, status=status, content=(Block.of_text(text),))
        self._sink.apply(login.chat.session, patch)
