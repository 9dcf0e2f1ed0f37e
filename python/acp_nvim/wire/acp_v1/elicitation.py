"""Forms and pages the agent asks the user to fill in or visit (section 18)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET, UnsetType, field

from ..base import U32, U64, UNKNOWN_TAG, Lax, LaxListOrNone, RequestId, Unknown, UnknownType, Wire


class EnumOption(Wire, frozen=True):
    const: str
    title: str
    description: Lax[str | None] = None


class PropertySchema(Wire, frozen=True, kw_only=True):
    title: Lax[str | None] = None
    description: Lax[str | None] = None


class StringProperty(PropertySchema, frozen=True, kw_only=True, tag_field="type", tag="string"):
    """``format``: email, uri, date, date-time. ``enum`` or ``one_of``: a choice."""

    min_length: U32 | None = None
    max_length: U32 | None = None
    pattern: str | None = None
    format: str | None = None
    default: Lax[str | None] = None
    enum: list[str] | None = None
    one_of: list[EnumOption] | None = None


class NumberProperty(PropertySchema, frozen=True, kw_only=True, tag_field="type", tag="number"):
    minimum: float | None = None
    maximum: float | None = None
    default: Lax[float | None] = None


class IntegerProperty(PropertySchema, frozen=True, kw_only=True, tag_field="type", tag="integer"):
    minimum: int | None = None
    maximum: int | None = None
    default: Lax[int | None] = None


class BooleanProperty(PropertySchema, frozen=True, kw_only=True, tag_field="type", tag="boolean"):
    default: Lax[bool | None] = None


class MultiSelectItems(Wire, frozen=True):
    """``enum`` (with type string) or ``any_of``; with another ``type`` neither need be there."""

    type: str | None = None
    enum: list[str] | None = None
    any_of: list[EnumOption] | None = None

    def __post_init__(self) -> None:
        if (self.type == "string" and self.enum is None) or (self.type is None and self.any_of is None):
            raise ValueError("items need `enum` or `anyOf`")


class MultiSelectProperty(PropertySchema, frozen=True, kw_only=True, tag_field="type", tag="array"):
    items: MultiSelectItems
    min_items: U64 | None = None
    max_items: U64 | None = None
    default: LaxListOrNone[str] = None


ElicitationProperty: TypeAlias = (
    StringProperty | NumberProperty | IntegerProperty | BooleanProperty | MultiSelectProperty | UnknownType
)


class ElicitationSchema(Wire, frozen=True):
    type: Lax[str] = "object"
    title: Lax[str | None] = None
    description: Lax[str | None] = None
    properties: dict[str, ElicitationProperty] = field(default_factory=dict)
    required: list[str] | None = None


class ElicitationBase(Wire, frozen=True, kw_only=True):
    """In a session (and perhaps a tool call), or for a request of ours outside one (V1-197)."""

    message: str
    session_id: str | None = None
    tool_call_id: Lax[str | None] = None
    request_id: RequestId | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.session_id is None and self.request_id is UNSET:
            raise ValueError("missing field `sessionId` or `requestId`")


class ElicitationForm(ElicitationBase, frozen=True, kw_only=True, tag_field="mode", tag="form"):
    requested_schema: ElicitationSchema


class ElicitationUrl(ElicitationBase, frozen=True, kw_only=True, tag_field="mode", tag="url"):
    elicitation_id: str
    url: str


class UnknownElicitation(Unknown, frozen=True, tag_field="mode", tag=UNKNOWN_TAG):
    """A mode we did not offer: answered with -32602 (V1-198)."""


CreateElicitationRequest: TypeAlias = ElicitationForm | ElicitationUrl | UnknownElicitation

ElicitationValue: TypeAlias = str | int | float | bool | list[str]


class ElicitationAccept(Wire, frozen=True, tag_field="action", tag="accept"):
    content: dict[str, ElicitationValue] | None = None


class ElicitationDecline(Wire, frozen=True, tag_field="action", tag="decline"):
    pass


class ElicitationCancel(Wire, frozen=True, tag_field="action", tag="cancel"):
    pass


class CompleteElicitationNotification(Wire, frozen=True):
    elicitation_id: str
