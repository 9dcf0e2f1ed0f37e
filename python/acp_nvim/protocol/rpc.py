"""The JSON-RPC peer: both directions at once over one transport (spec/acp-v1.md section 1).

Order. One reader takes the messages strictly as they came. A notification is handled, waiting included,
before the next message is looked at: that is how back-pressure reaches the agent's pipe, and why an
update that came before a response is applied before the response is (V1-16). After a response, and after
the start of a request's task, the reader steps back once, so that whoever waits for it acts first.

Answers. Each request of the agent runs in a task of its own (V1-15) and is answered exactly once, unless
the connection was lost. The reader itself never writes: an agent that does not read its input while it
waits for us to read its output must not be able to stop both.
"""

from __future__ import annotations

import contextlib
import functools
import traceback
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, overload

import anyio
import anyio.lowlevel
from msgspec import UNSET, Raw

from acp_nvim.session.ports import RequestError
from acp_nvim.transport import TransportError
from acp_nvim.wire import jsonrpc
from acp_nvim.wire.acp_v1 import CANCEL_REQUEST, CancelRequestNotification
from acp_nvim.wire.base import RequestId
from acp_nvim.wire.decode import Codec, encode
from acp_nvim.wire.tolerant import WireError

from .calls import Call, Calls
from .rpc_errors import CLOSED_OUTPUT, ConnectionLostError, RpcError, body_of

T = TypeVar("T")

Direction: TypeAlias = Literal["in", "out", "note"]
# For the trace: each line read (before anything comes of it), each line written, and notes on the line
# that is being read. The text is empty for an ordinary message.
Observer: TypeAlias = Callable[[Direction, bytes, str], None]
Spawn: TypeAlias = Callable[
    [Callable[[], Coroutine[Any, Any, None]]], object
]  # a task group's ``start_soon``

MAX_REQUESTS = 1024  # answers of ours that are due at once; then the reader waits
EMPTY: dict[str, Any] = {}


class Lines(Protocol):
    """The transport (transport/stdio.py)."""

    def lines(self) -> AsyncGenerator[list[bytes], None]: ...

    async def send(self, message: bytes) -> None: ...


class Handler(Protocol):
    """What the peer's owner does with the agent's messages. ``params`` may be empty: decode with a Codec."""

    async def request(self, method: str, params: Raw) -> object:
        """Return the result (a struct, or None for ``{}``), or raise: see rpc_errors.body_of.

        Cancelled by ``$/cancel_request``: answered with -32800, unless a result is returned all the same.
        """

    async def notification(self, method: str, params: Raw) -> None:
        """May wait: nothing else is read meanwhile. What it does may be put off until ``settle``."""

    async def settle(self) -> None:
        """After the notifications of one read, and before anything else is handled. May wait, too."""


def _answers(message: jsonrpc.Envelope, line: bytes) -> bool:
    """Log lines may be objects with an ``id``, too: such a one must not end a request of ours."""
    return bool(bytes(message.result) or bytes(message.error) or b'"jsonrpc"' in line)


