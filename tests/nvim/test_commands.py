"""The commands and maps of plugin/acp.lua."""

from __future__ import annotations

import pytest
from tests.nvim.stub import AGENT, INIT, buffer, events
from tests.plugin import StartNvim, StartScreen, eventually


def agents_on_path(*names: str) -> str:
    """Lua that puts programs of these names, and no other agent, on $PATH."""
    made = "".join(f"make('{name}') " for name in names)
    return f"""
local bin = vim.fn.tempname()
vim.fn.mkdir(bin, 'p')
local function make(name)
  vim.fn.writefile({{ '#!/bin/sh' }}, bin .. '/' .. name)
  vim.fn.setfperm(bin .. '/' .. name, 'rwxr-xr-x')
end
{made}
vim.env.PATH = bin
"""


def test_start_loads_nothing(start_nvim: StartNvim) -> None:
    nvim = start_nvim()
    loaded = nvim.lua(
        "return vim.tbl_filter(function(n) return n:match('^acp') end, vim.tbl_keys(package.loaded))"
    )
    assert loaded == []
    commands = nvim.api.get_commands({})
    for name in ("Chat", "Send", "Cancel", "Permit", "Login", "Logout", "Restart", "Trace", "Install"):
        assert f"Acp{name}" in commands
    for name in (
        "chat",
        "send",
        "cancel",
        "permit",
        "allow-once",
        "allow-always",
        "reject-once",
        "reject-always",
    ):
        assert nvim.funcs.maparg(f"<Plug>(acp-{name})", "n"), name
    assert nvim.messages() == ""


@pytest.mark.parametrize(
    ("group", "link"),
    [
        ("AcpUser", "Title"),
        ("AcpUserLine", "CursorLine"),
        ("AcpPath", "Directory"),
        ("AcpCommand", "String"),
        ("AcpHint", "Comment"),
        ("AcpQueued", "Comment"),
        ("AcpBar", "NonText"),
        ("AcpDone", "Added"),
        ("AcpDelete", "Removed"),
        ("AcpWaiting", "DiagnosticWarn"),
        ("AcpFailed", "DiagnosticError"),
        ("AcpFollowSign", "DiagnosticSignInfo"),
    ],
)
def test_groups_are_defaults_and_survive_a_colour_scheme(
    start_nvim: StartNvim, group: str, link: str
) -> None:
    nvim = start_nvim(init="vim.api.nvim_set_hl(0, 'AcpPlan', { link = 'Error' })")
    get = "return vim.api.nvim_get_hl(0, { name = ... }).link"
    assert nvim.lua(get, group) == link
    assert nvim.lua(get, "AcpPlan") == "Error"
    nvim.command("colorscheme habamax")
    assert nvim.lua(get, group) == link


def test_no_agent_gives_the_demo(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + agents_on_path())
    nvim.command("AcpChat")
    (opened,) = events(nvim, "open")
    assert (opened["agent"], opened["demo"]) == ("demo", True)
    assert "--state" in opened["config"]["command"]
    assert nvim.lines(buffer(nvim, "acp://demo/1"))[0].startswith("demo in ")


def test_one_agent_on_the_path_is_taken(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + agents_on_path("gemini"))
    nvim.command("AcpChat")
    (opened,) = events(nvim, "open")
    assert (opened["agent"], opened["demo"], opened["config"]) == (
        "gemini",
        False,
        {
            "protocol": "acp-v1",
            "command": ["gemini", "--acp"],
            "quirks": {"missing_file": "empty"},
            "install": "npm install -g @google/gemini-cli",
            "login": "gemini",
        },
    )


def test_several_agents_are_asked_for_once(start_nvim: StartNvim) -> None:
    select = """
_G.asked = {}
vim.ui.select = function(items, opts, done) table.insert(_G.asked, items) _G.done = done end
"""
    nvim = start_nvim(init=INIT + agents_on_path("gemini", "codex-acp") + select)
    nvim.command("AcpChat")
    nvim.command("AcpChat")
    assert nvim.lua("return _G.asked") == [["codex", "gemini"]]
    nvim.lua("_G.done('codex')")
    nvim.command("AcpChat!")
    assert [e["agent"] for e in events(nvim, "open")] == ["codex", "codex"]
    assert nvim.lua("return #_G.asked") == 1


