"""Whether a decoded value says what the JSON said: an independent reading, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from msgspec import inspect as mi

from acp_nvim.wire.base import ON_NULL, Unknown

from .sample import LATER


def differences(tree: Any, value: Any, unread: frozenset[str] = frozenset(), at: str = "$") -> Iterator[str]:
    """Where they differ. ``unread``: fields of the schema that our types may leave out."""
    if isinstance(value, Unknown):
        if value.raw != tree:
            yield f"{at}: kept as {value.raw!r}, sent was {tree!r}"
    elif isinstance(value, Struct):
        if isinstance(tree, dict):
            yield from _struct(tree, value, unread, at)
        else:
            yield f"{at}: {value!r} of {tree!r}"
    elif isinstance(tree, list) and isinstance(value, list):
        if len(tree) != len(value):
            yield f"{at}: {len(value)} items of {len(tree)}"
        for number, (sent, got) in enumerate(zip(tree, value, strict=False)):
            yield from differences(sent, got, unread, f"{at}[{number}]")
    elif isinstance(tree, dict) and isinstance(value, dict):
        if tree.keys() != value.keys():
            yield f"{at}: {value!r} of {tree!r}"
        for key in tree.keys() & value.keys():
            yield from differences(tree[key], value[key], unread, f"{at}.{key}")
    elif tree != value or isinstance(tree, bool) != isinstance(value, bool):
        yield f"{at}: {value!r} of {tree!r}"


def _struct(tree: dict[str, Any], value: Struct, unread: frozenset[str], at: str) -> Iterator[str]:
    info = mi.type_info(type(value))
    assert isinstance(info, mi.StructType)
    known = {entry.encode_name: entry for entry in info.fields}
    for name, sent in tree.items():
        if name in known:
            got = getattr(value, known[name].name)
            if sent is None and _null_is_empty(known[name]):
                sent = _default(known[name])
            yield from differences(sent, got, unread, f"{at}.{name}")
        elif name == info.tag_field:
            if sent != info.tag:
                yield f"{at}.{name}: {info.tag!r} of {sent!r}"
        elif not name.startswith(LATER) and name not in unread:
            yield f"{at}.{name}: not read"
    for name, entry in known.items():
        if name not in tree and getattr(value, entry.name) != _default(entry):
            yield f"{at}.{name}: {getattr(value, entry.name)!r}, but nothing was sent"


def _null_is_empty(entry: mi.Field) -> bool:
    return isinstance(entry.type, mi.Metadata) and ON_NULL in (entry.type.extra or {})


def _default(entry: mi.Field) -> Any:
    if entry.default_factory is not msgspec.NODEFAULT:
        return entry.default_factory()
    # msgspec does not tell a default of UNSET.
    return UNSET if entry.default is msgspec.NODEFAULT and not entry.required else entry.default
