"""The commands and maps of plugin/acp.lua."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.stub import AGENT, INIT, buffer, events, status
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
    for name in ("Chat", "Send", "Cancel", "Permit", "Login", "Restart", "Trace", "Install"):
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
    assert opened["config"]["command"][0] == "--state"
    assert nvim.lines(buffer(nvim, "acp://demo/1"))[0].startswith("demo in ")


def test_one_agent_on_the_path_is_taken(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + agents_on_path("gemini"))
    nvim.command("AcpChat")
    (opened,) = events(nvim, "open")
    assert (opened["agent"], opened["demo"], opened["config"]) == (
        "gemini",
        False,
        {
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
    assert events(screen) == []
    screen.keys("2")
    eventually(lambda: [e["agent"] for e in events(screen, "open")] == ["gemini"])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "AcpChat nobody",
            "there is no agent 'nobody'; :AcpChat <Tab> lists them, or set agents.nobody.command",
        ),
        ("AcpCancel", "there is no chat"),
        ("AcpRestart", "no chat to restart; :AcpChat opens one"),
        ("AcpTrace", "no agent was started yet; :AcpChat starts one"),
        ("AcpTrace nobody", "there is no agent 'nobody'; :AcpTrace <Tab> lists them"),
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


def test_a_long_message_asks_for_no_key(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + agents_on_path(), size=(40, 12))
    screen.keys(":AcpChat nobody<CR>")
    screen.wait("acp: there is no agent")
    assert not screen.blocked()
    assert screen.rows()[-1].endswith("…")


@pytest.mark.parametrize("cmdheight", [0, 1, 3])
def test_messages_in_a_row_ask_for_no_key(start_screen: StartScreen, cmdheight: int) -> None:
    screen = start_screen(init=INIT + agents_on_path() + f"vim.o.cmdheight = {cmdheight}", size=(60, 14))
    screen.keys(":AcpCancel<CR>")
    screen.wait("acp: there is no chat")
    screen.keys(":AcpRestart<CR>")
    screen.wait("acp: no chat to restart")
    assert not screen.blocked()


def test_the_command_line_window_is_left_alone(start_screen: StartScreen) -> None:
    screen = start_screen(init=INIT + AGENT, size=(60, 16))
    screen.keys("q:", ":AcpChat<CR>")
    screen.wait("close the command-line window first")
    assert events(screen, "open") == []


def test_send_is_raw(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.lua("require('acp.status').update(1, { state = 'idle' }, 0)")
    nvim.command("""AcpSend  what is "%" | echo 'x' <C-x> \\n in # ~ """.rstrip())
    (sent,) = events(nvim, "send")
    assert sent["text"] == """what is "%" | echo 'x' <C-x> \\n in # ~"""
    assert (sent["seq"], sent["now"], sent["context"]) == (1, False, [])
    nvim.command("AcpSend! now")
    assert events(nvim, "send")[1]["now"] is True
    assert events(nvim, "send")[1]["seq"] == 2


def test_send_without_a_chat_opens_one_and_leaves_the_focus(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT + "vim.o.columns = 120")
    window = nvim.api.get_current_win()
    nvim.command("AcpSend hello")
    assert [name for name, _ in events(nvim) if name != "settings"] == ["open", "send"]
    assert nvim.api.get_current_win() == window
    assert status(nvim)["queued"] == 1


def test_a_range_is_context(start_nvim: StartNvim, tmp_path: Path) -> None:
    path = tmp_path / "date.py"
    path.write_text("one\ntwo\nthree\n")
    nvim = start_nvim(init=INIT + AGENT + "vim.o.columns = 120", cwd=tmp_path, files=(str(path),))
    nvim.command("2,3AcpSend explain this")
    (sent,) = events(nvim, "send")
    assert sent["text"] == "explain this"
    assert sent["context"] == [{"path": str(path), "first": 2, "last": 3, "text": "two\nthree"}]
    nvim.command("1AcpSend")
    assert nvim.lines() == ["@date.py:1-1 "]
    assert nvim.api.buf_get_name(0) == "acp://claude/1/prompt"
    nvim.keys("Agoes<Esc>")
    nvim.keys("<CR>")
    sent = events(nvim, "send")[1]
    assert sent["text"] == "@date.py:1-1 goes"
    assert sent["context"] == [{"path": str(path), "first": 1, "last": 1, "text": "one"}]
    assert nvim.lines() == [""]


def test_a_mention_that_was_deleted_sends_nothing(start_nvim: StartNvim, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n")
    nvim = start_nvim(init=INIT + AGENT, cwd=tmp_path, files=(str(path),))
    nvim.command("1AcpSend")
    nvim.api.buf_set_lines(0, 0, -1, False, ["@a.txt:1-12 is another"])
    nvim.keys("<CR>")
    assert events(nvim, "send")[0]["context"] == []


def test_lines_of_a_buffer_without_a_file_go_as_text(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.api.buf_set_lines(0, 0, -1, False, ["x", "y"])
    nvim.command("%AcpSend look")
    (sent,) = events(nvim, "send")
    assert (sent["text"], sent["context"]) == ("look\n\n```\nx\ny\n```", [])


def test_cancel_restart_login_and_permit(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.command("AcpCancel")
    nvim.command("AcpCancel!")
    assert events(nvim, "cancel") == [{"chat": 1, "queue": False}, {"chat": 1, "queue": True}]
    nvim.command("AcpRestart")
    assert events(nvim, "restart") == [{"chat": 1, "config": {"command": ["sh"]}, "demo": False}]
    nvim.command("AcpLogin")
    nvim.command("AcpLogin claude")
    assert events(nvim, "login") == [{"chat": 1}, {"chat": 1}]
    for choice in ("", "allow_once", "2", "cancel", "hide"):
        nvim.command(f"AcpPermit {choice}")
    assert nvim.lua("return _G.permits") == [
        ["picker", []],
        ["allow_once", []],
        [2, []],
        ["cancel", []],
        ["hide", []],
    ]


def test_plug_maps(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT + "vim.keymap.set('n', 'ZC', '<Plug>(acp-chat)')")
    nvim.command("map ZR <Plug>(acp-reject-once)")
    nvim.keys("ZC")
    eventually(lambda: events(nvim, "open"))
    nvim.keys("ZR")
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
    nvim.lua("require('acp.trace').show(...)", asked["buf"], ["one", "two"])
    assert nvim.lines() == ["one", "two"]
    assert nvim.api.win_get_cursor(0)[0] == 2
    nvim.keys("<CR>")
    eventually(lambda: events(nvim, "trace_item") == [{"agent": "claude", "buf": asked["buf"], "row": 2}])
    nvim.lua("require('acp.trace').open(...)", "claude", ["{", "}"])
    assert (nvim.lines(), nvim.api.get_option_value("filetype", {"buf": 0})) == (["{", "}"], "json")
    nvim.keys("q", "q")
    eventually(lambda: len(nvim.api.list_tabpages()) == 1)
    assert nvim.api.buf_get_name(0) == "acp://claude/1/prompt"
