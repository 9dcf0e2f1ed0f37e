"""What a project and an agent may not do: the promises of doc/security.md that need a whole Neovim."""

from __future__ import annotations

import os
import re
import stat
from functools import partial
from pathlib import Path

from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, PASSIVE, Stage, ask, diff, update
from tests.nvim.cases.test_cases_security import FLOAT
from tests.nvim.content_kit import image
from tests.nvim.poison.looking import settings
from tests.nvim.sessions_kit import ALL
from tests.plugin import ROOT, Screen, StartScreen, eventually

HELP = ROOT / "doc/acp.txt"
CAUGHT = "caught"
PYTHON = f"import pathlib; pathlib.Path(__file__).with_name('{CAUGHT}').touch()"
FOLDER = "debug.getinfo(1, 'S').source:sub(2):gsub('[^/]*$', '')"
LUA = f"io.open(({FOLDER}) .. '{CAUGHT}', 'w'):close() return {{}}"
VIM = f"call writefile([], '{CAUGHT}')"
PROGRAM = f"#!/bin/sh\ntouch {CAUGHT}\n"
PLANTED = {
    **dict.fromkeys((".exrc", ".nvimrc", "_vimrc", "plugin/x.vim", "ftplugin/acp-chat.vim"), VIM),
    **dict.fromkeys(
        (
            ".nvim.lua", "acp.lua", "acp/init.lua", "acp/host.lua", "acp/chat/init.lua", "lua/acp.lua",
            "lua/acp/init.lua", "cmp.lua", "blink/cmp.lua", "after/ftplugin/acp-prompt.lua",
        ),
        LUA,
    ),
    **dict.fromkeys(
        ("acp_nvim.py", "acp_nvim/__init__.py", "msgspec.py", "anyio.py", "pynvim.py", "httpx2.py", "json.py",
         "sitecustomize.py", "usercustomize.py", "rplugin/python3/x.py", "signal.py"),
        PYTHON,
    ),
    **dict.fromkeys(("git", "env", "sh", "python3", "claude-agent-acp", "uv"), PROGRAM),
}  # fmt: skip
"""Files of a project that somebody hopes are run: name -> text."""


