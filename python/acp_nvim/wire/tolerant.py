"""JSON as agents write it when something went wrong: the reader of the slow path.

Accepted beyond the standard: invalid UTF-8 (replaced), a byte-order mark, raw control characters in
strings, halves of surrogate pairs, NaN, infinities and numbers out of range (null). Depth is bounded.
"""

from __future__ import annotations

import json
import math
from typing import Any, Literal

import msgspec

MAX_DEPTH = 256  # nesting levels; far below the interpreter's own limit, so later walks are safe

PARSE_ERROR = -32700
INVALID_PARAMS = -32602


class WireError(Exception):
    """A message, or a part of one, that cannot be decoded.

    ``reason``: ``syntax`` (not JSON), ``depth`` (nested too deeply) or ``shape`` (JSON of another shape
    than the schema's). ``code`` is the JSON-RPC code to answer with.
    """

    def __init__(self, reason: Literal["syntax", "depth", "shape"], message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.code = INVALID_PARAMS if reason == "shape" else PARSE_ERROR


def too_deep() -> WireError:
    return WireError("depth", f"JSON is nested deeper than {MAX_DEPTH} levels")


def _number(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _integer(digits: str) -> int | float | None:
    try:
        return int(digits)
    except ValueError:  # more digits than Python wants to read
        return _number(digits)


_JSON = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_float=_number, parse_int=_integer)


def _text(data: bytes) -> str:
    for errors in ("strict", "surrogatepass"):  # the second: halves encoded as three bytes each
        try:
            return data.decode("utf-8", errors)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


def parse(data: bytes) -> Any:
    """Read JSON tolerantly; strings may contain halves of surrogate pairs. Raises WireError."""
    try:
        value = _JSON.decode(_text(data).removeprefix("\ufeff"))
    except RecursionError:
        raise too_deep() from None
    except ValueError as error:
        raise WireError("syntax", str(error)) from None
    if deeper(value, MAX_DEPTH):
        raise too_deep()
    return value


def dump(value: Any) -> bytes:
    """Write a value ``parse`` gave, so that ``parse`` gives it again (halves become escapes)."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def deeper(value: Any, limit: int) -> bool:
    """Whether lists, objects and structs are nested deeper than ``limit`` levels. Does not recurse."""
    level: list[Any] = [value]
    for _ in range(limit + 1):
        below: list[Any] = []
        for item in level:
            if isinstance(item, list):
                below.extend(item)
            elif isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, msgspec.Struct):
                below.extend(getattr(item, name) for name in item.__struct_fields__)
        if not below:
            return False
        level = below
    return True
