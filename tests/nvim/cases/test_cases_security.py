"""Case C39, on every way by which an agent's text reaches the screen, the terminal or the user's plugins."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, WATCH, Chat, Stage, ask, diff, update
from tests.plugin import StartNvim, StartScreen, eventually, find_binary

EVIL = "done\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\u202e\x9b31m\r\n\x00"
"""Would set the clipboard, clear the screen, turn the direction of writing, and break a row."""
HARMFUL = {chr(code) for code in (*range(32), *range(127, 160))} | set("\u202a\u202b\u202c\u202d\u202e")

OPTIONS = [
    {"optionId": EVIL, "name": f"Allow {EVIL}", "kind": "allow_once"},
    {"optionId": "no", "name": f"Reject {EVIL}", "kind": "reject_once"},
]
COMMANDS = [{"name": f"do{EVIL}", "description": EVIL, "input": {"hint": EVIL}}]
CALL = {
    "toolCallId": "t1",
    "title": f"title {EVIL}",
    "kind": "execute",
    "locations": [{"path": f"/ws/{EVIL}"}],
    "rawInput": {"command": f"run {EVIL}", EVIL: EVIL},
}
TURN: list[Json] = [
    update("session_info_update", title=EVIL),
    update("available_commands_update", availableCommands=COMMANDS),
    update("plan", entries=[{"content": EVIL, "priority": "high", "status": "pending"}]),
    update("agent_thought_chunk", content={"type": "text", "text": EVIL}),
    {"say": f"text {EVIL}```{EVIL}\n{EVIL}\n```\n"},
    update(
        "tool_call",
        toolCallId="t2",
        title=EVIL,
        kind="edit",
        content=[diff(f"/ws/{EVIL}", EVIL, f"{EVIL}\n{EVIL}")],
    ),
    update(
        "tool_call",
        toolCallId="t3",
        title=EVIL,
        kind="fetch",
        content=[{"type": "content", "content": {"type": "resource_link", "uri": EVIL, "name": EVIL}}],
    ),
    {"send": {"jsonrpc": "2.0", "method": f"_x/{EVIL}", "params": {"text": EVIL}}},
    ask(39, CALL, OPTIONS),
    {"await": 39},
]
EXPECT: dict[str, list[Json]] = {
    "error": [{"error": {"code": 7, "message": f"broken {EVIL}", "data": {"details": EVIL}}}],
    "reason": [{"reply": {"stopReason": f"why {EVIL}"}}],
    "crash": [{"stderr": f"last words {EVIL}\n"}, {"exit": 9}],
    "end": [END],
}
INFO = {
    "reply": {
        "protocolVersion": 1,
        "agentInfo": {"name": EVIL, "title": f"Agent {EVIL}", "version": EVIL},
        "agentCapabilities": {},
    }
}
NEW = {
    "reply": {
        "sessionId": "$session",
        "modes": {"currentModeId": "m", "availableModes": [{"id": "m", "name": f"mode {EVIL}"}]},
    }
}


def harmful(value: Any, where: str = "") -> list[str]:
    """The places in a value whose text could do harm. Ids and paths must stay what they are."""
    if isinstance(value, str):
        return [f"{where}: {value!r}"] if HARMFUL & set(value) else []
    if isinstance(value, dict):
        parts = [
            harmful(item, f"{where}.{key}")
            for key, item in value.items()
            if key not in ("id", "option", "paths")
        ]
        return [place for part in parts for place in part]
    if isinstance(value, list):
        return [place for n, item in enumerate(value) for place in harmful(item, f"{where}[{n}]")]
    return []


FLOAT = """
for _, win in ipairs(vim.api.nvim_list_wins()) do
  if vim.api.nvim_win_get_config(win).relative ~= '' then
    vim.api.nvim_set_current_win(win)
    return vim.api.nvim_buf_get_lines(0, 0, -1, false)
  end
end
return {}
"""

PICKER = """
_G.picked = {}
vim.ui.select = function(items, opts, on_choice)
  table.insert(_G.picked, { opts.prompt, vim.tbl_map(opts.format_item, items) })
  on_choice(items[1], 1)
