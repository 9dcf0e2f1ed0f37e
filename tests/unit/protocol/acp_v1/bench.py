"""An adapter on a transport in memory, and the hands of a scripted agent at its other end."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar

import anyio
import anyio.lowlevel
from tests.conformance.outgoing import Outgoing
from tests.unit.session.build import timeline

from acp_nvim.protocol.acp_v1 import AcpV1
from acp_nvim.protocol.adapter import Parts
from acp_nvim.protocol.channel import Channel
from acp_nvim.protocol.rpc import Direction
from acp_nvim.session.asked import Permission
from acp_nvim.session.content import Block
from acp_nvim.session.elicitation import ACCEPT, Action, Content, Reply
from acp_nvim.session.entities import Item, Note, Session
from acp_nvim.session.events import Event, PermissionClosed, PermissionOpened, TurnStarted
from acp_nvim.session.ports import Agent, CommandLine, RequestError
from acp_nvim.session.store import Store
from acp_nvim.session.terminals import Exit
from acp_nvim.transport import TransportClosedError

PATIENCE = 10.0
OPTIONS = [
    {"optionId": "ok", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
HELLO: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": {}}


class MemoryLines:
    """rpc.Lines: what the agent writes is pushed, what the client writes is kept in order, and checked."""

    def __init__(self) -> None:
        self._push, self._pull = anyio.create_memory_object_stream[list[bytes]](math.inf)
        self.sent: list[dict[str, Any]] = []
        self.broken = False
        self._checked = Outgoing()

    async def lines(self) -> AsyncGenerator[list[bytes], None]:
        async for batch in self._pull:
            yield batch

    async def send(self, message: bytes) -> None:
        if self.broken:
            raise TransportClosedError
        assert b"\n" not in message
        self.sent.append(json.loads(message))
        self._checked.said(self.sent[-1])
        await anyio.lowlevel.checkpoint()

    def push(self, *messages: Mapping[str, Any] | bytes) -> None:
        """The lines of one read."""
        for message in messages:
            with contextlib.suppress(ValueError, RecursionError):
                self._checked.heard(json.loads(message) if isinstance(message, bytes) else message)
        self._push.send_nowait([m if isinstance(m, bytes) else json.dumps(m).encode() for m in messages])

    def end(self) -> None:
        self._push.close()

    def close(self) -> None:
        """Release it, and see that all the client wrote was ACP."""
        self._push.close()
        self._pull.close()
        assert self._checked.problems == []


class FakeFiles:
    """ports.Files over a dict."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.calls: list[tuple[Any, ...]] = []

    async def read(self, session: Session, path: str, line: int | None, limit: int | None) -> str:
        self.calls.append((session.id, path, line, limit))
        if path not in self.texts:
            raise RequestError(-32002, "no such file", {"path": path})
        return self.texts[path]

    async def write(self, session: Session, path: str, text: str) -> None:
        self.calls.append((session.id, path, text))
        self.texts[path] = text


