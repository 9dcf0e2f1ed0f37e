"""The requests of ours that have no answer yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import anyio

from acp_nvim.wire import jsonrpc
from acp_nvim.wire.base import RequestId
from acp_nvim.wire.decode import Codec, Report
from acp_nvim.wire.tolerant import WireError

from .rpc_errors import ConnectionLostError, RpcError

T = TypeVar("T")


class Call(Generic[T]):
    """One request. ``done`` is set with its ``value``, decoded by ``codec`` (else raw), or its ``error``."""

    __slots__ = ("codec", "done", "error", "method", "over", "owner", "params", "then", "value")

    def __init__(
        self,
        method: str,
        params: object,
        codec: Codec[T] | None,
        then: Callable[[T], object] | None,
        owner: object,
    ) -> None:
        self.method = method
        self.params = params
        self.codec = codec
        self.then = then
        self.owner = owner
        self.over = anyio.Event()  # it is not wanted any more, or has its answer
        self.done = anyio.Event()
        self.value: Any = None
        self.error: Exception | None = None


class Calls:
    """Of one connection, by our ids. ``note``: for the trace, on the message that is being read."""

    def __init__(self, note: Report) -> None:
        self._note = note
        self._open: dict[int, Call[Any]] = {}
        self._next_id = 0

    def next_id(self) -> int:
        """An id that no request of ours had."""
        self._next_id += 1
        return self._next_id - 1

    def add(self, id_: int, call: Call[Any]) -> None:
        """From now on a response with this id is the call's."""
        self._open[id_] = call

    def remove(self, id_: int, call: Call[Any]) -> None:
        """It is over, with or without an answer."""
        self._open.pop(id_, None)
        call.over.set()

    def asked(self, owner: object) -> str | None:
        """The method of the owner's oldest request."""
        return next((call.method for call in self._open.values() if call.owner is owner), None)

    def wanted(self, owner: object) -> Iterator[tuple[int, Call[Any]]]:
        """The owner's requests, but those that were withdrawn."""
        for id_, call in list(self._open.items()):
            if call.owner is owner and not call.over.is_set():
                yield id_, call

    def get(self, id_: RequestId) -> Call[Any] | None:
        """The request of this id, as the agent says it."""
        key = self._number(id_) if isinstance(id_, str) else id_
        return self._open.get(key) if key is not None else None

    def fail(self, reason: str) -> None:
        """There will be no answer to any of them: ConnectionLostError."""
        for call in self._open.values():
            call.error = ConnectionLostError(reason)
            call.done.set()

    def answered(self, id_: int | str, message: jsonrpc.Envelope) -> None:
        """A response came: give the call its result or its error."""
        key = id_ if isinstance(id_, int) else self._number(id_)
        call = self._open.pop(key, None) if key is not None else None
        if call is None:
            late = isinstance(id_, int) and 0 <= id_ < self._next_id
            self._note(f"{'late or double' if late else 'unknown'} response, id {id_!r}")
            return
        if isinstance(id_, str):
            self._note(f"the id of this response is a string; taken for {key}")
        # Serialisers that leave out what is undefined send no member at all for an empty result; some
        # send both members, one of them null.
        error = bytes(message.error)
        if error and error != b"null":
            call.error = self._error(error)
        else:
            try:
                call.value = (
                    call.codec.decode(message.result, self._note)
                    if call.codec is not None
                    else message.result
                )
                if call.then is not None:
                    call.then(call.value)
            except Exception as failure:
                call.error = failure
                self._note(f"the result of {call.method} could not be used: {failure}")
        call.done.set()

    def _number(self, id_: str) -> int | None:
        """An agent that turns our id 3 into "3" means our request (C09)."""
        return next((key for key in self._open if str(key) == id_), None)

    def _error(self, raw: bytes) -> RpcError:
        try:
            body = jsonrpc.ERROR.decode(raw, self._note)
        except WireError as failure:
            self._note(f"the error of this response does not decode: {failure}")
            text = raw[:1000].decode(errors="replace")
            return RpcError(jsonrpc.INTERNAL_ERROR, f"the agent sent a malformed error: {text}")
        return RpcError(body.code, body.message, body.data)
