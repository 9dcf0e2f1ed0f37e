"""A chat: one session shown in one transcript, its queue of prompts, and what happens to it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from acp_nvim.session.entities import Block, Failure, Note, Session
from acp_nvim.session.events import NoteShown, StateSet, TurnStarted
from acp_nvim.session.ports import Agent, AgentError
from acp_nvim.session.store import Store
from acp_nvim.view.ends import failure_lines, failure_title
from acp_nvim.view.frames import Frames
from acp_nvim.view.head import Head
from acp_nvim.view.transcript import Transcript

from .announce import Announcer
from .connection import Connection
from .opening import How, Old, open_session
from .payloads import Context
from .stall import Stall

if TYPE_CHECKING:
    from .login import Logins

#: Seconds after which a cancelled turn that goes on is spoken about (V1-84).
CANCEL_PATIENCE = 10.0
#: Seconds that a chat that is closed waits for the agent.
CLOSE_PATIENCE = 2.0


@dataclass(slots=True, eq=False)
class Prompt:
    """What the user sent. ``text`` is exactly what stood in the prompt buffer."""

    text: str
    context: Sequence[Context] = ()

    def blocks(self, embedded: bool) -> list[Block]:
        """The content blocks: context first (V1-69), then the user's words, but a command begins (V1-155)."""
        blocks = [_context_block(each, embedded) for each in self.context]
        said = [Block.of_text(self.text)] if self.text else []
        return [*said, *blocks] if self.text.startswith("/") else [*blocks, *said]


@dataclass(slots=True)
class Wiring:
    """What a chat needs of the host."""

    store: Store
    frames: Frames
    announcer: Announcer
    logins: Logins


