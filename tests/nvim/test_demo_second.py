"""The demo agent in both versions of the protocol: the same screens, and what only version 2 has."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest
from tests.nvim.test_demo import TRANSCRIPT, answer, transcript
from tests.plugin import PATIENCE, Screen, StartScreen, eventually
from tools import demo
from tools.stage import build

TIMES = re.compile(r" (?:in|after) [\d.]+ m?s\b|  \d+ s$", re.M)

# What stands around a change: a patch of version 2 has as much of it as the agent put there.
AROUND = re.compile(r"  │ (?:@@|  )")


def opened(start_screen: StartScreen, folder: Path, protocol: str) -> Screen:
    """The demo's Neovim when its chat is ready."""
    stage = build(folder, 0.0, protocol=protocol)
    screen = start_screen(size=(110, 50), cwd=stage.project, init=stage.init, files=("greeting.txt",))
    screen.wait(demo.is_ready)
    return screen


def until_idle(screen: Screen, turns: int) -> None:
    """The turns have ended."""
    eventually(
        lambda: (
            len(re.findall(r"^── (?:done|cancelled|stopped)", transcript(screen), re.M)) == turns
            and screen.lua("return require('acp').status().state") == "idle"
        ),
        message=screen.text,
    )


def send(screen: Screen, text: str) -> None:
    screen.lua("require('acp').send(...)", text)


def played(start_screen: StartScreen, folder: Path, protocol: str) -> list[str]:
    """All of it, as one user does it: the lines of the transcript."""
    chat = opened(start_screen, folder, protocol)
    send(chat, "show me everything")
    demo.press(chat, "1", PATIENCE, lambda text: "Allow once" in text)
    demo.press(chat, "1", PATIENCE, lambda text: "Allow once" in text)
    until_idle(chat, 1)
    send(chat, "replace world by Neovim in greeting.txt")
    demo.press(chat, "3", PATIENCE)
    until_idle(chat, 2)
    send(chat, "run printf 'a\\nb\\n'; exit 3")
    answer(chat, "1")
    until_idle(chat, 3)
    send(chat, "plan: list files, then go to edit mode")
    until_idle(chat, 4)
    send(chat, "run sleep 600")
    chat.wait("Always allow this command")
    chat.command("AcpCancel")
    until_idle(chat, 5)
    send(chat, "run echo begun; sleep 600")
    answer(chat, "1")
    eventually(lambda: "│ begun" in transcript(chat), message=chat.text)
    chat.command("AcpCancel")
    until_idle(chat, 6)
    send(chat, "show a picture")
    until_idle(chat, 7)
    send(chat, "compact")
    until_idle(chat, 8)
    chat.command("AcpRestart")
    eventually(lambda: "resumed: demo remembers this chat" in transcript(chat), message=chat.text)
    send(chat, "call this chat The last")
    until_idle(chat, 9)
    assert chat.lua("return require('acp').status().title") == "The last"
    assert chat.messages().strip() == ""  # 0.10 puts empty lines there
    text = TIMES.sub("", transcript(chat)).replace(str(folder), "FOLDER").replace("ACP v2", "ACP v1")
    return [line for line in text.split("\n") if not AROUND.match(line)]


@pytest.mark.timeout(120)
def test_both_versions_look_the_same(start_screen: StartScreen, tmp_path: Path) -> None:
    one, two = (played(start_screen, tmp_path / version, version) for version in ("acp-v1", "acp-v2"))
    differs = "\n".join(difflib.unified_diff(one, two, lineterm=""))
    assert not differs, differs
    for wanted in ("plan  5 of 5", "✓ edit   README.md", "rejected by you", "cancelled by you"):
        assert wanted in "\n".join(two)


@pytest.mark.req("V2-62", "V2-63", "V2-66", "V2-73")
def test_work_in_the_background(start_screen: StartScreen, tmp_path: Path) -> None:
    """It goes on while something else is done, its end is said; ``x`` ends another one alone."""
    chat = opened(start_screen, tmp_path / "stage", "acp-v2")
    project = tmp_path / "stage/project"
    send(chat, "run echo begun; until [ -e stop ]; do sleep 0.05; done in the background")
    answer(chat, "1")
    until_idle(chat, 1)
    chat.wait("│ begun")
    chat.command("AcpCancel")
    send(chat, "help")
    until_idle(chat, 2)
    (project / "stop").touch()
    eventually(lambda: "In the background: `echo begun" in transcript(chat), message=chat.text)
    until_idle(chat, 3)
    assert "✓ run    echo begun" in transcript(chat)
    send(chat, "run sleep 600 in the background")
    answer(chat, "1")
    until_idle(chat, 4)
    buf = int(chat.lua(TRANSCRIPT))
    chat.api.set_current_win(chat.funcs.bufwinid(buf))
    chat.keys("<Esc>")
    chat.funcs.cursor(1, 1)
    chat.funcs.search("run    sleep 600", "w")
    chat.keys("x")
    eventually(lambda: "was ended by SIGTERM" in transcript(chat), message=chat.text)
    until_idle(chat, 5)
    assert "sleep 600  cancelled" in transcript(chat)


def test_a_conflict_loses_nothing(start_screen: StartScreen, tmp_path: Path) -> None:
    """An agent of version 2 writes on the disk by itself: the user's own text stays in the buffer."""
    chat = opened(start_screen, tmp_path / "stage", "acp-v2")
    buffer = int(chat.funcs.bufnr("greeting.txt"))
    send(chat, "demo conflict in greeting.txt 1")
    demo.press(chat, "1", PATIENCE)
    eventually(lambda: "a careless agent" in transcript(chat), message=chat.text)
    chat.api.buf_set_lines(buffer, 0, 0, False, ["my own line"])
    until_idle(chat, 1)
    chat.wait("changed on disk")
    assert chat.lines(buffer)[0] == "my own line"
    assert "A line of the demo agent." in (tmp_path / "stage/project/greeting.txt").read_text()
