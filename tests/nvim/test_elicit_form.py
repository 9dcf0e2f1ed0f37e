"""Forms of an agent, filled in by the user: one field at a time, looked through, sent."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.elicit_kit import asked, form, send, type_in
from tests.plugin import StartScreen, eventually

NAME = {"name": {"type": "string", "title": "Your name"}}
ACCEPT, DECLINE, CANCEL = {"action": "accept"}, {"action": "decline"}, {"action": "cancel"}


@pytest.mark.req("V1-199", "V1-200", "V1-201", "V1-202")
def test_every_kind_of_field(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(start_screen, agent, form(required=["name", "sizes"]))
    made.chat.wait("? ask    Please tell me  waiting for you")
    made.begin()
    made.screen.wait("x wants to ask you something, 1 of 6")
    made.screen.wait("Your name  required")
    made.screen.wait("2 to 20 characters")
    type_in(made, "Ann<CR>")
    made.screen.wait("a whole number, 1 to 65535")
    made.screen.wait("8080")  # the default
    type_in(made, "<C-u>443<CR>")
    made.screen.wait("How much of it")
    type_in(made, "0.5<CR>")
    made.screen.wait("2  ● No")
    assert "Public?  may be left out" in made.screen.text()
    type_in(made, "1")
    made.screen.wait("1    Red  like blood")
    type_in(made, "2")
    made.screen.wait("choose 1 or more")
    type_in(made, "1", "3", "3", "j<Space>", "<CR>")
    screen = made.screen.wait("This is sent to x:")
    rows = ["Your name: Ann", "Port: 443", "ratio: 0.5", "Public?: Yes", "Colour: Blue", "sizes: s, m"]
    for row in rows:
        assert row in screen
    send(made)
    content = {"name": "Ann", "port": 443, "ratio": 0.5, "public": True, "colour": "b", "sizes": ["s", "m"]}
    assert made.answer() == {**ACCEPT, "content": content}
    made.chat.wait_turn()
    text = made.chat.wait("✓ ask    Please tell me  answered by you")
    assert "  │ Your name: Ann\n  │ Port: 443" in text
    assert made.chat.status()["pending"] == 0
    assert not made.focused()
    assert made.screen.messages().strip() == ""


@pytest.mark.req("V1-201")
def test_defaults_are_sent_and_what_is_left_out_is_not(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(start_screen, agent, form())
    made.begin()
    type_in(made, "<CR>", "<CR>", "<CR>", "<CR>", "<CR>", "<CR>")
    made.screen.wait("Your name: (left out)")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"port": 8080, "public": False}}


@pytest.mark.parametrize(
    ("field", "typed", "reason", "better", "value"),
    [
        ({"type": "string"}, "", "K must be filled in", "x", "x"),
        ({"type": "integer", "maximum": 9}, "10", "K must be 9 or less", "<C-u>9", 9),
        ({"type": "integer"}, "ten", "K must be a whole number", "<C-u>10", 10),
        ({"type": "string", "format": "email"}, "ann", "K must be an email address", "@b.c", "ann@b.c"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "ab", "K does not have the form", "<C-u>AB", "AB"),
    ],
)
@pytest.mark.req("V1-201")
def test_what_is_wrong_is_said_at_once(
    start_screen: StartScreen,
    agent: MakeAgent,
    field: Json,
    typed: str,
    reason: str,
    better: str,
    value: Any,
) -> None:
    fields = {"k": {**field, "title": "K"}, "last": {"type": "string", "title": "Last"}}
    made = asked(start_screen, agent, form(properties=fields, required=["k"]))
    made.begin()
    made.screen.keys(f"{typed}<CR>")
    made.screen.wait(reason)
    assert made.mode() == "i"
    made.screen.keys(f"{better}<CR>")
    made.screen.wait("Last  may be left out")
    made.screen.keys("<CR>")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"k": value}}


def test_who_types_on_is_not_called_back(start_screen: StartScreen, agent: MakeAgent) -> None:
    """The keys are for the next field; the page of all values says what is wrong, and does not send it."""
    fields = {"port": {"type": "integer", "title": "Port"}, **NAME}
    made = asked(start_screen, agent, form(properties=fields))
    made.begin()
    made.screen.keys("x<CR>Ann<CR>")
    made.screen.wait("✗ must be a whole number")
    screen = made.screen.wait("1  Change what is wrong")
    assert "Your name: Ann" in screen
    made.rest()
    made.screen.keys("1")
    made.screen.wait("✗ Port must be a whole number")
    type_in(made, "<BS>7<CR>")
    made.screen.wait("Port: 7")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"port": 7, "name": "Ann"}}


@pytest.mark.req("V1-200")
def test_back_forward_and_changed_at_the_end(start_screen: StartScreen, agent: MakeAgent) -> None:
    fields = {"a": {"type": "string", "title": "First"}, "b": {"type": "boolean", "title": "Second"}}
    made = asked(start_screen, agent, form(properties=fields))
    made.begin()
    type_in(made, "one<Tab>")
    made.screen.wait("Second  may be left out")
    type_in(made, "<S-Tab>")
    made.screen.wait("First  may be left out")
    type_in(made, " two<CR>", "<Tab>")
    made.screen.wait("First: one two")
    type_in(made, "<S-Tab>")
    made.screen.wait("Second  may be left out")
    type_in(made, "1")
    made.screen.wait("Second: Yes")
    type_in(made, "gg", "jj<CR>")  # on the row of the first field
    made.screen.wait("First  may be left out")
    type_in(made, "!<CR>")
    made.screen.wait("First: one two!")  # back at once, not through the others
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"a": "one two!", "b": True}}


@pytest.mark.req("V1-199", "V1-202")
@pytest.mark.parametrize(("choice", "result"), [("2", DECLINE), ("cancel", CANCEL)])
def test_declined_or_cancelled(
    start_screen: StartScreen, agent: MakeAgent, choice: str, result: Json
) -> None:
    made = asked(start_screen, agent, form())
    made.begin()
    type_in(made, "Ann")
    made.screen.lua("assert(require('acp').permit(...))", choice)
    assert made.answer() == result
    eventually(lambda: not made.focused())
    eventually(lambda: made.mode() == "n")
    made.chat.wait_turn()
    assert made.screen.messages().strip() == ""


def test_declined_at_the_end(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(start_screen, agent, form(properties=NAME))
    made.begin()
    type_in(made, "Ann<CR>")
    made.screen.wait("2  Decline")
    made.rest()
    made.screen.keys("2")
    assert made.answer() == DECLINE
    made.chat.wait("– ask    Please tell me  declined by you")


def test_lines_of_a_default_are_kept_and_more_can_be_typed(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    default = "one\r\ntwo\n"
    fields = {
        "a": {"type": "string", "title": "First", "default": default},
        "b": {"type": "string", "title": "Second", "default": "x\ny"},
    }
    made = asked(start_screen, agent, form(properties=fields))
    made.begin()
    made.screen.wait("two")
    type_in(made, "<CR>", "<C-j>z<CR>")
    screen = made.screen.wait("This is sent to x:")
    assert "Second:" in screen
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"a": default, "b": "x\ny\nz"}}


def test_thirty_fields_with_long_texts(start_screen: StartScreen, agent: MakeAgent) -> None:
    words = "word " * 200
    fields = {
        f"k{n}": {"type": "string", "title": f"Field {n}", "description": words, "default": f"v{n} {words}"}
        for n in range(1, 31)
    }
    made = asked(start_screen, agent, form(properties=fields, message=words), size=(100, 30))
    made.ready()
    made.chat.permit("1")
    eventually(made.focused)
    for n in range(1, 31):
        made.screen.wait(f"{n} of 30")
        made.screen.keys("<CR>")
    made.screen.wait("1 sends")
    made.rest()
    made.screen.keys("1")
    assert made.answer()["content"] == {f"k{n}": f"v{n} {words}" for n in range(1, 31)}


@pytest.mark.req("V1-203")
def test_what_cannot_be_filled_in_is_named_and_left_out(start_screen: StartScreen, agent: MakeAgent) -> None:
    fields = {**NAME, "odd": {"type": "_colour", "title": "Odd one", "default": "red"}}
    made = asked(start_screen, agent, form(properties=fields))
    made.chat.wait("- Odd one (cannot be filled in here)")
    made.begin()
    made.screen.wait("1 of 1")
    type_in(made, "Ann<CR>")
    made.screen.wait("Odd one: cannot be filled in here")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"name": "Ann"}}


@pytest.mark.req("V1-203")
def test_a_form_that_cannot_be_filled_in_can_be_declined(start_screen: StartScreen, agent: MakeAgent) -> None:
    fields = {**NAME, "odd": {"type": "_colour", "title": "Odd one"}}
    made = asked(start_screen, agent, form(properties=fields, required=["odd"]))
    made.chat.wait("This form cannot be filled in here: it requires Odd one.")
    made.screen.wait("1  Decline")
    made.chat.permit("1")
    assert made.answer() == DECLINE


def test_an_empty_form_takes_a_word(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = asked(start_screen, agent, form(properties={}))
    made.screen.wait("1  Accept")
    made.chat.permit("1")
    assert made.answer() == {**ACCEPT, "content": {}}


@pytest.mark.parametrize("value", ["hunter2-and-more", "1234"])
def test_what_looks_secret_is_hidden(start_screen: StartScreen, agent: MakeAgent, value: str) -> None:
    fields = {"pw": {"type": "string", "title": "Password"}, **NAME}
    made = asked(start_screen, agent, form(properties=fields))
    made.begin()
    made.screen.wait("hidden here and in :AcpTrace")
    type_in(made, value)
    assert value not in made.screen.wait("•" * len(value))
    type_in(made, "<CR>", "Ann<CR>")
    assert value not in made.screen.wait("Password: •••")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"pw": value, "name": "Ann"}}
    assert value not in made.chat.wait("  │ Password: •••")
    made.screen.command("AcpTrace x")
    row = eventually(
        lambda: [n for n, line in enumerate(made.screen.lines(), 1) if "→ elicitation/create" in line]
    )[-1]
    made.screen.lua("vim.api.nvim_win_set_cursor(0, { ..., 0 })", row)
    made.screen.keys("<CR>")
    eventually(lambda: '"action": "accept"' in "\n".join(made.screen.lines()))
    shown = "\n".join(made.screen.lines())
    assert '"pw": "•••"' in shown
    assert '"name": "Ann"' in shown


def test_what_the_agent_says_is_only_text(start_screen: StartScreen, agent: MakeAgent) -> None:
    bad = "a\x1b[31m\u202e\nb\x07"
    fields = {
        "k": {"type": "string", "title": bad, "description": bad, "default": "d\x1b]52;c;x\x07"},
        "c": {
            "type": "string",
            "title": bad,
            "oneOf": [{"const": "1", "title": bad, "description": bad}],
        },
        "odd": {"type": bad, "title": bad},
    }
    made = asked(start_screen, agent, form(properties=fields, message=bad))
    made.chat.wait("? ask    a^[[31m<U+202E> b^G")
    made.begin()
    made.screen.wait("a^[[31m<U+202E> b^G  may be left out")
    type_in(made, "<CR>", "1")
    made.screen.wait("1 sends")
    screen = made.screen.text()
    assert "\x1b" not in screen and "\u202e" not in screen and "\x07" not in screen
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"k": "d\x1b]52;c;x\x07", "c": "1"}}


def test_a_list_is_shown_from_its_beginning(start_screen: StartScreen, agent: MakeAgent) -> None:
    colours = [f"colour {n}" for n in range(1, 41)]
    fields = {
        "b": {"type": "boolean", "title": "First?"},
        "c": {"type": "string", "title": "Second", "enum": colours, "default": "colour 30"},
        "d": {"type": "string", "title": "Third", "enum": colours},
    }
    made = asked(start_screen, agent, form(properties=fields, required=["c"]))
    made.begin()
    screen = made.screen.wait("● leave it out")
    assert "First?  may be left out" in screen
    type_in(made, "1")
    made.screen.wait("30  ● colour 30")  # the one it has
    type_in(made, "<CR>")
    screen = made.screen.wait("Third  may be left out")
    assert "● leave it out" in screen and "more lines" in screen
    type_in(made, "jj<CR>")
    made.screen.wait("Third: colour 2")
    send(made)
    assert made.answer() == {**ACCEPT, "content": {"b": True, "c": "colour 30", "d": "colour 2"}}
