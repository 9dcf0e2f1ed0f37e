"""An adapter of AAP on a real connection to a scripted server on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from tests.agents.aap_script import AGENT, Json, Quirks, Step
from tests.agents.aap_server import AapServer
from tests.unit.protocol.acp_v1.bench import FakeQuestions
from tests.unit.session.build import shown

from acp_nvim.protocol.aap import Aap, Place, Server
from acp_nvim.protocol.aap.memory import Picks
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Failure, Item, Message, Session, ToolCall, Turn, TurnEnd
from acp_nvim.session.events import Event, TurnStarted
from acp_nvim.session.ports import AgentError, ClientTools
from acp_nvim.session.store import Store
from acp_nvim.transport.http import Http

PATIENCE = 10.0


class Bench:
    """``trace`` is what the trace gets; ``hidden`` what must not be shown."""

    def __init__(
        self,
        server: AapServer,
        agent: str | None = None,
        key: str | None = None,
        own: ClientTools | None = None,
        offers: Sequence[str] = (),
        picks: Picks | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.server = server
        self.trace: list[tuple[str, str, bytes]] = []
        self.hidden: list[tuple[str, str]] = []
        self.slept: list[float] = []
        self.store = Store(lambda: 0.0, self._failed)
        self.questions = FakeQuestions(self.store)
        self.session = self.new_session("s")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.http = Http(server.url, headers, loopback=True)
        place = Place("remote", server.url, "AAP_KEY" if key else None)
        self.adapter = Aap(
            Server(self.http, place, lambda *seen: self.trace.append(seen), sleep=self._sleep),
            sink=self.store,
            questions=self.questions,
            agent=agent,
            folder="/home",
            label="remote",
            asker=lambda: self.session,
            hide=lambda name, value: self.hidden.append((name, value)),
            tools=own,
            offers=offers,
            picks=picks,
            options=settings or {},
        )

    def new_session(self, name: str) -> Session:
        session = Session(name, "remote", "/ws")
        self.store.add(session)
        return session

    async def open(self) -> None:
        await self.adapter.connect()
        await self.adapter.new_session(self.session)

    async def prompt(self, text: str = "hello", *blocks: Block) -> Turn:
        """A turn that asks nothing; returns it."""
        async with self.turn(text, *blocks):
            pass
        return self.session.turns[-1]

    @asynccontextmanager
    async def turn(self, text: str = "hello", *more: Block) -> AsyncIterator[None]:
        """Send a prompt, or go on without one; at the end of the block it must have been over, or be soon."""
        blocks = [Block.of_text(text), *more] if text else []
        self.store.apply(self.session, TurnStarted(tuple(blocks)))
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(self.adapter.prompt, self.session, blocks)
                yield

    async def until(self, happened: Callable[[], object]) -> None:
        with anyio.fail_after(PATIENCE):
            while not happened():  # noqa: ASYNC110 - the server has its own thread
                await anyio.sleep(0.005)

    async def asked(self, count: int = 1) -> None:
        """Wait for so many open questions."""
        await self.until(lambda: len(self.questions.open()) == count)

    def call(self, row: str) -> ToolCall:
        return self.session.tool_calls[row]

    @property
    def timeline(self) -> list[str]:
        """One line an item."""
        return [_line(item) for item in self.session.items]

    @property
    def notes(self) -> list[str]:
        return [what for direction, what, _ in self.trace if direction == "note"]

    def texts(self, row: str) -> str:
        return "".join(
            str(each.text) for each in self.call(row).content if isinstance(each, Block) and each.text
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    @staticmethod
    def _failed(session: Session, event: Event, error: Exception) -> None:
        raise error


@asynccontextmanager
async def connected(
    script: Sequence[Step] = (),
    *,
    agent: str | None = None,
    key: str | None = None,
    own: ClientTools | None = None,
    offers: Sequence[str] = (),
    picks: Picks | None = None,
    settings: Mapping[str, object] | None = None,
    **options: Any,
) -> AsyncIterator[Bench]:
    """A server and a client that has not asked anything yet."""
    with AapServer(script, key=key, **options) as server:
        bench = Bench(server, agent, key, own, offers, picks, settings)
        try:
            with anyio.fail_after(PATIENCE * 2):
                yield bench
        finally:
            await bench.http.close()


@asynccontextmanager
async def opened(script: Sequence[Step] = (), **options: Any) -> AsyncIterator[Bench]:
    """The same with a session."""
    async with connected(script, **options) as bench:
        await bench.open()
        yield bench


def _line(item: Item) -> str:
    match item:
        case Message():
            words = "".join(str(b.text) if b.type == "text" else f"[{b.type}]" for b in item.blocks)
            return f"{item.role}: {words}"
        case ToolCall():
            return f"tool {item.id}: {item.title} {shown(item)}"
        case TurnEnd():
            return f"end: {item.turn.stop}"
        case _:
            return type(item).__name__


def offering(*modes: str, history: Sequence[str] = ("full",), **more: Any) -> list[Json]:
    """One agent with these capabilities."""
    capabilities: Json = {"stream": {mode: {} for mode in modes}, "history": {kind: {} for kind in history}}
    return [{**AGENT, "capabilities": capabilities, **more}]


async def failing(act: Callable[[], Any]) -> Failure:
    """What is wrong with what is done."""
    try:
        await act()
    except AgentError as error:
        return error.failure
    raise AssertionError("it went well")


__all__ = ("Bench", "Item", "Quirks", "connected", "failing", "offering", "opened")
