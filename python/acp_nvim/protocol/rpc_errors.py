"""Errors at the level of JSON-RPC."""

from __future__ import annotations

from typing import Any

from acp_nvim.session.ports import RequestError
from acp_nvim.transport import NOT_READING
from acp_nvim.wire.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, ErrorBody
from acp_nvim.wire.tolerant import WireError


class RpcError(Exception):
    """The other side answered with an error; or, raised by a handler, the error to answer with."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


CLOSED_OUTPUT = "the agent closed its output"
GONE = frozenset((CLOSED_OUTPUT, NOT_READING))
"""Reasons for the end of a connection that its process can tell more about: how it exited."""


class ConnectionLostError(Exception):
    """There is no answer any more; ``reason`` says why, for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def method_not_found(method: str) -> RpcError:
    """For a method we do not know or did not offer."""
    return RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")


def body_of(error: Exception) -> ErrorBody:
    """What to answer when a handler raised ``error``.

    RpcError and session.ports.RequestError say it themselves; WireError is about the parameters (-32602).
    Of anything else only the kind is told: its text may hold what is not the agent's to see (V1-217).
    """
    match error:
        case RpcError() | RequestError():
            return ErrorBody(error.code, error.message, error.data)
        case WireError():
            return ErrorBody(INVALID_PARAMS, f"Invalid params: {error}")
        case _:
            return ErrorBody(INTERNAL_ERROR, f"Internal error: {type(error).__name__}")
