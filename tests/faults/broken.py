"""What becomes of the answers of an AAP server on their way: whole ones, and streams of events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import Callable
from typing import ClassVar

from acp_nvim.demo.web import Response

STRAY = (
    b": comment\n", b"retry: 0\nid: 7\n\n", b"data\n\n", b"data:\n\n", b"event: text_delta\n\n", b"\n\n\n\n",
    b"\xff\xfe\x00\n\n", b"no colon at all\n", b"event: text_delta\ndata: {}\n\n", b"data: null\n\n",
    b"event: error\ndata: oh\n\n", b"event: ping\ndata: {}\n\n", b"data: [1, 2]\n\n", b"\xef\xbb\xbf", b"\r",
    b'event: tool_result\ndata: {"toolCallId": "never", "content": "?"}\n\n',
    b'event: tool_call\ndata: {"toolCallId": 7}\n\n', b"data: " + b"[" * 20_000 + b"\n\n",
)  # fmt: skip

Meant = Callable[[str, str], None]


class Broken(Response):
    """Writes what becomes of an answer. ``dirty``: the client may have got something else than was meant.

    ``meant`` is told of a file and its text that a damaged event may be understood to write.
    """

    EVENTS: ClassVar = {
        "cut": 2, "end": 2, "reset": 1, "chunk": 1, "drop": 4, "twice": 6, "later": 8, "split": 8, "delay": 8,
        "corrupt": 6, "shorten": 4, "stray": 8, "flood": 1, "stop": 2, "returns": 3,
    }  # fmt: skip

    def __init__(self, writer: asyncio.StreamWriter, rng: random.Random, rate: float, meant: Meant) -> None:
        super().__init__(writer)
        self.dirty = False
        self._rng = rng
        self._rate = rate
        self._meant = meant
        self._held: list[bytes] = []

    async def answer(self, status: int, body: bytes = b"", kind: str = "application/json") -> None:
        """A whole answer, or what becomes of it."""
        if not self._rng.random() < self._rate:
            await super().answer(status, body, kind)
            return
        self.dirty = True
        match self._rng.choice(["corrupt", "cut", "long", "type", "empty", "slow"]):
            case "corrupt":
                await super().answer(status, _corrupted(self._rng, body), kind)
            case "cut":
                await self.begin(status, {"Content-Type": kind, "Content-Length": str(len(body))})
                await self.raw(body[: self._rng.randrange(len(body) + 1)])
                self.abort()
            case "long":
                await self.begin(status, {"Content-Type": kind, "Content-Length": str(len(body) + 9)})
                await self.raw(body)
            case "type":
                await super().answer(status, b"<html>", "text/html")
            case "empty":
                await super().answer(status, b"{}", kind)
            case "slow":
                await self.begin(status, {"Content-Type": kind, "Content-Length": str(len(body))})
                for byte in body[:50]:
                    await self.raw(bytes([byte]))
                    await asyncio.sleep(0.0005)
                await self.raw(body[50:])

    async def send(self, data: bytes) -> None:
        """One event of a stream, or what becomes of it."""
        held, self._held = self._held, []
        fault = ""
        if self._rng.random() < self._rate:
            fault = self._rng.choices(list(self.EVENTS), list(self.EVENTS.values()))[0]
        if fault == "later":
            self._held = [data]
        elif fault:
            self.dirty = self.dirty or fault not in ("split", "delay", "returns", "twice")
            await getattr(self, f"_{fault}")(data)
        else:
            await super().send(data)
        for each in held:
            await super().send(each)

    async def end(self) -> None:
        held, self._held = self._held, []
        for each in held:  # behind the last event: it is not read any more
            self.dirty = True
            await super().send(each)
        await super().end()

    def abort(self) -> None:
        """A reset, and no more of this answer."""
        self.writer.transport.abort()
        raise ConnectionResetError("on purpose")

    async def _cut(self, data: bytes) -> None:
        await super().send(data[: self._rng.randrange(len(data))])
        self.abort()

    async def _reset(self, _data: bytes) -> None:
        self.abort()

    async def _end(self, data: bytes) -> None:
        """The stream ends in peace, in the middle of an event."""
        await super().send(data[: self._rng.randrange(len(data))])
        await super().end()
        self.writer.close()
        raise ConnectionResetError("on purpose")

    async def _chunk(self, data: bytes) -> None:
        """The length of a chunk is none."""
        await self.raw(self._rng.choice([b"zz\r\n", b"-1\r\n", b"ffffffffffffffffff\r\n", b"\r\n", b"5\n"]))
        await super().send(data)

    async def _drop(self, _data: bytes) -> None:
        pass

    async def _twice(self, data: bytes) -> None:
        times = self._rng.randint(2, 4)
        for _ in range(times):
            await super().send(data)

    async def _split(self, data: bytes) -> None:
        for at in sorted(self._rng.randrange(len(data)) for _ in range(3)):
            await super().send(data[:at])
            data = data[at:]
            await asyncio.sleep(self._rng.random() * 0.004)
        await super().send(data)

    async def _delay(self, data: bytes) -> None:
        await asyncio.sleep(self._rng.random() * 0.05)
        await super().send(data)

    async def _corrupt(self, data: bytes) -> None:
        await self._damaged(_corrupted(self._rng, data[:-2]) + b"\n\n")

    async def _shorten(self, data: bytes) -> None:
        first = self._rng.randrange(len(data))
        await self._damaged(data[:first] + data[first + self._rng.randint(1, 40) :])

    async def _damaged(self, data: bytes) -> None:
        """What may still be understood of it is meant, too."""
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError, AttributeError):
            given = json.loads(data.partition(b"data: ")[2].decode("utf-8", "replace"))["input"]
            self._meant(str(given["path"]), str(given["text"]))
        await super().send(data)

    async def _stray(self, data: bytes) -> None:
        await super().send(self._rng.choice(STRAY))
        await super().send(data)

    async def _flood(self, data: bytes) -> None:
        delta = json.dumps({"delta": "flood \n" * 20})
        await super().send(f"event: text_delta\ndata: {delta}\n\n".encode() * self._rng.randint(100, 1500))
        await super().send(data)

    async def _stop(self, data: bytes) -> None:
        """The end comes too early; what follows is not read."""
        reason = self._rng.choice(["end_turn", "tool_use", "error", "max_tokens", "no such", None])
        await super().send(f"event: turn_stop\ndata: {json.dumps({'stopReason': reason})}\n\n".encode())
        await super().send(data)

    async def _returns(self, data: bytes) -> None:
        await super().send(data.replace(b"\n", self._rng.choice([b"\r\n", b"\r"])))


class Nowhere(Response):
    """The server does what it was asked for, and its answer is lost."""

    async def raw(self, data: bytes) -> None:
        await asyncio.sleep(0)


def _corrupted(rng: random.Random, data: bytes) -> bytes:
    made = bytearray(data)
    for _ in range(rng.randint(1, 8) if made else 0):
        made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)