def test_without_a_select_of_the_users_the_agents_stand_in_a_float(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + agents_on_path("gemini", "codex-acp"))
    screen.command("AcpChat")
    screen.wait("2  gemini")
    row, col = screen.find("╭ Which agent? ")
    assert abs((col + screen.rows()[row].rindex("╮")) / 2 - 40) <= 2
    assert abs(row - 10) <= 3
    screen.find("1-2 or <CR> picks · q leaves")
    assert events(screen) == []
    screen.keys("q")
    screen.wait(lambda text: "gemini" not in text)
    screen.command("AcpChat")
    screen.wait("2  gemini")
    screen.keys("2")
    eventually(lambda: [e["agent"] for e in events(screen, "open")] == ["gemini"])
    eventually(lambda: screen.api.get_mode()["mode"] == "i")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "AcpChat nobody",
            "there is no agent 'nobody'; :AcpChat <Tab> lists them, or set agents.nobody.command",
        ),
        ("AcpCancel", "there is no chat; :AcpChat opens one"),
        ("AcpRestart", "no chat to restart; :AcpChat opens one"),
        ("AcpTrace", "no agent was started yet; :AcpChat starts one"),
        ("AcpTrace nobody", "there is no agent 'nobody'; :AcpTrace <Tab> lists them"),
        ("AcpQueue foo", ":AcpQueue takes edit, now, earlier, later or drop, and a number, not 'foo'"),
        ("AcpQueue drop x", ":AcpQueue takes edit, now, earlier, later or drop, and a number, not 'drop x'"),
        (
            "AcpQueue drop 1 2",
            ":AcpQueue takes edit, now, earlier, later or drop, and a number, not 'drop 1 2'",
        ),
        ("AcpFollow foo", ":AcpFollow takes on, off, toggle or list, not 'foo'"),
        ("AcpRules foo", ":AcpRules takes revoke or restore, and a number, not 'foo'"),
        ("AcpHistory! foo", ":AcpHistory! forgets all prompts of this folder, and takes no words"),
        ("AcpChat a b", "one agent is enough, not 'a b'; :AcpChat <Tab> lists them"),
        ("AcpLogin a b", "one agent is enough, not 'a b'; :AcpChat <Tab> lists them"),
    ],
)
def test_an_error_is_one_message_with_its_remedy(start_nvim: StartNvim, command: str, said: str) -> None:
    nvim = start_nvim(init=INIT + agents_on_path() + "vim.o.columns = 200")
    nvim.api.command(command)
    messages = nvim.messages().splitlines()
    assert len(messages) == 1
    assert messages[0].startswith("acp: " + said[:90])
    assert nvim.lua("return require('acp.message').log[1].text").startswith(said)
    assert events(nvim) == []


def test_install_of_an_agent_nobody_knows_says_where_they_are_listed(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + agents_on_path())
    screen.command("AcpInstall nobody")
    screen.wait("nobody     no such agent; :AcpInstall <Tab> lists them")


@pytest.mark.parametrize("cmdheight", [0, 1, 3])
def test_a_long_message_asks_for_no_key_and_is_kept_whole(start_screen: StartScreen, cmdheight: int) -> None:
    screen = start_screen(init=INIT + agents_on_path() + f"vim.o.cmdheight = {cmdheight}", size=(60, 12))
    screen.keys(":AcpChat nobody<CR>")
    screen.wait("acp: there is no age… :AcpChat <Tab> lists them…")
    assert not screen.blocked()
    whole = "acp: there is no agent 'nobody'; :AcpChat <Tab> lists them, or set agents.nobody.command"
    assert screen.messages().replace("\n", "") == whole
    assert not screen.blocked()


