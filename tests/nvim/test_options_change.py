"""A changed option: by the user or the agent, when it counts, and what goes wrong."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, WATCH, update
from tests.nvim.options_kit import ALL, MODES, having, run, with_options, words
from tests.nvim.trouble import kill_host, ready_chat
from tests.plugin import StartScreen, eventually


def test_nothing_is_claimed_before_the_agent_agrees(start_screen: StartScreen, agent: MakeAgent) -> None:
    changed = {"reply": having(ALL, m="code")}
    x = with_options(agent, *ALL, on={"session/set_config_option": [{"wait": "_go"}, changed]})
    chat = ready_chat(start_screen, x)
    run(chat, "AcpOptions mode code")
    x.wait("session/set_config_option")
    assert chat.status["mode"] == "Ask"
    run(chat, "AcpOptions")
    chat.sees("1  Mode        Ask (asked for: Code)")
    chat.screen.keys("q")
    assert chat.status["mode"] == "Ask"


def test_a_failed_change_is_said_once_with_the_agents_words(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    error = {"code": -32602, "message": "Invalid params", "data": {"details": "not on your plan\x1b[2J"}}
    x = with_options(agent, *ALL, on={"session/set_config_option": [{"error": error}]})
    chat = ready_chat(start_screen, x, size=(140, 40))
    run(chat, "AcpOptions mode code")
    said = "acp: x did not set Mode to Code: Invalid params: not on your plan^[[2J"
    chat.sees(said)
    assert chat.screen.messages().strip() == said
    assert chat.status["mode"] == "Ask"
    assert chat.troubles == []
    chat.screen.clear_messages()
    chat.works("hello")


def test_an_agent_that_agrees_and_changes_nothing(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = with_options(agent, *ALL, on={"session/set_config_option": [{"reply": having(ALL)}]})
    chat = ready_chat(start_screen, x)
    run(chat, "AcpOptions mode code")
    chat.sees("acp: x did not set Mode to Code: x left it at Ask")
    assert chat.status["mode"] == "Ask"
    chat.screen.clear_messages()


@pytest.mark.req("V1-143")
def test_a_change_during_a_turn(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = with_options(
        agent,
        on={
            "session/prompt": [{"say": "working"}, {"wait": "session/set_mode"}, {"say": " on"}, END],
            "session/set_mode": [{"reply": None}],
        },
        modes=MODES,
    )
    chat = ready_chat(start_screen, x)
    chat.submit("go")
    chat.until("working")
    run(chat, "AcpOptions mode code")
    chat.until("working on", "── done")
    assert chat.status["mode"] == "Code"
    assert "changed the mode" not in chat.text
    chat.quiet()


@pytest.mark.req("V1-144", "V1-149", "V1-153")
@pytest.mark.parametrize(
    ("setup", "said"),
    [
        ({"modes": MODES}, update("current_mode_update", currentModeId="code")),
        ({"modes": MODES}, update("current_mode_update", modeId="code")),
        ({"configOptions": ALL}, update("config_option_update", **having(ALL, m="code"))),
        ({"configOptions": ALL, "modes": MODES}, update("current_mode_update", currentModeId="code")),
    ],
)
def test_a_change_by_the_agent(start_screen: StartScreen, agent: MakeAgent, setup: Json, said: Json) -> None:
    x = with_options(agent, on={"session/prompt": [{"say": "one"}, said, {"say": " two"}, END]}, **setup)
    chat = ready_chat(start_screen, x, init=WATCH)
    chat.submit("go")
    chat.until("── x changed the mode: Ask to Code", "── done")
    chat.sees("Code mode")
    assert chat.status["mode"] == "Code"
    assert "one two" in chat.text
    chat.quiet()


def test_lua_and_the_event(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = with_options(agent, *ALL, on={"session/set_config_option": [{"reply": having(ALL, web=True)}]})
    chat = ready_chat(start_screen, x, init=WATCH)
    listed = chat.screen.lua("return require('acp').options()")
    assert [(o["id"], o["type"], o["value"], o["label"]) for o in listed] == [
        ("m", "select", "ask", "Ask"),
        ("model", "select", "big one", "Big"),
        ("web", "boolean", False, "off"),
    ]
    assert listed[1]["choices"][2] == {"value": "small", "name": "Small", "group": "Other"}
    chat.screen.lua("_G.seen = {} require('acp').options()[1].value = 'mine'")
    assert chat.screen.lua("return require('acp').set_option('web', true)") is True
    eventually(lambda: chat.screen.lua("return require('acp').options()[3].value"))
    assert chat.screen.lua("return require('acp').options()[1].value") == "ask"
    eventually(lambda: "AcpStatus" in [event for event, _ in chat.screen.lua("return _G.seen")])
    assert chat.screen.lua("return { require('acp').set_option('web', 'x') }")[1] == (
        "web is true or false, not 'x'"
    )


def test_the_host_is_lost(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = ready_chat(start_screen, with_options(agent, *ALL))
    kill_host(chat.screen)
    chat.until_state("failed")
    chat.screen.clear_messages()
    run(chat, "AcpOptions")
    chat.sees("acp: x is not running; :AcpRestart")
    assert words(chat, "AcpOptions ") == []
    run(chat, "AcpRestart")
    chat.until_state("idle")
    eventually(lambda: words(chat, "AcpOptions ") == ["m", "model", "web"])
    chat.screen.clear_messages()


def test_the_agent_ends_during_a_change(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = with_options(agent, *ALL, on={"session/set_config_option": [{"exit": 3}]})
    chat = ready_chat(start_screen, x)
    run(chat, "AcpOptions mode code")
    chat.until("✗ x ended with exit code 3")
    assert len(chat.troubles) == 1
    chat.quiet()  # the chat says it
    assert not chat.screen.lua("return require('acp.options').pending(1)")
