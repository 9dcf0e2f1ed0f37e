"""An agent that wants a login: one message that names :AcpLogin, and the prompt is kept (C13)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.trouble import BACK, Chat, kill_agent, open_chat, ready_chat, starts
from tests.plugin import StartScreen, eventually

METHODS: list[Json] = [
    {"id": "oauth-1", "name": "Browser", "description": "opens a page"},
    {"id": "tty", "name": "Terminal", "type": "terminal"},
    {"id": "key", "name": "API key", "type": "agent"},
]
WANTED = {"error": {"code": -32000, "message": "Authentication required"}}
SESSION = {"reply": {"sessionId": "s1"}}

SELECT = """
_G.asked = {}
vim.ui.select = function(items, opts, done)
  local names = vim.tbl_map(opts.format_item, items)
  table.insert(_G.asked, { names, opts.prompt, opts.kind })
  _G.done = function(i) done(items[i]) end
end
"""
"""A picker of the user's that waits for the test."""


def hello(*methods: Json) -> Json:
    return {"reply": {"protocolVersion": 1, "authMethods": list(methods)}}


def locked(agent: MakeAgent, *methods: Json, **on: Any) -> ScriptedAgent:
    """An agent whose first session/new is refused; the second is not."""
    plays = {"initialize": [hello(*methods)], "session/new": [[WANTED], [SESSION]]}
    return agent({**plays, **on})


def wants_login(chat: Chat) -> None:
    """Assert that one message says so, and that the text is back."""
    chat.until("✗ not logged in\n", "  │ :AcpLogin lists the ways x offers")
    chat.until_prompt("hello")
    assert len(chat.troubles) == 1, chat.show()
    chat.sees("not logged in")
    chat.quiet()


def test_a_session_wants_a_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, *METHODS)
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    wants_login(chat)
    chat.until(BACK)
    chat.sees(" x  ✗ not logged in, :AcpLogin")
    chat.submit()
    chat.until(f"✗ not sent: x is not logged in. {BACK}\n  │ :AcpLogin")
    chat.until_prompt("hello")

    chat.screen.keys("<Esc>:AcpLogin<CR>")
    chat.sees("Log in to x", "1  Browser  (opens a page)", "2  API key")
    assert "Terminal" not in chat.screen.text()
    chat.screen.keys("q")
    chat.screen.wait(lambda text: "Log in to x" not in text)
    assert x.log("authenticate") == []
    assert chat.prompt == "hello"

    chat.screen.keys(":AcpLogin<CR>")
    chat.sees("2  API key")
    chat.screen.keys("2")
    chat.until("── logged in to x", "ACP v1 · ready in")
    assert [message["params"] for message in x.log("authenticate")] == [{"methodId": "key"}]
    chat.until_state("idle")
    assert "✗ not logged in" not in chat.text
    assert chat.prompt == "hello"
    chat.works()
    chat.until("❯ hello")
    assert len(starts(x)) == 1


def test_a_prompt_wants_a_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    plays = [[WANTED], [{"reply": {"stopReason": "end_turn"}}]]
    x = agent({"initialize": [hello(*METHODS)], "session/prompt": plays})
    chat = ready_chat(start_screen, x)
    chat.submit("hello")
    wants_login(chat)
    assert chat.status["state"] == "idle"
    chat.screen.keys("<Esc>:AcpLogin<CR>")
    chat.sees("1  Browser")
    chat.screen.keys("1")
    chat.until("── logged in to x")
    chat.works()
    assert chat.text.count("❯ hello") == 2
    assert [message["params"] for message in x.log("authenticate")] == [{"methodId": "oauth-1"}]
    assert len(x.log("session/new")) == 1


def test_prompts_that_were_queued_come_back_too(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [hello(*METHODS)], "session/prompt": [{"sleep": 200}, WANTED]})
    chat = ready_chat(start_screen, x)
    chat.submit("first")
    chat.submit("second")
    chat.type("third")
    chat.until("✗ not logged in")
    chat.until_prompt("first\nsecond\nthird")
    assert chat.status["queued"] == 0


