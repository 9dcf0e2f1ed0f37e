"""A chat: one session shown in one transcript, its queue of prompts, and what happens to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from acp_nvim.session.entities import Block, Failure, Note, Session
from acp_nvim.session.events import NoteShown, StateSet, TurnStarted
from acp_nvim.session.ports import Agent, AgentError
from acp_nvim.session.store import Store
from acp_nvim.view.frames import Frames
from acp_nvim.view.head import Head
from acp_nvim.view.transcript import Transcript

from .announce import Announcer
from .connection import Connection
from .payloads import Context

#: Seconds after which a cancelled turn that goes on is spoken about (V1-84).
CANCEL_PATIENCE = 10.0


@dataclass(slots=True)
class Prompt:
    """What the user sent. ``text`` is exactly what stood in the prompt buffer."""

    text: str
    context: Sequence[Context] = ()

    def blocks(self, embedded: bool) -> list[Block]:
        """The content blocks: context first (V1-69), then the user's words."""
        blocks = [_context_block(each, embedded) for each in self.context]
        return [*blocks, Block.of_text(self.text)] if self.text else blocks


@dataclass(slots=True)
class Wiring:
    """What a chat needs of the host."""

    store: Store
    frames: Frames
    announcer: Announcer


@dataclass(slots=True, eq=False)
class Chat:
    """Keyed by the number Lua gave it. All methods run on the host's loop."""

    n: int
    session: Session
    connection: Connection
    transcript: Transcript
    wiring: Wiring
    queue: list[Prompt] = field(default_factory=list)
    agent: Agent | None = None
    failure: Failure | None = None
    closed: bool = False
    seen: int = 0  # number of the last send that was handled
    _wake: anyio.Event = field(default_factory=anyio.Event)
    _over: anyio.Event = field(default_factory=anyio.Event)  # set when the turn is over
    _starting: bool = False
    _notes: int = 0

    # -- starting

    async def start(self) -> None:
        """Connect and create (or take up again) the session. Failures are shown, never raised."""
        if self._starting or self.closed:
            return
        self._starting, self.failure = True, None
        self.wiring.store.apply(self.session, StateSet("starting"))
        self.head("starting")
        self.push()
        try:
            await self._open_session()
        except AgentError as error:
            self.fail(error.failure)
            return
        finally:
            self._starting = False
        self.head("ready")
        self.wiring.announcer.fire(self, "AcpSession", {})
        self.push()
        self._wake.set()

    async def _open_session(self) -> None:
        agent = await self.connection.ready()
        old = self.session.remote_id
        if old is not None and agent.info is not None and (agent.info.can_resume or agent.info.can_load):
            await agent.resume_session(self.session, old)
            self.note("info", "resumed: the agent remembers this chat")
        else:
            await agent.new_session(self.session)
            if old is not None:
                self.note("warning", f"{self.session.agent} cannot resume: it does not remember this chat")
        self.agent = agent

    def fail(self, failure: Failure) -> None:
        """The agent is not there: say so, and give the user's text back."""
        self.failure, self.agent = failure, None
        self.wiring.store.apply(self.session, StateSet("lost"))
        lines = [str(line) for line in failure.data] if isinstance(failure.data, list) else []
        if self.queue:
            lines.append("Your text is back in the prompt.")
        lines.extend([failure.remedy] if failure.remedy else [])
        if self.session.turns:
            self.head("ready")
            self.note("error", failure.message, lines)
        else:
            self.head("failed", failure.message, lines)
        self.give_back()
        self.push()

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
            )
        )
        self.wiring.frames.wake()

    # -- prompts

    def send(self, prompt: Prompt, *, now: bool, seq: int) -> None:
        """Queue a prompt; it goes out when the session is ready and no turn runs (V1-70)."""
        self.seen = max(self.seen, seq)
        if self.failure is not None and not self._starting:
            self.queue.append(prompt)
            self.note(
                "error",
                "not sent: the agent is not running. Your text is back in the prompt.",
                [":AcpRestart"],
            )
            self.give_back()
            self.push()
            return
        self.queue.insert(0, prompt) if now else self.queue.append(prompt)
        self.show_queue()
        self._wake.set()

    def give_back(self) -> None:
        """Return every unsent prompt to the prompt buffer, in order."""
        if self.queue:
            text = "\n".join(prompt.text for prompt in self.queue)
            self.queue.clear()
            self.wiring.announcer.call(self, "acp.chat.prompt", "restore", text)
        self.show_queue()

    def show_queue(self) -> None:
        waiting = [prompt.text for prompt in self.queue] if self.session.turn or self._starting else []
        self.wiring.announcer.call(self, "acp.chat.prompt", "queue", waiting)
        self.push()

    async def work(self) -> None:
        """Send the queued prompts one after the other. Lives as long as the chat."""
        while not self.closed:
            await self._wake.wait()
            self._wake = anyio.Event()
            while self.queue and self.agent is not None and not self.closed:
                await self._turn(self.agent, self.queue.pop(0))

    async def _turn(self, agent: Agent, prompt: Prompt) -> None:
        store, session = self.wiring.store, self.session
        blocks = prompt.blocks(bool(agent.info and agent.info.embedded_context))
        self._over = anyio.Event()
        store.apply(session, TurnStarted(tuple(blocks)))
        self.show_queue()
        await agent.prompt(session, blocks)
        self._over.set()
        turn = session.turns[-1]
        await self.wiring.announcer.check_files(self, None)
        await self.wiring.frames.settle(self.n)
        if turn.stop in ("error", "lost"):
            if turn.error is not None and turn.error.kind == "auth":
                self.queue.insert(0, prompt)
            self.give_back()
        self.show_queue()
        self.wiring.announcer.turn_ended(self, turn)

    async def cancel(self, empty_queue: bool) -> None:
        """Cancel the running turn; while starting, take the prompts back."""
        if empty_queue:
            self.queue.clear()
        elif self.session.turn is None:
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

    # -- ends

    async def lost(self, failure: Failure) -> None:
        """The agent ended. A running turn has been ended by the adapter and said so already."""
        if self.closed:
            return
        self.agent = None
        if self._starting:
            return  # start() reports it
        last = self.session.turns[-1] if self.session.turns else None
        said = last is not None and last.stop == "lost" and last.error is not None
        if said and self.session.items and getattr(self.session.items[-1], "turn", None) is last:
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
        if self.agent is not None:
            if self.session.turn is not None:
                await self.agent.cancel(self.session)
            with anyio.move_on_after(2.0):
                await self.agent.close_session(self.session)
        self.wiring.store.apply(self.session, StateSet("closed"))

    # -- telling

    def note(self, severity: str, title: str, lines: Sequence[str] = ()) -> None:
        """Put a line of ours into the transcript."""
        self._notes += 1
        level = severity if severity in ("info", "warning", "error") else "info"
        self.wiring.store.apply(
            self.session,
            NoteShown(Note(f"note-{self._notes}", level, title, list(lines))),  # type: ignore[arg-type]
        )

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
