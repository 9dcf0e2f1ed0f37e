"""Logging out: asked first, where it is offered, and what comes after."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.login_kit import (
    END,
    METHODS,
    WANTED,
    hello,
    prompts,
)
from tests.nvim.trouble import ready_chat
from tests.plugin import StartScreen


@pytest.mark.req("V1-42", "V1-43")
def test_logout(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent(
        {
            "initialize": [hello(METHODS[0], auth={"logout": {}})],
            "session/prompt": [[WANTED], [END]],
            "logout": [{"reply": {}}],
        }
    )
    chat = ready_chat(start_screen, x)
    chat.screen.command("AcpLogout")
    chat.until("? logout x  waiting for you")
    chat.screen.command("AcpPermit reject_once")
    chat.until("⊘ logout x  not now")
    assert x.log("logout") == []
    chat.screen.command("AcpLogout")
    chat.until("? logout x  waiting for you")
    chat.screen.command("AcpPermit 1")
    chat.until("── logged out of x\n", ":AcpLogin logs in again")
    assert [message["params"] for message in x.log("logout")] == [{}]
    chat.screen.command("checkhealth acp")
    health = "\n".join(chat.screen.lines())
    assert "WARNING x: not logged in" in health
    assert ":AcpLogin x" in health
    chat.screen.command("bwipeout")
    chat.submit("hello")
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 1")
    chat.until("── x has accepted the login", "── done")
    assert prompts(x) == ["hello", "hello"]
    chat.screen.command("checkhealth acp")
    assert "not logged in" not in "\n".join(chat.screen.lines())


@pytest.mark.req("V1-42")
def test_no_logout_where_none_is_offered(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [hello(METHODS[0])]})
    chat = ready_chat(start_screen, x)
    chat.screen.command("AcpLogout")
    chat.until("── x offers no logout.")
    assert x.log("logout") == []


@pytest.mark.req("V1-43")
def test_an_agent_that_ends_with_the_logout(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent(
        {
            "initialize": [hello(METHODS[0], auth={"logout": {}})],
            "logout": [{"reply": {}}, {"sleep": 50}, {"exit": 0}],
        }
    )
    chat = ready_chat(start_screen, x)
    chat.screen.command("AcpLogout")
    chat.until("? logout x  waiting for you")
    chat.screen.command("AcpPermit 1")
    chat.until("── logged out of x", "✗ x ended with exit code 0", ":AcpRestart")
    chat.quiet()
