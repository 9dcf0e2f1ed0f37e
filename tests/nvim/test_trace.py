"""``:AcpTrace`` with the real host: live while it is on the screen, walked, filtered, written."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from tests.agents.fixtures import MakeAgent
from tests.nvim.trouble import Chat, kill_host, ready_chat, settings_of
from tests.plugin import StartScreen, eventually

SECRET = "sk-hush-hush-123"
ENDS = {"reply": {"stopReason": "end_turn"}}

COUNT = """
_G.looks = 0
local host = require('acp.host')
local event = host.event
host.event = function(name, payload)
  _G.looks = _G.looks + (name == 'trace_more' and 1 or 0)
  return event(name, payload)
end
"""
"""Lua that counts how often the host is asked for what is new."""


def trace_lines(chat: Chat) -> list[str]:
    buffers = [each for each in chat.screen.api.list_bufs() if each.name.endswith("/trace")]
    return chat.screen.lines(buffers[0].number) if buffers else []


def until(chat: Chat, text: str, *, gone: bool = False) -> list[str]:
    """Wait until this stands in the trace, or does not."""
    eventually(lambda: any(text in line for line in trace_lines(chat)) != gone, message=chat.show)
    return trace_lines(chat)


def at(chat: Chat, text: str) -> None:
    """Put the cursor on the first line of the trace that has this."""
    lines = until(chat, text)
    row = next(n for n, line in enumerate(lines, 1) if text in line)
    chat.screen.api.win_set_cursor(0, [row, 0])


def test_a_trace_is_live_is_walked_and_filtered(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"session/prompt": [[{"say": "one "}, {"say": "two"}, ENDS]] * 3})
    chat = ready_chat(start_screen, x)
    chat.screen.command("AcpTrace")
    until(chat, "→ session/new")
    assert "session/prompt" not in "\n".join(trace_lines(chat))
    chat.screen.lua("require('acp').send('hello', { chat = 1 })")
    until(chat, "← session/prompt")
    assert chat.screen.api.win_get_cursor(0)[0] == len(trace_lines(chat))
    until(chat, "update agent_message_chunk x 2")

    at(chat, "→ session/prompt")
    chat.screen.keys("%")
    eventually(lambda: "← session/prompt" in chat.screen.api.get_current_line())
    chat.screen.keys("%")
    eventually(lambda: "→ session/prompt" in chat.screen.api.get_current_line())
    chat.screen.keys("s")
    until(chat, "session/prompt")
    eventually(lambda: "session s1 only" in chat.screen.text() or "only" in chat.screen.text())
    chat.screen.keys("s")
    eventually(lambda: " only" not in chat.screen.text())

    at(chat, "→ session/prompt")
    chat.screen.keys("K")
    eventually(lambda: '  "method": "session/prompt",' in chat.screen.lines())
    chat.screen.keys("q")
    eventually(lambda: chat.screen.api.get_current_buf().name.endswith("/trace"))
    chat.screen.keys("g?")
    chat.sees("from a request to its answer, and back", ":w file.jsonl")
    chat.screen.keys("q")

    # Elsewhere it stands still, and goes on when it comes back.
    eventually(lambda: chat.screen.api.get_current_buf().name.endswith("/trace"))
    chat.screen.lua(COUNT)
    chat.screen.command("tabprevious")
    shown = len(trace_lines(chat))
    chat.works("again")
    assert len(trace_lines(chat)) == shown
    assert chat.screen.lua("return _G.looks") <= 1  # the one that finds out
    chat.screen.command("tabnext")
    eventually(lambda: len(trace_lines(chat)) > shown)
    chat.screen.keys("q")
    eventually(lambda: len(chat.screen.api.list_tabpages()) == 1)
    chat.quiet()


def test_sessions_complete_and_an_unknown_agent_is_named(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = ready_chat(start_screen, agent())
    session = chat.status["session"]
    complete = chat.screen.funcs.getcompletion
    assert complete("AcpTrace x ", "cmdline") == [session]
    assert "x" in complete("AcpTrace ", "cmdline")
    assert complete(f"AcpTrace x {session} ", "cmdline") == []
    chat.screen.command(f"AcpTrace {session}")
    until(chat, "→ initialize")
    chat.sees("only")
    chat.screen.keys(":AcpTrace nobody<CR>")
    chat.sees("there is no agent 'nobody'")
    chat.screen.keys(":AcpTrace x nosuch<CR>")
    chat.sees(f"no message of a session 'nosuch'; there are: {session}")
    chat.screen.clear_messages()


def test_a_trace_is_written_masked(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    half = [{"say": f"your key is {SECRET[:7]}"}, {"say": f"{SECRET[7:]}, home"}, ENDS]
    x = agent({"session/prompt": [half]})
    server = {"name": "m", "command": "/bin/true", "env": {"PIN": "0815"}}
    settings = {**settings_of(x), "env": {"MY_KEY": SECRET}, "mcp_servers": [server]}
    chat = ready_chat(start_screen, settings)
    chat.submit(f"look at {chat.screen.home}/notes")
    chat.until("── done")
    chat.screen.command("AcpTrace")
    until(chat, "← session/prompt")
    target = tmp_path / "report 1.jsonl"
    chat.screen.command(f"w {str(target).replace(' ', chr(92) + ' ')}")
    eventually(target.exists)
    chat.sees("secrets masked, prompts and files not: look before you send it")
    text = target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    head, *rest = [json.loads(line) for line in text.splitlines()]
    assert (head["trace"], head["agent"], head["connections"][0]["protocol"]) == (1, "x", "acp-v1")
    assert head["neovim"].startswith("0.")
    assert not any(secret in text for secret in (SECRET, SECRET[7:], "0815", str(chat.screen.home)))
    assert "look at ~/notes" in text
    assert {each["dir"] for each in rest} >= {"in", "out"}
    assert [each["t"] for each in rest] == sorted(each["t"] for each in rest)

    # Only a file of its own, and only with a name; one that is there wants the bang.
    chat.screen.clear_messages()
    for command, said in (
        ("w", "name a file for the trace"),
        (f"1,2w {tmp_path}/part", "written as a whole"),
        (f"w {tmp_path}", "is a directory"),
        (f"w {tmp_path}/no/where", "no such file or directory"),
    ):
        chat.screen.keys(f":{command}<CR>")
        eventually(lambda said=said: said in chat.screen.text().lower(), message=chat.show)  # type: ignore[misc]
    assert not (tmp_path / "part").exists()
    target.write_text("old")
    chat.screen.keys(f":w {str(target).replace(' ', chr(92) + ' ')}<CR>")
    eventually(lambda: "E13" in chat.screen.text())
    assert target.read_text() == "old"
    chat.screen.command(f"w! {str(target).replace(' ', chr(92) + ' ')}")
    eventually(lambda: target.read_text() != "old")
    assert not chat.screen.api.get_option_value("modified", {"buf": 0})
    chat.screen.clear_messages()


def test_a_trace_of_a_host_that_is_gone_stays(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = ready_chat(start_screen, agent())
    chat.screen.command("AcpTrace")
    before = until(chat, "← session/new")
    kill_host(chat.screen)
    eventually(lambda: chat.screen.host()["state"] == "off")
    chat.screen.lua("require('acp.host').start()")
    eventually(lambda: chat.screen.host()["state"] == "ready")
    for name in ("trace_more", "trace_jump"):
        here = {"agent": "x", "buf": chat.screen.api.get_current_buf().number, "row": 1}
        chat.screen.lua("require('acp.host').event(...)", name, here)
    chat.sees("this message has no answer")  # the host has come so far
    assert trace_lines(chat) == before
    chat.screen.keys("q")
    chat.screen.clear_messages()


def test_the_bar_has_whole_hints_only(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = ready_chat(start_screen, agent(), size=(60, 24))
    chat.screen.command("AcpTrace")
    chat.sees(" trace of x ", "<CR> whole message", "g? keys")
