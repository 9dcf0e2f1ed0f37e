"""Which version of ACP is spoken, by what the settings say and by what the agent answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v1.bench import Bench

from acp_nvim.protocol.acp_v1 import AcpV1
from acp_nvim.protocol.acp_v1 import handshake as v1
from acp_nvim.protocol.acp_v2 import AcpV2
from acp_nvim.protocol.negotiation import Dialect, Negotiation, OlderError
from acp_nvim.session.ports import AgentError
from acp_nvim.wire.decode import encode

pytestmark = pytest.mark.anyio

INFO = {"name": "robo", "version": "1"}
V1 = {"protocolVersion": 1, "agentInfo": INFO}
V2 = {"protocolVersion": 2, "info": INFO, "capabilities": {"session": {}}}


class Talk(Bench):
    """``negotiation`` instead of the adapter of one version."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self.negotiation = Negotiation(self.channel, self.parts, dialect)

    async def connect(self, *answers: dict[str, Any]) -> AcpV1 | AcpV2:
        """Connect; each answer is a result, or an error with a code."""
        made: list[AcpV1 | AcpV2 | Exception] = []
        async with anyio.create_task_group() as group:
            group.start_soon(self._answer, answers)
            try:
                made.append(await self.negotiation.connect())
            except (AgentError, OlderError) as error:
                made.append(error)
            group.cancel_scope.cancel()
        if isinstance(made[0], Exception):
            raise made[0]
        return made[0]

    async def _answer(self, answers: tuple[dict[str, Any], ...]) -> None:
        for answer in answers:
            if "code" in answer:
                await self.answers("initialize", None, answer)
            else:
                await self.answers("initialize", answer)

    @property
    def asked_for(self) -> list[dict[str, Any]]:
        return [message["params"] for message in self.sent if message.get("method") == "initialize"]


@asynccontextmanager
async def talk(dialect: Dialect) -> AsyncIterator[Talk]:
    bench = Talk(dialect)
    try:
        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(bench.negotiation.run)
                try:
                    yield bench
                finally:
                    await bench.channel.close()
    finally:
        bench.transport.close()


@pytest.mark.req("V2-01", "V2-03", "V2-04", "V2-07")
@pytest.mark.parametrize(
    ("dialect", "answer", "speaks", "asked"),
    [
        ("acp-v1", V1, "ACP v1", {"clientCapabilities", "clientInfo"}),
        ("acp-v2", V2, "ACP v2", {"capabilities", "info"}),
        ("auto", V1, "ACP v1", {"capabilities", "info", "clientCapabilities", "clientInfo"}),
        ("auto", V2, "ACP v2", {"capabilities", "info", "clientCapabilities", "clientInfo"}),
    ],
)
async def test_the_version_of_the_answer_is_spoken(
    dialect: Dialect, answer: dict[str, Any], speaks: str, asked: set[str]
) -> None:
    async with talk(dialect) as bench:
        client = await bench.connect(answer)
        assert client.known().speaks == speaks
        (request,) = bench.asked_for
        assert request.keys() - {"protocolVersion"} == asked
        assert request["protocolVersion"] == (1 if dialect == "acp-v1" else 2)


@pytest.mark.req("V2-07")
async def test_an_agent_of_v1_is_offered_all_that_it_would_be_offered_otherwise() -> None:
    async with talk("auto") as bench:
        await bench.connect(V1)
        plain = json.loads(encode(v1.request()))
        assert bench.asked_for[0]["clientCapabilities"] == plain["clientCapabilities"]
        assert bench.asked_for[0]["clientInfo"] == plain["clientInfo"]
        capabilities = plain["clientCapabilities"]
        assert capabilities["fs"] == {"readTextFile": True, "writeTextFile": True}
        assert capabilities["terminal"] is True
        assert capabilities["session"]["configOptions"] == {"boolean": {}}
        assert capabilities["auth"] == {"terminal": True}


@pytest.mark.req("V2-05", "V2-06", "V2-09")
async def test_an_agent_that_names_version_1_is_asked_again() -> None:
    refusal = {"code": -32022, "message": "no", "data": {"requested": 2, "supported": [0, 1]}}
    async with talk("auto") as bench:
        client = await bench.connect(refusal, V1)
        assert client.known().speaks == "ACP v1"
        assert [each["protocolVersion"] for each in bench.asked_for] == [2, 1]
        assert bench.asked_for[1].keys() == {"protocolVersion", "clientCapabilities", "clientInfo"}


@pytest.mark.req("V2-02", "V2-05", "V2-06")
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"code": -32022, "message": "no", "data": {"requested": 2, "supported": [3, 4]}}, "version 3 and 4"),
        ({"code": -32022, "message": "no", "data": "x"}, "none that it names"),
        ({"code": -32022, "message": "no"}, "none that it names"),
        ({**V2, "protocolVersion": 3}, "version 3"),
        ({"protocolVersion": 0}, "version 0"),
    ],
)
async def test_a_version_that_nobody_knows(answer: dict[str, Any], says: str) -> None:
    async with talk("auto") as bench:
        with pytest.raises(AgentError, match=says) as raised:
            await bench.connect(answer)
        assert raised.value.failure.kind == "unsupported"


@pytest.mark.req("V2-08")
@pytest.mark.parametrize(
    "answer",
    [
        {"code": -32602, "message": "bad params"},
        {"code": -32600, "message": "bad request"},
        {"protocolVersion": 2},
        {"version": 2},
    ],
)
async def test_an_agent_that_cannot_be_asked_for_version_2(answer: dict[str, Any]) -> None:
    async with talk("auto") as bench:
        with pytest.raises(OlderError):
            await bench.connect(answer)


@pytest.mark.req("V2-08")
async def test_an_agent_that_dies_of_it() -> None:
    async with talk("auto") as bench:

        async def die() -> None:
            await bench.asked("initialize")
            bench.transport.end()

        async with anyio.create_task_group() as group:
            group.start_soon(die)
            with pytest.raises(OlderError):
                await bench.negotiation.connect()


@pytest.mark.req("V2-10", "V2-11")
@pytest.mark.parametrize("answer", [V1, V2])
async def test_what_comes_right_after_the_answer_is_heard(answer: dict[str, Any]) -> None:
    """And what comes before it is refused."""
    async with talk("auto") as bench:
        bench.asks("early", "session/request_permission")
        params = {"message": "?", "mode": "url", "elicitationId": "e", "url": "x"}

        async def agent() -> None:
            request = await bench.asked("initialize")
            bench.transport.push(
                {"jsonrpc": "2.0", "id": request["id"], "result": answer},
                {"jsonrpc": "2.0", "id": "late", "method": "elicitation/create",
                 "params": {**params, "sessionId": "none"}},
            )  # fmt: skip

        async with anyio.create_task_group() as group:
            group.start_soon(agent)
            await bench.negotiation.connect()
        assert (await bench.reply("early"))["error"]["code"] == -32601
        assert (await bench.reply("late"))["error"]["code"] == -32002


@pytest.mark.req("V2-02")
async def test_forced_versions_say_what_to_change() -> None:
    async with talk("acp-v2") as bench:
        with pytest.raises(AgentError, match="version 1") as raised:
            await bench.connect({**V2, "protocolVersion": 1})
        assert "auto" in (raised.value.failure.remedy or "")
    async with talk("acp-v2") as bench:
        with pytest.raises(AgentError) as raised:
            await bench.connect(V1)  # an answer of v1 does not even decode as one of v2
        assert raised.value.failure.message == "it speaks ACP version 1, and was to speak version 2"
