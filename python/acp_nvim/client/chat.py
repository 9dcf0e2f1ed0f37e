"""A chat: one session shown in one transcript: how it begins, waits for a login, and ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from msgspec import structs

from acp_nvim.session.entities import Failure, Session
from acp_nvim.session.events import StateSet
from acp_nvim.session.ports import Agent, AgentError
from acp_nvim.session.store import Store
from acp_nvim.view.ends import failure_lines
from acp_nvim.view.frames import Frames
from acp_nvim.view.transcript import Transcript

from .announce import Announcer
from .connection import Connection
from .earlier import Earlier
from .history import History
from .opening import How, Old, forget, gone, open_session
from .queue import Queue
from .stall import Stall
from .telling import Telling

if TYPE_CHECKING:
    from .login import Logins
    from .mentions import Mentions

#: Seconds between two looks, during the start, at what the agent prints that is no message.
DOUBT = 3.0
#: Seconds after which a cancelled turn that goes on is spoken about (V1-84).
CANCEL_PATIENCE = 10.0
#: Seconds that a chat that is closed waits for the agent.
CLOSE_PATIENCE = 2.0


@dataclass(slots=True)
class Wiring:
    """What a chat needs of the host."""

    store: Store
    frames: Frames
    announcer: Announcer
    logins: Logins
    earlier: Earlier
    mentions: Mentions
    history: History


@dataclass(slots=True, eq=False)
class Chat:
    """Keyed by the number Lua gave it. All methods run on the host's loop."""

    n: int
    session: Session
    connection: Connection
    transcript: Transcript
    wiring: Wiring
    old: Old | None = None  # the session to begin with, until the agent has taken it up
    continues: bool = False  # the session began before this chat
    agent: Agent | None = None
    failure: Failure | None = None
    held: Failure | None = None  # the agent wants a login first: prompts wait for it
    wants_login: bool = False  # the last that was heard of a login is that one is needed
    logging_in: str | None = None  # by the method of this name
    slow_s: int | None = None  # the start takes longer than so many seconds
    tell: Telling = field(init=False)
    queue: Queue = field(init=False)
    stall: Stall = field(init=False)
    closed: bool = False
    refused: list[str] = field(default_factory=list)  # settings the agent did not take, as told
    chosen: dict[str, str | bool] = field(default_factory=dict)  # options the user has set, by id
    preset: dict[str, str | bool] = field(default_factory=dict)  # those the settings have set
    told_of_steering: bool = False  # that the agent cannot be steered: once is enough
    asking: int = 0  # requests of ours under way that the user may take back
    _answered: anyio.Event = field(default_factory=anyio.Event)  # the start, or a request, is over
    _starting: bool = False
    _turns: int = 0  # that there were when the agent was started
    _how: How = "new"  # the last start got its session

    def __post_init__(self) -> None:
        wiring = self.wiring
        self.tell = Telling(self.session, self.connection, self.transcript, wiring.store, wiring.frames)
        self.queue = Queue(self)
        self.stall = Stall(self.session, lambda: self.connection.config.stall_s, self.push, time.monotonic)

    # -- starting

    @property
    def starting(self) -> bool:
        """Whether a session is being made, or will be as soon as the old process is gone."""
        return self._starting or self.connection.restarting

    @property
    def _step(self) -> str:
        """What is done with the agent's session first, in one word."""
        if self.old is None:
            return "start"
        return "fork" if self.old.fork else "load"

    async def start(self) -> None:
        """Connect and create (or take up again) the session. Failures are shown, never raised.

        An agent that is stopped to be started again meanwhile is waited for: it is one start to the user.
        """
        if not (self._starting or self.closed or self.agent is not None):
            await self._start()

    async def _start(self) -> None:
        self._starting, self.failure = True, None
        self.wiring.store.apply(self.session, StateSet("starting"))
        attempt, failure = -1, None
        while attempt != self.connection.restarts and not self.closed:
            attempt = self.connection.restarts
            self.agent = self.failure = None  # those of the attempt before: nothing goes out meanwhile
            self.tell.head("starting")
            self.queue.show()
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch_start)
                failure = await self._open_session()
                group.cancel_scope.cancel()
            self.slow_s = None
        self._starting = False
        if self.closed:
            await self._end_session()
            self._answered.set()
            return
        self._answered.set()
        if failure is not None:
            self.fail(failure)
            return
        if self.agent is None or self.agent is not self.connection.agent_now:  # it has just ended
            name = self.session.agent
            ended = Failure(f"{name} has ended", kind="transport", remedy=":AcpRestart")
            await self.lost(self.connection.failure or ended)
            return
        self.wants_login = False
        self.tell.head("ready")
        if self.session.waits:
            self.queue.go_on()
        self.push()  # an event finds the new status
        self.wiring.announcer.fire(self, "AcpReady", {})
        self.wiring.announcer.fire(self, "AcpSession", {"how": self._how})
        self.queue.wake()

    async def _open_session(self) -> Failure | None:
        """Returns why there is no session, if there is none."""
        name = self.session.agent
        try:
            agent = await self.connection.ready()
            self._how = await open_session(self, agent)
            self._turns = len(self.session.turns)  # before a prompt that waits can begin another
            self.agent = agent
        except AgentError as error:
            failure = error.failure
            if self.old is not None and self.session.blank and gone(failure):
                return forget(self, self.old, failure)
            if failure.ends_all or self.connection.state != "ready":
                return failure
            return structs.replace(
                failure,
                kind="generic" if failure.kind == "cancelled" else failure.kind,
                data=None if failure.kind == "not_found" else failure.data,  # no more than the id
                message=f"{name} could not {self._step} the session: {failure.message}",
                remedy=":AcpRestart tries again; :AcpTrace has the full answer",
            )
        return None

    async def _patience(self, most: float) -> float:
        """Wait until the start is worth a word; returns after how many seconds.

        Sooner than ``most`` if what the agent prints looks like another program's.
        """
        waited = 0.0
        while waited < most:
            step = min(DOUBT, most - waited)
            await anyio.sleep(step)
            waited += step
            if self.connection.doubts():
                break
        return waited

    async def _watch_start(self) -> None:
        """Say so when the agent takes long to start (``stall_s`` of its settings), or seems to be none."""
        seconds = await self._patience(self.connection.config.stall_s)
        if self.session.open_permissions:
            return  # the agent waits for the user, not the user for it
        agent = self.connection.agent_now
        asked = agent.asked(self.session) if agent is not None else None
        slow = self.connection.slow(seconds, asked or "what it was asked")
        lines = [
            *failure_lines(slow, self.session.agent),
            ":AcpTrace shows what was said",
            ":AcpRestart starts it again",
            ":AcpCancel gives your text back",
        ]
        self.slow_s = int(seconds)
        if self.session.turns or self.tell.reopened:
            self.tell.note("warning", slow.message, lines)
        else:
            self.tell.head("slow", slow.message, lines)
        self.push()

    def fail(self, failure: Failure) -> None:
        """The agent is not there: say so, and give the user's text back."""
        self.failure, self.agent = failure, None
        self.wiring.store.apply(self.session, StateSet("lost"))
        if failure.kind == "cancelled":  # a restart is under way, and says more soon
            if self.held is None:
                self.queue.give_back()
            return
        self.held = None
        self.hold(failure)
        self.tell.failed(failure, given_back=bool(self.queue) and self.held is None)
        if self.held is None:
            self.queue.give_back()
        self.push()

    # -- taking back

    async def cancel(self, empty_queue: bool) -> None:
        """Cancel the running turn; while starting, take the prompts back."""
        if empty_queue:
            self.queue.clear()
        if self.session.turn is None and await self.wiring.logins.stop(self):
            return
        if self.session.turn is None:
            self.queue.give_back()
        if self.session.turn is not None and self.agent is not None:
            turn = self.session.turn
            await self.agent.cancel(self.session)
            self.queue.show()
            with anyio.move_on_after(CANCEL_PATIENCE):
                await self.queue.over.wait()
            if turn.ended is None:
                self.tell.note(
                    "warning",
                    f"{self.session.agent} has not stopped yet.",
                    [":AcpRestart ends it and starts it again"],
                )
            return
        self.queue.show()
        await self._take_back()

    async def _take_back(self) -> None:
        """What the user waits for is not wanted any more: the agent decides what comes of it (V1-86)."""
        agent = self.connection.agent_now
        if agent is None or not (self._starting or self.asking):
            return
        await agent.withdraw(self.session, shared=True)
        with anyio.move_on_after(CANCEL_PATIENCE):
            while self._starting or self.asking:
                self._answered = anyio.Event()
                await self._answered.wait()
            return
        self.tell.note(
            "warning",
            f"{self.session.agent} has not answered yet.",
            [":AcpRestart ends it and starts it again"],
        )

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While the block runs the agent is asked for something that the user may take back."""
        self.asking += 1
        self.push()
        try:
            yield
        finally:
            self.asking -= 1
            self._answered.set()
            self.push()

    # -- logging in

    def hold(self, failure: Failure) -> None:
        """If a login is what is missing, and the user can log in from here: prompts wait for it (V1-41)."""
        if failure.kind != "auth":
            return
        self.wants_login = True
        if self.wiring.logins.wanted(self, failure):
            self.held = self.failure = failure

    async def go_on(self, said: str | None = None) -> None:
        """The user has logged in: what was interrupted is done again. ``said``: a note about it."""
        auth = self.failure is not None and self.failure.kind == "auth"
        self.held, self.wants_login = None, False
        if auth:
            self.failure = None
        await self.start()
        if said is not None and self.failure is None:
            self.tell.note("info", said, beside=True)
        self.queue.show()
        self.queue.wake()

    def give_up_login(self) -> None:
        """The user does not log in now: the prompts go back."""
        failure, self.held = self.held, None
        if self.agent is not None:
            self.failure = None
        elif failure is not None and not self.starting:
            self.failure = failure
            if self.queue and not self.tell.begun:
                self.tell.failed(failure, given_back=True)
        self.queue.give_back()
        self.push()

    # -- ends

    async def lost(self, failure: Failure) -> None:
        """The agent ended. A turn that ran tells of it at its end, which has come already; or comes soon, if
        its prompt went out in this very moment.
        """
        if self.closed:
            return
        self.agent = None
        if self._starting:
            return  # start() reports it
        last = self.session.turns[-1] if len(self.session.turns) > self._turns else None
        if last is not None and (last.stop == "lost" or last.ended is None):
            self.failure = failure
            self.wiring.store.apply(self.session, StateSet("lost"))
            self.queue.give_back()
            self.push()
        else:
            self.fail(failure)

    async def close(self) -> None:
        """The chat's buffer is gone: end the session."""
        self.closed = True
        self.queue.wake()
        agent = self.connection.agent_now
        if agent is not None:
            await agent.withdraw(self.session, shared=False)
        with anyio.move_on_after(CLOSE_PATIENCE):
            while self._starting and agent is not None:
                self._answered = anyio.Event()
                await self._answered.wait()
        await self._end_session()
        self.wiring.store.apply(self.session, StateSet("closed"))

    async def _end_session(self) -> None:
        agent, self.agent = self.agent, None
        if agent is None:
            return
        if self.session.turn is not None:
            await agent.cancel(self.session)
        with anyio.move_on_after(CLOSE_PATIENCE), suppress(AgentError):
            await agent.close_session(self.session)

    def push(self) -> None:
        """Send what changed of the status to Lua."""
        self.wiring.announcer.status(self)
