"""Tools of the editor for agents over HTTP: what the user sees of reads, edits, commands and their ends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.aap_script import Call, Json, Step, text
from tests.agents.aap_server import AapServer
from tests.nvim.aap_kit import chatting
from tests.nvim.trouble import open_chat
from tests.plugin import StartScreen, eventually, marked

import acp_nvim

TOOLS = [
    "read_file",
    "write_file",
    "edit_file",
    "list_files",
    "search_files",
    "run_command",
    "open_buffers",
    "diagnostics",
    "selection",
]


def edit(ident: str, old: str, new: str) -> Call:
    return Call(ident, "edit_file", {"path": "a.py", "old_text": old, "new_text": new})


def results(server: AapServer, turn: int) -> dict[str, str]:
    """What the server was told of our tools, by call."""
    return {m["toolCallId"]: m["content"] for m in server.turns[turn]["messages"] if m["role"] == "tool"}


@pytest.mark.req("AAP-28", "AAP-55", "AAP-29", "AAP-38")
def test_a_day_with_the_tools(start_screen: StartScreen, short_tmp: Path) -> None:
    path = short_tmp / "a.py"
    path.write_text("one = 1\ntwo = 2\nthree = 3\n")
    (short_tmp / ".env").write_text("KEY=hush\n")
    run = Call("c", "run_command", {"command": ["sh", "-c", "echo begun; sleep 600"]})
    script: list[Step] = [
        [
            text("I look."),
            Call("1", "read_file", {"path": "a.py"}),
            Call("2", "open_buffers"),
            Call("3", "diagnostics", {"path": "a.py"}),
            Call("4", "selection"),
            Call("5", "search_files", {"pattern": "= 2"}),
            edit("6", "two = 2", "two = 22"),
        ],
        [edit("7", "three = 3", "three = 4")],
        [text("Then not.")],
        [run],
        [text("so it was ended")],
        [text("all right")],
    ]
    server = AapServer(script)
    with chatting(
        start_screen, server, {"client_tools": TOOLS}, cwd=short_tmp, init="", size=(140, 46)
    ) as chat:
        screen = chat.screen
        host = server.url.split("/")[2]
        assert [tool["name"] for tool in server.kept.declared] == TOOLS

        # An edit: the row with the diff, the card with who asks, the file beside the proposal.
        screen.command("wincmd p | edit a.py")
        screen.lua(
            "vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0,"
            " {{ lnum = 1, col = 4, message = 'odd', severity = 2 }})"
        )
        screen.keys("ggVj<Esc>")
        chat.submit("change it")
        chat.until_state("waiting")
        chat.until("+ two = 22", "- two = 2")
        chat.sees(f"x ({host}) wants to edit a file", "proposed  a.py", "Reject, and say why")
        assert path.read_text().startswith("one = 1\ntwo = 2\n")
        assert len(server.turns) == 1
        screen.command("AcpPermit allow_once")
        eventually(lambda: "two = 22" in path.read_text(), message=chat.show)

        # A rejection with a reason.
        chat.until("three = 4")
        chat.until_state("waiting")
        screen.command("AcpPermit 4")
        chat.until("why is edit_file rejected?")
        screen.command("AcpPermit 1")
        chat.sees("why not")
        screen.keys("too many<CR>")
        chat.sees("why not: too many")
        screen.lua("vim.wait(300)")  # the keyboard rests for as long as a key that sends needs
        screen.keys("1")
        chat.until("Then not.", "rejected by you", "── done")
        assert "three = 3" in path.read_text()
        told = results(server, 1)
        assert told["1"] == "one = 1\ntwo = 2\nthree = 3\n"
        assert json.loads(told["2"]) == [
            {"path": "a.py", "modified": False, "current": True, "visible": True}
        ]
        odd = {"path": "a.py", "line": 2, "column": 5, "severity": "warning", "message": "odd"}
        assert json.loads(told["3"]) == [odd]
        selected = {"first": 1, "last": 2, "text": "one = 1\ntwo = 2"}
        place = {"path": "a.py", "line": 2, "column": 1, "modified": False}
        assert json.loads(told["4"]) == {**place, **selected}
        assert told["5"] == "a.py:2: two = 2"
        assert told["6"] == "replaced"
        assert results(server, 2) == {"7": "It failed: The user rejected this: too many"}
        assert screen.lines(screen.funcs.bufnr("a.py"))[1] == "two = 22"

        # A command, live, and gone with the turn.
        chat.submit("run it")
        chat.until_state("waiting")
        chat.sees(f"x ({host}) wants to run a command", "sh -c 'echo begun; sleep 600'")
        screen.command("AcpPermit allow_once")
        chat.until("│ begun")
        assert any("sleep 600" in line for line in marked(screen.marker).values())
        screen.command("AcpCancel")
        chat.until("cancelled by you")
        eventually(lambda: not any("sleep" in each for each in marked(screen.marker).values()))
        assert len(server.turns) == 4
        chat.submit("and now?")
        chat.until("all right")
        chat.until_state("idle")
        assert results(server, 4)["c"].startswith("The user cancelled the turn while this tool was at work")
        assert server.turns[5]["messages"] == [{"role": "user", "content": "and now?"}]
        assert len(server.turns) == 6
        chat.quiet()


def test_a_server_that_takes_no_tools(start_screen: StartScreen) -> None:
    agent: Json = {"name": "plain", "capabilities": {"stream": {"delta": {}}}}
    server = AapServer([[text("hi")]], agents=[agent])
    with chatting(start_screen, server, {"client_tools": ["read_file"]}) as chat:
        chat.until("x takes no tools of the editor", "agents.x.client_tools counts for nothing")
        chat.works("hello")


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[str]:
    """The address of the demo agent over HTTP, in a folder of its own."""
    command = [sys.executable, "-m", "acp_nvim.demo", "--speed", "0", "--aap", "0"]
    path = {"PYTHONPATH": str(Path(acp_nvim.__file__).parents[1])}
    with subprocess.Popen(command, cwd=tmp_path, env=path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield re.findall(r"http://[\d.:]+", process.stdout.readline())[0]
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_the_tour_of_the_demo(start_screen: StartScreen, short_tmp: Path, demo: str) -> None:
    path = short_tmp / "letter.txt"
    path.write_text("They recieve it.\n")
    settings = {"protocol": "aap", "url": demo, "client_tools": TOOLS}
    chat = open_chat(start_screen, settings, cwd=short_tmp, init="", size=(140, 50))
    chat.until_state("idle")
    chat.submit("tour")
    chat.until("In `letter.txt` I found “recieve”")
    chat.until_state("waiting")
    assert "recieve" in path.read_text()
    chat.screen.command("AcpPermit allow_once")
    chat.until("Now a command.", "ls -l")
    chat.until_state("waiting")
    assert path.read_text() == "They receive it.\n"
    chat.screen.command("AcpPermit allow_once")
    chat.until("That was all.", "── done", "letter.txt  +1 -1")
    chat.submit("run sleep 600")
    chat.until_state("waiting")
    chat.screen.command("AcpPermit allow_once")
    eventually(lambda: any("sleep 600" in each for each in marked(chat.screen.marker).values()))
    chat.screen.command("AcpCancel")
    chat.until("cancelled by you")
    eventually(lambda: not any("sleep 600" in each for each in marked(chat.screen.marker).values()))
    chat.submit("create note.txt with words")
    chat.until_state("waiting")
    chat.screen.command("AcpCancel")  # the question goes, and nothing was written
    chat.until_state("idle")
    chat.submit("help")
    chat.until("I am the demo agent over HTTP")
    assert chat.status["pending_all"] == 0
    assert not (short_tmp / "note.txt").exists()
    chat.submit("run sleep 600")
    chat.until_state("waiting")
    chat.screen.command("AcpPermit allow_once")
    eventually(lambda: any("sleep 600" in each for each in marked(chat.screen.marker).values()))
    chat.quiet()
    chat.screen.command(f"bwipeout! {chat.screen.funcs.bufnr('acp://x/1')}")
    eventually(lambda: not any("sleep 600" in each for each in marked(chat.screen.marker).values()))


@pytest.mark.parametrize(
    ("keys", "selected"),
    [
        ("", {}),
        ("ggvj<Esc>", {"first": 1, "last": 2, "text": "one\nt"}),
        ("ggVj<Esc>G", {"first": 1, "last": 2, "text": "one\ntwo two"}),
        ("Gvgg$", {"first": 1, "last": 3, "text": "e\ntwo two\nt"}),  # while it is made, upwards
        ("gg<C-v>jl<Esc>", {"first": 1, "last": 2, "text": "on\ntw"}),
        ("ggVG<Esc>Gdd", {"first": 1, "last": 2, "text": "one\ntwo two"}),
    ],
)
def test_a_selection(start_screen: StartScreen, short_tmp: Path, keys: str, selected: Json) -> None:
    path = short_tmp / "a.txt"
    path.write_text("one\ntwo two\nthree\n")
    screen = start_screen(init="vim.o.hidden = true", cwd=short_tmp, files=(str(path),), size=(80, 20))
    screen.keys(keys)
    ask = "return require('acp.tools').selection()"
    eventually(lambda: {"first", "last", "text"} & screen.lua(ask).keys() == selected.keys())
    found = screen.lua(ask)
    assert {name: found[name] for name in selected} == selected
    assert Path(found["path"]).name == "a.txt"
    screen.keys("<Esc>")
    screen.command("new | setlocal buftype=nofile")
    assert screen.lua(ask)["path"] == found["path"]  # the window before, not a scratch buffer
    screen.command("tabnew | setlocal buftype=nofile")
    assert screen.lua(ask) == {}


def test_buffers_and_diagnostics(start_screen: StartScreen, short_tmp: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (short_tmp / name).write_text("one\n")
    screen = start_screen(init="vim.o.hidden = true", cwd=short_tmp, files=("a.txt",), size=(80, 20))
    screen.command("edit b.txt | new | setlocal buftype=nofile | terminal")
    screen.lua(
        "local ns = vim.api.nvim_create_namespace('t')"
        " for _, buf in ipairs(vim.api.nvim_list_bufs()) do"
        "  vim.diagnostic.set(ns, buf, {"
        "   { lnum = 0, col = 0, message = ('w'):rep(9999), severity = 2 },"
        "   { lnum = 0, col = 1, message = 'e', severity = 1, code = 7, source = 'lint' } })"
        " end"
    )
    found = screen.lua("return require('acp.tools').buffers()")
    assert [(Path(b["path"]).name, b["current"], b["visible"]) for b in found] == [
        ("a.txt", False, False),
        ("b.txt", True, True),
    ]
    told = screen.lua("return require('acp.tools').diagnostics(nil, 3)")
    assert [(Path(d["path"]).name, d["severity"], len(d["message"])) for d in told["found"]] == [
        ("a.txt", "error", 1),
        ("b.txt", "error", 1),
        ("a.txt", "warning", 500),
    ]
    assert told["found"][0].items() >= {"line": 1, "column": 2, "code": "7", "source": "lint"}.items()
    assert told["more"]
    one = screen.lua("return require('acp.tools').diagnostics(...)", str(short_tmp / "b.txt"), 9)
    assert [Path(each["path"]).name for each in one["found"]] == ["b.txt"] * 2
    none = screen.lua("return require('acp.tools').diagnostics(...)", str(short_tmp / "c.txt"), 9)
    assert not none["loaded"]


def test_the_names_of_the_settings_are_those_of_the_tools(start_nvim: Any) -> None:
    from acp_nvim.service.tools.box import TOOLS as BUILT

    assert start_nvim(init="").lua("return require('acp.settings').client_tools") == list(BUILT) == TOOLS
