"""Forms and pages the agent asks the user to fill in or visit (section 19): as in v1, and stricter."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import UNSET

from ..acp_v1 import elicitation as v1
from ..acp_v1.elicitation import (
    CompleteElicitationNotification,
    ElicitationAccept,
    ElicitationCancel,
    ElicitationDecline,
    ElicitationProperty,
    UnknownElicitation,
)

__all__ = (
    "CompleteElicitationNotification",
    "CreateElicitationRequest",
    "ElicitationAccept",
    "ElicitationCancel",
    "ElicitationDecline",
    "ElicitationForm",
    "ElicitationSchema",
    "ElicitationUrl",
    "UnknownElicitation",
)


class ElicitationSchema(v1.ElicitationSchema, frozen=True, kw_only=True):
    """V2-145."""

    type: str
    properties: dict[str, ElicitationProperty]

    def __post_init__(self) -> None:
        if self.type != "object":
            raise ValueError("the type of a form must be `object`")


class _Scope(v1.ElicitationBase, frozen=True, kw_only=True):
    """Either in a session, or for a request of ours (V2-145)."""

    def __post_init__(self) -> None:
        if (self.session_id is None) == (self.request_id is UNSET):
            raise ValueError("one of `sessionId` and `requestId` must be there")
        if self.request_id is None:
            raise ValueError("`requestId` must not be null")


class ElicitationForm(v1.ElicitationForm, _Scope, frozen=True, kw_only=True, tag_field="mode", tag="form"):
    requested_schema: ElicitationSchema


class ElicitationUrl(v1.ElicitationUrl, _Scope, frozen=True, kw_only=True, tag_field="mode", tag="url"):
    pass


CreateElicitationRequest: TypeAlias = ElicitationForm | ElicitationUrl | UnknownElicitation