SH = {"command": ["sh"], "protocol": "acp-v1"}
FITTED = [
    ("acp: short", 20, "acp: short"),
    ("acp: something long without a remedy", 20, "acp: something long…"),
    ("acp: there is no agent 'nobody'; :AcpChat <Tab> lists them, or set x", 50, 50),
    (
        "acp: there is no agent 'nobody'; :AcpChat <Tab> lists them, or set agents.nobody.command",
        68,
        "acp: there is no agent 'nobody'; :AcpChat <Tab> lists them…",
    ),
    ("acp: /a/long/path/to/python3 has no package 'anyio'. Run :AcpInstall", 40, 40),
    ("acp: setup(): colour is no setting: known are a, b (and 2 more: :checkhealth acp)", 60, 60),
    ("acp: :AcpInstall is a command that stands at the start of a text that is long", 30, 30),
]


@pytest.mark.parametrize(("text", "cells", "fitted"), FITTED)
def test_a_remedy_is_never_cut(start_nvim: StartNvim, text: str, cells: int, fitted: str | int) -> None:
    nvim = start_nvim(init=INIT)
    got = nvim.lua("return require('acp.message').fit(...)", text, cells)
    if isinstance(fitted, str):
        assert got == fitted
        return
    assert len(got) <= fitted
    for command in (":AcpChat <Tab> lists them", ":AcpInstall", ":checkhealth acp"):
        assert (command in got) == (command in text)


def test_a_message_longer_than_the_screen_asks_for_no_key(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT, size=(40, 10))
    screen.keys(":lua require('acp.message').error(('word '):rep(1000))<CR>")
    screen.wait("acp: word word")
    assert not screen.blocked()
    assert screen.api.get_option_value("more", {}) is True
    assert len(screen.messages()) > 100


@pytest.mark.parametrize("cmdheight", [0, 1, 3])
def test_a_long_message_of_the_host_asks_for_no_key(start_screen: StartScreen, cmdheight: int) -> None:
    """Outside of a typed command Neovim waits at the end of a message, before anything can be redrawn."""
    screen = start_screen(init=INIT + f"vim.o.cmdheight = {cmdheight}", size=(60, 12))
    text = "saved as " + "x" * 150
    screen.lua("require('acp.message').warn(...)", text)
    screen.wait("acp: saved as xxx")
    assert not screen.blocked()
    assert screen.messages().replace("\n", "") == f"acp: {text}"


@pytest.mark.parametrize("cmdheight", [0, 1, 3])
def test_messages_in_a_row_ask_for_no_key(start_screen: StartScreen, cmdheight: int) -> None:
    screen = start_screen(init=INIT + agents_on_path() + f"vim.o.cmdheight = {cmdheight}", size=(60, 14))
    screen.keys(":AcpCancel<CR>")
    screen.wait("acp: there is no chat; :AcpChat opens one")
    screen.keys(":AcpRestart<CR>")
    screen.wait("acp: no chat to restart")
    assert not screen.blocked()


def test_the_command_line_window_is_left_alone(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(60, 16))
    screen.keys("q:", ":AcpChat<CR>")
    screen.wait("close the command-line window first")
    assert events(screen, "open") == []


