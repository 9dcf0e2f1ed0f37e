"""session/list, load with its replay, fork and delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from tests.unit.protocol.acp_v1.bench import HELLO, Bench, connected, opened
from tests.unit.protocol.acp_v1.test_sessions import commands, hello, text

from acp_nvim.protocol import listing
from acp_nvim.protocol.acp_v1 import lifecycle
from acp_nvim.session.agent import SessionInfo, SessionList
from acp_nvim.session.events import ReplayEnded
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio

T = TypeVar("T")


def able(*capabilities: str, load: bool = False) -> dict[str, Any]:
    session: dict[str, Any] = {name: {} for name in capabilities}
    return {
        "protocolVersion": 1,
        "agentCapabilities": {"loadSession": load, "sessionCapabilities": session},
    }


async def asks(act: Callable[[], Awaitable[T]], play: Callable[[], Awaitable[object]]) -> T:
    """What ``act`` returns, or its AgentError, while the agent plays."""
    done: list[T] = []
    failed: list[AgentError] = []

    async def run() -> None:
        try:
            done.append(await act())
        except AgentError as error:
            failed.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await play()
    if failed:
        raise failed[0]
    return done[0]


def entry(ident: str, **fields: Any) -> dict[str, Any]:
    return {"sessionId": ident, "cwd": "/ws", **fields}


async def pages(bench: Bench, answers: Sequence[Any]) -> list[Any]:
    """Answer each ``session/list`` with the next one; return the requests' parameters."""
    asked: list[Any] = []
    for answer in answers:
        if isinstance(answer, Exception):
            asked.append(await bench.answers("session/list", None, {"code": -32603, "message": str(answer)}))
        else:
            asked.append(await bench.answers("session/list", answer))
    return asked


@pytest.mark.req("V1-53", "V1-54", "V1-55", "V1-56")
async def test_all_pages_are_read_and_broken_entries_dropped() -> None:
    async with connected() as bench:
        await hello(bench, able("list"))
        asked: list[Any] = []
        first = entry("a", title="A", updatedAt="2026-01-02T03:04:05Z", additionalDirectories=["/x"])

        async def agent() -> None:
            asked.extend(
                await pages(
                    bench,
                    [
                        {"sessions": [first, {"cwd": "/ws"}, entry("b", title=None)], "nextCursor": "p 2 é"},
                        {
                            "sessions": ["broken", entry("c", cwd="not/absolute"), entry("a")],
                            "nextCursor": "",
                        },
                        {"sessions": [entry("d", title=7, updatedAt=8)], "nextCursor": None},
                    ],
                )
            )

        assert await asks(lambda: bench.adapter.list_sessions("/ws"), agent) == SessionList(
            (
                SessionInfo("a", "/ws", "A", "2026-01-02T03:04:05Z", ("/x",)),
                SessionInfo("b", "/ws"),
                SessionInfo("d", "/ws"),
            )
        )
        assert asked == [{"cwd": "/ws"}, {"cwd": "/ws", "cursor": "p 2 é"}, {"cwd": "/ws", "cursor": ""}]


@pytest.mark.req("V1-54")
async def test_all_folders_and_one_page() -> None:
    async with connected() as bench:
        await hello(bench, able("list"))
        asked: list[Any] = []

        async def agent() -> None:
            asked.extend(await pages(bench, [{"sessions": []}]))

        assert await asks(bench.adapter.list_sessions, agent) == SessionList(())
        assert asked == [{}]


@pytest.mark.parametrize(
    ("answers", "found", "cut"),
    [
        ([{"sessions": [entry("a")], "nextCursor": "x"}] * 2, ["a"], "same page"),
        ([{"sessions": [entry("a")], "nextCursor": "x"}, RuntimeError("no page 2")], ["a"], "no page 2"),
        (
            [{"sessions": [entry("a")], "nextCursor": "x"}, {"sessions": [entry("b")], "nextCursor": "y"}],
            ["a", "b"],
            "too many",
        ),
    ],
    ids=["a circle", "a broken page", "no end"],
)
async def test_a_list_without_end(
    monkeypatch: pytest.MonkeyPatch, answers: list[Any], found: list[str], cut: str
) -> None:
    monkeypatch.setattr(listing, "MOST_PAGES", 2)
    async with connected() as bench:
        await hello(bench, able("list"))
        listed = await asks(bench.adapter.list_sessions, lambda: pages(bench, answers))
        assert [info.id for info in listed.sessions] == found
        assert cut in (listed.cut or "")


async def test_too_many_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_LISTED", 3)
    async with connected() as bench:
        await hello(bench, able("list"))
        page = {"sessions": [entry(str(n)) for n in range(5)], "nextCursor": "x"}
        listed = await asks(bench.adapter.list_sessions, lambda: pages(bench, [page]))
        assert len(listed.sessions) == 3
        assert listed.cut


async def test_a_list_that_fails() -> None:
    async with connected() as bench:
        await hello(bench, able("list"))
        with pytest.raises(AgentError, match="no list"):
            await asks(bench.adapter.list_sessions, lambda: pages(bench, [RuntimeError("no list")]))

        async def dies() -> None:
            await bench.answers("session/list", {"sessions": [entry("a")], "nextCursor": "x"})
            await bench.asked("session/list")
            bench.transport.end()

        with pytest.raises(AgentError) as caught:
            await asks(bench.adapter.list_sessions, dies)
        assert caught.value.failure.kind == "transport"


