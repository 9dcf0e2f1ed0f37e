"""Terminals for agents (ports.Terminals; design.md section 5, Terminals; V1-176 to V1-196)."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from itertools import count

from anyio import to_thread

from ..process.command import start_command
from ..process.spawn import LaunchError, Spawner
from ..session.asked import CommandSubject, Permission, PermissionOption
from ..session.entities import Session
from ..session.events import Event, StateSet, TerminalPatch
from ..session.ports import CANCELLED, CommandLine, Questions, RequestError, Sink
from ..session.terminals import Exit
from .command import INVALID_PARAMS, Plan, plan
from .running import Running

NOT_FOUND = -32002
INTERNAL_ERROR = -32603

MOST = 256
"""Terminals that a session may have without releasing any: each keeps a copy of its output."""

YES = PermissionOption("yes", "Yes", "allow_once", "allow_once")
NO = PermissionOption("no", "No", "reject_once", "reject_once")


class TerminalService:
    """Runs commands for all sessions.

    ``spawn`` starts an owned task. ``ask()`` tells whether the user wants to be asked about each command
    (``permission.terminal``); a folder outside the session's is always asked about.
    """

    def __init__(
        self,
        spawner: Spawner,
        sink: Sink,
        questions: Questions,
        spawn: Callable[..., None],
        *,
        ask: Callable[[], bool] = lambda: False,
    ) -> None:
        self._spawner = spawner
        self._sink = sink
        self._questions = questions
        self._spawn = spawn
        self._ask = ask
        self._tables: dict[str, dict[str, Running]] = {}  # by session
        self._closings: dict[str, int] = {}  # how often a session was closed
        self._token = secrets.token_hex(3)  # an agent that is resumed may still know ids of another host
        self._numbers = count(1)

    async def create(
        self, session: Session, line: CommandLine, ask: Callable[[Plan], Awaitable[None]] | None = None
    ) -> str:
        """Start a command and return its terminal's id at once.

        ``ask`` is asked instead of the user, each time; it raises RequestError for a no.
        """
        closings = self._closings.get(session.id, 0)
        if len(self._tables.get(session.id, ())) >= MOST:
            raise RequestError(INTERNAL_ERROR, f"{MOST} terminals are open: release some first")
        made = await self._plan(session, line)
        if ask is not None:
            await ask(made)
            await self._must_stay(session, line, made)
        elif made.outside or self._ask():
            await self._question(session, line, made)
        self._must_live(session, closings)
        try:
            process = await start_command(self._spawner, made.argv, cwd=made.real_cwd, env=line.env)
        except LaunchError as error:
            raise RequestError(INTERNAL_ERROR, str(error), {"command": made.shown}) from error
        terminal_id = f"term-{self._token}-{next(self._numbers)}"
        running = Running(session, terminal_id, process, self._sink, line.limit)
        self._spawn(running.run)
        if self._closings.get(session.id, 0) != closings:
            running.stop()
        self._must_live(session, closings)
        self._tables.setdefault(session.id, {})[terminal_id] = running
        self._sink.apply(session, TerminalPatch(terminal_id, command=made.shown, cwd=made.cwd))
        return terminal_id

    def output(self, session: Session, terminal_id: str) -> tuple[str, bool, Exit | None]:
        """What it wrote so far, whether the beginning is missing, and how it ended."""
        running = self._running(session, terminal_id)
        return running.copy.text(), running.copy.truncated, running.exit

    async def wait(self, session: Session, terminal_id: str) -> Exit:
        """Wait for the end of the command. A release ends it, and answers who waits (V1-190)."""
        running = self._running(session, terminal_id)
        await running.ended.wait()
        return running.exit or Exit()

    async def kill(self, session: Session, terminal_id: str) -> None:
        """End the command and all it started; return when that is gone (V1-186, V1-191)."""
        running = self._running(session, terminal_id)
        self._stop(session, terminal_id, running)
        await running.gone.wait()

    async def release(self, session: Session, terminal_id: str) -> None:
        """End the command and forget the terminal; return when its processes are gone (V1-187)."""
        running = self._running(session, terminal_id)
        self._release(session, terminal_id, running)
        await running.gone.wait()

    def drop(self, session: Session, terminal_id: str) -> None:
        """The same without waiting; one that is gone is none."""
        running = self._tables.get(session.id, {}).get(terminal_id)
        if running is not None:
            self._release(session, terminal_id, running)

    def close(self, session: Session) -> None:
        """End and release all terminals of a session, without waiting (V1-193)."""
        self._closings[session.id] = self._closings.get(session.id, 0) + 1
        for terminal_id, running in list(self._tables.get(session.id, {}).items()):
            self._release(session, terminal_id, running)

    def on_event(self, session: Session, event: Event, _touched: object) -> None:
        """Called by the store after each event: a session that is over has no terminals."""
        if isinstance(event, StateSet) and event.state in ("closed", "lost"):
            self.close(session)

    def _release(self, session: Session, terminal_id: str, running: Running) -> None:
        table = self._tables[session.id]
        del table[terminal_id]
        if not table:
            del self._tables[session.id]
        self._stop(session, terminal_id, running)
        self._sink.apply(session, TerminalPatch(terminal_id, released=True))

    def _stop(self, session: Session, terminal_id: str, running: Running) -> None:
        if running.exit is None:
            self._sink.apply(session, TerminalPatch(terminal_id, stopped=True))
        running.stop()

    def _running(self, session: Session, terminal_id: str) -> Running:
        running = self._tables.get(session.id, {}).get(terminal_id)
        if running is None:
            raise RequestError(NOT_FOUND, "unknown terminal", {"terminalId": terminal_id})
        return running

    def _must_live(self, session: Session, closings: int) -> None:
        if self._closings.get(session.id, 0) != closings:
            raise RequestError(INTERNAL_ERROR, "the session was closed meanwhile")

    async def _plan(self, session: Session, line: CommandLine) -> Plan:
        cwd = session.cwd if line.cwd is None else line.cwd
        if not cwd.startswith("/"):
            raise RequestError(INVALID_PARAMS, "the folder (cwd) must be absolute", {"cwd": cwd})
        roots = tuple(session.roots) or (session.cwd,)
        environment = self._spawner.environment(line.env)
        return await to_thread.run_sync(plan, line, cwd, roots, environment, abandon_on_cancel=True)

    async def _question(self, session: Session, line: CommandLine, made: Plan) -> None:
        """Put our question; raises RequestError for a no."""
        why = "outside" if made.outside else "asked"
        subject = CommandSubject(made.shown, made.cwd, made.real_cwd, why, tuple(line.env.items()))
        question = Permission("", [YES, NO], subject=subject, asked_by="client")
        chosen = await self._questions.ask(session, question)
        if chosen is None and question.by in ("cancel", "close"):
            raise RequestError(CANCELLED, f"the turn or the chat was ended: {made.shown}")  # V1-87
        if chosen != YES.id:
            said = "the user did not allow" if chosen is not None else "nobody has answered the question"
            raise RequestError(INTERNAL_ERROR, f"{said} to run: {made.shown}", {"command": made.shown})
        await self._must_stay(session, line, made)

    async def _must_stay(self, session: Session, line: CommandLine, made: Plan) -> None:
        if await self._plan(session, line) != made:
            raise RequestError(INTERNAL_ERROR, "it would run elsewhere now than when the user was asked")
