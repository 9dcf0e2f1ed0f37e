"""The slow path of decoding: field by field, as the schema's marks say (V1-214).

A converter is built once for each type, from the type alone (msgspec.inspect) and the marks of base.py:
there is no code for single types. Only a missing or wrong *required* field fails an object; an unknown
tag is kept as an ``Unknown``. What had to be dropped is told in ``notes``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import msgspec
from msgspec import inspect as mi

from .base import HALVES, ON_ERROR, ON_NULL, SKIP_ITEMS, Unknown
from .surrogates import clean, clean_tree, split

Notes: TypeAlias = list[str]
Convert: TypeAlias = Callable[[Any, Notes], Any]


class MismatchError(Exception):
    """A value is not of the wanted type. ``path`` grows while it travels outwards."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.path = ""

    def under(self, step: str) -> MismatchError:
        self.path = step + self.path
        return self

    def __str__(self) -> str:
        return f"{self.message} at `{self.path.lstrip('.') or '$'}`"


class _Field(NamedTuple):
    name: str  # Python's
    wire: str  # the agent's
    convert: Convert
    required: bool
    on_error: bool
    on_null: bool
    empty: Any  # what a required field with a mark falls back to


def converter(type_: Any) -> Convert:
    """The converter for a Python type. It raises MismatchError."""
    return _compile(mi.type_info(type_), {})


def _compile(info: mi.Type, marks: dict[str, Any]) -> Convert:
    match info:
        case mi.Metadata():
            return _compile(info.type, {**marks, **(info.extra or {})})
        case mi.StructType():
            return _struct(info.cls)
        case mi.UnionType():
            return _union(info, marks)
        case mi.ListType():
            return _list(_compile(info.item_type, {}), SKIP_ITEMS in marks)
        case mi.DictType():
            return _dict(_compile(info.value_type, {}))
        case mi.StrType():
            return _text_half if HALVES in marks else _text
        case mi.IntType():
            return functools.partial(_int, info.ge, info.le)
        case mi.FloatType():
            return functools.partial(_float, info.ge, info.le)
        case mi.BoolType():
            return _bool
        case mi.AnyType():
            return _any
        case mi.RawType():
            return _raw
        case mi.NoneType():
            return _none
        case _:
            raise TypeError(f"no lenient decoding for {info!r}")


def _wrong(wanted: str, value: Any) -> MismatchError:
    return MismatchError(f"expected {wanted}, got {'null' if value is None else type(value).__name__}")


def _text(value: Any, _: Notes) -> str:
    if isinstance(value, str):
        return clean(value)
    raise _wrong("str", value)


def _text_half(value: Any, _: Notes) -> str:
    if isinstance(value, str):
        return split(value)
    raise _wrong("str", value)


def _int(low: int | None, high: int | None, value: Any, _: Notes) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong("int", value)
    if (low is not None and value < low) or (high is not None and value > high):
        raise MismatchError(f"{value} is out of range")
    return value


def _float(low: float | None, high: float | None, value: Any, _: Notes) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _wrong("number", value)
    if (low is not None and value < low) or (high is not None and value > high):
        raise MismatchError(f"{value} is out of range")
    try:
        return float(value)
    except OverflowError:
        raise MismatchError("number out of range") from None


def _bool(value: Any, _: Notes) -> bool:
    if isinstance(value, bool):
        return value
    raise _wrong("bool", value)


def _any(value: Any, _: Notes) -> Any:
    return clean_tree(value)


def _raw(value: Any, _: Notes) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(clean_tree(value)))


def _none(value: Any, _: Notes) -> None:
    if value is not None:
        raise _wrong("null", value)


def _list(item: Convert, skip: bool) -> Convert:
    def convert(value: Any, notes: Notes) -> list[Any]:
        if not isinstance(value, list):
            raise _wrong("list", value)
        out = []
        for index, entry in enumerate(value):
            told = len(notes)
            try:
                out.append(item(entry, notes))
            except MismatchError as error:
                error.under(f"[{index}]")
                if not skip:
                    raise
                del notes[told:]
                notes.append(f"skipped: {error}")
        return out

    return convert


