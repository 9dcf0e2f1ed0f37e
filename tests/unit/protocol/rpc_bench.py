"""A peer between a scripted agent (``Wire``) and a scripted handler."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
from msgspec import Raw

from acp_nvim.protocol.rpc import Peer
from acp_nvim.protocol.rpc_errors import method_not_found
from acp_nvim.transport import TransportClosedError
from acp_nvim.wire.decode import Codec

ANY = Codec[Any](Any)


class Wire:
    """The agent's end of a transport: ``say`` lines, read what was ``sent``."""

    def __init__(self) -> None:
        self._send, self._receive = anyio.create_memory_object_stream[list[bytes] | Exception](100)
        self.sent: list[Any] = []
        self.grew = anyio.Event()
        self.block: anyio.Event | None = None
        self.broken = False

    def say(self, *lines: bytes | dict[str, Any]) -> None:
        """One batch, as one read would give it."""
        self._send.send_nowait(
            [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        )

    def fail(self, error: Exception) -> None:
        self._send.send_nowait(error)

    def end(self) -> None:
        self._send.close()

    async def lines(self) -> AsyncGenerator[list[bytes], None]:
        async with self._receive:
            async for batch in self._receive:
                if isinstance(batch, Exception):
                    raise batch
                yield batch

    async def send(self, message: bytes) -> None:
        if self.block:
            await self.block.wait()
        await anyio.lowlevel.checkpoint()
        if self.broken:
            raise TransportClosedError
        assert b"\n" not in message
        self.sent.append(json.loads(message))
        self.grew.set()
        self.grew = anyio.Event()

    async def answers(self, count: int) -> list[Any]:
        with anyio.fail_after(5):
            while len(self.sent) < count:
                await self.grew.wait()
        return self.sent


class Handler:
    """Keeps what came; ``on`` gives methods something to do."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.on: dict[str, Callable[[Any], Awaitable[Any]]] = {}

    async def request(self, method: str, params: Raw) -> object:
        self.log.append(f"request {method}")
        if method not in self.on:
            raise method_not_found(method)
        return await self.on[method](ANY.decode(params))

    async def notification(self, method: str, params: Raw) -> None:
        if method in self.on:
            await self.on[method](ANY.decode(params))
        self.log.append(f"notification {method}")

    async def settle(self) -> None:
        """Nothing is put off here."""


class Bench:
    def __init__(self, wire: Wire, handler: Handler, peer: Peer, trace: list[tuple[str, bytes, str]]) -> None:
        self.wire = wire
        self.handler = handler
        self.peer = peer
        self.trace = trace
        self.ended = anyio.Event()

    def notes(self) -> str:
        return "\n".join(text for _, _, text in self.trace if text)

    async def run(self) -> None:
        await self.peer.run()
        self.ended.set()


@asynccontextmanager
async def bench(**options: Any) -> AsyncIterator[Bench]:
    wire, handler = Wire(), Handler()
    trace: list[tuple[str, bytes, str]] = []
    async with anyio.create_task_group() as group:
        peer = Peer(
            wire, handler, spawn=group.start_soon, observer=lambda *seen: trace.append(seen), **options
        )
        made = Bench(wire, handler, peer, trace)
        group.start_soon(made.run)
        try:
            yield made
        finally:
            wire.end()
        with anyio.fail_after(5):
            await made.ended.wait()


def request(id_: Any, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(id_: Any, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": value}


def failure(id_: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}


async def settle() -> None:
    """Let everything run that can run without anything new."""
    for _ in range(200):
        await anyio.lowlevel.checkpoint()