def test_a_picker_of_the_users(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, *METHODS)
    chat = open_chat(start_screen, x, init=SELECT)
    chat.until("✗ not logged in")
    for answer in ("nil", "1"):
        chat.screen.lua("_G.asked = {}")
        chat.screen.command("AcpLogin x")
        eventually(lambda: chat.screen.lua("return #_G.asked == 1"))
        asked = [["Browser  (opens a page)", "API key"], "Log in to x", "acp_login"]
        assert chat.screen.lua("return _G.asked[1]") == asked
        chat.screen.lua(f"_G.done({answer})")
    chat.until("── logged in to x")
    chat.works()


def test_a_refusal_is_shown_with_its_detail(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"code": -32603, "message": "Internal error", "data": {"details": "the key has expired"}}
    x = locked(agent, METHODS[0], authenticate=[[{"error": error}], [{"reply": {}}]])
    chat = open_chat(start_screen, x, init=SELECT)
    chat.submit("hello")
    wants_login(chat)
    chat.screen.command("AcpLogin")
    eventually(lambda: chat.screen.lua("return #_G.asked == 1"))
    chat.screen.lua("_G.done(1)")
    chat.until("✗ not logged in: Internal error: the key has expired\n  │ :AcpLogin tries again")
    assert chat.status["state"] == "failed"
    assert chat.prompt == "hello"
    chat.screen.command("AcpLogin")
    eventually(lambda: chat.screen.lua("return #_G.asked == 2"))
    chat.screen.lua("_G.done(1)")
    chat.until("── logged in to x")
    chat.works()


@pytest.mark.parametrize("methods", [[], [METHODS[1]]])
def test_no_login_that_the_editor_can_do(
    start_screen: StartScreen, agent: MakeAgent, methods: list[Json]
) -> None:
    chat = open_chat(start_screen, locked(agent, *methods))
    chat.submit("hello")
    chat.until("✗ not logged in\n", "  │ log in with the agent's own program, then :AcpRestart")
    chat.until_prompt("hello")
    chat.screen.command("AcpLogin")
    chat.until("── x offers no login the editor can do.")
    assert len(chat.troubles) == 1
    chat.quiet()


def test_the_login_of_an_agent_of_the_catalog_is_named(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    command = locked(agent).command
    program = tmp_path / "qwen"
    program.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command) + "\n")
    program.chmod(0o755)
    screen = start_screen(size=(100, 30), init=f"vim.env.PATH = '{tmp_path}:/usr/bin:/bin'")
    screen.command("AcpChat qwen")
    chat = Chat(screen, "acp://qwen/1")
    chat.until("✗ not logged in\n", "  │ qwen auth\n  │ logs in, in a terminal; then :AcpRestart")
    screen.command("AcpLogin")
    chat.until("── qwen offers no login the editor can do.\n  │ qwen auth\n")


def test_more_than_that_a_login_is_needed_is_shown(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"code": -32000, "message": "Your plan has ended", "data": "see https://example.org/plans"}
    chat = open_chat(
        start_screen, agent({"initialize": [hello(METHODS[0])], "session/new": [{"error": error}]})
    )
    chat.until(
        "✗ not logged in\n", "  │ Your plan has ended: see https://example.org/plans\n", ":AcpLogin lists"
    )


def test_it_ends_during_the_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, METHODS[0], authenticate=[])
    chat = open_chat(start_screen, x, init=SELECT)
    chat.submit("hello")
    wants_login(chat)
    chat.screen.command("AcpLogin")
    eventually(lambda: chat.screen.lua("return #_G.asked == 1"))
    chat.screen.lua("_G.done(1)")
    x.wait("authenticate")
    kill_agent(x)
    chat.until("✗ x was ended by SIGKILL\n", ":AcpRestart")
    assert len(chat.troubles) == 1, chat.show()
    assert chat.prompt == "hello"
    chat.quiet()


def test_login_without_a_chat_opens_one(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, *METHODS)
    screen = start_screen(size=(100, 30), init=SELECT)
    screen.setup({"agents": {"x": x.settings}})
    screen.command("AcpLogin x")
    eventually(lambda: screen.lua("return #_G.asked == 1"))
    screen.lua("_G.done(2)")
    chat = Chat(screen)
    chat.until("── logged in to x")
    chat.works()
