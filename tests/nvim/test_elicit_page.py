"""Pages an agent sends the user to: opened by consent only; and what is asked before there is a session."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Stage
from tests.nvim.elicit_kit import BROWSER, Asked, asked, page
from tests.plugin import StartScreen, eventually

URL = "https://example.com/login?state=1"
ACCEPT, DECLINE, CANCEL = {"action": "accept"}, {"action": "decline"}, {"action": "cancel"}
COMPLETE = {"send": {"jsonrpc": "2.0", "method": "elicitation/complete", "params": {"elicitationId": "e-u1"}}}


def page_of(start_screen: StartScreen, agent: MakeAgent, url: str = URL, init: str = "") -> Asked:
    on = {"session/prompt": [[page(url=url), {"await": "u1"}, END], [COMPLETE, COMPLETE, END]]}
    played = agent(on=on)
    stage = Stage(start_screen(size=(120, 36), init=WATCH + BROWSER + init), PASSIVE)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send()
    return Asked(chat, played)


@pytest.mark.req("V1-199", "V1-204", "V1-205", "V1-206", "V1-207")
def test_a_page_is_opened_by_consent_only(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = page_of(start_screen, agent)
    made.ready()
    screen = made.screen.wait("x wants you to open a page")
    assert "goes to example.com" in screen
    assert URL in screen
    row, col = made.screen.find("goes to example.com")
    assert "Directory" in made.screen.groups_at(row, col + len("goes to "))
    row, col = made.screen.find(URL)
    assert "Directory" in made.screen.groups_at(row, col + len("https://"))
    assert "Directory" not in made.screen.groups_at(row, col)
    made.screen.lua("vim.wait(300)")
    assert made.opened() == []
    made.chat.permit("1")
    assert made.answer("u1") == ACCEPT
    eventually(lambda: made.opened() == [URL])
    made.chat.wait("○ open   Sign in  waiting for example.com")
    made.chat.wait_turn()
    made.chat.send()
    made.chat.wait("✓ open   Sign in  finished in the browser")
    made.chat.wait_turn(2)
    assert made.opened() == [URL]
    assert made.screen.messages().strip() == ""


@pytest.mark.req("V1-202", "V1-205")
@pytest.mark.parametrize(("choice", "result"), [("2", DECLINE), ("cancel", CANCEL)])
def test_without_consent_nothing_is_opened(
    start_screen: StartScreen, agent: MakeAgent, choice: str, result: Json
) -> None:
    made = page_of(start_screen, agent)
    made.ready()
    made.chat.permit(choice)
    assert made.answer("u1") == result
    made.chat.wait_turn()
    assert made.opened() == []


@pytest.mark.req("V1-206")
def test_a_suspicious_page_is_warned_of(start_screen: StartScreen, agent: MakeAgent) -> None:
    url = "http://github.com@xn--80ak6aa92e.com:8080/login"
    made = page_of(start_screen, agent, url)
    made.chat.wait("goes to xn--80ak6aa92e.com")
    screen = made.screen.wait("Open xn--80ak6aa92e.com")
    for words in (
        "before the @",
        "in other letters",
        "is not encrypted",
        "an unusual port: 8080",
    ):
        row, col = made.screen.find(words)
        assert "DiagnosticWarn" in made.screen.groups_at(row, col)
    assert "Open github.com" not in screen


@pytest.mark.req("V1-204", "V1-205")
@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "https://a.example/\u202ex"])
def test_no_other_address_is_opened(start_screen: StartScreen, agent: MakeAgent, url: str) -> None:
    made = page_of(start_screen, agent, url)
    made.chat.wait("x wanted to send you to an address that was refused")
    assert made.agent.response("u1")["error"]["code"] == -32602
    made.chat.wait_turn()
    assert made.opened() == []
    assert made.chat.status()["pending"] == 0


@pytest.mark.req("V1-204")
@pytest.mark.parametrize(
    "opener",
    [
        "vim.ui.open = function() return nil, 'no handler found' end",
        "vim.ui.open = function() error('broken') end",
        "vim.ui.open = function() return vim.system({ 'false' }) end",
    ],
)
def test_a_browser_that_does_not_open_is_told(
    start_screen: StartScreen, agent: MakeAgent, opener: str
) -> None:
    made = page_of(start_screen, agent, init=opener)
    made.ready()
    made.chat.permit("1")
    assert made.answer("u1") == ACCEPT  # consent
    made.screen.wait("no browser could be opened: copy the address from its row")
    made.chat.wait("── no browser could be opened\n  │ ")
    assert f"  │ {URL}" in made.chat.wait("waiting for example.com")


@pytest.mark.req("V1-206")
def test_no_address_in_it_is_a_link(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = page_of(start_screen, agent)
    made.ready()
    made.chat.go()
    made.screen.lua("assert(require('acp').permit())")
    eventually(lambda: made.screen.funcs.maparg("?", "n", False, True).get("desc"))
    made.screen.keys("gg/https<CR>", "gx")
    made.screen.lua("vim.wait(200)")
    assert made.opened() == []


SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}}


def early(ident: str, **params: object) -> Json:
    fields = {"message": "Which account?", "requestId": "$id", "mode": "form", "requestedSchema": SCHEMA}
    return {
        "send": {
            "jsonrpc": "2.0",
            "id": ident,
            "method": "elicitation/create",
            "params": {**fields, **params},
        }
    }


def starting(start_screen: StartScreen, agent: MakeAgent, method: str, *actions: Json, **on: object) -> Asked:
    played = agent(on={method: list(actions), **on})
    stage = Stage(start_screen(size=(120, 36), init=WATCH + BROWSER), PASSIVE)
    stage.setup(x=played)
    chat = stage.open(played)
    return Asked(chat, played)


HELLO = {"reply": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": [{"id": "a", "name": "A"}]}}


@pytest.mark.req("V1-197")
@pytest.mark.parametrize(
    ("method", "reply"), [("initialize", HELLO), ("session/new", {"reply": {"sessionId": "s1"}})]
)
def test_asked_before_there_is_a_session(
    start_screen: StartScreen, agent: MakeAgent, method: str, reply: Json
) -> None:
    made = starting(start_screen, agent, method, early("f1"), {"await": "f1"}, reply)
    made.chat.wait("? ask    Which account?  waiting for you")
    made.screen.wait("AcpPermit answers")
    made.chat.permit("1")
    eventually(made.focused)
    made.screen.keys("Ann<CR>")
    made.screen.wait("1 sends")
    made.rest()
    made.screen.keys("1")
    assert made.answer() == {**ACCEPT, "content": {"name": "Ann"}}
    made.chat.wait_state("idle")


@pytest.mark.req("V1-197", "V1-208")
def test_asked_while_logging_in_and_gone_with_it(start_screen: StartScreen, agent: MakeAgent) -> None:
    made = starting(
        start_screen,
        agent,
        "authenticate",
        early("f1"),
        {"sleep": 1200},
        {"reply": {}},
        initialize=[HELLO],
    )
    made.chat.wait_state("idle")
    made.screen.command("AcpLogin")
    made.chat.wait("? login  x  waiting for you")
    made.screen.command("AcpPermit 1")
    made.chat.wait("? ask    Which account?  waiting for you")
    assert made.answer() == CANCEL  # it has gone on without
    made.chat.wait("– ask    Which account?  withdrawn")
    assert made.chat.status()["pending"] == 0


@pytest.mark.req("V1-208")
def test_a_chat_that_is_closed_takes_what_it_was_asked_with_it(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    made = starting(start_screen, agent, "session/new", early("f1"), {"await": "f1"})
    made.chat.wait("waiting for you")
    made.screen.command(f"bwipeout! {made.chat.buf}")
    assert made.answer() == CANCEL


def test_a_page_of_a_tool_call_stands_in_its_row(start_screen: StartScreen, agent: MakeAgent) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Deploy", "kind": "other"}
    made = asked(
        start_screen,
        agent,
        {"update": {**call, "status": "in_progress"}},
        page(toolCallId="t1"),
        {"await": "u1"},
        {"sleep": 500},
        COMPLETE,
        {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed"}},
        ident="u1",
    )
    made.chat.wait("? tool   Deploy  waiting for you")
    made.screen.wait("AcpPermit answers")
    made.chat.permit("1")
    made.chat.wait("● tool   Deploy  waiting for example.com")
    made.chat.wait("✓ tool   Deploy")
    made.chat.wait_turn()
