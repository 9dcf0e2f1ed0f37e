"""Logging in by the agent's own program in a terminal of Neovim (V1-37 to V1-40)."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.login_kit import END, METHODS, SESSION, WANTED, hello, prompts, used
from tests.nvim.trouble import Chat, configure, open_chat, starts
from tests.plugin import Screen, StartScreen, eventually, marked, none_left

SECRET = "hunter2-hunter2"
TTY: Json = {
    "id": "tty",
    "name": "Terminal",
    "type": "terminal",
    "description": "asks for a password",
    "args": ["--login", "a b"],
    "env": {"LOGIN_TOKEN": SECRET, "PATH": "/nowhere", "NVIM": ""},
    "command": "/bin/false",
    "_meta": {"terminal-auth": {"command": "/bin/false", "args": []}},
}
LOGIN = """\
printf 'Password: '
read answer || exit 9
case "$answer" in
  good) /bin/cp {good} {script}; exit 0 ;;
  die) kill -KILL $$ ;;
  *) echo "wrong: $answer"; read answer; exit 1 ;;
esac
"""
"""What the agent's program does when it is told to log in. Afterwards the agent lets sessions begin.

It waits before it fails: Neovim can lose what a program says as it ends (its issues 3030 and 37982).
"""


def program(tmp_path: Path, agent: ScriptedAgent, login: str = LOGIN) -> list[str]:
    """The command of an agent whose program can also log in."""
    script = json.loads(agent.script.read_text())
    script["on"]["session/new"] = [[SESSION]]
    script["on"]["session/prompt"] = [[END]]
    good = tmp_path / "good.json"
    good.write_text(json.dumps(script))
    path = tmp_path / "robo"
    report = f'for word in "$@"; do printf \'%s\\n\' "$word"; done > {tmp_path}/argv\n'
    report += f"/usr/bin/env > {tmp_path}/env; pwd > {tmp_path}/cwd; echo $$ > {tmp_path}/pid\n"
    text = login.format(good=good, script=agent.script)
    path.write_text(
        f'#!/bin/sh\ncase "$*" in *--login*)\n{report}{text}exit 0;;\nesac\n'
        f"exec {shlex.join(agent.command)}\n"
    )
    path.chmod(0o755)
    return [str(path), "--acp"]


def scripted(agent: MakeAgent, *methods: Json, **capabilities: Any) -> ScriptedAgent:
    return agent({"initialize": [hello(*methods, **capabilities)], "session/new": [WANTED]})


def in_terminal(chat: Chat, number: int = 1) -> int:
    """Choose the first way, wait for its terminal (the number counts them), and return its buffer."""
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 1")
    name = f"acp://x/1/login/{number}"
    eventually(lambda: chat.screen.api.buf_get_name(0) == name, message=chat.show)
    chat.sees("Password:")
    return int(chat.screen.api.get_current_buf().number)


@pytest.mark.req("V2-27", "V2-28", "V2-29")
def test_success_with_an_agent_of_version_2(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    """Connected again, and what wanted the login done again."""
    variables = [{"name": "LOGIN_TOKEN", "value": SECRET}]
    method = {
        "type": "terminal",
        "methodId": "tty",
        "name": "Terminal",
        "args": ["--login"],
        "env": variables,
    }
    greeting = {
        "protocolVersion": 2,
        "info": {"name": "robo", "version": "1"},
        "capabilities": {"session": {}},
        "authMethods": [method],
    }
    ended = [
        {"reply": {"messageId": "m1"}},
        {"update": {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}},
    ]
    x = agent({"initialize": [{"reply": greeting}], "session/new": [WANTED]})
    command = program(tmp_path, x)
    good = tmp_path / "good.json"
    script = json.loads(good.read_text())
    script["on"]["session/prompt"] = [ended]
    good.write_text(json.dumps(script))
    chat = open_chat(start_screen, {"command": command, "protocol": "acp-v2"})
    chat.submit("hello")
    chat.screen.keys("<Esc>")
    in_terminal(chat)
    chat.screen.keys("good<CR>")
    chat.until("✓ login  Terminal", "── x has accepted the login", "❯ hello", "── done", "ACP v2 · ready in")
    assert (x.log("auth/login"), prompts(x), len(starts(x)), len(x.log("initialize"))) == (
        [],
        ["hello"],
        2,
        2,
    )
    environment = dict(
        line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines() if "=" in line
    )
    assert environment["LOGIN_TOKEN"] == SECRET
    assert chat.troubles == []


SIZES = "return require('acp.chat.size').command()"


def windows(screen: Screen) -> int:
    return len(screen.api.list_wins())


@pytest.mark.req("V1-37", "V1-38", "V1-39", "V1-40")
def test_success(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> None:
    x = scripted(agent, TTY, METHODS[0])
    settings = {
        "command": program(short_tmp, x),
        "env": {"OWN": "mine", "KEY": {"cmd": ["echo", "s3cret-s3cret"]}},
    }
    chat = open_chat(start_screen, settings)
    screen = chat.screen
    chat.submit("hello")
    screen.keys("<Esc>")
    before, sizes = windows(screen), screen.lua(SIZES)
    chat.sees("1 Terminal  asks for a password", "runs in a terminal here: ", "robo --acp --login 'a b'")
    buffer = in_terminal(chat)
    chat.sees(" login  x: Terminal", "logging in, :AcpCancel")
    assert (screen.lua("return vim.fn.mode(1)"), windows(screen)) == ("t", before + 1)
    assert [name for name in screen.funcs.getcompletion("", "buffer") if name.startswith("term:")] == []
    screen.keys("good<CR>")
    chat.until("✓ login  Terminal", "── x has accepted the login", "❯ hello", "── done", "ACP v1 · ready in")
    assert (windows(screen), screen.api.buf_is_valid(buffer)) == (before, False)
    eventually(lambda: screen.lua(SIZES) == sizes, message=lambda: f"{sizes} {screen.lua(SIZES)}")
    assert (used(x), prompts(x), len(starts(x)), len(x.log("initialize"))) == ([], ["hello"], 2, 2)
    assert chat.troubles == []

    assert (short_tmp / "argv").read_text().split("\n") == ["--acp", "--login", "a b", ""]
    assert (short_tmp / "cwd").read_text().strip() == starts_in(x)
    env = dict(line.split("=", 1) for line in (short_tmp / "env").read_text().splitlines() if "=" in line)
    assert (env["LOGIN_TOKEN"], env["OWN"], env["KEY"]) == (SECRET, "mine", "s3cret-s3cret")
    assert not env.get("NVIM")
    assert not {"NVIM_LISTEN_ADDRESS", "VIMRUNTIME", "VIRTUAL_ENV"} & set(env)
    offered = x.log("initialize")[0]["params"]["clientCapabilities"]["auth"]
    assert offered == {"terminal": True}

    chat.works()
    screen.command("AcpTrace x")
    eventually(lambda: len(screen.lines()) > 3)
    first = next(row for row, line in enumerate(screen.lines(), 1) if "← initialize" in line)
    screen.api.win_set_cursor(0, (first, 0))
    screen.keys("<CR>")
    eventually(lambda: any("LOGIN_TOKEN" in line for line in screen.lines()))
    assert SECRET not in "\n".join(
        line for each in screen.api.list_bufs() for line in screen.lines(each.number)
    )
    assert SECRET not in screen.messages()


def starts_in(x: ScriptedAgent) -> str:
    return str(next(row["cwd"] for row in x.rows() if row.get("event") == "start"))


@pytest.mark.req("V1-38")
@pytest.mark.parametrize(("typed", "code"), [("bad", 1), ("die", 137)])
def test_failure(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, typed: str, code: int) -> None:
    x = scripted(agent, TTY)
    chat = open_chat(start_screen, {"command": program(tmp_path, x)})
    chat.submit("hello")
    chat.screen.keys("<Esc>")
    buffer = in_terminal(chat)
    chat.screen.keys(f"{typed}<CR>")
    if typed == "bad":
        chat.sees("wrong: bad")
        chat.screen.keys("<CR>")
    chat.until("✗ login  Terminal  failed", "? login  x  waiting for you")
    chat.until(f"│ ✗ Terminal: ended with exit code {code}; its terminal is still there")
    assert chat.screen.lua("return vim.fn.mode(1)") in ("n", "nt")  # a key would wipe it in Terminal mode
    assert chat.screen.api.buf_is_valid(buffer)
    assert (chat.status["queued"], prompts(x), len(starts(x))) == (1, [], 1)
    in_terminal(chat, 2)
    chat.screen.keys("good<CR>")
    chat.until("── x has accepted the login", "── done")
    assert (prompts(x), used(x)) == (["hello"], [])
    # The one that failed stays until its window is closed.
    assert any("Password:" in line for line in chat.screen.lines(buffer))
    assert any("wrong: bad" in line for line in chat.screen.lines(buffer)) == (typed == "bad")
    chat.screen.api.set_current_win(chat.screen.funcs.bufwinid(buffer))
    chat.screen.command("quit")
    eventually(lambda: not chat.screen.api.buf_is_valid(buffer))


@pytest.mark.req("V1-38")
@pytest.mark.parametrize(
    "how", ["<C-Bslash><C-n>:q<CR>", "<C-Bslash><C-n>:bwipeout!<CR>", "<C-Bslash><C-n>:enew<CR>"]
)
def test_closed_by_the_user(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, how: str) -> None:
    x = scripted(agent, TTY)
    chat = open_chat(start_screen, {"command": program(tmp_path, x)})
    chat.submit("hello")
    chat.screen.keys("<Esc>")
    buffer = in_terminal(chat)
    pid = int((tmp_path / "pid").read_text())
    chat.screen.keys(how)
    chat.until(
        "✗ login  Terminal  failed", "Terminal: its terminal was closed", "? login  x  waiting for you"
    )
    assert not chat.screen.api.buf_is_valid(buffer)
    eventually(lambda: pid not in marked(chat.screen.marker))
    chat.screen.command("AcpPermit reject_once")
    chat.until_prompt("hello")


@pytest.mark.req("V1-38")
def test_cancelled(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    stubborn = "trap '' HUP TERM INT\n" + LOGIN
    x = scripted(agent, TTY)
    chat = open_chat(start_screen, {"command": program(tmp_path, x, stubborn)})
    chat.submit("hello")
    chat.screen.keys("<Esc>")
    buffer = in_terminal(chat)
    pid = int((tmp_path / "pid").read_text())
    chat.screen.keys("<C-Bslash><C-n>:AcpCancel<CR>")
    chat.until("– login  Terminal  cancelled")
    chat.until_prompt("hello")
    assert not chat.screen.api.buf_is_valid(buffer)
    eventually(lambda: pid not in marked(chat.screen.marker))
    assert len(starts(x)) == 1
    chat.quiet()


@pytest.mark.parametrize("stubborn", ["", "trap '' HUP TERM INT\n"])
def test_neovim_ends_during_the_login(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, stubborn: str
) -> None:
    child = stubborn + "setsid sleep 600 &\n" + LOGIN
    x = scripted(agent, TTY)
    chat = open_chat(start_screen, {"command": program(tmp_path, x, child)})
    in_terminal(chat)
    pid = int((tmp_path / "pid").read_text())
    assert pid in marked(chat.screen.marker)
    chat.screen.keys("<C-Bslash><C-n>:qall!<CR>")
    chat.screen.wait_exit()
    none_left(chat.screen.marker)


def test_the_program_is_gone(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    x = scripted(agent, TTY)
    command = program(tmp_path, x)
    chat = open_chat(start_screen, {"command": command})
    chat.until("? login  x  waiting for you")
    Path(command[0]).unlink()
    chat.screen.command("AcpPermit 1")
    chat.until("✗ login  Terminal  failed", "does not exist", "? login  x  waiting for you")
    assert windows(chat.screen) <= 4
    chat.quiet()


def test_a_turn_of_another_chat_is_waited_for(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    cancelled = {"reply": {"stopReason": "cancelled"}}
    x = agent(
        {
            "initialize": [hello(TTY)],
            "session/prompt": [[{"wait": "session/cancel"}, cancelled], [WANTED], [END]],
        }
    )
    chat = open_chat(start_screen, {"command": program(tmp_path, x)})
    chat.until("ready in")
    chat.submit("long")
    x.wait("session/prompt")
    chat.screen.command("AcpChat!")
    other = Chat(chat.screen, "acp://x/2")
    other.until("ready in")
    other.submit("wants")
    other.until("? login  x  waiting for you")
    other.screen.command("AcpPermit 1")
    other.sees("Password:")
    other.screen.keys("good<CR>")
    chat.until("── x has accepted the login, and is started again after this turn")
    assert (len(starts(x)), chat.status["state"]) == (1, "running")
    chat.screen.lua("require('acp.chat').focused(require('acp.chat').get(1))")
    chat.screen.lua("require('acp.chat.windows').open(require('acp.chat').get(1), true)")
    chat.screen.command("AcpCancel")
    chat.until("── cancelled by you")
    other.until("── x has accepted the login", "── done")
    for each in (chat, other):
        each.until_state("idle")
    assert len(starts(x)) == 2


def test_odd_settings_of_the_user(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    odd = "vim.o.hidden = false vim.o.splitbelow = false vim.o.winminheight = 0 vim.o.winheight = 30"
    x = scripted(agent, TTY)
    screen = start_screen(size=(120, 30), init=odd)
    configure(screen, {"command": program(tmp_path, x)})
    screen.command("AcpChat")
    screen.keys("<Esc>")
    chat = Chat(screen)
    screen.api.set_current_win(screen.funcs.win_getid(1))
    home = screen.api.get_current_win()
    in_terminal(chat)
    screen.keys("good<CR>")
    chat.until("── x has accepted the login")
    eventually(lambda: screen.api.get_current_win() == home)
    chat.quiet()