class Peer:
    """One connection. ``run`` reads it until its end; everything else may be called meanwhile."""

    def __init__(
        self,
        transport: Lines,
        handler: Handler,
        *,
        spawn: Spawn,
        observer: Observer | None = None,
        max_requests: int = MAX_REQUESTS,
    ) -> None:
        self._transport = transport
        self._handler = handler
        self._spawn = spawn
        self._observe: Observer = observer or (lambda direction, data, text: None)
        self._calls = Calls(self.note)
        self._running: dict[RequestId, list[anyio.CancelScope]] = {}
        self._writes: set[anyio.CancelScope] = set()
        self._open = 0  # requests of the agent without an answer
        self._none_open = anyio.Event()
        self._slots = anyio.Semaphore(max_requests, fast_acquire=True)
        self._line = b""
        self._awaited: set[anyio.Event] = set()
        self.null_ids = True  # whether a request may have the id null
        self.lost: str | None = None  # why the connection ended, once it has

    # Ours.

    @overload
    async def request(self, method: str, params: object = ...) -> Raw: ...

    @overload
    async def request(
        self,
        method: str,
        params: object,
        codec: Codec[T],
        then: Callable[[T], object] | None = ...,
        owner: object = ...,
    ) -> T: ...

    async def request(
        self,
        method: str,
        params: object = EMPTY,
        codec: Codec[T] | None = None,
        then: Callable[[T], object] | None = None,
        owner: object = None,
    ) -> Any:
        """Send a request and wait for its result, decoded by ``codec`` (else raw).

        ``then`` is called with the result by the reader, before any later message is looked at.
        ``owner``: whose request it is, for ``withdraw``.
        Raises RpcError (the agent's error), WireError (a result that does not decode), and
        ConnectionLostError. When the caller is cancelled, the agent is not told; a late answer does no harm.
        """
        call = Call(method, params, codec, then, owner)
        id_ = self._calls.next_id()
        message = encode(jsonrpc.Request(id_, method, params))
        self._calls.add(id_, call)
        try:
            await self._write(message)
            await call.done.wait()
        finally:
            self._calls.remove(id_, call)
        if call.error is not None:
            raise call.error
        return call.value

    async def notify(self, method: str, params: object = EMPTY) -> None:
        """Send a notification. Raises ConnectionLostError."""
        await self._write(encode(jsonrpc.Notification(method, params)))

    def asked(self, owner: object) -> str | None:
        """The method of the owner's oldest request that has no answer yet."""
        return self._calls.asked(owner)

    async def withdraw(self, owner: object) -> None:
        """Tell the agent that the owner's requests are not wanted any more, each once (V1-86).

        They stay open: the agent answers with -32800, or with a result all the same.
        """
        for id_, call in self._calls.wanted(owner):
            call.over.set()
            with contextlib.suppress(ConnectionLostError):  # then it has its answer
                await self.notify("$/cancel_request", CancelRequestNotification(request_id=id_))

    def waiting(self, id_: RequestId) -> tuple[object, object, anyio.Event] | None:
        """A request of ours that is open: its owner and parameters, and what is set when it is not wanted
        any more or over. None: there is no such request.
        """
        call = self._calls.get(id_)
        return (call.owner, call.params, call.over) if call is not None else None

    def cancel_incoming(self) -> None:
        """Abort every request of the agent that runs, for our own reasons: answered -32800 (V1-87)."""
        for scopes in self._running.values():
            for scope in scopes:
                scope.cancel()

    async def answered(self) -> None:
        """Wait until no request of the agent is without an answer."""
        while self._open:
            self._none_open = anyio.Event()
            await self._none_open.wait()

    def fail(self, reason: str) -> None:
        """The connection is over: fail our requests, cancel the agent's, write nothing any more."""
        if self.lost is not None:
            return
        self.lost = reason
        self._calls.fail(reason)
        for event in self._awaited:
            event.set()
        self.cancel_incoming()
        for scope in self._writes:
            scope.cancel()

    async def until(self, event: anyio.Event) -> None:
        """Wait for something the agent does; at the end of the connection the event is set all the same."""
        if self.lost is not None:
            return
        self._awaited.add(event)
        try:
            await event.wait()
        finally:
            self._awaited.discard(event)

    def note(self, text: str) -> None:
        """A note for the trace on the message that is being read; a ``Report`` for Codec.decode."""
        self._observe("note", self._line, text)

    # Theirs.

    async def run(self) -> None:
        """Read until the end of the connection; ``lost`` then tells the reason. Raises nothing of its own."""
        reason = "the connection was closed"
        try:
            async with aclosing(self._transport.lines()) as batches:
                async for batch in batches:
                    for line in batch:
                        if self.lost is not None:
                            return
                        await self._read(line)
                    await self._settle()
            reason = CLOSED_OUTPUT
        except TransportError as error:
            reason = str(error)
        finally:
            self.fail(reason)

    async def _read(self, line: bytes) -> None:
        message, why = jsonrpc.read(line)
        self._line = line
        if isinstance(message, jsonrpc.Odd):
            await self._settle()
            self._observe("in", line, message.why)
            if message.code is not None:
                await self._refuse(message.id, jsonrpc.ErrorBody(message.code, message.why))
            return
        if message.id is not UNSET or message.method == "$/cancel_request":
            await self._settle()
        self._observe("in", line, why or "")
        if message.method is not UNSET:
            if message.id is None and not self.null_ids:
                self.note("the id of a request must not be null")
                await self._refuse(None, jsonrpc.ErrorBody(jsonrpc.INVALID_REQUEST, "Invalid request"))
            elif message.id is not UNSET:
                await self._start(message.id, message.method, message.params)
            elif message.method == "$/cancel_request":
                self._cancel(message.params)
            else:
                await self._notification(message.method, message.params)
        elif message.id is not UNSET and not isinstance(message.id, (str, int)):
            told = bytes(message.error).decode(errors="replace")
            self.note(f"the agent could not read a message of ours: {told}")
        elif message.id is not UNSET and _answers(message, line):
            self._calls.answered(message.id, message)
            await anyio.lowlevel.checkpoint()
        elif b'"jsonrpc"' in line:
            self.note("neither a request nor a response")
            await self._refuse(None, jsonrpc.ErrorBody(jsonrpc.INVALID_REQUEST, "Invalid request"))
        else:
            self.note("stray: an object that is no message")

    async def _notification(self, method: str, params: Raw) -> None:
        try:
            await self._handler.notification(method, params)
        except WireError as error:
            self.note(f"{method} was ignored: {error}")
        except Exception:
            self.note(f"{method} failed:\n{traceback.format_exc()}")

    async def _settle(self) -> None:
        try:
            await self._handler.settle()
        except Exception:
            self.note(f"what was read failed:\n{traceback.format_exc()}")

    async def _start(self, id_: RequestId, method: str, params: Raw) -> None:
        await self._slots.acquire()
        if self.lost is not None:
            self._slots.release()
            return
        scope = anyio.CancelScope()
        self._open += 1
        self._running.setdefault(id_, []).append(scope)
        self._spawn(functools.partial(self._serve, id_, method, params, scope))
        await anyio.lowlevel.checkpoint()

    def _cancel(self, params: Raw) -> None:
        try:
            id_ = CANCEL_REQUEST.decode(params, self.note).request_id
        except WireError as error:
            self.note(f"$/cancel_request was ignored: {error}")
            return
        scopes = self._running.get(id_)
        if scopes is None:
            self.note(f"nothing to cancel for id {id_!r}")
            return
        for scope in scopes:
            scope.cancel()

    async def _serve(self, id_: RequestId, method: str, params: Raw, scope: anyio.CancelScope) -> None:
        answer: jsonrpc.Answer | jsonrpc.Failure
        answer = jsonrpc.Failure(id_, jsonrpc.ErrorBody(jsonrpc.REQUEST_CANCELLED, "Request cancelled"))
        try:
            try:
                with scope:
                    result = await self._handler.request(method, params)
                    answer = jsonrpc.Answer(id_, EMPTY if result is None else result)
            except Exception as error:
                body = body_of(error)
                if not isinstance(error, RpcError | RequestError | WireError):  # a fault of ours
                    self._observe("note", b"", f"{method} failed:\n{traceback.format_exc()}")
                answer = jsonrpc.Failure(id_, body)
            finally:
                scopes = self._running[id_]
                scopes.remove(scope)
                if not scopes:
                    del self._running[id_]
            await self._answer(answer)
        finally:
            self._open -= 1
            if not self._open:
                self._none_open.set()
            self._slots.release()

    async def _refuse(self, id_: RequestId, body: jsonrpc.ErrorBody) -> None:
        await self._slots.acquire()
        self._spawn(functools.partial(self._answer_in_slot, jsonrpc.Failure(id_, body)))

    async def _answer_in_slot(self, answer: jsonrpc.Failure) -> None:
        try:
            await self._answer(answer)
        finally:
            self._slots.release()

    async def _answer(self, answer: jsonrpc.Answer | jsonrpc.Failure) -> None:
        try:
            message = encode(answer)
        except Exception as error:
            self._observe("note", b"", f"an answer cannot be encoded: {error}")
            message = encode(jsonrpc.Failure(answer.id, body_of(error)))
        try:
            await self._write(message)
        except ConnectionLostError as error:
            self._observe("note", message, f"not sent: {error.reason}")

    async def _write(self, message: bytes) -> None:
        if self.lost is not None:
            raise ConnectionLostError(self.lost)
        self._observe("out", message, "")
        scope = anyio.CancelScope()
        self._writes.add(scope)
        try:
            with scope:  # so that nobody stays behind a pipe that is full
                await self._transport.send(message)
                return
        except TransportError as error:
            raise ConnectionLostError(str(error)) from error
        finally:
            self._writes.discard(scope)
        raise ConnectionLostError(self.lost or "the connection was closed")
