"""What a user writes with ``:w`` in a trace, a maintainer sees again, and nothing of theirs is touched."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.agents.aap_script import Call, text
from tests.agents.aap_server import AapServer
from tests.agents.fixtures import MakeAgent
from tests.nvim.aap_kit import chatting
from tests.nvim.trouble import Chat, ready_chat
from tests.plugin import ROOT, StartScreen, eventually, find_binary, none_left

pytestmark = pytest.mark.timeout(150)  # another Neovim and its host start

GREETING = "# greetings\nhello world\n"


def replayed(trace: Path, folder: Path) -> str:
    """The text that a replay without a screen writes; ``folder``: for what is temporary."""
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
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TMPDIR": str(folder)}
    done = subprocess.run([*argv, str(trace)], env=env, capture_output=True, text=True, check=False)
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


FORM = {"name": "Bob", "language": 2, "times": "2", "parts": [1, 3], "loud": True}
QUESTION = "return (require('acp.question.queue').of()[1] or {}).id"
FILL = """
local question = require('acp.question.queue').of()[1]
require('acp.host').event('form', { id = question.id, seq = 0, values = ..., send = true })
"""


@contextmanager
def demo(start_screen: StartScreen, _agent: MakeAgent, folder: Path, version: str = "1") -> Iterator[Chat]:
    """Allowed, rejected and cancelled edits, a form that is filled in, a command that fails."""
    (folder / "greeting.txt").write_text(GREETING)
    env = {"ACP_DEMO_SPEED": "0", "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-m", "acp_nvim.demo", "--protocol", version]
    settings = {"command": command, "env": env, "protocol": f"acp-v{version}"}
    chat = ready_chat(start_screen, settings, cwd=folder)
    turns = 0

    def say(prompt: str, *answers: str) -> None:
        nonlocal turns
        chat.submit(prompt)
        for answer in answers:
            asked = eventually(lambda: chat.screen.lua(QUESTION), message=chat.show)
            chat.screen.lua(FILL, FORM) if answer == "form" else chat.screen.command(answer)
            eventually(lambda asked=asked: chat.screen.lua(QUESTION) != asked)  # type: ignore[misc]
        turns += 1
        eventually(lambda: len(re.findall("^── ", chat.text, re.MULTILINE)) == turns, message=chat.show)
        chat.until_state("idle")

    say("replace world by Neovim in greeting.txt", "AcpPermit allow_once")
    say("create new.txt with hi", "AcpPermit reject_once")
    say("replace hello by bye in greeting.txt", "AcpCancel")
    say("run echo one two; exit 3", "AcpPermit allow_once")
    say("what is in @greeting.txt here?")
    say("ask me something", "form", "AcpPermit allow_once")
    yield chat


def demo_2(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> Any:
    """The same in version 2 of the protocol."""
    return demo(start_screen, agent, folder, "2")


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


@pytest.mark.parametrize("begin", [demo, demo_2, server])
def test_a_trace_is_replayed(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, short_tmp: Path, begin: Begin
) -> None:
    project, temporary = short_tmp / "project", short_tmp / "tmp"
    project.mkdir()
    temporary.mkdir()
    with begin(start_screen, agent, project) as chat:
        wanted = chat.text
        trace = written(chat, tmp_path)
    files = {each: each.read_text() for each in project.iterdir()}
    assert plain(replayed(trace, temporary)) == plain(wanted)
    assert {each: each.read_text() for each in project.iterdir()} == files
    assert list(temporary.iterdir()) == []


def test_a_replay_that_is_ended_leaves_nothing(short_tmp: Path) -> None:
    marker = f"ACP_TEST_ID={uuid.uuid4()}"
    name, value = marker.split("=")
    argv = [
        sys.executable,
        "-m",
        "acp_nvim.replay",
        "--speed",
        "0.01",
        "--nvim",
        find_binary(),
        "--headless",
        "-",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TMPDIR": str(short_tmp), name: value}
    trace = ROOT / "tests/replay/transcripts/gemini-long.jsonl"
    with subprocess.Popen([*argv, str(trace)], env=env, stderr=subprocess.PIPE, text=True) as process:
        eventually(lambda: list(short_tmp.glob("*/lives")), message="the agent does not start")
        process.terminate()
        assert process.wait(30) == 1
        assert process.stderr is not None
        assert process.stderr.read() == "replay: the replay did not come to its end\n"
    assert list(short_tmp.iterdir()) == []
    none_left(marker)


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (1, ["✗ x ended with exit code 0, before it was ready"]),
        (5, ["❯ hi", "(the recording ends here; something went on)"]),
        (6, ["❯ hi", "Hel", "(the recording ends here; something went on)"]),
        (8, ["❯ hi", "Hel", "── done"]),
    ],
)
def test_a_recording_that_ends_too_early(short_tmp: Path, kept: int, said: list[str]) -> None:
    """No agent came up, or the trace was written within a turn; a line of 3 MB is no trouble."""
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hel"}}
    huge = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t",
        "title": "big",
        "rawOutput": {"all": "x" * 3_000_000},
    }
    messages: list[tuple[str, Any]] = [
        ("out", {"id": 0, "method": "initialize", "params": {}}),
        ("in", {"id": 0, "result": {"protocolVersion": 1}}),
        ("out", {"id": 1, "method": "session/new", "params": {"cwd": "/x"}}),
        ("in", {"id": 1, "result": {"sessionId": "s"}}),
        (
            "out",
            {"id": 2, "method": "session/prompt", "params": {"prompt": [{"type": "text", "text": "hi"}]}},
        ),
        ("in", {"method": "session/update", "params": {"sessionId": "s", "update": chunk}}),
        ("in", {"method": "session/update", "params": {"sessionId": "s", "update": huge}}),
        ("in", {"id": 2, "result": {"stopReason": "end_turn"}}),
    ]
    lines: list[Any] = [{"trace": 1, "agent": "x"}]
    lines += [
        {"t": n, "dir": way, "msg": {"jsonrpc": "2.0", **each}} for n, (way, each) in enumerate(messages)
    ]
    trace = short_tmp / "report.jsonl"
    trace.write_text("".join(json.dumps(each) + "\n" for each in lines[: kept + 1]))
    text = replayed(trace, short_tmp)
    assert [line for line in said if line in text.split("\n")] == said, text
