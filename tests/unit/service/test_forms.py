"""What was filled in, as the agent gets it, and what is wrong with it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.service.forms import WrongError, check, read
from acp_nvim.session.elicitation import FieldType, Form, FormChoice, FormField

pytestmark = pytest.mark.anyio

CHOICES = (FormChoice("r", "Red"), FormChoice("g", "Green"), FormChoice("b", "Blue"))


def field(type_: FieldType, **more: Any) -> FormField:
    choices = CHOICES if type_ in ("choice", "choices") else ()
    return FormField("k", type_, choices=choices, **more)


RIGHT: list[tuple[FormField, Any, Any]] = [
    (field("text"), "hello", "hello"),
    (field("text"), "", None),
    (field("text"), None, None),
    (field("text"), " ", " "),
    (field("text", least=2, most=3), "äö", "äö"),  # characters, not bytes
    (field("text", default="a\r\nb\n"), "a\nb", "a\r\nb\n"),  # not touched: exactly the agent's own
    (field("text", default="a\x1b"), "a^[", "a\x1b"),
    (field("text", default="a\r\nb\n"), "a\nc", "a\nc"),
    (field("text", format="email"), "a.b+c@example.co.uk", "a.b+c@example.co.uk"),
    (field("text", format="email"), "ä@exämple.org", "ä@exämple.org"),
    (field("text", format="uri"), "https://example.com/a?b#c", "https://example.com/a?b#c"),
    (field("text", format="uri"), "urn:isbn:123", "urn:isbn:123"),
    (field("text", format="date"), "2024-02-29", "2024-02-29"),
    (field("text", format="date-time"), "2024-02-29T23:59:60Z", "2024-02-29T23:59:60Z"),
    (field("text", format="date-time"), "2024-02-29T01:02:03.5+02:00", "2024-02-29T01:02:03.5+02:00"),
    (field("text", format="colour"), "anything", "anything"),  # an unknown format is a hint
    (field("integer"), "42", 42),
    (field("integer"), " -7 ", -7),
    (field("integer"), str(2**63 - 1), 2**63 - 1),
    (field("integer", least=1, most=3), "3", 3),
    (field("number"), "42", 42),
    (field("number"), "0.5", 0.5),
    (field("number"), ".5", 0.5),
    (field("number"), "1e3", 1000.0),
    (field("number"), str(2**80), float(2**80)),
    (field("boolean"), True, True),
    (field("boolean"), False, False),
    (field("choice"), 2, "g"),
    (field("choices"), [3, 1, 3], ["b", "r"]),
    (field("choices"), [], None),
    (field("choices"), {}, None),  # Lua's empty table
    (field("choices", required=True), [], []),
    (field("choices", least=1, most=2), [1, 2], ["r", "g"]),
]

WRONG: list[tuple[FormField, Any, str]] = [
    (field("text", least=2), "a", "must have 2 characters or more, not 1"),
    (field("text", most=2), "abc", "must have 2 characters or fewer, not 3"),
    *[
        (field("text", format="email"), bad, "must be an email address")
        for bad in ("a", "a@", "@b", "a b@c", "a@b@c", "a@-b", "a@b..c", "a@b.", "x" * 400 + "@a.b")
    ],
    *[
        (field("text", format="uri"), bad, "must be a whole address")
        for bad in ("example.com", "/a", "a b:c", "https:", "x:\u0007", "x:a b", "x:<y>")
    ],
    *[
        (field("text", format="date"), bad, "must be a date")
        for bad in ("2023-02-29", "2024-13-01", "24-01-01", "20240101", "2024-01-01T00:00:00Z", "2024-01-1")
    ],
    *[
        (field("text", format="date-time"), bad, "must be a date and time")
        for bad in (
            "2024-01-01",
            "2024-01-01T00:00:00",
            "2024-01-01 00:00:00Z",
            "2024-01-01T25:00:00Z",
            "2024-02-30T00:00:00Z",
            "2024-01-01T00:00:00+25:00",
        )
    ],
    (field("integer"), "1.0", "must be a whole number"),
    (field("integer"), "x", "must be a whole number"),
    (field("integer"), "0x10", "must be a whole number"),
    (field("integer"), "\u0663", "must be a whole number"),
    (field("integer"), str(2**63), "too large"),
    (field("integer"), "9" * 5000, "too large"),
    (field("integer", least=1), "0", "must be 1 or more"),
    (field("integer", most=3), "4", "must be 3 or less"),
    (field("number"), "inf", "must be a number"),
    (field("number"), "nan", "must be a number"),
    (field("number"), "1e999", "too large"),
    (field("number"), "1_000", "must be a number"),
    (field("number", least=0.5), "0.25", "must be 0.5 or more"),
    (field("number"), True, "must be a number"),
    (field("text"), 3, "must be text"),
    (field("boolean"), "yes", "must be yes or no"),
    (field("choice"), 4, "one of the list"),
    (field("choice"), 0, "one of the list"),
    (field("choice"), True, "one of the list"),
    (field("choice"), "r", "one of the list"),
    (field("choices"), [1, 9], "one of the list"),
    (field("choices", least=2), [1], "choose 2 or more, not 1"),
    (field("choices", most=1), [1, 2], "choose 1 or fewer, not 2"),
    (field("unknown"), "x", "cannot be filled in here"),
]


@pytest.mark.parametrize(("asked", "typed", "value"), RIGHT)
@pytest.mark.req("V1-201", "V1-202")
async def test_what_is_right_is_sent(asked: FormField, typed: Any, value: Any) -> None:
    got = read(asked, typed)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(("asked", "typed", "reason"), WRONG)
@pytest.mark.req("V1-201")
async def test_what_is_wrong_is_said(asked: FormField, typed: Any, reason: str) -> None:
    with pytest.raises(WrongError, match=reason.replace("(", r"\(")):
        read(asked, typed)


@pytest.mark.req("V1-201", "V1-202")
async def test_a_whole_form() -> None:
    form = Form(
        (
            FormField("name", "text", required=True),
            FormField("port", "integer", least=1, most=65535),
            FormField("code", "text", pattern="^[A-Z]{2}$"),
            FormField("note", "text"),
            FormField("odd", "unknown"),
        )
    )
    content, wrong = await check(form, {"port": "0", "code": "abc", "odd": "x"})
    assert content == {"code": "abc"}
    assert wrong == {
        "name": "must be filled in",
        "port": "must be 1 or more",
        "code": "does not have the form that is asked for",
    }
    assert await check(form, {"port": "0", "code": "abc"}, only="port") == ({}, {"port": "must be 1 or more"})
    assert await check(form, {"name": "x", "port": "80", "code": "AB", "bogus": "1"}) == (
        {"name": "x", "port": 80, "code": "AB"},
        {},
    )


values = st.none() | st.text() | st.booleans() | st.integers() | st.floats() | st.lists(st.integers())


@given(
    st.sampled_from(["text", "number", "integer", "boolean", "choice", "choices"]),
    values,
    st.none() | st.integers(-5, 5) | st.sampled_from([10**400, -(10**400)]),
    st.none() | st.integers(-5, 5) | st.sampled_from([10**400, -(10**400)]),
    st.sampled_from([None, "email", "uri", "date", "date-time", "x"]),
)
def test_whatever_is_typed_is_a_value_or_a_reason(
    kind: Any, typed: Any, least: int | None, most: int | None, format_: str | None
) -> None:
    asked = field(kind, least=least, most=most, format=format_)
    try:
        value = read(asked, typed)
    except WrongError as error:
        assert str(error)
        return
    if value is None:
        return
    if isinstance(value, float):
        assert math.isfinite(value)
    json.dumps(value)
    if kind == "number":
        assert isinstance(value, int | float) and not isinstance(value, bool)
        assert (least is None or value >= least) and (most is None or value <= most)
    expected = {"text": str, "integer": int, "boolean": bool, "choice": str, "choices": list}.get(kind)
    assert expected is None or type(value) is expected