class FakeTerminals:
    """ports.Terminals: what is asked is kept; ``ends`` lets those go on who wait for an end."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.answer: tuple[str, bool, Exit | None] = ("", False, None)
        self.exit = Exit(0)
        self.ends = anyio.Event()

    async def create(self, session: Session, line: CommandLine) -> str:
        self.calls.append(("create", session.id, line))
        return "t1"

    def output(self, session: Session, terminal_id: str) -> tuple[str, bool, Exit | None]:
        self._known("output", session, terminal_id)
        return self.answer

    async def wait(self, session: Session, terminal_id: str) -> Exit:
        self._known("wait", session, terminal_id)
        await self.ends.wait()
        return self.exit

    async def kill(self, session: Session, terminal_id: str) -> None:
        self._known("kill", session, terminal_id)

    async def release(self, session: Session, terminal_id: str) -> None:
        self._known("release", session, terminal_id)

    def _known(self, method: str, session: Session, terminal_id: str) -> None:
        if terminal_id != "t1":
            raise RequestError(-32002, "unknown terminal", {"terminalId": terminal_id})
        self.calls.append((method, session.id))


class FakeQuestions:
    """ports.Questions: what is asked stays open until the test answers, or all are cancelled."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.asked: list[Permission] = []
        self.contents: dict[str, Content] = {}
        self._open: dict[str, tuple[Session, anyio.Event]] = {}

    async def ask(self, session: Session, permission: Permission) -> str | None:
        permission.id = f"q{len(self.asked) + 1}"
        self.asked.append(permission)
        done = anyio.Event()
        self._open[permission.id] = (session, done)
        self._store.apply(session, PermissionOpened(permission))
        try:
            await done.wait()
        except BaseException:
            self._open.pop(permission.id, None)
            self._store.apply(session, PermissionClosed(permission.id, "withdrawn", None, "agent"))
            raise
        return permission.answer

    async def elicit(self, session: Session, permission: Permission) -> Reply:
        option = await self.ask(session, permission)
        action: Action = "cancel" if option is None else "accept" if option == ACCEPT else "decline"
        return Reply(action, self.contents.get(permission.id))

    def answer(self, question: str, option: str | None, content: Content | None = None) -> None:
        session, done = self._open.pop(question)
        if content is not None:
            self.contents[question] = content
        outcome = PermissionClosed(question, "selected" if option else "cancelled", option, "user")
        self._store.apply(session, outcome)
        done.set()

    def cancel_all(
        self, session: Session, by: str, keep: Callable[[Permission], bool] = lambda permission: False
    ) -> None:
        for question, (of, done) in list(self._open.items()):
            if of is session and not keep(session.permissions[question]):
                del self._open[question]
                self._store.apply(session, PermissionClosed(question, "cancelled", None, "cancel"))
                done.set()

    def open(self) -> list[str]:
        return list(self._open)


class Client(Agent, Protocol):
    async def run(self) -> str: ...

    async def close(self) -> None: ...


A = TypeVar("A", bound=Client)


