"""JSON-RPC 2.0 over two byte streams: one message a line, requests in both directions at once."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_FOUND = -32002
AUTH_REQUIRED = -32000
UNSUPPORTED_VERSION = -32022
CANCELLED = -32800

GONE = "The client is gone."
MAX_LINE = 64 * 1024 * 1024  # bytes: an attached picture is one line, an endless line is none


class RpcError(Exception):
    """An error response: raised by handlers to send one, by ``request`` when one has come."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def as_json(self) -> Json:
        error: Json = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a request, and what to do right after it was written (updates that must come later)."""

    result: Json
    after: Callable[[], Awaitable[None]] | None = None


Handler = Callable[[Json], Awaitable[Reply]]
Listener = Callable[[Json], None]


class Peer:
    """One connection. ``serve`` runs until the other side closes it; then all that runs is cancelled.

    ``withdraws``: the other side is told of a request of ours whose answer is not waited for any more.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        requests: Mapping[str, Handler],
        notifications: Mapping[str, Listener],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._requests = requests
        self._notifications = notifications
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._next_id = 0
        self._running: set[asyncio.Task[None]] = set()
        self._answering: dict[int | str, asyncio.Task[None]] = {}
        self._closed = False
        self.withdraws = False

    async def serve(self) -> None:
        """Read until end of file. Handlers run as tasks of their own, so that a slow one blocks nobody."""
        try:
            async for line in self._lines():
                await self._take(line)
        except ConnectionError:
            pass  # the client is gone: the same as end of file
        finally:
            self._closed = True  # nobody will answer what is asked from now on
            for task in self._running:
                task.cancel()
            for future in self._pending.values():
                if not future.done():
                    future.set_exception(RpcError(INTERNAL_ERROR, GONE))
            await asyncio.gather(*self._running, return_exceptions=True)

    async def request(self, method: str, params: Json) -> Any:
        """Ask the client and wait for its answer. Raises RpcError."""
        if self._closed:
            raise RpcError(INTERNAL_ERROR, GONE)
        ident = self._next_id
        self._next_id += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[ident] = future
        try:
            await self._send({"id": ident, "method": method, "params": params})
            return await future
        except asyncio.CancelledError:
            if self.withdraws and not self._closed:
                await self.notify("$/cancel_request", {"requestId": ident})
            raise
        finally:
            del self._pending[ident]

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Let it go on by itself, at most as long as the connection."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def answering(self, ident: Any) -> asyncio.Task[None] | None:
        """The handler that is at work on a request of the other side."""
        return self._answering.get(ident) if isinstance(ident, int | str) else None

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, ConnectionError):
            traceback.print_exception(error)

    async def notify(self, method: str, params: Json) -> None:
        """Send a notification; waits while the client does not read. At the end nobody is told any more."""
        if self._closed:
            return
        await self._send({"method": method, "params": params})

    async def _lines(self) -> AsyncIterator[bytes]:
        parts: list[bytes] = []
        size = 0
        while chunk := await self._reader.read(65536):
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                yield b"".join([*parts, line])
                parts, size = [], 0
            parts.append(rest)
            size += len(rest)
            if size > MAX_LINE:
                sys.stderr.write(f"demo agent: a line of more than {MAX_LINE} bytes, giving up\n")
                return
        if last := b"".join(parts):
            yield last

    async def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            await self._refuse(PARSE_ERROR, "This line is not JSON.")
            return
        if not isinstance(message, dict):
            await self._refuse(INVALID_REQUEST, "A message is a JSON object.")
            return
        params = message.get("params") or {}
        if not isinstance(method := message.get("method"), str):
            self._settle(message)
        elif "id" in message:
            ident = message["id"]
            task = self.spawn(self._answer(ident, method, params))
            if isinstance(ident, int | str):
                self._answering[ident] = task
                task.add_done_callback(lambda _: self._answering.pop(ident, None))
            await asyncio.sleep(0)  # it is begun before the next message is taken: that may cancel it
        elif (listener := self._notifications.get(method)) and isinstance(params, dict):
            listener(params)

    async def _answer(self, ident: Any, method: str, params: Any) -> None:
        after = None
        try:
            if (handler := self._requests.get(method)) is None:
                raise RpcError(METHOD_NOT_FOUND, f"The demo agent has no method {method}.")
            if not isinstance(params, dict):
                raise RpcError(INVALID_PARAMS, "params must be an object.")
            reply = await handler(params)
            after = reply.after
            await self._send({"id": ident, "result": reply.result})
        except RpcError as error:
            await self._send({"id": ident, "error": error.as_json()})
        except ConnectionError:
            return
        except asyncio.CancelledError:
            if self._closed:
                raise
            gone = RpcError(CANCELLED, "This request was cancelled.")
            await self._send({"id": ident, "error": gone.as_json()})
        except Exception as error:
            traceback.print_exc()
            await self._send(
                {
                    "id": ident,
                    "error": {"code": INTERNAL_ERROR, "message": f"The demo agent failed: {error!r}"},
                }
            )
        if after is not None:
            await after()

    def _settle(self, message: Json) -> None:
        """A response. One that nobody waits for (any more) is dropped: after a cancel that is normal."""
        ident = message.get("id")
        future = self._pending.get(ident) if isinstance(ident, int) else None
        if future is None or future.done():
            return
        error = message.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            text = str(error.get("message") or "no reason given")
            future.set_exception(RpcError(code if isinstance(code, int) else INTERNAL_ERROR, text))
        else:
            future.set_result(message.get("result"))

    async def _refuse(self, code: int, message: str) -> None:
        await self._send({"id": None, "error": {"code": code, "message": message}})

    async def _send(self, message: Json) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        self._writer.write(text.encode("utf-8", "replace") + b"\n")
        await self._writer.drain()
