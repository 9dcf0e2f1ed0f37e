"""Arrays of messages, taken apart and answered together."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v1.bench import MemoryLines

from acp_nvim.protocol.batches import Batches
from acp_nvim.protocol.channel import Channel

pytestmark = pytest.mark.anyio


class Answers:
    """Answers each request by its parameters, in the order the test says; notes notifications."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.go: dict[str, anyio.Event] = {}

    async def request(self, method: str, params: Any) -> object:
        await self.go.setdefault(method, anyio.Event()).wait()
        return {"did": method}

    async def notification(self, method: str, params: Any) -> None:
        self.heard.append(method)

    async def settle(self) -> None:
        """Nothing is put off here."""


class Raw(MemoryLines):
    """Keeps what is written as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[Any] = []

    async def send(self, message: bytes) -> None:
        self.written.append(json.loads(message))

    def close(self) -> None:
        self._push.close()
        self._pull.close()


def call(ident: Any, method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": method}


def done(ident: Any, method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "result": {"did": method}}


REFUSED = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid request"}}


@pytest.mark.req("V2-14")
@pytest.mark.parametrize(
    ("line", "order", "written"),
    [
        ([call(1, "a"), call("1", "b")], "ba", [[done("1", "b"), done(1, "a")]]),
        ([call(1, "a"), {"jsonrpc": "2.0", "method": "note"}], "a", [[done(1, "a")]]),
        ([{"jsonrpc": "2.0", "method": "note"}], "", []),
        ([call(1, "a"), 7, {"jsonrpc": "2.0"}], "a", [[REFUSED, REFUSED, done(1, "a")]]),
        ([], "", [REFUSED]),
        ([[call(1, "a")]], "", [[REFUSED]]),
        ([{"jsonrpc": "2.0", "id": 99, "result": {}}], "", []),
        (call(1, "a"), "a", [done(1, "a")]),
    ],
)
async def test_arrays(line: Any, order: str, written: list[Any]) -> None:
    transport, answers = Raw(), Answers()
    channel = Channel(Batches(transport))
    channel.handler = answers
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(channel.run)
            transport.push(json.dumps(line).encode(), json.dumps(call("end", "end")).encode())
            for name in (*order, "end"):
                await anyio.wait_all_tasks_blocked()
                answers.go.setdefault(name, anyio.Event()).set()
            await anyio.wait_all_tasks_blocked()
            await channel.close()
    transport.close()
    assert transport.written == [*written, done("end", "end")]
    assert answers.heard == (["note"] if "note" in json.dumps(line) else [])


@pytest.mark.req("V2-14")
async def test_broken_json_and_ids_that_come_twice() -> None:
    transport, answers = Raw(), Answers()
    answers.go["a"] = anyio.Event()
    answers.go["a"].set()
    channel = Channel(Batches(transport))
    channel.handler = answers
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(channel.run)
            transport.push(b'[{"jsonrpc":"2.0",', json.dumps([call(1, "a"), call(1, "a")]).encode())
            await anyio.wait_all_tasks_blocked()
            await channel.close()
    transport.close()
    broken, both = transport.written
    assert (broken["id"], broken["error"]["code"]) == (None, -32700)
    assert both == [done(1, "a"), done(1, "a")]


ODD = [
    ({}, 1),
    ({"x": 1}, 1),
    ({"method": 7}, 1),
    ({"id": True, "method": "a"}, 1),
    ({"jsonrpc": "2.0", "id": True, "method": "a"}, 1),
    ({"jsonrpc": "2.0", "id": 3, "method": 7}, 1),
    ({"jsonrpc": "2.0", "id": "never"}, 0),
    ({"jsonrpc": "2.0", "id": None}, 0),
    ({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": ""}}, 0),
    ({"id": 5}, 0),
    ({"jsonrpc": "2.0", "id": 2.0, "method": "a"}, 1),
    ({"jsonrpc": "2.0", "id": "\ud800", "method": "a"}, 1),
    ({"jsonrpc": "2.0", "id": None, "method": "a"}, 1),
    ({"method": "note"}, 0),
]
"""What may stand in an array, and how many answers it gets."""


@pytest.mark.req("V2-14")
@pytest.mark.parametrize(("odd", "count"), ODD)
async def test_an_odd_entry_keeps_no_answer_back(odd: Any, count: int) -> None:
    transport, answers = Raw(), Answers()
    channel = Channel(Batches(transport))
    channel.handler = answers
    answers.go["a"] = anyio.Event()
    answers.go["a"].set()
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(channel.run)
            for array in ([odd, call(1, "a"), odd], [call(1, "a")]):
                transport.push(json.dumps(array).encode())
                await anyio.wait_all_tasks_blocked()
            await channel.close()
    transport.close()
    together, alone = transport.written
    assert done(1, "a") in together
    assert len(together) == 1 + 2 * count
    assert alone == [done(1, "a")], "nothing is left of the array before"