@pytest.mark.req("V1-45", "V1-49", "V1-52", "V1-53", "V1-57", "V1-62")
async def test_nothing_is_asked_that_is_not_offered() -> None:
    async with opened(HELLO) as bench:
        session, adapter = bench.new_session("other", "/ws"), bench.adapter
        for act in (
            lambda: adapter.list_sessions(None),
            lambda: adapter.load_session(session, "a"),
            lambda: adapter.resume_session(session, "a"),
            lambda: adapter.fork_session(session, "a"),
            lambda: adapter.delete_session("a"),
        ):
            with pytest.raises(AgentError) as caught:
                await act()
            assert caught.value.failure.kind == "unsupported"
        await adapter.close_session(bench.session)
        assert [message["method"] for message in bench.sent] == ["initialize", "session/new"]
    async with connected() as bench:
        with pytest.raises(AgentError, match="not connected"):
            await bench.adapter.list_sessions()
        assert bench.sent == []


@pytest.mark.parametrize(
    ("said", "method"),
    [
        (able("resume", load=True), "session/load"),
        (able(load=True), "session/load"),
        (able("resume"), "session/resume"),
    ],
)
@pytest.mark.req("V1-49", "V1-52")
async def test_loading_prefers_the_replay(said: dict[str, Any], method: str) -> None:
    async with connected() as bench:
        await hello(bench, said)
        replayed = await asks(
            lambda: bench.adapter.load_session(bench.session, "old"), lambda: bench.answers(method, None)
        )
        assert replayed == (0 if method == "session/load" else None)
        assert (bench.session.remote_id, bench.session.state) == ("old", "idle")


@pytest.mark.req("V1-14", "V1-50", "V1-51", "V1-59")
async def test_a_replay_that_goes_on_after_the_answer(tmp_path: Path) -> None:
    """As an agent of the field does, which has answered after the first message."""
    more = str(tmp_path)
    async with connected(directories=[more]) as bench:
        await hello(bench, able("additionalDirectories", load=True))

        async def agent() -> None:
            request = await bench.asked("session/load")
            assert request["params"] == {
                "sessionId": "old", "cwd": "/ws", "mcpServers": [], "additionalDirectories": [more],
            }  # fmt: skip
            bench.says(text("user_message", "hi"), to="old")
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": None})
            for words in ("a", "b", "c"):
                await anyio.sleep(lifecycle.REPLAY_QUIET / 2)
                bench.says(text("agent_message", words), commands("go"), to="old")
            bench.says(
                {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "status": "completed"},
                text("user_message", "more"),
                to="old",
            )
            assert bench.session.replaying

        assert await asks(lambda: bench.adapter.load_session(bench.session, "old"), agent) == 6
        assert bench.timeline == ["user|hi", "agent|abc", "tool t|completed|x", "user|more"]
        assert {m.origin for m in bench.session.messages.values()} == {"replay"}
        assert sum(isinstance(event, ReplayEnded) for event in bench.events) == 1
        assert not bench.session.replaying
        async with bench.turn("now"):
            request = await bench.asked("session/prompt")
            bench.says(text("user_message", "now"), text("agent_message", "d"), to="old")
            bench.ends(request)
        assert bench.timeline[4:] == ["user|now", "agent|d", "end|end_turn"]


async def test_c12_a_load_that_restores_nothing() -> None:
    async with connected() as bench:
        await hello(bench, able(load=True))

        async def agent() -> None:
            await bench.answers("session/load", {})
            bench.says(commands("go"), to="unknown")

        assert await asks(lambda: bench.adapter.load_session(bench.session, "unknown"), agent) == 0
        assert bench.timeline == []


async def test_an_agent_that_ends_in_its_replay() -> None:
    async with connected() as bench:
        await hello(bench, able(load=True))

        async def agent() -> None:
            await bench.answers("session/load", {})
            bench.says(text("user_message", "hi"), to="old")
            await bench.settle()
            bench.transport.end()

        with pytest.raises(AgentError) as caught:
            await asks(lambda: bench.adapter.load_session(bench.session, "old"), agent)
        assert caught.value.failure.kind == "transport"
        assert not bench.session.replaying


@pytest.mark.req("V1-61")
async def test_a_session_the_agent_does_not_know() -> None:
    async with connected() as bench:
        await hello(bench, able(load=True))
        error = {"code": -32002, "message": "Resource not found", "data": {"sessionId": "old"}}
        with pytest.raises(AgentError) as caught:
            await asks(
                lambda: bench.adapter.load_session(bench.session, "old"),
                lambda: bench.answers("session/load", None, error),
            )
        assert caught.value.failure.kind == "not_found"
        assert not bench.session.replaying


@pytest.mark.req("V1-47", "V1-48", "V1-62")
async def test_fork() -> None:
    async with connected() as bench:
        await hello(bench, able("fork"))

        async def agent() -> None:
            request = await bench.asked("session/fork")
            assert request["params"] == {"sessionId": "old", "cwd": "/ws"}
            bench.says(commands("go"), to="new")
            bench.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": {"sessionId": "new"}})

        await asks(lambda: bench.adapter.fork_session(bench.session, "old"), agent)
        assert bench.session.remote_id == "new"
        assert [command.name for command in bench.session.commands] == ["go"]


@pytest.mark.parametrize("error", [None, {"code": -32002, "message": "unknown"}])
@pytest.mark.req("V1-57", "V1-58")
async def test_delete(error: dict[str, Any] | None) -> None:
    async with opened(able("delete")) as bench:
        asked: list[Any] = []

        async def agent() -> None:
            asked.append(await bench.answers("session/delete", {}, error))

        await asks(lambda: bench.adapter.delete_session("old"), agent)
        assert asked == [{"sessionId": "old"}]


async def test_a_delete_that_is_refused() -> None:
    async with opened(able("delete")) as bench:
        with pytest.raises(AgentError, match="busy"):
            await asks(
                lambda: bench.adapter.delete_session("old"),
                lambda: bench.answers("session/delete", None, {"code": -32600, "message": "busy"}),
            )