end
"""
TITLES = """
vim.o.title = true
vim.o.titlestring = "%{luaeval('require([[acp]]).status().title or [[-]]')}"
vim.o.statusline = "%{%v:lua.require'acp'.statusline()%}"
"""


@pytest.mark.parametrize("end", EXPECT)
def test_c39_no_text_of_the_agent_can_do_harm(end: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    on = {"session/prompt": [*TURN, *EXPECT[end]], "initialize": [INFO], "session/new": [NEW]}
    played = agent(on=on)
    screen = start_screen(size=(150, 40), init=WATCH + PICKER + TITLES)
    titles: list[str] = []
    setattr(screen, "_on_set_title", titles.append)  # noqa: B010
    stage = Stage(screen, {})
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send()
    eventually(lambda: chat.events("AcpTurnEnd"), message=chat.text)
    assert played.responses(39)[0]["result"]["outcome"]["optionId"] == EVIL, "ids go back as they came"
    screen.wait("52;c")
    eventually(lambda: screen.pump() and any("52;c" in title for title in titles))
    shown = {
        "transcript": screen.lines(chat.buf),
        "title": titles,
        "winbar": chat.winbar(),
        "status": chat.status(),
        "events": [data for _, data in screen.lua("return _G.seen")],
        "picker": screen.lua("return _G.picked"),
        "completion": screen.lua("return require('acp.chat.complete').commands_for(..., 'd')", chat.n),
        "screen": screen.rows(),
        "trace": chat.trace().split("\n"),
        "messages": screen.messages().split("\n"),
        "details": details(chat),
    }
    assert harmful(shown) == []
    screen.command("checkhealth acp")
    assert harmful(screen.lines()) == []


def details(chat: Chat) -> list[str]:
    """What K shows on the rows of tool calls."""
    screen, shown = chat.screen, []
    screen.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])", chat.buf)
    for number, line in enumerate(screen.lines(chat.buf), 1):
        if line[:1] in "✓✗–●" and line[2:6] in ("run ", "edit", "fetc"):
            screen.command(f"normal! {number}G")
            screen.keys("K")
            shown += eventually(lambda: screen.lua(FLOAT), message=f"no details of {line!r}")
            screen.keys("q")
            eventually(lambda: not screen.lua(FLOAT))
    assert len(shown) > 3, chat.text()
    return shown


@contextlib.contextmanager
def terminal(server: str, size: tuple[int, int]) -> Iterator[Callable[[bytes], bool]]:
    """A terminal with Neovim's own interface, attached to a server; tells whether it has got some bytes."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    argv = [find_binary(), "--clean", "--server", server, "--remote-ui"]
    env = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    process = subprocess.Popen(argv, env=env, stdin=its, stdout=its, stderr=its, start_new_session=True)
    os.close(its)
    got = bytearray()

    def shows(wanted: bytes) -> bool:
        while select.select([ours], [], [], 0.01)[0]:
            try:
                got.extend(os.read(ours, 65536))
            except OSError:  # Linux says EIO when the other end is gone
                break
        return wanted in got

    try:
        yield shows
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_c39_what_reaches_a_real_terminal(start_nvim: StartNvim, agent: MakeAgent, short_tmp: Path) -> None:
    played = agent(on={"session/prompt": [*TURN, END], "initialize": [INFO], "session/new": [NEW]})
    editor = start_nvim(init=WATCH + TITLES)
    server = editor.lua("return vim.fn.serverstart(...)", str(short_tmp / "s"))
    with terminal(server, (150, 40)) as shows:
        settings = {"permission": {"open": "never"}, "notify": {"question": "notify"}}
        editor.setup({**settings, "agents": {"x": played.settings}})
        editor.command("AcpChat x")
        editor.lua("require('acp.chat.windows').close(require('acp.chat').current())")
        editor.lua("require('acp').send('go')")
        eventually(lambda: shows(b"wants to run"), message=editor.messages)
        editor.command("AcpChat")  # 0.10 makes the title anew when another window is entered, not by itself
        eventually(lambda: shows(b"52;c;ZXZpbA"), message="the title is shown")
        eventually(lambda: shows(b"run done"))
        editor.command("AcpPermit 1")
        played.response(39)
        eventually(lambda: shows(b"no result"), message="the end of the turn")
        assert not shows(b"\x1b]52;c;ZXZpbA")
        assert not shows(b"\x07\x1b]52")
        assert not shows("\u202e".encode())
