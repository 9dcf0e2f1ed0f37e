"""What all wire types share: the base struct, unknown variants, and the schema's leniency marks.

A mark says what the slow path (lenient.py) does with a bad value of a field; the strict decoder does
not look at it. The marks are the schema's own:

``Lax[T]``          x-deserialize-default-on-error: a bad value becomes the field's default
``LaxList[T]``      the same, and x-deserialize-skip-invalid-items: a bad item is dropped
``LaxListOrNone``   a ``LaxList`` that may be null or left out
``LaxListOrUnset``  the same, where null and left out differ
``NullList[T]``     x-deserialize-default-on-null: null becomes the default; else strict
``NullDict[T]``     the same for an object
``SkipList[T]``     x-deserialize-skip-invalid-items alone: it must be a list; a bad item is dropped
``Patched[T]``      a field of a patch: left out, null and a value differ; a bad value counts as left out
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

T = TypeVar("T")

ON_ERROR = "on_error"  # key of the mark: the field falls back to its default
SKIP_ITEMS = "skip_items"
ON_NULL = "on_null"
HALVES = "halves"  # text that may be cut inside a surrogate pair (surrogates.py)

Lax: TypeAlias = Annotated[T, Meta(extra={ON_ERROR: True})]
LaxList: TypeAlias = Annotated[list[T], Meta(extra={ON_ERROR: True, SKIP_ITEMS: True})]
LaxListOrNone: TypeAlias = Annotated[list[T] | None, Meta(extra={ON_ERROR: True, SKIP_ITEMS: True})]
LaxListOrUnset: TypeAlias = Annotated[
    list[T] | UnsetType | None, Meta(extra={ON_ERROR: True, SKIP_ITEMS: True})
]
SkipList: TypeAlias = Annotated[list[T], Meta(extra={SKIP_ITEMS: True})]
Patched: TypeAlias = Annotated[T | UnsetType | None, Meta(extra={ON_ERROR: True})]
NullList: TypeAlias = Annotated[list[T], Meta(extra={ON_NULL: True})]
NullDict: TypeAlias = Annotated[dict[str, T], Meta(extra={ON_NULL: True})]
ChunkText: TypeAlias = Annotated[str, Meta(extra={HALVES: True})]

U16: TypeAlias = Annotated[int, Meta(ge=0, le=2**16 - 1)]
U32: TypeAlias = Annotated[int, Meta(ge=0, le=2**32 - 1)]
U64: TypeAlias = Annotated[int, Meta(ge=0)]

RequestId: TypeAlias = int | str | None  # V1-11
JsonObject: TypeAlias = dict[str, Any]

UNKNOWN_TAG = "\0"  # no agent sends it; the tag of the classes that keep unknown variants


class Bare(Struct, rename="camel", omit_defaults=True, frozen=True):
    """A protocol object without ``_meta``. Defaults are not sent; unknown fields are ignored (V1-213)."""


class Wire(Bare, frozen=True, kw_only=True):
    """A protocol object. ``meta`` is kept and given no meaning (V1-209)."""

    meta: Lax[JsonObject | None] = field(name="_meta", default=None)


class Patch(Bare, frozen=True, kw_only=True):
    """Its fields, and ``meta``, patch what is known: UNSET leaves, None resets (V2-83, V2-84)."""

    meta: Patched[JsonObject] = field(name="_meta", default=UNSET)


class Marker(Wire, frozen=True):
    """A capability that is there: ``{}`` is enough (V1-32)."""


class Unknown(Struct, frozen=True):
    """A variant this version does not know: its tag and all it said. Only the slow path makes them.

    ``needs``: texts that every variant has.
    """

    needs: ClassVar[tuple[str, ...]] = ()

    kind: str
    raw: JsonObject


class UnknownType(Unknown, frozen=True, tag_field="type", tag=UNKNOWN_TAG):
    """An unknown ``type``: a content block, tool content, a config option, a form's property."""