def _dict(item: Convert) -> Convert:
    def convert(value: Any, notes: Notes) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _wrong("object", value)
        out = {}
        for key, entry in value.items():
            try:
                out[clean(key)] = item(entry, notes)
            except MismatchError as error:
                raise error.under(f".{clean(key)}") from None
        return out

    return convert


def _union(info: mi.UnionType, marks: dict[str, Any]) -> Convert:
    tagged: dict[Any, Convert] = {}
    unknown: type[Unknown] | None = None
    tag_field = ""
    nullable = False
    others: list[Convert] = []
    for member in info.types:
        if isinstance(member, mi.NoneType):
            nullable = True
        elif isinstance(member, mi.StructType) and member.tag_field is not None:
            tag_field = member.tag_field
            if issubclass(member.cls, Unknown):
                unknown = member.cls
            else:
                tagged[member.tag] = _struct(member.cls)
        else:
            others.append(_compile(member, marks))
    if tagged:
        others.append(_tagged(tag_field, tagged, unknown))

    def convert(value: Any, notes: Notes) -> Any:
        if value is None and nullable:
            return None
        last: MismatchError | None = None
        for member in others:
            told = len(notes)
            try:
                return member(value, notes)
            except MismatchError as error:
                del notes[told:]
                last = error
        assert last is not None
        raise last

    return convert


def _tagged(tag_field: str, members: dict[Any, Convert], unknown: type[Unknown] | None) -> Convert:
    def convert(value: Any, notes: Notes) -> Any:
        if not isinstance(value, dict):
            raise _wrong("object", value)
        tag = value.get(tag_field)
        if not isinstance(tag, str):
            raise MismatchError(f"no tag `{tag_field}`")
        member = members.get(tag)
        if member is not None:
            return member(value, notes)
        if unknown is None:
            raise MismatchError(f"unknown {tag_field} {clean(tag)!r}")
        for name in unknown.needs:
            if not isinstance(value.get(name), str):
                raise MismatchError(f"missing field `{name}`")
        notes.append(f"unknown {tag_field} {clean(tag)!r}")
        return unknown(kind=clean(tag), raw=clean_tree(value))

    return convert


def _empty(info: mi.Type) -> Any:
    match info:
        case mi.Metadata():
            return _empty(info.type)
        case mi.ListType():
            return []
        case _:
            return None


@functools.cache
def _struct(cls: type[msgspec.Struct]) -> Convert:
    info = mi.type_info(cls)
    assert isinstance(info, mi.StructType)
    fields = []
    for entry in info.fields:
        marks = (entry.type.extra or {}) if isinstance(entry.type, mi.Metadata) else {}
        fields.append(
            _Field(
                name=entry.name,
                wire=entry.encode_name,
                convert=_compile(entry.type, {}),
                required=entry.required,
                on_error=ON_ERROR in marks,
                on_null=ON_NULL in marks,
                empty=_empty(entry.type),
            )
        )
    return functools.partial(_convert_struct, cls, tuple(fields))


def _convert_struct(
    cls: type[msgspec.Struct], fields: tuple[_Field, ...], value: Any, notes: Notes
) -> msgspec.Struct:
    if not isinstance(value, dict):
        raise _wrong("object", value)
    arguments: dict[str, Any] = {}
    for entry in fields:
        if entry.wire not in value:
            if entry.required:
                raise MismatchError(f"missing field `{entry.wire}`")
            continue
        found = value[entry.wire]
        told = len(notes)
        try:
            if found is None and entry.on_null:
                raise MismatchError("null")
            arguments[entry.name] = entry.convert(found, notes)
        except MismatchError as error:
            error.under(f".{entry.wire}")
            if not entry.on_error and not (entry.on_null and found is None):
                raise
            del notes[told:]
            notes.append(f"default: {error}")
            if entry.required:
                arguments[entry.name] = entry.empty if entry.empty is None else type(entry.empty)()
    try:
        return cls(**arguments)
    except ValueError as error:  # a check of the struct's own (__post_init__)
        raise MismatchError(str(error)) from None