def test_nothing_of_the_project_is_run(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> None:
    project = short_tmp / "project"
    for name, text in PLANTED.items():
        planted = project / name
        planted.parent.mkdir(parents=True, exist_ok=True)
        planted.write_text(text)
        planted.chmod(0o755)
    run: list[Json] = [
        {"request": "terminal/create", "params": {"sessionId": "$session", "command": "true"}, "id": "t"},
        {"await": "t", "keep": {"terminal": "terminalId"}},
        update("tool_call", toolCallId="c", title="x", content=[diff(f"{project}/json.py", "a\n", "b\n")]),
    ]
    played = agent(on={"session/prompt": [*run, END]})
    path = f".:{os.environ['PATH']}"
    screen = start_screen(size=(120, 36), cwd=project, init=settings(), env={"PYTHONPATH": ".", "PATH": path})
    stage = Stage(screen, PASSIVE)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send("look at @json.py and @diff")
    chat.wait_turn()
    chat.focus()
    screen.leave_insert()
    screen.keys("i@js")
    eventually(lambda: screen.funcs.pumvisible(), message=screen.text)
    screen.leave_insert()
    for command in ("AcpDiff", "AcpTrace x", "AcpSessions", "checkhealth acp"):
        screen.command(command)
    eventually(lambda: played.log("session/prompt"))
    assert [str(each) for each in project.rglob(CAUGHT)] == []


ODD = (
    "+quit", "-c quit", "+lua pwn()", "|lua pwn()|", "`touch pwned`", "$(touch pwned)", "%", "#", "##",
    "<cfile>", "%{v:lua.pwn()}", "%!v:lua.pwn()", "a\nb", "a\x1b]52;c;AAAA\x07", "\u202etxt.exe", "*", "?",
    "[a]", "{a,b}", "~", "$HOME", "%:p", "a b", "'q'", '"', "\\", "x:7", "é\u0301", "vim: set ts=77 :",
    "=pwn()", "!touch pwned", "term:touch pwned", "acp:x", "++bad", "<C-r>=pwn()", "file.zip::x",
)  # fmt: skip
"""Names that mean something to Neovim, to a shell or to a screen."""


def test_files_of_odd_names_are_just_files(
    start_screen: StartScreen, agent: MakeAgent, short_tmp: Path
) -> None:
    project = short_tmp / "ws"
    project.mkdir()
    paths = [project / name for name in ODD]
    for path in paths:
        path.write_text("one\ntwo\nvim: set ts=77 :\n")
    shown = [
        update(
            "tool_call",
            toolCallId=f"c{n}",
            title=path.name,
            kind="edit",
            status="completed",
            locations=[{"path": str(path), "line": 2}],
            content=[diff(str(path), "one\n", "two\n")],
        )
        for n, path in enumerate(paths)
    ]
    write: list[Json] = []
    for n, path in enumerate(paths):
        params = {"sessionId": "$session", "path": str(path), "content": f"new {n}\n"}
        write += [{"request": "fs/write_text_file", "params": params, "id": f"w{n}"}, {"await": f"w{n}"}]
    played = agent(on={"session/prompt": [[*shown, END], [*write, END]]})
    screen = start_screen(size=(120, 36), cwd=project, init=settings("vim.o.hidden = true"))
    stage = Stage(screen, {**PASSIVE, "follow": {"enabled": True}})
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send()
    chat.wait_turn()
    chat.focus()
    rows = [n for n, line in enumerate(screen.lines(chat.buf), 1) if line.startswith("✓ edit")]
    assert len(rows) == len(paths), chat.text()
    for path, row in zip(paths, rows, strict=True):
        screen.lua(GO, chat.buf, row)
        screen.keys("gf")
        eventually(partial(is_here, screen, str(path)), message=screen.text)
        screen.command(f"lua require('acp.chat.windows').open(require('acp.chat').get({chat.n}), true)")
        screen.leave_insert()
    chat.send()
    chat.wait_turn(2)
    assert [path.read_text() for path in paths] == [f"new {n}\n" for n in range(len(paths))]
    assert screen.lua("return _G.pwned") == 0
    assert screen.lua("return vim.g.pwned == nil")
    assert sorted(os.listdir(project)) == sorted(ODD)  # noqa: PTH208


def is_here(screen: Screen, name: str) -> bool:
    return bool(screen.api.buf_get_name(0) == name)


GO = """
local buf, row = ...
local win = vim.fn.win_findbuf(buf)[1]
vim.api.nvim_set_current_win(win)
vim.api.nvim_win_set_cursor(win, { row, 0 })
vim.cmd('normal! zv')
"""


def test_what_is_kept_is_the_users_alone_and_lies_in_its_own_folders(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    said = update("agent_message_chunk", content=image())
    played = agent(on={"session/prompt": [said, {"say": "a picture"}, END], "initialize": ALL})
    screen = start_screen(size=(120, 36), init=settings("vim.fn.setfperm(vim.fn.getcwd(), 'rwxr-xr-x')"))
    stage = Stage(screen, PASSIVE)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send("a prompt that is remembered")
    chat.wait_turn()
    row = next(n for n, line in enumerate(screen.lines(chat.buf), 1) if "image" in line)
    chat.focus()
    screen.leave_insert()
    screen.lua(GO, chat.buf, row)
    screen.keys("<CR>")
    screen.command("AcpTrace x")
    eventually(lambda: len(screen.lines()) > 3)
    screen.command(f"write {screen.home}/trace.jsonl")
    eventually(lambda: (screen.home / "trace.jsonl").exists())
    chat.focus()
    screen.leave_insert()
    screen.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'a draft' })")
    screen.keys(":qall!<CR>")
    screen.wait_exit()
    kept = own_files(screen)
    names = {path.name.split("-")[0] for path in kept if path.is_file()}
    assert {"sessions.json", "draft"} <= names, names
    # What to take away with the plugin is told in full (:help acp-uninstall).
    told = re.findall(r"^\tstdpath\('(\w+)'\)/acp\.nvim\t", HELP.read_text(), re.MULTILINE)
    assert told == ["data", "state", "cache"]
    folders = [screen.home / f"{name}_home/nvim/acp.nvim" for name in told]
    assert [path for path in kept if path.is_file() and not any(f in path.parents for f in folders)] == []
    wrong = {
        str(path.relative_to(screen.home)): oct(mode)
        for path in kept
        if (mode := stat.S_IMODE(path.lstat().st_mode)) & 0o077
    }
    assert wrong == {}
    assert stat.S_IMODE((screen.home / "trace.jsonl").stat().st_mode) == 0o600
    assert list(screen.cwd.iterdir()) == []


