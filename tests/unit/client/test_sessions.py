"""Who is asked for sessions, and how long an agent lives that was started for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.client import sessions
from acp_nvim.client.payloads import AgentConfig, DeleteSession, EndSessions, ListSessions
from acp_nvim.session.agent import AgentInfo, SessionInfo, SessionList
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio

HERE = str(Path(__file__).parent)


class Agent:
    """A connection, and the agent behind it."""

    def __init__(self, agent: str = "x", cwd: str = HERE, state: str = "off") -> None:
        self.agent, self.cwd, self.state = agent, cwd, state
        self.config = AgentConfig(stall_s=5)
        self.vacant = state == "off"
        self.info = AgentInfo("acp-v1", can_list=True, can_load=True)
        self.stops = 0
        self.asked: list[str | None] = []
        self.deleted: list[str] = []
        self.answer: Any = SessionList((SessionInfo("a", HERE, "A"), SessionInfo("b", "/", "B")))
        self.hangs = False

    async def ready(self) -> Agent:
        self.state, self.vacant = "ready", False
        return self

    async def list_sessions(self, cwd: str | None) -> Any:
        self.asked.append(cwd)
        if self.hangs:
            await anyio.sleep_forever()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def delete_session(self, ident: str) -> None:
        self.deleted.append(ident)
        if isinstance(self.answer, Exception):
            raise self.answer

    def slow(self, seconds: float, method: str) -> Failure:
        return Failure(f"still starting: {method} ({seconds:g} s)", kind="slow")

    async def stop(self) -> None:
        self.stops += 1


async def until(true: Callable[[], object]) -> None:
    while not true():
        await anyio.lowlevel.checkpoint()


class Desk:
    """Sessions with fakes all around; ``told`` is what Lua was told."""

    def __init__(self, group: anyio.abc.TaskGroup, *agents: Agent) -> None:
        self.connections = {(each.agent, each.cwd): each for each in agents}
        self.shared: set[Agent] = set()
        self.told: list[tuple[Any, ...]] = []
        made: Any = self  # stands for the registry and for the editor
        self.naps: list[anyio.Event] = []

        def spawn(function: Any, *arguments: Any) -> None:
            group.start_soon(function, *arguments)

        self.remembered: list[dict[str, Any]] = []
        self.forgotten: list[tuple[str, str]] = []
        self.sessions = sessions.Sessions(made, made, self.connect, spawn, made, self.sleep)

    async def listed(self, cwd: str | None, agent: str | None) -> list[dict[str, Any]]:
        """Stands for what earlier Neovims have used."""
        return [each for each in self.remembered if agent in (None, each["agent"])]

    def forget(self, agent: str, ident: str) -> None:
        self.forgotten.append((agent, ident))

    async def sleep(self, seconds: float) -> None:
        """Until the test lets the time pass."""
        assert seconds == sessions.LINGER
        self.naps.append(anyio.Event())
        await self.naps[-1].wait()

    async def pass_time(self) -> None:
        """All naps so far are over."""
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        for nap in self.naps:
            nap.set()
        for _ in range(5):
            await anyio.lowlevel.checkpoint()

    def connect(self, agent: str, cwd: str, _config: AgentConfig, _demo: bool) -> Any:
        return self.connections.setdefault((agent, cwd), Agent(agent, cwd))

    def sharing(self, connection: Agent) -> list[int]:
        return [1] if connection in self.shared else []

    def notify(self, *message: Any) -> None:
        self.told.append(message)

    async def settled(self, count: int = 1) -> list[dict[str, Any]]:
        """Wait until so many questions were answered; what was told of agents then."""
        await until(lambda: sum(message[1] == "settled" for message in self.told) >= count)
        return [message[4] for message in self.told if message[1] == "told"]


@asynccontextmanager
async def desk(*agents: Agent) -> AsyncIterator[Desk]:
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            yield Desk(group, *agents)
            group.cancel_scope.cancel()


def request(**fields: Any) -> ListSessions:
    return ListSessions(**{"view": "list", "seq": 1, "cwd": HERE, **fields})


async def test_agents_that_run_are_asked_and_the_one_that_is_wanted() -> None:
    runs, off, other = Agent("x", state="ready"), Agent("y"), Agent("x", "/", state="lost")
    other.vacant = True
    async with desk(runs, off, other) as made:
        made.sessions.ask(request())
        told = await made.settled()
        assert [source["state"] for source in told] == ["asking", "done"]
        assert told[1]["sessions"] == [{"id": "a", "cwd": HERE, "title": "A"}]  # of this folder
        assert (told[1]["agent"], told[1]["home"], told[1]["open"], told[1]["delete"]) == (
            "x",
            HERE,
            True,
            False,
        )
        assert (off.asked, other.asked) == ([], [])
        made.sessions.ask(request(agent="y", home=HERE, only=True, cwd=None))
        told = await made.settled(2)
        assert [each["id"] for each in told[-1]["sessions"]] == ["a", "b"]
        assert (len(runs.asked), off.asked) == (1, [None])


@pytest.mark.parametrize(
    ("change", "state", "error"),
    [
        (
            {"answer": AgentError(Failure("no\x07 list", kind="auth", remedy=":AcpLogin"))},
            "failed",
            "no^G list",
        ),
        (
            {"hangs": True, "config": AgentConfig(stall_s=0.01)},
            "failed",
            "still starting: session/list (0.01 s)",
        ),
        ({"info": AgentInfo("acp-v1")}, "cannot", None),
        ({"answer": SessionList((), cut="no page 2")}, "done", None),
    ],
)
async def test_answers(change: dict[str, Any], state: str, error: str | None) -> None:
    agent = Agent(state="ready")
    for name, value in change.items():
        setattr(agent, name, value)
    async with desk(agent) as made:
        made.sessions.ask(request())
        told = await made.settled()
        assert (told[-1]["state"], told[-1].get("error")) == (state, error)
        assert told[-1].get("cut") == getattr(agent.answer, "cut", None)


async def test_a_second_question_of_a_view_takes_the_place_of_the_first() -> None:
    agent = Agent(state="ready")
    agent.hangs = True
    async with desk(agent) as made:
        made.sessions.ask(request())
        await until(lambda: agent.asked)
        agent.hangs = False
        made.sessions.ask(request(seq=2))
        await made.settled()
        assert [message[3] for message in made.told if message[1] == "settled"] == [2]


async def test_an_agent_started_for_a_list_ends_after_it() -> None:
    talks = Agent("x", state="ready")
    async with desk(talks) as made:
        made.shared.add(talks)
        made.sessions.ask(request(agent="y", home=HERE))
        made.sessions.ask(request(view="call", agent="y", home=HERE))
        await made.settled(2)
        listed = made.connections["y", HERE]
        made.sessions.end(EndSessions("call"))
        await made.pass_time()
        assert listed.stops == 0  # the list is open still
        made.sessions.end(EndSessions("list"))
        made.sessions.ask(request(seq=3))
        await made.pass_time()
        assert listed.stops == 0  # and again
        made.sessions.end(EndSessions("list"))
        await made.pass_time()
        assert (listed.stops, talks.stops) == (1, 0)  # one has a chat
        made.sessions.end(EndSessions("never opened"))


async def test_the_last_chat_of_an_agent_ends_it_unless_its_sessions_are_listed() -> None:
    agent: Any = Agent(state="ready")
    async with desk(agent) as made:
        assert not made.sessions.keep(agent)
        made.sessions.ask(request())
        await made.settled()
        assert made.sessions.keep(agent)
        made.sessions.end(EndSessions("list"))
        await made.pass_time()
        assert agent.stops == 1
        assert not made.sessions.keep(agent)


@pytest.mark.parametrize("error", [None, "busy"])
async def test_delete(error: str | None) -> None:
    agent = Agent()
    agent.answer = AgentError(Failure(error)) if error else None
    async with desk(agent) as made:
        made.sessions.delete(DeleteSession("x", HERE, "a"))
        await until(lambda: made.told)
        assert made.told == [("acp.sessions", "deleted", "x", "a", error or False)]
        assert (agent.deleted, agent.stops) == (["a"], 1)  # nobody else needs it
