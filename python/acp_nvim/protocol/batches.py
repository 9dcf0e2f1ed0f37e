"""JSON-RPC batches, for agents of the draft of August 2026 (spec/acp-v2.md section 2, V2-14).

No version of ACP has them any more, so an array is refused as a whole unless the settings say otherwise.
Then it is taken apart before the peer sees it, and the answers to its requests go out together as one array.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from acp_nvim.wire import jsonrpc, tolerant
from acp_nvim.wire.tolerant import WireError

from .rpc import Lines

#: What the peer answers with -32600 and the id null.
INVALID = b'{"jsonrpc":"2.0"}'


@dataclass(slots=True, eq=False)
class _Batch:
    due: int  # answers that have not come
    single: bool = False  # an empty array is answered by an object
    answers: list[bytes] = field(default_factory=list)


class Batches:
    """Implements ``rpc.Lines`` on top of another one."""

    def __init__(self, transport: Lines) -> None:
        self._transport = transport
        self._due: dict[str, deque[_Batch]] = {}  # by the id, as JSON, of an answer that is waited for

    async def lines(self) -> AsyncGenerator[list[bytes], None]:
        """The lines, with each entry of an array on a line of its own."""
        async for batch in self._transport.lines():
            yield [piece for line in batch for piece in self._apart(line)]

    async def send(self, message: bytes) -> None:
        """Send a message; an answer to an entry of an array waits for the others. Raises TransportError."""
        batch = self._batch_of(message) if self._due else None
        if batch is None:
            await self._transport.send(message)
            return
        batch.answers.append(message)
        batch.due -= 1
        if not batch.due:
            together = batch.answers[0] if batch.single else b"[" + b",".join(batch.answers) + b"]"
            await self._transport.send(together)

    def _apart(self, line: bytes) -> list[bytes]:
        entries = _array(line)
        if entries is None:
            return [line]
        pieces = [_piece(each) for each in entries] or [INVALID]
        ids = [each for each in map(_owed, pieces) if each is not None]
        batch = _Batch(len(ids), single=not entries)
        for each in ids:
            self._due.setdefault(each, deque()).append(batch)
        return pieces

    def _batch_of(self, message: bytes) -> _Batch | None:
        said = json.loads(message)
        if "method" in said:
            return None
        key = json.dumps(said.get("id"))
        waiting = self._due.get(key)
        if not waiting:
            return None
        batch = waiting.popleft()
        if not waiting:
            del self._due[key]
        return batch


def _array(line: bytes) -> list[Any] | None:
    if line.lstrip()[:1] != b"[":
        return None
    try:
        tree = tolerant.parse(line)
    except WireError:
        return None  # answered as any broken line is
    return tree if isinstance(tree, list) else None


def _piece(entry: Any) -> bytes:
    """An entry on a line of its own. One that says nothing would not be answered there: here it has to be."""
    piece = tolerant.dump(entry) if isinstance(entry, dict) else INVALID
    message, _ = jsonrpc.read(piece)
    if isinstance(message, jsonrpc.Odd):
        return INVALID if message.code is None else piece
    return INVALID if message.id is UNSET and message.method is UNSET else piece


def _owed(piece: bytes) -> str | None:
    """The id the peer answers it with, as JSON; None: it does not answer a notification or an answer."""
    message, _ = jsonrpc.read(piece)
    if isinstance(message, jsonrpc.Odd):
        return json.dumps(message.id)
    if message.method is UNSET:
        return "null" if message.id is UNSET else None
    return None if message.id is UNSET else json.dumps(message.id)
