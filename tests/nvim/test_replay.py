"""What a user writes with ``:w`` in a trace, a maintainer sees again, and nothing of theirs is touched."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.agents.aap_server import AapServer, Call, text
from tests.agents.fixtures import MakeAgent
from tests.nvim.aap_kit import chatting
from tests.nvim.trouble import Chat, ready_chat, settings_of
from tests.plugin import ROOT, StartScreen, eventually, find_binary

GREETING = "# greetings\nhello world\n"


def replayed(trace: Path, *more: str) -> str:
    """The text that a replay without a screen writes."""
    out = trace.with_suffix(".txt")
    argv = [
        sys.executable,
        "-m",
        "acp_nvim.replay",
        "--no-delay",
        "--nvim",
        find_binary(),
        "--headless",
        str(out),
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([*argv, *more, str(trace)], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return out.read_text(encoding="utf-8")


def plain(transcript: str) -> list[str]:
    """Without the folder, and without times."""
    return [re.sub(r"\d+(\.\d)? s\b", "0 s", line).rstrip() for line in transcript.strip().split("\n")[1:]]


def written(chat: Chat, folder: Path) -> Path:
    """The trace of a chat, as a user writes it."""
    trace = folder / "report.jsonl"
    chat.screen.command("AcpTrace")
    eventually(lambda: any("initialize" in line or "/meta" in line for line in chat.screen.lines()))
    chat.screen.command(f"w {trace}")
    eventually(trace.exists)
    return trace


@contextmanager
def demo(start_screen: StartScreen, _agent: MakeAgent, folder: Path) -> Iterator[Chat]:
    (folder / "greeting.txt").write_text(GREETING)
    env = {"ACP_DEMO_SPEED": "0", "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-m", "acp_nvim.demo"]
    chat = ready_chat(start_screen, {"command": command, "env": env}, cwd=folder)
    chat.submit("replace world by Neovim in greeting.txt")
    chat.until_state("waiting")
    chat.screen.command("AcpPermit allow_once")
    chat.until("── done")
    chat.submit("run echo one two")
    eventually(
        lambda: chat.status["state"] == "waiting" or chat.text.count("── done") == 2, message=chat.show
    )
    if chat.status["state"] == "waiting":
        chat.screen.command("AcpPermit allow_once")
    eventually(lambda: chat.text.count("── done") == 2, message=chat.show)
    yield chat


@contextmanager
def second(start_screen: StartScreen, agent: MakeAgent, _folder: Path) -> Iterator[Chat]:
    def update(**fields: Any) -> dict[str, Any]:
        return {"update": fields}

    hello = {"protocolVersion": 2, "info": {"name": "two", "version": "1"}, "capabilities": {"session": {}}}
    said = [
        {"reply": {"messageId": "u"}},
        update(sessionUpdate="state_update", state="running"),
        update(
            sessionUpdate="agent_message_chunk", messageId="m", content={"type": "text", "text": "Hello "}
        ),
        update(
            sessionUpdate="agent_message_chunk", messageId="m", content={"type": "text", "text": "there."}
        ),
        update(sessionUpdate="state_update", state="idle", stopReason="end_turn"),
    ]
    x = agent({"initialize": [{"reply": hello}], "session/prompt": [said]})
    chat = ready_chat(start_screen, {**settings_of(x), "protocol": "acp-v2"})
    chat.submit("hi")
    chat.until("Hello there.", "── done")
    yield chat


@contextmanager
def server(start_screen: StartScreen, _agent: MakeAgent, _folder: Path) -> Iterator[Chat]:
    asks = Call("1", "search", {"query": "cats"})
    served = AapServer([[text("I look."), asks], [text("Found ", "them.")]])
    with chatting(start_screen, served) as chat:
        chat.submit("look")
        chat.until_state("waiting")
        chat.screen.command("AcpPermit allow_once")
        chat.until("Found them.", "── done")
        yield chat


Begin = Callable[[StartScreen, MakeAgent, Path], Any]


@pytest.mark.parametrize("begin", [demo, second, server])
def test_a_trace_is_replayed(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, short_tmp: Path, begin: Begin
) -> None:
    before = set(short_tmp.parent.glob("acp-replay-*"))
    project = short_tmp / "project"
    project.mkdir()
    with begin(start_screen, agent, project) as chat:
        wanted = chat.text
        trace = written(chat, tmp_path)
    files = {each: each.read_text() for each in project.iterdir()}
    assert plain(replayed(trace)) == plain(wanted)
    assert {each: each.read_text() for each in project.iterdir()} == files
    assert set(short_tmp.parent.glob("acp-replay-*")) <= before
