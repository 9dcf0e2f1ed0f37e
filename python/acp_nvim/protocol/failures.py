"""What went wrong, said for people (spec section 20)."""

from __future__ import annotations

import json
from typing import Any

from acp_nvim.protocol.rpc_errors import RpcError
from acp_nvim.session.entities import Failure
from acp_nvim.wire.tolerant import WireError

AUTH_REQUIRED = -32000
NOT_FOUND = -32002
CANCELLED = -32800
UNSUPPORTED_VERSION = -32022

KINDS = {
    AUTH_REQUIRED: "auth",
    NOT_FOUND: "not_found",
    CANCELLED: "cancelled",
    UNSUPPORTED_VERSION: "unsupported",
    -32601: "unsupported",
    -32602: "invalid",
}
REMEDIES = {AUTH_REQUIRED: ":AcpLogin", NOT_FOUND: ":AcpRestart"}


def failure_of(error: RpcError | WireError, method: str) -> Failure:
    """The agent's error answer, or an answer that does not decode (V1-215).

    An unknown code is a generic failure. What ``data`` adds to the message is shown with it.
    """
    if isinstance(error, WireError):
        return Failure(f"the agent's answer to {method} does not decode: {error}", kind="generic")
    message = _inner(error.message) or f"error {error.code}"
    detail = _detail(error.data)
    if detail and detail not in message:
        message = f"{message}: {detail}"
    return Failure(
        message, error.code, error.data, KINDS.get(error.code, "generic"), REMEDIES.get(error.code)
    )


def _inner(message: str) -> str:
    """Some agents hand on their model's error as JSON in the message: its own message says enough."""
    if not message.startswith("{"):
        return message
    try:
        said = _detail(json.loads(message))
    except (ValueError, RecursionError):
        return message
    return said or message


def _detail(data: Any) -> str:
    if isinstance(data, str):
        return data
    if isinstance(data, dict):
        for key in ("message", "details", "detail", "error", "reason"):
            said = _detail(data.get(key))
            if said:
                return said
    return ""
