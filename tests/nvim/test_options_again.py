"""Options that the user chose in a chat, after the agent, or the host, was started again."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, update
from tests.nvim.options_kit import MODE, MODEL, WEB, having, set_requests
from tests.nvim.sessions_kit import able
from tests.nvim.trouble import Chat, kill_host, ready_chat
from tests.plugin import StartScreen, eventually

FULL = [MODE, MODEL, WEB]


def has(chat: Chat, ident: str, value: str) -> bool:
    """Whether an option has a value, as Lua tells."""
    options = chat.screen.lua("return require('acp').options()")
    return any(ident in (o["id"], o.get("category")) and str(o["value"]).lower() == value for o in options)


@pytest.mark.parametrize("resumes", [True, False], ids=["resumed", "new"])
def test_they_are_set_again(start_screen: StartScreen, agent: MakeAgent, resumes: bool) -> None:
    plays: Any = [
        [{"reply": having(FULL, model="small")}],
        [{"reply": having(FULL, model="small", m="code")}],
        [{"reply": having(FULL, model="small", m="code", web=True)}],
    ]
    opened: Json = {"sessionId": "s1", "configOptions": FULL}
    x = agent(
        {
            "initialize": able("resume") if resumes else able(),
            "session/new": [{"reply": opened}],
            "session/resume": [{"reply": {"configOptions": FULL}}],
            "session/set_config_option": plays,
            "session/prompt": [update("config_option_update", **having(FULL, model="small", web=True)), END],
        }
    )
    missing = [{"name": "gone", "command": "no-such-server"}]
    chat = ready_chat(start_screen, {**x.settings, "mcp_servers": missing})
    for words in ("model small", "mode code", "web true"):
        chat.screen.command(f"AcpOptions {words}")
        eventually(partial(has, chat, *words.split()), message=chat.show)
    chat.works("hello")  # the agent goes back to its mode by itself: that stays
    assert chat.text.count("MCP server gone") == 1
    script = json.loads(x.script.read_text())
    small, refused = {"reply": having(FULL, model="small")}, {"error": {"code": 1, "message": "no web today"}}
    script["on"].update({"session/set_config_option": [[small], [refused]], "session/prompt": [[END]]})
    x.script.write_text(json.dumps(script))
    for again in (1, 2):
        before = len(set_requests(x))
        if again == 1:
            chat.screen.command("AcpRestart")
        else:
            kill_host(chat.screen)
            chat.until_state("failed")
            chat.screen.command("messages clear")
            chat.screen.command("AcpRestart")
        x.wait("session/set_config_option", before + 2)
        assert [(p["configId"], p["value"]) for p in set_requests(x)[before:]] == [
            ("model", "small"),
            ("web", True),
        ]
        chat.until_state("idle")
    chat.until("── x did not take again what you had chosen:\n  │ web: no web today")
    chat.works("again")
    what = "remembers this chat" if resumes else "cannot resume: it does not remember this chat"
    assert what in chat.text
    # What it does not get is said once, and again by a new host, which knows nothing of the old one's notes.
    assert chat.text.count("MCP server gone") == 2
