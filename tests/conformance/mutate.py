"""Messages broken in the ways that programs, pipes and people break them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any, TypeAlias

from .definitions import Json
from .sample import RUBBISH

Mutation: TypeAlias = Callable[[Json, random.Random], bytes]

DEEP = 400  # levels: beyond what is taken
HUGE = (
    "1e999",
    "-1e999",
    "1" + "0" * 400,
    "-" + "9" * 5000,
    "NaN",
    "Infinity",
    "0.1e-999",
    "18446744073709551616",
)
HALVES = ("\\ud83d", "\\ude80", "\\ud83d\\ud83d", "x\\udfff")
MARK = '"@here@"'


def dumps(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def _place(tree: Any, chance: random.Random, *, method: bool = True) -> tuple[Any, Any]:
    """A container and a key in it, anywhere in the message."""
    place: Any = tree
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if place is tree and not method:
            keys = [key for key in keys if key not in ("method", "id", "jsonrpc")] or keys
        key = chance.choice(keys)
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or chance.randrange(4) == 0:
            return place, key
        place = inner


def drop(message: Json, chance: random.Random) -> bytes:
    place, key = _place(message, chance)
    del place[key]
    return dumps(message)


def wrong_type(message: Json, chance: random.Random) -> bytes:
    place, key = _place(message, chance)
    place[key] = copy.deepcopy(chance.choice(RUBBISH))
    return dumps(message)


def several(message: Json, chance: random.Random) -> bytes:
    for _ in range(4):
        place, key = _place(message, chance, method=False)
        place[key] = copy.deepcopy(chance.choice(RUBBISH))
    return dumps(message)


def truncate(message: Json, chance: random.Random) -> bytes:
    line = dumps(message)
    return line[: chance.randrange(1, len(line))]


def flip(message: Json, chance: random.Random) -> bytes:
    line = bytearray(dumps(message))
    for _ in range(chance.choice((1, 1, 1, 5))):
        line[chance.randrange(len(line))] ^= 1 << chance.randrange(8)
    return bytes(line)


def deep(message: Json, chance: random.Random) -> bytes:
    opening, closing = chance.choice((("[", "]"), ('{"a":', "}")))
    levels = chance.choice((DEEP, 20_000))
    return _insert(message, chance, opening * levels + "1" + closing * levels)


def huge(message: Json, chance: random.Random) -> bytes:
    return _insert(message, chance, chance.choice(HUGE))


def halves(message: Json, chance: random.Random) -> bytes:
    return _insert(message, chance, f'"{chance.choice(HALVES)}"')


def control(message: Json, chance: random.Random) -> bytes:
    return _insert(message, chance, '"a\tb\x00\x1b[2J\x7f"')


def _insert(message: Json, chance: random.Random, text: str) -> bytes:
    place, key = _place(message, chance, method=False)
    place[key] = MARK[1:-1]
    return dumps(message).replace(MARK.encode(), text.encode(), 1)


def double(message: Json, chance: random.Random) -> bytes:
    key = chance.choice(list(message))
    value = dumps(chance.choice((message[key], *RUBBISH)))
    return b"{" + dumps(key) + b":" + value + b"," + dumps(message)[1:]


def double_last(message: Json, chance: random.Random) -> bytes:
    key = chance.choice(list(message))
    return dumps(message)[:-1] + b"," + dumps(key) + b":" + dumps(message[key]) + b"}"


def batch(message: Json, chance: random.Random) -> bytes:
    return dumps([message] * chance.randrange(3))


def unknown_method(message: Json, chance: random.Random) -> bytes:
    message["method"] = chance.choice(
        ("", "_x", "session/dream", "fs/", "terminal/dream", "$/dream", "initialize")
    )
    return dumps(message)


def unknown_update(message: Json, chance: random.Random) -> bytes:
    if isinstance(message.get("params"), dict) and isinstance(message["params"].get("update"), dict):
        message["params"]["update"]["sessionUpdate"] = chance.choice(
            ("", "mood", "plan_update", "\x1b]0;x\x07")
        )
    return dumps(message)


def response(message: Json, chance: random.Random) -> bytes:
    """An answer to nobody, in many shapes."""
    ident: Any = chance.choice((10**9, "nobody", -1, 1.5, [], True))
    body: Json = chance.choice((
        {"result": {}}, {"error": {}}, {"error": 7}, {"result": {}, "error": None}, {},
        {"error": {"code": "x"}},
    ))  # fmt: skip
    return dumps({"jsonrpc": "2.0", "id": ident, **body})


def stray(message: Json, chance: random.Random) -> bytes:
    """What programs print on their standard output."""
    return chance.choice((
        b"Loading...", b"42", b"null", b"[]", b"[1, 2]", b'"text"', b"{}", b'{"level":"info","id":3}',
        b"\xff\xfe\x00", b"\xef\xbb\xbf" + dumps(message), b"Error: {", b'{"jsonrpc":"2.0"}',
        b"\x1b[31mred\x1b[0m",
    ))  # fmt: skip


MUTATIONS: tuple[Mutation, ...] = (
    drop, drop, drop, wrong_type, wrong_type, wrong_type, several, several, truncate, flip, flip,
    deep, huge, halves, control, double, double_last, batch, unknown_method, unknown_update, response, stray,
)  # fmt: skip
