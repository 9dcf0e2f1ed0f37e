"""Settings: defaults, what is wrong in them is named, the rest is used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.nvim.stub import INIT, events
from tests.plugin import ROOT, StartNvim

CATALOG = ROOT / "lua/acp/catalog"
GET = "return vim.tbl_get(require('acp.config').get(), ...)"


def test_works_without_setup(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT)
    assert nvim.lua(GET, "permission", "dismiss") == "keep"
    assert nvim.lua(GET, "chat") == {"position": "auto", "width": 0.4, "complete": "auto"}
    assert ".git/**" in nvim.lua(GET, "files", "protected")
    names = {path.stem for path in CATALOG.glob("*.json")}
    assert nvim.lua("return require('acp.config').agents()") == sorted({*names, "demo"})


@pytest.mark.parametrize(
    ("own", "env", "expected"),
    [
        ({}, {}, {"env": {"OPENCODE_DISABLE_AUTOUPDATE": "1"}, "login": "opencode auth login"}),
        (
            {"env": {"A": "b"}},
            {},
            {"env": {"OPENCODE_DISABLE_AUTOUPDATE": "1", "A": "b"}, "command": ["opencode", "acp"]},
        ),
        ({"env": {"OPENCODE_DISABLE_AUTOUPDATE": ""}}, {}, {"env": {"OPENCODE_DISABLE_AUTOUPDATE": ""}}),
        ({"command": ["opencode", "acp", "-v"]}, {}, {"install": "npm install -g opencode-ai"}),
        ({"command": ["mine"]}, {}, {"install": None, "login": None, "command": ["mine"]}),
        ({"env": {"OPENCODE_PERMISSION": "{}"}}, {}, {"note": None}),
        ({}, {"OPENCODE_PERMISSION": "{}"}, {"note": None}),
    ],
)
def test_the_users_settings_come_over_the_catalog(
    start_nvim: StartNvim, own: dict[str, Any], env: dict[str, str], expected: dict[str, Any]
) -> None:
    nvim = start_nvim(init=INIT, env=env)
    nvim.setup({"agents": {"opencode": own}})
    agent = nvim.lua("return require('acp.config').agent('opencode')")
    assert {key: agent.get(key) for key in expected} == expected
    if expected.get("note", "") is not None:
        assert "without asking" in agent["note"]
    catalog = json.loads((CATALOG / "opencode.json").read_text())
    assert nvim.lua("return require('acp.catalog').all().opencode") == catalog, "not changed by it"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"permision": {}}, "permision is no setting (did you mean permission?)"),
        ({"zzz": 1}, "zzz is no setting: known are agents,"),
        ({"chat": {"width": "wide"}}, "chat.width must be a number between 0 and 1, not 'wide'"),
        ({"chat": {"width": 60}}, "chat.width must be a number between 0 and 1, not 60"),
        ({"chat": 3}, "chat must be a table, not 3"),
        ({"chat": {"complete": True}}, "chat.complete must be 'auto', 'always', 'never', not true"),
        ({"permission": {"open": True}}, "permission.open must be 'chat', 'always', 'never', not true"),
        ({"agents": {"a b": {"command": ["x"]}}}, "agents.a b: names of agents are made of letters"),
        ({"agents": {"a": {"command": "x"}}}, "agents.a.command must be a list of strings"),
        ({"agents": {"a": {"command": ["x"], "comand": 1}}}, "agents.a.comand is no setting (did you mean"),
        (
            {"agents": {"a": {"command": ["x"], "env": {"K": 3}}}},
            "agents.a.env.K must be a string or { cmd =",
        ),
        (
            {"agents": {"a": {"protocol": "acp"}}},
            "agents.a.protocol must be 'acp-v1', 'acp-v2', 'auto', 'aap'",
        ),
        (
            {"agents": {"a": {"protocol": "aap", "url": "host:80"}}},
            "agents.a.url must be an address, as 'https:",
        ),
        (
            {"agents": {"a": {"protocol": "aap", "api_key_env": "sk-1234"}}},
            "agents.a.api_key_env must be the name of a variable of the environment",
        ),
        (
            {"agents": {"a": {"protocol": "aap", "command": ["x"]}}},
            "agents.a.command is nothing for an agent over HTTP",
        ),
        (
            {"agents": {"a": {"command": ["x"], "url": "http://localhost"}}},
            "agents.a.url is for agents with protocol = 'aap' alone",
        ),
        (
            {"agents": {"a": {"protocol": "aap", "client_tools": ["read_file", "read", "grep"]}}},
            "agents.a.client_tools: 'read', 'grep' are no tools; there are read_file, write_file, edit_file,",
        ),
        (
            {"agents": {"a": {"protocol": "aap", "client_tools": "read_file"}}},
            "agents.a.client_tools must be a list of names of tools",
        ),
        (
            {"agents": {"a": {"client_tools": ["read_file"]}}},
            "agents.a.client_tools is for agents with protocol = 'aap' alone",
        ),
        ({"icons": {"done": "OK"}}, "icons.done must be one cell wide"),
        ({"icons": {"tick": "x"}}, "icons.tick is no icon; there are"),
        ({"icons": "nerd"}, "icons must be 'auto', 'unicode', 'ascii', not 'nerd'"),
        ({"keymaps": {"prompt": {"send": 3}}}, "keymaps.prompt.send must be a key, a list of keys, or false"),
        ({"keymaps": {"prompt": {"sent": "x"}}}, "keymaps.prompt.sent is no setting (did you mean send?)"),
        ({"files": {"protected": "x"}}, "files.protected must be a list of strings"),
        ({"files": {"write_autocmds": 1}}, "files.write_autocmds must be true or false"),
        ({"notify": {"question": "popup"}}, "notify.question must be 'float', 'notify', 'bell', false"),
        ({"default_agent": 1}, "default_agent must be a string, not 1"),
    ],
)
def test_a_wrong_setting_is_named_and_the_rest_used(
    start_nvim: StartNvim, settings: dict[str, Any], said: str
) -> None:
    nvim = start_nvim(init=INIT + "vim.o.columns = 200")
    nvim.setup({**settings, "python": "/x/python"})
    assert nvim.lua("return require('acp.config').problems")[0].startswith(said)
    messages = nvim.messages()
    assert f"acp: setup(): {said[:60]}" in messages
    assert messages.count("acp: ") == 1
    assert nvim.lua(GET, "python") == "/x/python"
    assert nvim.lua(GET, "permission", "ui") == "auto"


def test_several_problems_are_one_message(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + "vim.o.columns = 200")
    nvim.setup({"x": 1, "y": 2, "chat": {"width": 0.5, "place": 1}})
    assert len(nvim.messages().splitlines()) == 1
    assert "(and 2 more: :checkhealth acp)" in nvim.messages()
    assert nvim.lua(GET, "chat", "width") == 0.5


def test_settings_are_plain_for_the_host(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT)
    nvim.lua("""require('acp').setup({
      files = { protected = {} }, icons = { done = 'v' },
      agents = { mine = {
        command = { 'x' }, cwd = function() return '/' end, env = { A = { cmd = { 'y' } } },
      } },
    })""")
    (payload,) = events(nvim, "settings")
    settings = payload["settings"]
    assert settings["files"]["protected"] == []
    assert settings["agents"] == {"mine": {"command": ["x"], "env": {"A": {"cmd": ["y"]}}}}
    assert settings["icons"]["done"] == "v"
    assert settings["python"].endswith("python3") or settings["python"].endswith("python")


def test_setup_does_not_start_the_host(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + "_G.host_state = 'off'")
    nvim.setup({})
    assert events(nvim) == []
    assert nvim.lua("return require('acp.config').for_host().agents") == {}


def test_setup_again_begins_from_the_defaults(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT)
    nvim.setup({"chat": {"width": 0.5}, "keymaps": {"prompt": {"send": "<C-x>"}, "both": False}})
    assert nvim.lua(GET, "keymaps", "prompt", "send") == "<C-x>"
    assert nvim.lua(GET, "keymaps", "prompt", "help") == "g?"
    assert nvim.lua(GET, "keymaps", "both") is False
    nvim.setup({})
    assert nvim.lua(GET, "chat", "width") == 0.4
    assert nvim.lua(GET, "keymaps", "prompt", "send") == "<C-s>"


@pytest.mark.parametrize(
    ("init", "kind"),
    [("", "unicode"), ("vim.env.TERM = 'linux'", "ascii"), ("vim.o.ambiwidth = 'double'", "ascii")],
)
def test_icons_fit_the_terminal(start_nvim: StartNvim, init: str, kind: str) -> None:
    nvim = start_nvim(init=INIT + init)
    assert nvim.lua("return require('acp.icons').kind()") == kind
    icons = nvim.lua("return require('acp.icons').get()")
    two_or_three = {"rule", "cut", "incoming", "outgoing"}
    for name in icons.keys() - {"spinner"} - two_or_three:
        assert nvim.funcs.strdisplaywidth(icons[name]) == 1, name
