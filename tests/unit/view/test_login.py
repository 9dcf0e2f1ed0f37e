"""The question of a login: all that an agent says in it is text, on lines of its own."""

from __future__ import annotations

import pytest

from acp_nvim.session.asked import LoginSubject, LoginWay, Permission, PermissionOption
from acp_nvim.session.entities import Session
from acp_nvim.view.block import Lines
from acp_nvim.view.question import Question
from acp_nvim.view.questions import describe

HOSTILE = "a\nb\x1b[31m\u202ec\r\td"


def asked(subject: LoginSubject, *options: str) -> Question:
    made = [PermissionOption(str(n), name, "allow_once") for n, name in enumerate(options)]
    permission = Permission("q1", made, title="log in to x", subject=subject, asked_by="client")
    return describe(permission, None, Session("s", "x", "/p"), label="x")


def test_the_ways_in_words() -> None:
    ways = (
        LoginWay("Browser", "opens a page"),
        LoginWay("Terminal", None, "runs in a terminal here: x login"),
        LoginWay("Device", "enter a code", "cannot be used from here (device)", usable=False),
    )
    question = asked(
        LoginSubject("login", ways, "auth required\n1 Browser", "bad key"), "Browser", "Terminal"
    )
    assert (question.title, question.prompt) == ("x wants you to log in", "x wants you to log in")
    assert question.lines == [
        'x says: "auth required',
        '  1 Browser"',
        "✗ bad key",
        "2 runs in a terminal here: x login",
        "– Device  enter a code",
        "  cannot be used from here (device)",
    ]
    assert [option["name"] for option in question.options] == ["Browser", "Terminal"]
    assert [option.get("about") for option in question.options] == ["opens a page", None]
    body = Lines()
    question.put_options(body)
    assert body.lines == ["1 Browser  opens a page", "2 Terminal"]


def test_what_nobody_has_asked_for_is_not_said_to_be_wanted() -> None:
    question = asked(LoginSubject("login", (LoginWay("Browser"),)), "Browser")
    assert (question.title, question.prompt, question.lines) == ("log in to x", "log in to x", [])


def test_logging_out_in_words() -> None:
    question = asked(LoginSubject("logout"), "Log out")
    assert (question.title, question.what) == ("log out of x?", "logout x")
    assert question.lines == [
        "What x is doing may end with it, fail or go on. :AcpLogin logs in again.",
    ]


@pytest.mark.parametrize("field", ["name", "description", "how", "said", "failed"])
def test_what_an_agent_says_is_text(field: str) -> None:
    of_way = {"name": "n", "description": "d", "how": "h", field: HOSTILE}
    way = LoginWay(of_way["name"], of_way["description"], of_way["how"])
    said = {"said": None, "failed": None, field: HOSTILE}
    question = asked(LoginSubject("login", (way,), said["said"], said["failed"]), HOSTILE)
    words = [option[key] for option in question.options for key in ("name", "about") if key in option]
    texts = [*question.lines, question.title, question.prompt, *words]
    for text in texts:
        assert not {"\n", "\r", "\x1b", "\u202e"} & set(text), text
    assert any("b" in text and "c" in text for text in texts)
