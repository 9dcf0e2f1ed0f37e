"""Is what was filled in right? Nothing wrong reaches the agent (V1-201, V1-202)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from ..session.elicitation import Content, Form, FormField, Value
from ..text.sanitise import lines
from .pattern import matches

#: What the schema's integers are: 64 bits.
LEAST_INTEGER, MOST_INTEGER = -(2**63), 2**63 - 1

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])\Z"
)
_EMAIL = re.compile(r"[^\s@\"(),:;<>\[\\\]]+@[^\W_](?:[\w-]*[^\W_])?(?:\.[^\W_](?:[\w-]*[^\W_])?)*\Z")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x20\x7f\"<>\\^`{|}]+\Z")


class WrongError(Exception):
    """Its text says what the value must be, for people."""


async def check(
    form: Form, typed: Mapping[str, Any], only: str | None = None
) -> tuple[Content, dict[str, str]]:
    """Return what to send, and what is wrong by the field's key.

    ``typed``: text for text and numbers, a bool, the number of a choice from 1, or a list of them; a key
    left out, None, and an empty text mean nothing. ``only``: look at this field alone.
    """
    content: dict[str, Value] = {}
    wrong: dict[str, str] = {}
    patterns: list[tuple[FormField, str]] = []
    for field in form.inputs:
        if only is not None and field.key != only:
            continue
        try:
            value = read(field, typed.get(field.key))
        except WrongError as error:
            wrong[field.key] = str(error)
            continue
        if value is None:
            if field.required:
                wrong[field.key] = "must be filled in" if field.type != "choices" else "choose something"
            continue
        content[field.key] = value
        if field.pattern is not None and isinstance(value, str) and field.type == "text":
            patterns.append((field, value))
    found = await matches([(field.pattern or "", value) for field, value in patterns])
    for (field, _), matching in zip(patterns, found, strict=True):
        if matching is False:
            wrong[field.key] = "does not have the form that is asked for"
    return content, wrong


def read(field: FormField, typed: Any) -> Value | None:
    """The value of one field; None: it was left out. Raises WrongError. The pattern is not looked at."""
    if typed is None or typed == "":
        return None
    match field.type:
        case "text":
            return _text(field, typed)
        case "number" | "integer":
            return _number(field, typed)
        case "boolean":
            if not isinstance(typed, bool):
                raise WrongError("must be yes or no")
            return typed
        case "choice":
            return _chosen(field, typed)
        case "choices":
            return _all_chosen(field, typed)
        case _:
            raise WrongError("cannot be filled in here")


def _text(field: FormField, typed: Any) -> str:
    if not isinstance(typed, str):
        raise WrongError("must be text")
    if isinstance(field.default, str) and typed == "\n".join(lines(field.default)):
        typed = field.default  # as the agent wrote it, where it was only shown
    text: str = typed
    size = len(text)
    if field.least is not None and size < field.least:
        raise WrongError(f"must have {shown_number(field.least)} characters or more, not {size}")
    if field.most is not None and size > field.most:
        raise WrongError(f"must have {shown_number(field.most)} characters or fewer, not {size}")
    known = _FORMATS.get(field.format or "")
    if known is not None and not known[0](text):
        raise WrongError(f"must be {known[1]}")
    return text


def _number(field: FormField, typed: Any) -> int | float:
    if not isinstance(typed, str):
        raise WrongError("must be a number")
    text = typed.strip()
    whole = _INTEGER.match(text) is not None
    if field.type == "integer" and not whole:
        raise WrongError("must be a whole number")
    if not whole and not _NUMBER.match(text):
        raise WrongError("must be a number")
    value: int | float = float(text)
    if whole and abs(value) < 1e19 and LEAST_INTEGER <= int(text) <= MOST_INTEGER:
        value = int(text)
    elif field.type == "integer" or not math.isfinite(value):
        raise WrongError("is too large a number")
    if field.least is not None and value < field.least:
        raise WrongError(f"must be {shown_number(field.least)} or more")
    if field.most is not None and value > field.most:
        raise WrongError(f"must be {shown_number(field.most)} or less")
    return value


def _chosen(field: FormField, typed: Any) -> str:
    if not isinstance(typed, int) or isinstance(typed, bool) or not 0 < typed <= len(field.choices):
        raise WrongError("must be one of the list")
    return field.choices[typed - 1].value


def _all_chosen(field: FormField, typed: Any) -> list[str] | None:
    """Nothing chosen is an answer only where that is allowed: else it is left out."""
    numbers = list(typed) if isinstance(typed, list | tuple) else []
    values = [_chosen(field, number) for number in dict.fromkeys(numbers)]
    if not values and not field.required:
        return None
    if field.least is not None and len(values) < field.least:
        raise WrongError(f"choose {shown_number(field.least)} or more, not {len(values)}")
    if field.most is not None and len(values) > field.most:
        raise WrongError(f"choose {shown_number(field.most)} or fewer, not {len(values)}")
    return values


def shown_number(value: float) -> str:
    """A number as people write it."""
    whole = isinstance(value, int) or value.is_integer()  # an int may be larger than any float
    return str(int(value)) if whole and abs(value) < 1e15 else repr(value)


def _is_email(text: str) -> bool:
    return len(text) <= 320 and _EMAIL.match(text) is not None


def _is_uri(text: str) -> bool:
    return _URI.match(text) is not None


def _is_date(text: str) -> bool:
    if not _DATE.match(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_date_time(text: str) -> bool:
    parts = _DATE_TIME.match(text)
    if parts is None:
        return False
    clock = parts[2].replace(":60", ":59") if parts[2].endswith(":60") else parts[2]  # a leap second
    try:
        datetime.fromisoformat(f"{parts[1]}T{clock}")
    except ValueError:
        return False
    return True


_FORMATS: dict[str, tuple[Callable[[str], bool], str]] = {
    "email": (_is_email, "an email address, as name@example.com"),
    "uri": (_is_uri, "a whole address, as https://example.com"),
    "date": (_is_date, "a date, as 2025-01-31"),
    "date-time": (_is_date_time, "a date and time with its zone, as 2025-01-31T18:30:00Z"),
}
