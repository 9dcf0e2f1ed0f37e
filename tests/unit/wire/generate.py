"""Hypothesis strategies for JSON that fits a wire type, made from the type alone."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from hypothesis import strategies as st
from msgspec import inspect as mi

from acp_nvim.wire.base import Unknown

Json: TypeAlias = st.SearchStrategy[Any]

texts = st.text(st.characters(codec="utf-8"), max_size=8)
anything: Json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def fitting(type_: Any) -> Json:
    """JSON values (as Python objects) a strict decoder takes for ``type_``."""
    return _make(mi.type_info(type_))


def _make(info: mi.Type) -> Json:
    match info:
        case mi.Metadata():
            return _make(info.type)
        case mi.StructType():
            return _struct(info)
        case mi.UnionType():
            members = [member for member in info.types if not _unknown(member)]
            return st.one_of([_make(member) for member in members])
        case mi.ListType():
            return st.lists(_make(info.item_type), max_size=3)
        case mi.DictType():
            return st.dictionaries(texts, _make(info.value_type), max_size=3)
        case mi.StrType():
            return texts
        case mi.IntType():
            low = info.ge if info.ge is not None else -(2**40)
            high = info.le if info.le is not None else 2**40
            return st.integers(low, high)
        case mi.FloatType():
            return st.floats(-1e9, 1e9) | st.integers(-100, 100)
        case mi.BoolType():
            return st.booleans()
        case mi.NoneType():
            return st.none()
        case mi.AnyType():
            return anything
    raise TypeError(info)


def _unknown(info: mi.Type) -> bool:
    return isinstance(info, mi.StructType) and issubclass(info.cls, Unknown)


def _struct(info: mi.StructType) -> Json:
    needed = {f.encode_name: _make(f.type) for f in info.fields if f.required}
    optional = {f.encode_name: _make(f.type) for f in info.fields if not f.required}
    if info.tag_field is not None:
        needed[info.tag_field] = st.just(info.tag)
    made = st.fixed_dictionaries(needed, optional=optional)
    return made.filter(lambda tree: _passes(info.cls, tree)) if hasattr(info.cls, "__post_init__") else made


def _passes(cls: type[msgspec.Struct], tree: Any) -> bool:
    try:
        msgspec.convert(tree, cls)
    except msgspec.ValidationError:
        return False
    return True
