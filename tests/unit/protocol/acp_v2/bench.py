"""An adapter of v2 on a transport in memory, and the hands of a scripted agent at its other end."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from tests.unit.protocol.acp_v1.bench import PATIENCE, BenchOf, run

from acp_nvim.protocol.acp_v2 import AcpV2

INFO = {"name": "robo", "title": "Robo", "version": "2.6"}
HELLO: dict[str, Any] = {"protocolVersion": 2, "info": INFO, "capabilities": {"session": {}}}
OPTIONS = [
    {"optionId": "ok", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class Bench(BenchOf[AcpV2]):
    def __init__(self, **options: Any) -> None:
        super().__init__(AcpV2, **options)

    async def open(self, hello: Mapping[str, Any] = HELLO, created: Mapping[str, Any] | None = None) -> None:
        await super().open(hello, created)

    async def accepts(self, message_id: str | None = "m1") -> dict[str, Any]:
        """Take the prompt in; return its request."""
        request = await self.asked("session/prompt")
        result = {} if message_id is None else {"messageId": message_id}
        self.transport.push({"jsonrpc": "2.0", "id": request["id"], "result": result})
        return request

    async def works(self, message_id: str = "m1") -> dict[str, Any]:
        """Take the prompt in and begin to work on it."""
        request = await self.accepts(message_id)
        self.says(state("running"))
        await self.settle()
        return request

    def asks_for(self, request_id: int | str, title: str = "May I?", **fields: Any) -> None:
        options = fields.pop("options", OPTIONS)
        self.asks(request_id, "session/request_permission", title=title, options=options, **fields)


def state(name: str, **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "state_update", "state": name, **fields}


def idle(stop: str | None = "end_turn", **fields: Any) -> dict[str, Any]:
    return state("idle", **({"stopReason": stop} if stop else {}), **fields)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def chunk(words: str, message_id: str = "a1", role: str = "agent_message") -> dict[str, Any]:
    return {"sessionUpdate": f"{role}_chunk", "messageId": message_id, "content": text(words)}


def whole(*words: str, message_id: str = "a1", role: str = "agent_message", **fields: Any) -> dict[str, Any]:
    return {
        "sessionUpdate": role,
        "messageId": message_id,
        "content": [text(each) for each in words],
        **fields,
    }


def tool(call: str = "c1", **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": call, **fields}


def item(content: Mapping[str, Any], call: str = "c1") -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": call, "content": content}


def terminal(name: str = "t1", **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "terminal_update", "terminalId": name, **fields}


def wrote(data: bytes, name: str = "t1") -> dict[str, Any]:
    return {"sessionUpdate": "terminal_output_chunk", "terminalId": name, "data": coded(data)}


def coded(data: bytes) -> str:
    return b64encode(data).decode()


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
