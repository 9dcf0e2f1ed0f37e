"""``:file`` and ``:saveas`` in buffers of ours: they keep their names, and the chat goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.questions import Desk, desk
from tests.plugin import StartScreen, eventually

BUFFERS = """
return vim.tbl_map(function(info) return { info.name, info.listed } end, vim.fn.getbufinfo())
"""


def wait_names(made: Desk, before: list[list[object]]) -> None:
    eventually(
        lambda: made.screen.lua(BUFFERS) == before,
        message=lambda: f"{made.screen.lua(BUFFERS)}, not {before}",
    )


def exported(made: Desk) -> list[str]:
    return [event["path"] for name, event in made.screen.lua("return _G.sent") if name == "export"]


@pytest.mark.parametrize("window", ["prompt", "transcript"])
@pytest.mark.parametrize("command", ["file notes.md", "keepalt file notes.md", "0file"])
def test_a_chat_keeps_its_name(start_screen: StartScreen, window: str, command: str) -> None:
    made = desk(start_screen)
    if window == "transcript":
        made.screen.keys("<C-w>k")
    before = made.screen.lua(BUFFERS)
    made.screen.command(command)
    wait_names(made, before)
    made.screen.wait("keeps its name; :w {name}.md writes the chat as Markdown")
    made.screen.lua("require('acp.chat.windows').open(require('acp.chat').get(1), true)")
    made.screen.keys("ihello<C-s>")
    eventually(lambda: "send" in [name for name, _ in made.screen.lua("return _G.sent")])


@pytest.mark.parametrize("window", ["prompt", "transcript"])
def test_saveas_writes_the_chat_and_no_more(start_screen: StartScreen, window: str, tmp_path: Path) -> None:
    made = desk(start_screen)
    if window == "transcript":
        made.screen.keys("<C-w>k")
    before = made.screen.lua(BUFFERS)
    path = str(tmp_path / "notes.md")
    for count in (1, 2):
        made.screen.command(f"saveas! {path}")
        wait_names(made, before)
        assert exported(made) == [path] * count
    assert "keeps its name" not in made.screen.text()
    assert made.screen.funcs.bufexists(path) == 0


def test_a_trace_keeps_its_name(start_screen: StartScreen, tmp_path: Path) -> None:
    made = desk(start_screen)
    made.screen.setup({"agents": {"claude": {"command": ["claude"]}}})
    made.screen.command("AcpTrace claude")
    before = made.screen.lua(BUFFERS)
    path = str(tmp_path / "report.jsonl")
    made.screen.command(f"saveas {path}")
    wait_names(made, before)
    sent = [event["path"] for name, event in made.screen.lua("return _G.sent") if name == "trace_write"]
    assert sent == [path]
    made.screen.command("file report")
    wait_names(made, before)
    made.screen.wait("keeps its name; :w file.jsonl writes the trace")
