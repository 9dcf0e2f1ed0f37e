"""Every step that a missing login interrupts is done after it: load, resume, an option (V1-41)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.login_kit import METHODS, WANTED, hello, used
from tests.nvim.options_kit import MODE, having, set_requests
from tests.nvim.sessions_kit import ALL, HISTORY, Desk, entry, sessions
from tests.nvim.trouble import ready_chat
from tests.plugin import StartScreen


def able(*methods: Json) -> list[Json]:
    """An agent that knows sessions, and ways to log in."""
    return [{"reply": {**ALL[0]["reply"], "authMethods": list(methods)}}]


@pytest.mark.req("V1-41")
def test_a_session_is_loaded_after_the_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent(
        {
            "initialize": able(*METHODS),
            "session/list": sessions(entry("old", desk.cwd, "Red tests")),
            "session/load": [[WANTED], [*HISTORY, {"reply": {}}]],
        }
    )
    desk.setup({"x": x})
    desk.listed("Red tests")
    chat = desk.open("Red tests", x)
    chat.wait("? login  x  waiting for you")
    assert "why is it red?" not in chat.text()
    desk.screen.command("AcpPermit 1")
    text = chat.wait("── x has accepted the login")
    assert text.count("❯ why is it red?") == text.count("It is **not**.") == 1
    assert text.index("✓ login  Browser") < text.index("why is it red?") < text.index("── loaded 2 messages")
    assert (used(x), x.log("session/new"), len(x.log("session/load"))) == (["oauth-1"], [], 2)
    assert chat.status()["session"] == "old"
    assert "not logged in" not in text


@pytest.mark.req("V1-41")
def test_a_listing_names_the_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    listing = [[WANTED], sessions(entry("old", desk.cwd, "Red tests"))]
    x = agent({"initialize": able(*METHODS), "session/list": listing})
    desk.setup({"x": x})
    desk.chat(x)
    desk.listed("✗ x: not logged in", ":AcpLogin x")
    desk.screen.command("AcpLogin x")
    desk.screen.wait("? login  x  waiting for you")
    desk.screen.command("AcpPermit 1")
    desk.screen.wait("x has accepted the login")
    desk.listed("Red tests")


@pytest.mark.req("V1-41", "V1-152")
@pytest.mark.parametrize("login", [True, False])
def test_an_option_is_set_after_the_login(start_screen: StartScreen, agent: MakeAgent, login: bool) -> None:
    setup: dict[str, Any] = {"sessionId": "s1", **having([MODE])}
    x = agent(
        {
            "initialize": [hello(*METHODS)],
            "session/new": [{"reply": setup}],
            "session/set_config_option": [[WANTED], [{"reply": having([MODE], m="code")}]],
        }
    )
    chat = ready_chat(start_screen, x)
    chat.screen.keys("<Esc>:AcpOptions m code<CR>")
    chat.until("? login  x  waiting for you")
    assert chat.status["mode"] == "Ask"
    chat.screen.command(f"AcpPermit {1 if login else 3}")
    if login:
        chat.until("── x has accepted the login")
        chat.sees("Code mode")
        assert [each["value"] for each in set_requests(x)] == ["code", "code"]
    else:
        chat.sees("Authentication required; :AcpLogin")
        assert (chat.status["mode"], len(set_requests(x))) == ("Ask", 1)
    chat.screen.clear_messages()
    chat.works()
