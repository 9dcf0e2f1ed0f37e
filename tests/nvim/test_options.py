"""Mode, model and the other options of an agent: pickers, `:AcpOptions`, and what the agent makes of it."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.options_kit import (
    ALL,
    CONFIG,
    MODE,
    MODEL,
    MODELS,
    MODES,
    STRANGE,
    WEB,
    having,
    run,
    set_requests,
    with_options,
    words,
)
from tests.nvim.trouble import Chat, ready_chat
from tests.plugin import StartScreen, eventually


@pytest.mark.req("V1-145", "V1-146", "V1-152", "V1-153")
def test_all_options_then_the_values_of_one(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = with_options(
        agent, *ALL, on={"session/set_config_option": [{"reply": having(ALL, model="small", m="code")}]}
    )
    chat = ready_chat(start_screen, x)
    chat.sees("Ask mode · Big")
    run(chat, "AcpOptions")
    chat.sees("x: options", "1  Mode        Ask", "2  Model       Big", "3  Web search  off")
    chat.screen.keys("2")
    chat.sees(" Acme ", "1  ● Big", "2  ○ Bigger", " Other ", "3  ○ Small")
    assert "x: options" not in chat.screen.text()
    chat.screen.keys("3")
    assert x.wait("session/set_config_option")["params"] == {
        "sessionId": "s1", "configId": "model", "value": "small",
    }  # fmt: skip
    chat.sees("Code mode · Small")  # the whole list counts, also what else it changes
    chat.quiet()


@pytest.mark.req("V1-147", "V1-152")
def test_a_boolean_is_switched(start_screen: StartScreen, agent: MakeAgent) -> None:
    plays = [[{"reply": having(ALL, web=True)}], [{"reply": having(ALL, web=False)}]]
    x = with_options(agent, *ALL, on={"session/set_config_option": plays})
    chat = ready_chat(start_screen, x)
    offered = x.log("initialize")[0]["params"]["clientCapabilities"]
    assert offered["session"]["configOptions"] == {"boolean": {}}
    run(chat, "AcpOptions")
    chat.sees("3  Web search  off")
    chat.screen.keys("3")
    chat.sees("acp: Web search: on")
    run(chat, "AcpOptions web")
    chat.sees("1  ● on", "2  ○ off")
    chat.screen.keys("2")
    chat.sees("acp: Web search: off")
    sent = {"sessionId": "s1", "configId": "web", "type": "boolean"}
    assert set_requests(x) == [{**sent, "value": True}, {**sent, "value": False}]
    chat.quiet()


@pytest.mark.parametrize(
    ("words_", "method", "params"),
    [
        ("mode code", "session/set_mode", {"sessionId": "s1", "modeId": "code"}),
        ("mode CODE", "session/set_mode", {"sessionId": "s1", "modeId": "code"}),
        ("model small", "session/set_model", {"sessionId": "s1", "modelId": "small"}),
    ],
)
@pytest.mark.req("V1-142", "V1-143")
def test_modes_and_models_of_old_agents(
    start_screen: StartScreen, agent: MakeAgent, words_: str, method: str, params: Json
) -> None:
    x = with_options(agent, on={method: [{"reply": {}}]}, modes=MODES, models=MODELS)
    chat = ready_chat(start_screen, x)
    chat.sees("Ask mode · Big")
    run(chat, f"AcpOptions {words_}")
    assert x.wait(method)["params"] == params
    chat.sees("Code mode · Big" if method.endswith("mode") else "Ask mode · Small")
    chat.quiet()


@pytest.mark.parametrize(
    ("modes", "models", "left"), [(MODES, None, "Ask mode"), (None, MODELS, "Big"), (None, None, "")]
)
def test_only_one_of_them_or_none(
    start_screen: StartScreen, agent: MakeAgent, modes: Json | None, models: Json | None, left: str
) -> None:
    setup = {key: value for key, value in (("modes", modes), ("models", models)) if value}
    chat = ready_chat(start_screen, with_options(agent, **setup))
    if left:
        chat.sees(left)
        assert words(chat, "AcpOptions ") == (["mode"] if modes else ["model"])
    run(chat, "AcpOptions model" if modes else "AcpOptions mode")
    chat.sees(
        f"acp: x has no option '{'model' if modes else 'mode'}'" if left else "acp: x offers no options"
    )
    chat.screen.clear_messages()


def test_completion(start_screen: StartScreen, agent: MakeAgent) -> None:
    blank = {**MODE, "id": "how far", "name": "How far", "category": "_reach"}
    chat = ready_chat(start_screen, with_options(agent, blank, *ALL))
    assert words(chat, "AcpOptions ") == ["how far", "m", "model", "web"]
    assert words(chat, "AcpOptions mo") == ["model"]
    assert words(chat, "AcpOptions model ") == ["big one", "big two", "small"]
    assert words(chat, "AcpOptions model BIG") == ["big one", "big two"]
    assert words(chat, "AcpOptions model big t") == ["two"]  # Vim replaces the last piece only
    assert words(chat, "silent AcpOptions model big ") == ["one", "two"]
    assert words(chat, "AcpOptions how f") == ["far"]
    assert words(chat, "AcpOptions how far c") == ["code"]
    assert words(chat, "AcpOptions mode ") == ["ask", "code"]  # a category
    assert words(chat, "AcpOptions web ") == ["true", "false"]
    assert words(chat, "AcpOptions nothing ") == []


@pytest.mark.parametrize(
    ("command", "value"),
    [
        ("model big two", "big two"),
        ("model Bigger", "big two"),
        ("  model   big two  ", "big two"),
        ("mode code", "code"),
        ("MODE CODE", "code"),
        ("web on", True),
        ("web true", True),
        ("web False", False),
    ],
)
def test_values_by_command(
    start_screen: StartScreen, agent: MakeAgent, command: str, value: str | bool
) -> None:
    x = with_options(agent, *ALL, on={"session/set_config_option": [{"reply": having(ALL)}]})
    chat = ready_chat(start_screen, x)
    run(chat, f"AcpOptions {command}")
    assert x.wait("session/set_config_option")["params"]["value"] == value


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("colour", "acp: x has no option 'colour'; there are: m, model, web"),
        ("colour blue", "acp: x has no option 'colour'; there are: m, model, web"),
        ("mode fly", "acp: m has no value 'fly'; there are: ask, code"),
        ("web maybe", "acp: web is true or false, not 'maybe'"),
    ],
)
def test_what_is_wrong_lists_what_there_is(
    start_screen: StartScreen, agent: MakeAgent, command: str, said: str
) -> None:
    x = with_options(agent, *ALL)
    chat = ready_chat(start_screen, x)
    run(chat, f"AcpOptions {command}")
    chat.sees(said)
    assert chat.screen.messages().strip() == said
    chat.screen.clear_messages()
    assert set_requests(x) == []


def test_without_an_agent(start_screen: StartScreen, agent: MakeAgent) -> None:
    screen = start_screen(size=(100, 30))
    screen.keys(":AcpOptions<CR>")
    screen.wait("acp: there is no chat; :AcpChat opens one")
    screen.clear_messages()
    assert screen.lua("return { require('acp').options() }") == [None, "there is no chat; :AcpChat opens one"]
    x = agent({"session/new": [{"sleep": 60_000}]})
    screen.setup({"agents": {"x": x.settings}, "default_agent": "x"})
    screen.command("AcpChat")
    screen.keys("<Esc>:AcpOptions mode code<CR>")
    screen.wait("acp: x is still starting; its options come with the session")
    screen.clear_messages()


@pytest.mark.req("V1-148", "V1-149", "V1-150", "V1-151")
def test_order_unknown_types_and_modes_beside_options(start_screen: StartScreen, agent: MakeAgent) -> None:
    other = {**WEB, "id": "o", "name": "Other", "category": "_mine"}
    modes = {"currentModeId": "zen", "availableModes": [{"id": "zen", "name": "Zen"}]}
    chat = ready_chat(start_screen, with_options(agent, STRANGE, other, CONFIG, MODEL, WEB, modes=modes))
    assert words(chat, "AcpOptions ") == ["o", "model", "tier", "web"]
    assert chat.status.get("mode") is None
    chat.sees("Big")


def test_two_hundred_values(start_screen: StartScreen, agent: MakeAgent) -> None:
    values = [{"value": f"v{i}", "name": f"Model {i:03}", "description": "d" * 200} for i in range(200)]
    many = {**MODEL, "currentValue": "v150", "options": values}
    reply = {"reply": {"configOptions": [{**many, "currentValue": "v7"}]}}
    x = with_options(agent, many, on={"session/set_config_option": [reply]})
    chat = ready_chat(start_screen, x)
    run(chat, "AcpOptions model")
    chat.sees("151  ● Model 150", "1-9 or <CR> picks · / searches · q leaves")
    chat.screen.keys("/Model 007<CR>")
    chat.sees("  8  ○ Model 007")
    chat.screen.keys("<CR>")
    assert x.wait("session/set_config_option")["params"]["value"] == "v7"
    chat.sees("Model 007")
    chat.quiet()


def test_a_long_description_hangs_under_its_beginning(start_screen: StartScreen, agent: MakeAgent) -> None:
    said = "asks before each change of a file and before each command, whatever the settings say of it"
    long = {**MODE, "options": [{"value": "ask", "name": "Ask", "description": said}]}
    chat = ready_chat(start_screen, with_options(agent, long), size=(70, 30))
    run(chat, "AcpOptions mode")
    chat.sees("│ 1  ● Ask  asks before each change of a file and before each")
    chat.sees("│           command, whatever the settings say of it")


def test_control_characters_in_all_the_agent_says(start_screen: StartScreen, agent: MakeAgent) -> None:
    bad = "a\x1b[31mb\nc\u202ed\0"
    value = {"value": bad, "name": bad, "description": bad}
    option = {**MODE, "id": bad, "name": bad, "description": bad, "currentValue": "ask"}
    option["options"] = [{"group": "g", "name": bad, "options": [value, *MODE["options"]]}]
    changed = {"reply": {"configOptions": [{**option, "currentValue": bad}]}}
    x = with_options(agent, option, on={"session/set_config_option": [changed]})
    chat = ready_chat(start_screen, x)
    shown = "a^[[31mb c<U+202E>d^@"
    assert words(chat, "AcpOptions ") == [shown]
    run(chat, "AcpOptions mode")
    chat.sees(f"x: {shown}", f" {shown} ", f"1  ○ {shown}", "2  ● Ask")
    chat.screen.keys("1")
    params = x.wait("session/set_config_option")["params"]
    assert (params["configId"], params["value"]) == (bad, bad)  # as the agent has sent them
    chat.sees(f"{shown} mode")
    chat.quiet()


def test_the_users_own_picker(start_screen: StartScreen, agent: MakeAgent) -> None:
    select = """