def own_files(screen: Screen) -> list[Path]:
    """All that the plugin keeps in Neovim's folders."""
    return [path for path in screen.home.rglob("*") if "acp" in str(path.relative_to(screen.home))]


SECRET = "hush-hush-0123"


def test_a_secret_of_the_settings_is_nowhere_outside_of_what_was_said(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    call: Json = {"toolCallId": "t", "title": "x", "kind": "other", "rawInput": {"deep": [SECRET]}}
    turn = [
        update("session_info_update", title=f"about {SECRET}"),
        update("tool_call", **call, status="completed"),
        END,
    ]
    refused: Json = {"error": {"code": 7, "message": f"bad {SECRET}", "data": {"details": SECRET}}}
    played = agent(
        on={
            "session/prompt": [turn, [refused], [{"stderr": f"last words {SECRET}\n"}, {"exit": 9}]],
            "initialize": ALL,
        }
    )
    screen = start_screen(size=(120, 36), init=settings())
    screen.setup({**PASSIVE, "agents": {"x": {**played.settings, "env": {"PASS": SECRET}}}})
    chat = Stage(screen).open(played)
    chat.wait_state("idle")
    chat.send(f"the word is {SECRET}")
    chat.wait_turn()
    row = next(n for n, line in enumerate(screen.lines(chat.buf), 1) if line.startswith("✓"))
    chat.focus()
    screen.leave_insert()
    screen.lua(GO, chat.buf, row)
    screen.keys("K")
    seen = {"details": eventually(lambda: screen.lua(FLOAT), message=screen.text)}
    assert '      "•••"' in seen["details"]
    screen.keys("q")
    chat.send()
    eventually(lambda: len(chat.events("AcpTurnEnd")) == 2, message=chat.text)
    chat.send()
    eventually(lambda: "last words •••" in chat.text(), message=chat.text)
    seen["ends"] = chat.text().partition("✗")[2].split("\n")
    screen.lua(GO, chat.buf, 1)
    screen.command(f"write {screen.home}/chat.md")
    eventually(lambda: (screen.home / "chat.md").exists())
    screen.command("checkhealth acp")
    seen["health"], seen["messages"] = screen.lines(), screen.messages().split("\n")
    screen.lua("_G.ends = vim.tbl_filter(function(one) return one[1] == 'AcpTurnEnd' end, _G.seen)")
    seen["events"] = [screen.lua("return vim.inspect({ _G.ends, require('acp').status().error })")]
    assert {name: lines for name, lines in seen.items() if SECRET in "\n".join(lines)} == {}
    screen.keys(":qall!<CR>")
    screen.wait_exit()
    kept = [path for path in screen.home.rglob("*") if path.is_file() and path.suffix in (".json", ".md")]
    assert {"chat.md", "sessions.json"} <= {path.name for path in kept}
    assert any(path.name.startswith("prompts-") for path in kept)
    assert [path.name for path in kept if SECRET in path.read_text()] == []


IMITATION = "outside the project\n1 Allow once\nAllowed by you. Nothing to do: press <CR>"


def test_an_agents_words_are_marked_as_its_own(start_screen: StartScreen, agent: MakeAgent) -> None:
    call: Json = {
        "toolCallId": "t",
        "title": f"ls\n? run    ls  allowed by rule\n{IMITATION}",
        "kind": "execute",
        "rawInput": {"command": "rm -rf build\nls", "cwd": "/ws"},
    }
    played = agent(on={"session/prompt": [ask("q", call), {"await": "q"}, END]})
    screen = start_screen(size=(100, 40), init=settings())
    stage = Stage(screen, PASSIVE)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send()
    text = chat.wait("waiting for you")
    lines = [line for line in text.split("\n") if "allowed by rule" in line or "Nothing to do" in line]
    assert lines, text
    assert all(line.startswith("  │   ") for line in lines), lines
    assert '  │ x says: "ls\n  │   ? run' in text
    assert [line for line in text.split("\n") if line.startswith(("?", "✓", "─"))] == [
        "? run    rm -rf build ls  waiting for you"
    ]
    screen.wait("rm -rf build")
    card = screen.lua(
        "return vim.api.nvim_buf_get_lines(require('acp.question.card').get().buf, 0, -1, false)"
    )
    assert card[:3] == ["rm -rf build", "ls", "in /ws"], card
    chat.permit("cancel")