def test_cancel_restart_login_and_permit(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.command("AcpCancel")
    nvim.command("AcpCancel!")
    assert events(nvim, "cancel") == [{"chat": 1, "queue": False}, {"chat": 1, "queue": True}]
    nvim.command("AcpRestart")
    assert events(nvim, "restart") == [{"chat": 1, "config": SH, "demo": False}]
    nvim.command("AcpLogin")
    nvim.command("AcpLogin claude")
    assert events(nvim, "login") == 2 * [{"chat": 1, "config": SH, "demo": False}]
    nvim.command("AcpLogout")
    assert events(nvim, "logout") == [{"chat": 1}]
    for choice in ("", "allow_once", "2", "cancel", "hide"):
        nvim.command(f"AcpPermit {choice}")
    assert nvim.lua("return _G.permits") == [
        ["picker", []],
        ["allow_once", []],
        [2, []],
        ["cancel", []],
        ["hide", []],
    ]


def test_nothing_to_cancel_and_no_login_are_said(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT + "vim.o.columns = 120")
    nvim.command("AcpChat")
    nvim.lua("require('acp.status').update(1, { state = 'idle' }, 0)")
    nvim.api.command("AcpCancel")
    nvim.keys("<Esc>", "\\c")
    said = "acp: nothing runs that could be cancelled"
    eventually(lambda: nvim.messages().split("\n").count(said) == 2)
    assert events(nvim, "cancel") == []
    nvim.lua("require('acp.chat.prompt').queue(1, { { id = 1, text = 'queued' } }, 0)")
    nvim.command("AcpCancel!")
    assert len(events(nvim, "cancel")) == 1
    nvim.clear_messages()
    assert nvim.command("AcpLogin demo") == "acp: the demo agent needs no login"
    nvim.command("AcpChat demo")
    assert nvim.command("AcpLogin") == "acp: the demo agent needs no login"
    assert nvim.command("AcpLogout") == "acp: the demo agent needs no login"
    assert events(nvim, "login") == []
    assert nvim.messages() == ""


def test_plug_maps(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT + "vim.keymap.set('n', 'ZC', '<Plug>(acp-chat)')")
    nvim.command("map ZR <Plug>(acp-reject-once)")
    nvim.keys("ZC")
    eventually(lambda: events(nvim, "open"))
    nvim.keys("<Esc>", "ZR")
    eventually(lambda: nvim.lua("return _G.permits") == [["reject_once", {"key": True}]])


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("AcpChat c", ["codex", "claude", "cline", "copilot", "cursor"]),
        ("AcpTrace d", ["demo", "droid"]),
        ("AcpPermit allow", ["allow_once", "allow_always"]),
        ("AcpLogin g", ["gemini", "goose"]),
    ],
)
def test_completion(start_nvim: StartNvim, typed: str, offered: list[str]) -> None:
    nvim = start_nvim(init=INIT + agents_on_path("gemini", "codex-acp"))
    assert nvim.funcs.getcompletion(typed, "cmdline") == offered


def test_completion_offers_what_is_there_first(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + agents_on_path("gemini", "codex-acp"))
    nvim.setup({"agents": {"zed": {"command": ["/bin/sh"]}, "gone": {"command": ["no-such-agent"]}}})
    offered = nvim.funcs.getcompletion("AcpChat ", "cmdline")
    assert offered[:4] == ["codex", "demo", "gemini", "zed"]
    assert offered[4:] == sorted(offered[4:])
    assert {"claude", "gone", "opencode"} <= set(offered[4:])


def test_trace_has_a_tab_page_and_opens_messages(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.command("AcpTrace")
    (asked,) = events(nvim, "trace")
    assert asked == {"agent": "claude", "buf": nvim.api.get_current_buf().number}
    assert len(nvim.api.list_tabpages()) == 2
    nvim.lua("require('acp.trace').show(...)", asked["buf"], 0, ["one", "two"], {"session": ""})
    assert nvim.lines() == ["one", "two"]
    assert nvim.api.win_get_cursor(0)[0] == 2
    nvim.keys("<CR>")
    eventually(lambda: events(nvim, "trace_item") == [{"agent": "claude", "buf": asked["buf"], "row": 2}])
    nvim.lua("require('acp.trace').open(...)", "claude", ["{", "}"])
    assert (nvim.lines(), nvim.api.get_option_value("filetype", {"buf": 0})) == (["{", "}"], "json")
    # Colours of a line this long hold up the editor, and end in an error of Neovim's.
    nvim.command("wincmd p")
    nvim.lua("require('acp.trace').open('claude', { ('x'):rep(2000000) })")
    assert nvim.api.get_option_value("filetype", {"buf": 0}) == ""
    assert nvim.api.get_option_value("syntax", {"buf": 0}) == ""
    nvim.command("wincmd p")
    nvim.lua("require('acp.trace').open(...)", "claude", ["[", "]"])
    assert (nvim.lines(), nvim.api.get_option_value("filetype", {"buf": 0})) == (["[", "]"], "json")
    nvim.keys("q", "q")
    eventually(lambda: len(nvim.api.list_tabpages()) == 1)
    assert nvim.api.buf_get_name(0) == "acp://claude/1/prompt"
