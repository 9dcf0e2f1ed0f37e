"""A prompt for the turn that runs: the extension ``_session/steering`` of some agents."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v1.bench import HELLO, Bench, opened

from acp_nvim.session.content import Block
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio

STEERS: dict[str, Any] = {**HELLO, "_meta": {"steering": {"supported": True}}}


def chunk(words: str, role: str = "agent_message") -> dict[str, Any]:
    return {"sessionUpdate": f"{role}_chunk", "content": {"type": "text", "text": words}}


async def steered(bench: Bench, result: Any = None, error: Any = None) -> list[str]:
    """Steer with "b", while nothing else happens; return what came of it."""
    outcome, blocks = [], [Block.of_text("b")]

    async def steer() -> None:
        try:
            outcome.append(str(await bench.adapter.steer(bench.session, blocks, blocks)))
        except AgentError as failed:
            outcome.append(failed.failure.message)

    async with anyio.create_task_group() as group:
        group.start_soon(steer)
        params = await bench.answers("_session/steering", result, error)
    assert params == {
        "sessionId": "r1",
        "prompt": [{"type": "text", "text": "b"}],
        "_meta": {"steering": {"idleBehavior": "promptRequired"}},
    }
    return outcome


@pytest.mark.parametrize(
    ("meta", "can"),
    [
        ({"steering": {"supported": True}}, True),
        ({"steering": {"supported": "yes"}}, False),
        ({"steering": True}, False),
        ({}, False),
        (None, False),
        ([], False),
    ],
)
@pytest.mark.req("V1-209")
async def test_an_agent_says_that_it_can(meta: Any, can: bool) -> None:
    async with opened({**HELLO, "_meta": meta}) as bench:
        assert bench.adapter.known().can_steer is can


@pytest.mark.req("V1-211")
async def test_what_was_taken_stands_between_what_came_before_and_after() -> None:
    async with opened(STEERS) as bench:
        async with bench.turn("a"):
            request = await bench.asked("session/prompt")
            bench.says(chunk("one"))
            assert await steered(bench, {"outcome": "injected"}) == ["taken"]
            bench.says(chunk("two"))
            await bench.settle()
            assert bench.session.state == "running"
            bench.ends(request)
        assert bench.timeline == ["user|a", "agent|one", "user|b", "agent|two", "end|end_turn"]
        assert len(bench.session.turns) == 1
        assert [str(block.text) for block in bench.session.turns[0].prompt] == ["a", "b"]


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.req("V1-75")
async def test_an_echo_is_shown_once(early: bool) -> None:
    async with opened(STEERS) as bench:
        async with bench.turn("a"):
            request = await bench.asked("session/prompt")
            bench.says(chunk("one"))
            if early:
                bench.says(chunk("b", "user_message"))
            await steered(bench, {"outcome": "injected"})
            if not early:
                bench.says(chunk("b", "user_message"))
            bench.says(chunk("two"))
            bench.ends(request)
        assert bench.timeline == ["user|a", "agent|one", "user|b", "agent|two", "end|end_turn"]


@pytest.mark.parametrize(
    ("result", "error", "outcome"),
    [
        ({"outcome": "promptRequired", "reason": "noRunningTurn"}, None, "refused"),
        ({"outcome": "failed"}, None, "refused"),
        ({"outcome": "whatever"}, None, "refused"),
        ({"outcome": 3}, None, "refused"),
        ({}, None, "refused"),
        (None, {"code": -32601, "message": "Method not found"}, "Method not found"),
    ],
)
async def test_what_was_not_taken_is_not_shown(result: Any, error: Any, outcome: str) -> None:
    async with opened(STEERS) as bench:
        async with bench.turn("a"):
            request = await bench.asked("session/prompt")
            (came,) = await steered(bench, result, error)
            assert outcome in came
            bench.ends(request)
        assert bench.timeline == ["user|a", "end|end_turn"]


async def test_a_turn_of_its_own_begins_with_it() -> None:
    async with opened(STEERS) as bench:
        async with bench.turn("a"):
            bench.ends(await bench.asked("session/prompt"))
        assert await steered(bench, {"outcome": "startedNewTurn"}) == ["turn"]
        bench.says(chunk("two"))
        await bench.settle()
        assert bench.timeline == ["user|a", "end|end_turn", "user|b", "agent|two"]