class BenchOf(Generic[A]):
    """``sent`` is all the client wrote; ``events`` all that reached the model."""

    def __init__(self, speaks: Callable[[Channel, Parts], A], **options: Any) -> None:
        self.transport = MemoryLines()
        self.notes: list[str] = []
        self.events: list[Event] = []
        self.store = Store(lambda: 0.0, self._failed)
        self.store.subscribe(self._saw)
        self.files = FakeFiles()
        self.questions = FakeQuestions(self.store)
        self.terminals = FakeTerminals()
        self.session = self.new_session("s", "/ws")
        self.reason: str | None = None
        self.channel = Channel(self.transport, self._observe)
        self.parts = Parts(
            sink=self.store,
            files=self.files,
            questions=self.questions,
            terminals=self.terminals,
            label="robo",
            **options,
        )
        self.adapter: A = speaks(self.channel, self.parts)
        self._read = 0
        self._pings = 0

    def new_session(self, name: str, cwd: str, roots: Sequence[str] = ()) -> Session:
        session = Session(name, "robo", cwd, roots)
        self.store.add(session)
        return session

    # The agent's side.

    async def asked(self, method: str) -> dict[str, Any]:
        """The next message of the client that is a request or notification of this method."""
        with anyio.fail_after(PATIENCE):
            while True:
                while self._read < len(self.sent):
                    message = self.sent[self._read]
                    self._read += 1
                    if message.get("method") == method:
                        return message
                await anyio.lowlevel.checkpoint()

    async def answers(self, method: str, result: Any = None, error: Any = None) -> dict[str, Any]:
        """Wait for a request and answer it; return its parameters."""
        message = await self.asked(method)
        body = {"error": error} if error is not None else {"result": result}
        self.transport.push({"jsonrpc": "2.0", "id": message["id"], **body})
        params: dict[str, Any] = message["params"]
        return params

    def ends(self, request: Mapping[str, Any], stop: str = "end_turn") -> None:
        """Answer a prompt."""
        self.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {"stopReason": stop}})

    def says(self, *updates: Mapping[str, Any], to: str = "r1") -> None:
        """Send updates, in one read."""
        self.transport.push(*[
            {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": to, "update": update}}
            for update in updates
        ])  # fmt: skip

    def asks(self, request_id: int | str, method: str, **params: Any) -> None:
        """Send a request, with the session's id unless given."""
        params.setdefault("sessionId", "r1")
        self.transport.push({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def asks_permission(self, request_id: int | str, call: str, **fields: Any) -> None:
        options = fields.pop("options", OPTIONS)
        tool_call = {"toolCallId": call, **fields}
        self.asks(request_id, "session/request_permission", toolCall=tool_call, options=options)

    async def reply(self, request_id: int | str) -> dict[str, Any]:
        """The client's answer to a request."""
        with anyio.fail_after(PATIENCE):
            while not (found := self.replies(request_id)):
                await anyio.lowlevel.checkpoint()
        assert len(found) == 1, "answered more than once"
        return found[0]

    def replies(self, request_id: int | str) -> list[dict[str, Any]]:
        return [m for m in self.sent if m.get("id") == request_id and "method" not in m]

    async def settle(self) -> None:
        """All that was sent so far has been handled: a request of no known method is answered in turn."""
        self._pings += 1
        ping = f"ping{self._pings}"
        self.asks(ping, "_ping")
        await self.reply(ping)

    # The user's side.

    async def open(self, hello: Mapping[str, Any] = HELLO, created: Mapping[str, Any] | None = None) -> None:
        """Connect and create the session ``r1``."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.answers, "initialize", hello)
            await self.adapter.connect()
        async with anyio.create_task_group() as group:
            group.start_soon(self.answers, "session/new", {"sessionId": "r1", **(created or {})})
            await self.adapter.new_session(self.session)

    @asynccontextmanager
    async def turn(self, text: str = "fix it") -> AsyncIterator[None]:
        """Send a prompt; at the end of the block it must have been over, or be soon."""
        blocks = [Block.of_text(text)]
        self.store.apply(self.session, TurnStarted(tuple(blocks)))
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(self.adapter.prompt, self.session, blocks)
                yield

    @property
    def sent(self) -> list[dict[str, Any]]:
        return self.transport.sent

    @property
    def timeline(self) -> list[str]:
        return timeline(self.session)

    def notices(self) -> list[str]:
        return [item.title for item in self.session.items if isinstance(item, Note)]

    def _observe(self, direction: Direction, data: bytes, text: str) -> None:
        if text:
            self.notes.append(text)

    def _saw(self, session: Session, event: Event, touched: Sequence[Item]) -> None:
        self.events.append(event)

    @staticmethod
    def _failed(session: Session, event: Event, error: Exception) -> None:
        raise error


class Bench(BenchOf[AcpV1]):
    def __init__(self, **options: Any) -> None:
        super().__init__(AcpV1, **options)


async def run(bench: BenchOf[Any]) -> None:
    bench.reason = await bench.adapter.run()


@asynccontextmanager
async def connected(**options: Any) -> AsyncIterator[Bench]:
    """A bench whose adapter reads; it is closed at the end of the block."""
    bench = Bench(**options)
    try:
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(run, bench)
                try:
                    yield bench
                finally:
                    await bench.adapter.close()
    finally:
        bench.transport.close()


@asynccontextmanager
async def opened(
    hello: Mapping[str, Any] = HELLO, created: Mapping[str, Any] | None = None, **options: Any
) -> AsyncIterator[Bench]:
    """A bench with the session ``r1``."""
    async with connected(**options) as bench:
        await bench.open(hello, created)
        yield bench
