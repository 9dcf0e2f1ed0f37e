"""``agents.<name>.options``: set when a session is new, before the first prompt goes out."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END
from tests.nvim.options_kit import ALL, MODE, MODEL, MODELS, MODES, having, set_requests, with_options
from tests.nvim.sessions_kit import ALL as LISTS
from tests.nvim.sessions_kit import HISTORY, Desk, entry, sessions
from tests.nvim.trouble import kill_agent, open_chat, ready_chat
from tests.plugin import StartScreen

DEEP: Json = {
    "type": "select",
    "id": "depth",
    "name": "Depth",
    "category": "thought_level",
    "currentValue": "low",
    "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
}


def wanting(settings: Json, **options: Any) -> Json:
    return {**settings, "options": options}


def test_they_are_set_before_the_first_prompt(start_screen: StartScreen, agent: MakeAgent) -> None:
    """The model first: what it offers decides about the others."""
    full = [DEEP, MODE, MODEL]
    plays = [
        [{"reply": having(full, model="small")}],
        [{"reply": having(full, model="small", depth="high")}],
        [{"sleep": 200}, {"reply": having(full, model="small", depth="high", m="code")}],
    ]
    x = with_options(agent, MODE, MODEL, on={"session/set_config_option": plays, "session/prompt": [END]})
    config = wanting(x.settings, thought_level="high", mode="code", model="SMALL")
    chat = open_chat(start_screen, config)
    chat.submit("hello")
    chat.until("── done")
    chat.sees("Code mode · Small")
    methods = [message["method"] for message in x.log() if "method" in message]
    assert methods == ["initialize", "session/new", *["session/set_config_option"] * 3, "session/prompt"]
    assert [(p["configId"], p["value"]) for p in set_requests(x)] == [
        ("model", "small"),
        ("depth", "high"),
        ("m", "code"),
    ]
    assert "did not take" not in chat.text
    assert "changed the" not in chat.text
    chat.quiet()


def test_modes_and_models_of_old_agents(start_screen: StartScreen, agent: MakeAgent) -> None:
    on: Json = {"session/set_mode": [{"reply": {}}], "session/set_model": [{"reply": {}}]}
    x = with_options(agent, on=on, modes=MODES, models=MODELS)
    chat = ready_chat(start_screen, wanting(x.settings, mode="code", model="big"))
    chat.sees("Code mode · Big")
    assert len(x.log("session/set_mode")) == 1
    assert x.log("session/set_model") == []  # it is that already


def test_what_is_not_taken_is_said_in_one_note(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"error": {"code": -32603, "message": "no quota\nfor \x1b[1mit"}}
    x = with_options(agent, *ALL, on={"session/set_config_option": [error], "session/prompt": [END]})
    config = wanting(x.settings, mode="fly", colour="red", web="yes", model="small")
    chat = ready_chat(start_screen, config)
    chat.until("── x did not take all of agents.x.options:")
    assert [line for line in chat.text.split("\n") if line.startswith("  │")] == [
        "  │ model: no quota for ^[[1mit",
        "  │ mode: fly is not offered; there are: ask, code",
        "  │ web: yes is not offered; there are: true, false",
        "  │ colour: it has no such option; there are: m, model, web",
    ]
    chat.works("hello")
    chat.screen.command("AcpRestart")
    chat.until_state("idle")
    chat.works("again")
    assert chat.text.count("did not take") == 1


def test_an_agent_without_options(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = ready_chat(start_screen, wanting(agent().settings, mode="code"))
    chat.until("  │ mode: it has no such option; it offers none")


@pytest.mark.parametrize("method", ["session/resume", "session/load"])
def test_what_was_set_is_set_again_when_the_agent_has_forgotten_it(
    start_screen: StartScreen, agent: MakeAgent, method: str
) -> None:
    can: Json = {"loadSession": True} if method.endswith("load") else {"sessionCapabilities": {"resume": {}}}
    on = {
        "initialize": [{"reply": {"protocolVersion": 1, "agentCapabilities": can}}],
        "session/set_config_option": [{"reply": having(ALL, m="code")}],
        "session/prompt": [END],
        method: [{"reply": having(ALL, m="ask")}],
    }
    x = with_options(agent, *ALL, on=on)
    chat = ready_chat(start_screen, wanting(x.settings, mode="code"))
    chat.sees("Code mode")
    chat.works("hello")
    kill_agent(x)
    chat.until_state("failed")
    chat.screen.command("AcpRestart")
    chat.until_state("idle")
    chat.sees("Code mode")
    assert len(set_requests(x)) == 2
    chat.works("and now?")


@pytest.mark.parametrize("mode", ["code", "ask"])
def test_a_loaded_session_in_another_mode_says_so(
    start_screen: StartScreen, agent: MakeAgent, mode: str
) -> None:
    """It keeps its own, which may be one that asks nothing."""
    desk = Desk(start_screen)
    x = agent(
        {
            "initialize": LISTS,
            "session/list": sessions(entry("old", desk.cwd, "Red tests")),
            "session/load": [*HISTORY, {"reply": having(ALL, m="code")}],
        }
    )
    desk.screen.setup({"default_agent": "x", "agents": {"x": wanting(x.settings, mode=mode)}})
    desk.listed("Red tests")
    chat = desk.open("Red tests", x)
    chat.wait("── loaded 2 messages")
    chat.wait_state("idle")
    told = "this session is in the mode Code, not in that of your settings"
    if mode == "ask":
        assert ":AcpOptions m ask sets it" in chat.wait(told)
    else:
        assert told not in chat.text()
    assert set_requests(x) == []


def test_the_agent_ends_while_they_are_set(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = with_options(agent, *ALL, on={"session/set_config_option": [{"exit": 3}]})
    chat = open_chat(start_screen, wanting(x.settings, mode="code"))
    chat.submit("hello")
    chat.until("✗ x ended with exit code 3")
    chat.until_prompt("hello")
    assert len(chat.troubles) == 1
    chat.quiet()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"model": 3}, "agents.x.options.model must be a string, true or false, not 3"),
        ("plan", "agents.x.options must be a table, not 'plan'"),
        (["plan"], "agents.x.options.1: options are named by their id or category, as model"),
    ],
)
def test_wrong_settings(start_screen: StartScreen, value: Any, said: str) -> None:
    screen = start_screen(size=(120, 20))
    screen.setup({"agents": {"x": {"command": ["x"], "options": value}}})
    assert said in screen.messages()
    screen.clear_messages()