@dataclass(slots=True, eq=False)
class Chat:
    """Keyed by the number Lua gave it. All methods run on the host's loop."""

    n: int
    session: Session
    connection: Connection
    transcript: Transcript
    wiring: Wiring
    queue: list[Prompt] = field(default_factory=list)
    reopened: bool = False  # the transcript holds what a host that was lost has written
    old: Old | None = None  # the session to begin with, until the agent has taken it up
    continues: bool = False  # the session began before this chat
    first: bool = True  # of this agent: what the user should know of it stands in its head
    agent: Agent | None = None
    failure: Failure | None = None
    held: Failure | None = None  # the agent wants a login first: prompts wait for it
    wants_login: bool = False  # the last that was heard of a login is that one is needed
    logging_in: str | None = None  # by the method of this name
    slow_s: int | None = None  # the start takes longer than so many seconds
    stall: Stall = field(init=False)
    closed: bool = False
    seen: int = 0  # number of the last send that was handled
    refused: list[str] = field(default_factory=list)  # settings the agent did not take, as told
    asking: int = 0  # requests of ours under way that the user may take back
    _wake: anyio.Event = field(default_factory=anyio.Event)
    _answered: anyio.Event = field(default_factory=anyio.Event)  # the start, or a request, is over
    _over: anyio.Event = field(default_factory=anyio.Event)  # set when the turn is over
    _starting: bool = False
    _how: How = "new"  # the last start got its session
    _notes: int = 0

    def __post_init__(self) -> None:
        self.stall = Stall(self.session, lambda: self.connection.config.stall_s, self.push, time.monotonic)

    # -- starting

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
            self.head("starting")
            self.show_queue()
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
        self.wants_login = False
        self.head("ready")
        self.wiring.announcer.fire(self, "AcpSession", {"how": self._how})
        self.push()
        self._wake.set()

    async def _open_session(self) -> Failure | None:
        """Returns why there is no session, if there is none."""
        name = self.session.agent
        try:
            agent = await self.connection.ready()
            self._how = await open_session(self, agent)
            self.agent = agent
        except AgentError as error:
            failure = error.failure
            if failure.ends_all or self.connection.state != "ready":
                return failure
            return replace(
                failure,
                kind="generic" if failure.kind == "cancelled" else failure.kind,
                data=None if failure.kind == "not_found" else failure.data,  # no more than the id
                message=f"{name} could not {self._step} the session: {failure.message}",
                remedy=":AcpRestart tries again; :AcpTrace has the full answer",
            )
        return None

    async def _watch_start(self) -> None:
        """Say so when the agent takes long to start (``stall_s`` of its settings)."""
        seconds = self.connection.config.stall_s
        await anyio.sleep(seconds)
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
        if self.session.turns or self.reopened:
            self.note("warning", slow.message, lines)
        else:
            self.head("slow", slow.message, lines)
        self.push()

    def fail(self, failure: Failure) -> None:
        """The agent is not there: say so, and give the user's text back."""
        self.failure, self.agent = failure, None
        self.wiring.store.apply(self.session, StateSet("lost"))
        if failure.kind == "cancelled":  # a restart is under way, and says more soon
            if self.held is None:
                self.give_back()
            return
        self.held = None
        self._hold(failure)
        self._tell_failure(failure)
        if self.held is None:
            self.give_back()
        self.push()

    @property
    def _begun(self) -> bool:
        """Whether something of a conversation stands in the transcript: else the head says what is wrong."""
        return bool(self.session.turns) or self.reopened or not self.session.blank

    def _tell_failure(self, failure: Failure) -> None:
        title = failure_title(failure)
        given_back = bool(self.queue) and self.held is None
        lines = failure_lines(failure, self.session.agent, given_back=given_back)
        if self._begun:
            self.head("ready")
            self.note("error", title, lines)
        else:
            self.head("failed", title, lines)

    def head(self, state: str, failure: str | None = None, lines: Sequence[str] = ()) -> None:
        """Rewrite the head block (ui.md section 4)."""
        info = self.connection.info
        self.transcript.set_head(
            Head(
                agent=self.session.agent,
                cwd=self.session.cwd,
                state=state,
                demo=self.connection.demo,
                title=(info.title or info.name) if info else None,
                version=info.version if info else None,
                protocol=info.protocol if info else None,
                commands=len(self.session.commands),
                ready_s=self.connection.ready_after,
                failure=failure,
                lines=lines,
                note=(self.connection.config.note or None) if self.first else None,
            )
        )
        self.wiring.frames.wake()

    # -- prompts

    def send(self, prompt: Prompt, *, now: bool, seq: int) -> None:
        """Queue a prompt; it goes out when the session is ready and no turn runs (V1-70)."""
        self.seen = max(self.seen, seq)
        if self.failure is not None and not self.starting and self.held is None:
            self.queue.append(prompt)
            if self.failure.kind == "auth":
                self.wiring.logins.again(self)
                return
            self._not_sent()
            self.give_back()
            self.push()
            return
        self.queue.insert(0, prompt) if now else self.queue.append(prompt)
        self.show_queue()
        self._wake.set()

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

    def _not_sent(self) -> None:
        """Say why a prompt does not go out: once, however often the user tries."""
        title = "not sent: the agent is not running. Your text is back in the prompt."
        last = self.session.items[-1] if self.session.items else None
        if not isinstance(last, Note) or last.title != title:
            self.note("error", title, [":AcpRestart"])

    def give_back(self, prompts: Sequence[Prompt] | None = None) -> None:
        """Return unsent prompts to the prompt buffer, in order: these, or all."""
        back = [each for each in self.queue if prompts is None or each in prompts]
        self.queue[:] = [each for each in self.queue if each not in back]
        self.show_queue()
        if text := "\n".join(prompt.text for prompt in back):
            self.wiring.announcer.call(self, "acp.chat.prompt", "restore", text)

    def show_queue(self) -> None:
        wait = self.session.turn is not None or self.agent is None or self.held is not None
        waiting = [prompt.text for prompt in self.queue] if wait else []
        self.wiring.announcer.call(self, "acp.chat.prompt", "queue", waiting)
        self.push()

    async def work(self) -> None:
        """Send the queued prompts one after the other. Lives as long as the chat."""
        while not self.closed:
            await self._wake.wait()
            self._wake = anyio.Event()
            while self.queue and self.agent is not None and self.held is None and not self.closed:
                await self._turn(self.agent, self.queue.pop(0))

    async def _turn(self, agent: Agent, prompt: Prompt) -> None:
        store, session = self.wiring.store, self.session
        blocks = prompt.blocks(bool(agent.info and agent.info.embedded_context))
        self._over = anyio.Event()
        store.apply(session, TurnStarted(tuple(blocks)))
        self.show_queue()
        async with anyio.create_task_group() as group:
            group.start_soon(self.stall.watch)
            await agent.prompt(session, blocks)
            group.cancel_scope.cancel()
        self._over.set()
        turn = session.turns[-1]
        # What is sent from now on was sent in the knowledge of how the turn ended: it goes out.
        unsent = list(self.queue) if turn.stop in ("error", "lost") else []
        if turn.stop == "lost" and self.agent is agent:
            self.agent, self.failure = None, turn.error
        await self.wiring.announcer.check_files(self, None)
        await self.wiring.frames.settle(self.n)
        if turn.error is not None and turn.error.kind == "auth":
            self.queue.insert(0, prompt)
            unsent.insert(0, prompt)
            self._hold(turn.error)
        elif not turn.error:
            self.wants_login = False
        if unsent and self.held is None:
            self.give_back(unsent)
        self.show_queue()
        self.wiring.announcer.turn_ended(self, turn)

    async def cancel(self, empty_queue: bool) -> None:
        """Cancel the running turn; while starting, take the prompts back."""
        if empty_queue:
            self.queue.clear()
        if self.session.turn is None and await self.wiring.logins.stop(self):
            return
        if self.session.turn is None:
            self.give_back()
        if self.session.turn is not None and self.agent is not None:
            turn = self.session.turn
            await self.agent.cancel(self.session)
            self.show_queue()
            over = self._over
            with anyio.move_on_after(CANCEL_PATIENCE):
                await over.wait()
            if turn.ended is None:
                self.note(
                    "warning",
                    f"{self.session.agent} has not stopped yet.",
                    [":AcpRestart ends it and starts it again"],
                )
            return
        self.show_queue()
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
        self.note(
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

    def _hold(self, failure: Failure) -> None:
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
            self.note("info", said, beside=True)
        self.show_queue()
        self._wake.set()

    def give_up_login(self) -> None:
        """The user does not log in now: the prompts go back."""
        failure, self.held = self.held, None
        if self.agent is not None:
            self.failure = None
        elif failure is not None and not self.starting:
            self.failure = failure
            if self.queue and not self._begun:
                self._tell_failure(failure)
        self.give_back()
        self.push()

    async def turn_over(self) -> None:
        """Wait until no turn runs."""
        while self.session.turn is not None:
            await self._over.wait()

    # -- ends

    async def lost(self, failure: Failure) -> None:
        """The agent ended. A running turn has been ended by the adapter and said so already."""
        if self.closed:
            return
        self.agent = None
        if self._starting:
            return  # start() reports it
        last = self.session.turns[-1] if self.session.turns else None
        items = self.session.items
        if last is not None and last.stop == "lost" and getattr(items[-1], "turn", None) is last:
            self.failure = failure
            self.wiring.store.apply(self.session, StateSet("lost"))
            self.give_back()
            self.push()
        else:
            self.fail(failure)

    async def close(self) -> None:
        """The chat's buffer is gone: end the session."""
        self.closed = True
        self._wake.set()
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

    # -- telling

    def note(self, severity: str, title: str, lines: Sequence[str] = (), *, beside: bool = False) -> None:
        """Put a line of ours into the transcript; ``beside`` as in Note."""
        self._notes += 1
        level = severity if severity in ("info", "warning", "error") else "info"
        note = Note(f"note-{self._notes}", level, title, list(lines), beside=beside)  # type: ignore[arg-type]
        self.wiring.store.apply(self.session, NoteShown(note))

    def push(self) -> None:
        """Send what changed of the status to Lua."""
        self.wiring.announcer.status(self)


def _context_block(context: Context, embedded: bool) -> Block:
    """A piece of a file: embedded where the agent takes that (V1-69), else as text that names it."""
    where = context.path
    if context.first is not None:
        where += f":{context.first}" + (
            f"-{context.last}" if context.last not in (None, context.first) else ""
        )
    if embedded and context.path.startswith("/"):
        fragment = f"#L{context.first}-L{context.last}" if context.first is not None else ""
        block = Block("resource", uri=Path(context.path).as_uri() + fragment, mime="text/plain", name=where)
        block.text = Block.of_text(context.text).text
        return block
    fence = "```"
    while fence in context.text:
        fence += "`"
    return Block.of_text(f"{where}\n{fence}\n{context.text}\n{fence}\n")
