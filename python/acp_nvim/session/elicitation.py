"""What an agent asks the user to fill in, or to visit in a browser (spec/mapping.md, Elicitation).

It stands in the one queue as a ``Permission`` whose subject it is, with the options below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

Value: TypeAlias = str | int | float | bool | list[str]
Content: TypeAlias = Mapping[str, Value]
FieldType: TypeAlias = Literal["text", "number", "integer", "boolean", "choice", "choices", "unknown"]
Action: TypeAlias = Literal["accept", "decline", "cancel"]
#: ``opened``: the user agreed to visit the page; ``finished``: the agent says that they are done there.
ElicitationState: TypeAlias = Literal[
    "open", "accepted", "declined", "cancelled", "withdrawn", "opened", "finished"
]

#: Ids of the options of the question.
ACCEPT = "accept"
DECLINE = "decline"

_SECRET = re.compile(
    r"password|passwd|passphrase|token|secret|credential|api.?key|(?<![a-z])(key|pin|otp|pwd|pass)s?(?![a-z])"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class FormChoice(Struct, frozen=True):
    value: str
    title: str
    description: str | None = None


class FormField(Struct, frozen=True):
    """One property of a form. ``least`` and ``most``: of a number, of characters, or of things chosen.

    ``unknown``: a type this version does not know, never shown as an input (V1-203); ``raw`` keeps it.
    """

    key: str
    type: FieldType
    title: str | None = None
    description: str | None = None
    required: bool = False
    default: Value | None = None
    least: float | None = None
    most: float | None = None
    pattern: str | None = None
    format: str | None = None
    choices: tuple[FormChoice, ...] = ()
    raw: Any = None

    @property
    def name(self) -> str:
        """What it is called in front of people."""
        return self.title if self.title and self.title.strip() else self.key

    @property
    def secret(self) -> bool:
        """Whether what is typed here should not be read by others: judged by the agent's words for it."""
        words = " ".join(_HUMP.sub(" ", word).lower() for word in (self.key, self.title or ""))
        return self.format == "password" or _SECRET.search(words) is not None

    @property
    def fillable(self) -> bool:
        """Whether the user can be offered an input for it."""
        if self.type == "unknown":
            return False
        return bool(self.choices) or self.type not in ("choice", "choices")


class Form(Struct, frozen=True):
    fields: tuple[FormField, ...] = ()
    title: str | None = None
    description: str | None = None

    @property
    def inputs(self) -> list[FormField]:
        return [field for field in self.fields if field.fillable]

    @property
    def impossible(self) -> list[FormField]:
        """What is required and cannot be filled in here: then the form can only be declined."""
        return [field for field in self.fields if field.required and not field.fillable]


class Elicitation(Struct):
    """A form, or a page to visit (``url``, known to the agent as ``remote_id``).

    ``content``: what was sent, without what looks secret.
    """

    message: str
    form: Form | None = None
    url: str | None = None
    remote_id: str | None = None
    tool_call_id: str | None = None  # the agent's call it belongs to
    state: ElicitationState = "open"
    content: Content | None = None

    @property
    def asks(self) -> bool:
        """Whether accepting it takes more than a word: there is something to fill in."""
        return self.form is not None and bool(self.form.inputs)


class Reply(Struct, frozen=True):
    """What to answer. ``content`` only with ``accept`` of a form."""

    action: Action
    content: Content | None = None
