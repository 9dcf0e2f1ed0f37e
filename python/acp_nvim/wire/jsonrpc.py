"""The JSON-RPC 2.0 envelope: reading a line up to ``method``, ``id`` and raw ``params``, and the frames
we write. What is inside ``params`` and ``result`` is decoded in a second step (decode.py), so that a bad
part can be answered with its request's id.

A line that is no message is ``Odd``. Not everything odd is answered (V1-05, V1-09): programs print
banners, log lines and objects on stdout, so an answer is given only to what was clearly meant for us:

- broken JSON that names ``"jsonrpc"``, or is nested too deeply: -32700;
- an array that holds an object with a JSON-RPC key (a batch): one -32600. ``[]`` is as stray as ``42``;
- an object with a method or an id that is none: -32600.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from . import tolerant
from .base import Bare, Lax, RequestId
from .decode import Codec
from .surrogates import clean
from .tolerant import INVALID_PARAMS, PARSE_ERROR, WireError

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
AUTH_REQUIRED = -32000
NOT_FOUND = -32002

__all__ = (
    "AUTH_REQUIRED",
    "ERROR",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "NOT_FOUND",
    "PARSE_ERROR",
    "REQUEST_CANCELLED",
    "Answer",
    "Envelope",
    "ErrorBody",
    "Failure",
    "Notification",
    "Odd",
    "Request",
    "read",
)


class Envelope(Struct):
    """A JSON object, read one level deep. An empty Raw: the member is missing."""

    id: RequestId | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()


class Odd(NamedTuple):
    """A line that is no message. ``code`` None: it is not answered."""

    why: str
    code: int | None = None
    id: RequestId = None


class Notification(Struct, tag_field="jsonrpc", tag="2.0", omit_defaults=True):
    method: str
    params: Any = None


class Request(Struct, tag_field="jsonrpc", tag="2.0", omit_defaults=True):
    id: int
    method: str
    params: Any = None


class Answer(Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    result: Any


class ErrorBody(Bare, frozen=True):
    """An error, theirs or ours; ``data`` may be any JSON value (V1-215)."""

    code: int
    message: str
    data: Lax[Any] = None


class Failure(Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    error: ErrorBody


ERROR = Codec[ErrorBody](ErrorBody)

_strict = msgspec.json.Decoder(Envelope).decode
_MEMBERS = frozenset(("jsonrpc", "method", "id", "result", "error"))


def read(line: bytes) -> tuple[Envelope | Odd, str | None]:
    """Read a line. The second value tells why the slow path was taken, else None."""
    try:
        return _strict(line), None
    except (msgspec.DecodeError, RecursionError) as error:
        return _slow(line), f"lenient: {error}"


def _slow(line: bytes) -> Envelope | Odd:
    try:
        tree = tolerant.parse(line)
    except WireError as error:
        meant = error.reason == "depth" or (b'"jsonrpc"' in line and line.lstrip()[:1] in (b"{", b"["))
        return Odd(f"{error.reason}: {error}", PARSE_ERROR if meant else None)
    if isinstance(tree, list):
        if any(isinstance(item, dict) and _MEMBERS & item.keys() for item in tree):
            return Odd("a JSON array is not a message", INVALID_REQUEST)
        return Odd("stray: a JSON array")
    if not isinstance(tree, dict):
        return Odd("stray: JSON, but not an object")
    id_ = tree.get("id", UNSET)
    if isinstance(id_, float) and id_.is_integer():
        id_ = int(id_)
    if isinstance(id_, str):
        id_ = clean(id_)
    if isinstance(id_, bool) or not isinstance(id_, (int, str, UnsetType, type(None))):
        return Odd("an id must be an integer, a string or null", _meant(tree))
    method = tree.get("method", UNSET)
    if method is not UNSET and not isinstance(method, str):
        return Odd("a method must be a string", _meant(tree), None if id_ is UNSET else id_)
    raw = {name: Raw(tolerant.dump(tree[name])) for name in ("params", "result", "error") if name in tree}
    return Envelope(id=id_, method=clean(method) if isinstance(method, str) else UNSET, **raw)


def _meant(tree: dict[str, Any]) -> int | None:
    """An object without ``"jsonrpc"`` is a log line that happens to have such a key."""
    return INVALID_REQUEST if "jsonrpc" in tree else None