_G.asked = {}
vim.ui.select = function(items, opts, done)
  table.insert(_G.asked, { opts.prompt, opts.kind, vim.tbl_map(opts.format_item, items) })
  _G.done = function(i) done(items[i]) end
end
"""
    x = with_options(agent, *ALL, on={"session/set_config_option": [{"reply": having(ALL, model="small")}]})
    chat = ready_chat(start_screen, x, init=select)
    run(chat, "AcpOptions")
    chat.screen.lua("_G.done(2)")
    asked = chat.screen.lua("return _G.asked")
    assert asked[0][:2] == ["x: options", "acp_option"]
    assert asked[1] == [
        "x: Model",
        "acp_option_value",
        ["Acme: ● Big", "Acme: ○ Bigger", "Other: ○ Small"],
    ]
    chat.screen.lua("_G.done(nil)")
    chat.screen.lua("_G.done(3)")
    assert x.wait("session/set_config_option")["params"]["value"] == "small"


def test_keys(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = with_options(agent, *ALL, on={"session/set_config_option": [{"reply": having(ALL, m="code")}]})
    chat = ready_chat(start_screen, x)

    def gone(title: str) -> None:
        eventually(lambda: f" {title} " not in chat.screen.text())

    for key, title in (("m", "x: Mode"), ("M", "x: Model"), ("o", "x: options")):
        chat.screen.keys(f"\\{key}")
        chat.sees(f" {title} ")
        chat.screen.keys("q")
        gone(title)
    chat.screen.keys("\\m2")
    chat.sees("Code mode")
    chat.screen.keys("g?")
    chat.sees("\\m", "choose the mode", "\\M", "choose the model", "\\o", "choose an option")
    assert "the next mode" not in chat.screen.text()
    assert set_requests(x) == [{"sessionId": "s1", "configId": "m", "value": "code"}]


def test_a_key_for_the_next_mode(start_screen: StartScreen, agent: MakeAgent) -> None:
    three = {"currentModeId": "a", "availableModes": [{"id": i, "name": i.upper()} for i in "abc"]}
    x = with_options(
        agent, on={"session/set_mode": [[{"sleep": 300}, {"reply": {}}], [{"reply": {}}]]}, modes=three
    )
    screen = start_screen(size=(100, 40))
    keymaps = {"both": {"next_mode": "<S-Tab>"}}
    screen.setup({"agents": {"x": x.settings}, "default_agent": "x", "keymaps": keymaps})
    screen.command("AcpChat")
    chat = Chat(screen)
    chat.until("ready in")
    screen.keys("<S-Tab>")  # in Insert mode, too
    x.wait("session/set_mode")
    screen.keys("<S-Tab><S-Tab>")  # b is under way: then c, a; only the last one is sent
    eventually(lambda: chat.status["mode"] == "A" and len(x.log("session/set_mode")) == 2)
    assert [message["params"]["modeId"] for message in x.log("session/set_mode")] == ["b", "a"]
    assert chat.prompt == ""
    chat.quiet()
