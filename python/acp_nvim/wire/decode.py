"""Decoding: strict first, then lenient (design.md rule 6).

A ``Codec`` is made once for each type, as a module constant; its decoder when it is first used, because those
of all types take as long as a tenth of the host's start. The strict step is one msgspec decode; only
when it fails, the slow path reads the bytes tolerantly and converts field by field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Raw

from . import lenient, tolerant
from .surrogates import clean_tree
from .tolerant import MAX_DEPTH, WireError

T = TypeVar("T")

# Told once for each lenient decode: why it was needed, and what was dropped.
Report: TypeAlias = Callable[[str], None]


class Codec(Generic[T]):
    """Decodes JSON into a type. Missing and null input counts as an empty object (V1-13, V1-14)."""

    __slots__ = ("_lenient", "_strict", "_type")

    def __init__(self, type_: type[T] | Any) -> None:
        self._type = type_
        self._strict: Callable[[bytes | Raw], T] | None = None
        self._lenient: lenient.Convert | None = None

    def decode(self, raw: bytes | Raw, report: Report | None = None) -> T:
        """Return the value. Raises WireError. ``report`` is called when the slow path was taken."""
        if self._strict is None:
            self._strict = msgspec.json.Decoder(self._type).decode
        try:
            value = self._strict(raw)
        except msgspec.DecodeError as error:
            return self._slow(bytes(raw), str(error), report)
        except RecursionError:
            raise tolerant.too_deep() from None
        if len(raw) > 2 * MAX_DEPTH and _may_be_deep(raw) and tolerant.deeper(value, MAX_DEPTH):
            raise tolerant.too_deep()
        return value

    def _slow(self, data: bytes, why: str, report: Report | None) -> T:
        tree = tolerant.parse(data) if data else {}
        if tree is None:
            tree = {}
        if self._lenient is None:
            self._lenient = lenient.converter(self._type)
        notes: lenient.Notes = []
        try:
            value: T = self._lenient(tree, notes)
        except lenient.MismatchError as error:
            raise WireError("shape", str(error)) from None
        if report is not None:
            report("lenient: " + "; ".join([why, *notes]))
        return value


def _may_be_deep(raw: bytes | Raw) -> bool:
    data = bytes(raw)
    return data.count(b"[") + data.count(b"{") > MAX_DEPTH


def encode(value: Any) -> bytes:
    """Encode a message we send: one line of compact JSON (V1-02), without halves of surrogate pairs.

    Raises TypeError for what JSON cannot hold.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(clean_tree(msgspec.to_builtins(value)))
