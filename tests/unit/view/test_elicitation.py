"""What forms and pages say: in their rows, in the question, and to Lua."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.view.helpers import HOME, Chat

from acp_nvim.session.asked import PermissionOption
from acp_nvim.session.elicitation import Content, Elicitation, Form, FormChoice, FormField
from acp_nvim.session.events import ElicitationFinished, PermissionClosed
from acp_nvim.view.elicitation import constraint
from acp_nvim.view.icons import ASCII, UNICODE, Icons
from acp_nvim.view.question import Question
from acp_nvim.view.questions import describe

OPTIONS = (PermissionOption("accept", "Answer", "other"), PermissionOption("decline", "Decline", "other"))
RED = (FormChoice("r", "Red", "like blood"), FormChoice("b", " "))


def form(*fields: FormField, **more: Any) -> Elicitation:
    return Elicitation("Who are you?\nReally?", form=Form(fields, **more))


def page(url: str = "https://example.com/login?a=b") -> Elicitation:
    return Elicitation("Sign in", url=url, remote_id="e1")


def ask(elicitation: Elicitation, chat: Chat | None = None, call: str | None = None) -> Question:
    chat = chat or Chat()
    permission = chat.ask(call, subject=elicitation, options=OPTIONS, title=elicitation.message)
    row = chat.session.tool_calls[permission.tool_call_id or ""]
    return describe(permission, row, chat.session, home=HOME)


@pytest.mark.req("V1-199")
def test_a_form_says_who_asks_and_for_what() -> None:
    question = ask(
        form(
            FormField("name", "text", "Name", required=True),
            FormField("port", "integer"),
            FormField("odd", "unknown", "Odd"),
            title="Settings",
            description="All of\nthem",
        )
    )
    assert question.title == "claude wants to ask you something"
    assert question.prompt == "claude asks: Who are you? Really?"
    assert question.what == "asks Who are you? Really?"
    assert question.lines == [
        "Who are you?",
        "Really?",
        "Settings",
        "All of",
        "them",
        "- Name (required)",
        "- port",
        "- Odd (cannot be filled in here)",
    ]
    payload = question.payload(3)
    assert payload["form"]["left_out"] == ["Odd"]
    assert [each["key"] for each in payload["form"]["fields"]] == ["name", "port"]
    assert [each["kind"] for each in payload["options"]] == ["other", "other"]


@pytest.mark.req("V1-203")
def test_a_form_that_cannot_be_filled_in_says_so() -> None:
    question = ask(form(FormField("a", "text"), FormField("odd", "unknown", "Odd", required=True)))
    assert question.lines[-1] == "This form cannot be filled in here: it requires Odd."
    assert "form" not in question.payload(1)


def test_a_form_without_fields_has_nothing_to_fill_in() -> None:
    assert "form" not in ask(form()).payload(1)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (FormField("k", "text"), ""),
        (FormField("k", "text", least=0), ""),
        (FormField("k", "text", least=2), "2 or more characters"),
        (FormField("k", "text", least=0, most=9), "9 or fewer characters"),
        (FormField("k", "text", least=2, most=2), "2 characters"),
        (FormField("k", "text", format="email"), "an email address"),
        (FormField("k", "text", format="x\ny", pattern="^a"), "x y, matching ^a"),
        (FormField("k", "integer"), "a whole number"),
        (FormField("k", "integer", least=1, most=65535), "a whole number, 1 to 65535"),
        (FormField("k", "number", least=0.5), "a number, 0.5 or more"),
        (FormField("k", "number", most=1e300), "a number, 1e+300 or less"),
        (FormField("k", "choices", choices=RED), "choose any"),
        (FormField("k", "choices", choices=RED, least=1), "choose 1 or more"),
        (FormField("k", "choice", choices=RED), ""),
    ],
)
def test_what_a_value_must_be(field: FormField, words: str) -> None:
    assert constraint(field) == words


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (FormField("k", "text", default="a\r\nb\x1b"), "a\nb^["),
        (FormField("k", "text", default=""), None),
        (FormField("k", "integer", default=3), "3"),
        (FormField("k", "number", default=0.5), "0.5"),
        (FormField("k", "number", default=5.0), "5"),
        (FormField("k", "boolean", default=False), False),
        (FormField("k", "choice", choices=RED, default="b"), 2),
        (FormField("k", "choice", choices=RED, default="x"), None),
        (FormField("k", "choices", choices=RED, default=["b", "x", "r"]), [1, 2]),
        (FormField("k", "choices", choices=RED, default=["x"]), None),
    ],
)
@pytest.mark.req("V1-201")
def test_defaults_are_filled_in(field: FormField, value: Any) -> None:
    (shown,) = ask(form(field)).payload(1)["form"]["fields"]
    assert shown.get("value") == value


def test_what_lua_gets_is_safe() -> None:
    bad = "a\x1b[31m\u202e\nb"
    field = FormField("k", "choice", bad, bad, choices=(FormChoice(bad, bad, bad), FormChoice("", "")))
    (shown,) = ask(form(field)).payload(1)["form"]["fields"]
    assert shown["title"] == "a^[[31m<U+202E> b"
    assert shown["lines"] == ["a^[[31m<U+202E>", "b"]
    assert shown["choices"] == [
        {"title": "a^[[31m<U+202E> b", "note": "a^[[31m<U+202E> b"},
        {"title": '""'},
    ]


@pytest.mark.parametrize(
    ("key", "title", "secret"),
    [
        ("password", None, True),
        ("apiKey", None, True),
        ("API_KEY", None, True),
        ("x", "Your access token", True),
        ("x", "Secret", True),
        ("pin", None, True),
        ("userPin", None, True),
        ("key", None, True),
        ("keyboard", "Keyboard layout", False),
        ("monkey", None, False),
        ("spinner", "Pinned", False),
        ("name", "Name", False),
    ],
)
def test_what_looks_secret(key: str, title: str | None, secret: bool) -> None:
    assert FormField(key, "text", title).secret is secret


def test_a_password_is_secret() -> None:
    assert FormField("x", "text", format="password").secret


@pytest.mark.req("V1-204", "V1-206")
def test_a_page_shows_its_whole_address_and_its_host() -> None:
    url = "http://github.com@xn--80ak6aa92e.com:8080/" + "a" * 300
    question = ask(page(url))
    assert question.title == "claude wants you to open a page"
    assert question.prompt.startswith("claude wants you to open xn--80ak6aa92e.com: Sign in")
    host = "xn--80ak6aa92e.com"
    assert question.lines[:3] == ["Sign in", f"goes to {host}", url]
    start = url.index(host)
    assert (2, start, start + len(host), "AcpPath") in question.marks
    assert (1, len("goes to "), len("goes to ") + len(host), "AcpPath") in question.marks
    warnings = [line for line in question.lines if line.startswith("? ")]
    assert [row for row, *_, group in question.marks if group == "AcpWarn"] == [3, 4, 5, 6]
    assert len(warnings) == 4
    assert "аррӏе" in "".join(warnings)


def row(elicitation: Elicitation, *ends: Any, call: str | None = None, icons: Icons = UNICODE) -> list[str]:
    chat = Chat(icons=icons)
    if call is not None:
        chat.tool(call, "Deploy", "other", status="in_progress")
    ask(elicitation, chat, call)
    chat.apply(*ends)
    return chat.lines()[-4:]


def closed(outcome: Any, option: str | None = None, content: Content | None = None) -> PermissionClosed:
    return PermissionClosed("q1", outcome, option, "user", content)


def test_a_form_in_its_row() -> None:
    asked = form(
        FormField("name", "text", "Name"),
        FormField("pass", "text", "Password"),
        FormField("c", "choice", "Colour", choices=RED),
        FormField("on", "boolean", "On?"),
        FormField("left", "text", "Left"),
    )
    waiting = row(asked)
    assert waiting[-1] == "  │ 1 Answer  2 Decline"
    content: Content = {"name": "Ann\nLee", "c": "r", "on": False}
    assert row(asked, closed("selected", "accept", content)) == [
        "  │ Name: Ann Lee",
        "  │ Password: •••",
        "  │ Colour: Red",
        "  │ On?: no",
    ]


@pytest.mark.parametrize(
    ("end", "line"),
    [
        (closed("selected", "accept", {}), "✓ ask    Who are you? Really?  answered by you"),
        (closed("selected", "decline"), "– ask    Who are you? Really?  declined by you"),
        (closed("cancelled"), "– ask    Who are you? Really?  cancelled"),
        (closed("withdrawn"), "– ask    Who are you? Really?  withdrawn"),
    ],
)
def test_how_a_form_ended(end: PermissionClosed, line: str) -> None:
    assert row(form(FormField("a", "text")), end)[-1] == line


@pytest.mark.req("V1-204", "V1-207")
def test_a_page_waits_for_the_browser_beyond_the_turn() -> None:
    chat, asked = Chat(), page()
    chat.prompt("go")
    ask(asked, chat)
    chat.apply(closed("selected", "accept"))
    waiting = "○ open   Sign in  waiting for example.com"
    at = chat.lines().index(waiting)
    assert chat.lines()[at + 1] == "  │ https://example.com/login?a=b"  # to be copied
    chat.end()
    assert waiting in chat.lines()
    chat.apply(ElicitationFinished(asked))
    at = chat.lines().index("✓ open   Sign in  finished in the browser")
    assert chat.lines()[at + 1] == "  │ https://example.com/login?a=b"  # no browser may have come


def test_in_the_row_of_a_tool_call_it_says_nothing_of_the_call() -> None:
    asked = page()
    assert row(asked, closed("cancelled"), call="t1")[-1] == "● tool   Deploy"
    asked = page()
    assert row(asked, closed("selected", "accept"), call="t1")[-2:] == [
        "● tool   Deploy  waiting for example.com",
        "  │ https://example.com/login?a=b",
    ]
    assert row(asked, ElicitationFinished(asked), call="t1", icons=ASCII)


def test_limits_larger_than_any_float() -> None:
    """A question whose words cannot be found is never put."""
    field = FormField("n", "integer", least=-(10**400), most=3)
    assert constraint(field) == f"a whole number, {-(10**400)} to 3"
