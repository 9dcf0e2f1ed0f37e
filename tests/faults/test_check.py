"""The checker sees each kind of fault it is there for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.faults.check import Outcome, Rows, problems

ASKED = {"pid": 1, "asked": "q1", "method": "fs/read_text_file", "clean": True, "path": None}
ANSWER = {"pid": 1, "in": {"jsonrpc": "2.0", "id": "q1", "result": {"content": ""}}}
START = {"pid": 1, "event": "start"}


def prompt(text: str) -> dict[str, Any]:
    params = {"sessionId": "s1", "prompt": [{"type": "text", "text": text}]}
    message = {"jsonrpc": "2.0", "id": text, "method": "session/prompt", "params": params}
    return {"pid": 1, "in": message}


def outcome(folder: Path, rows: Sequence[Any]) -> Outcome:
    log, workspace = folder / "log", folder / "home/ws"
    workspace.mkdir(parents=True)
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (workspace / "a.txt").write_text("a")
    return Outcome(Rows(log), workspace, {"a.txt": "a"}, sent=["one"], places={"transcript": "❯ one"})


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([START, ASKED, ANSWER, prompt("one")], []),
        ([START, ASKED, ASKED, ANSWER, ANSWER], []),
        ([START, ASKED, ANSWER, ANSWER], ["request q1: 2 answers, written 1 times"]),
        ([START, prompt("one"), {**prompt("one"), "in": {**prompt("one")["in"], "id": 2}}], ["sent 2 times"]),
        ([{"pid": 1, "in": {"id": "q1", "result": {}}}], ["no jsonrpc"]),
    ],
)
def test_what_the_agent_has_received(tmp_path: Path, rows: list[Any], wanted: list[str]) -> None:
    found = problems(outcome(tmp_path, rows))
    assert len(found) == len(wanted), found
    assert all(text in each for text, each in zip(wanted, found, strict=True))


def test_what_is_due(tmp_path: Path) -> None:
    made = outcome(tmp_path, [START, ASKED])
    assert made.rows.due() == ["q1"]
    with (tmp_path / "log").open("a") as file:
        file.write(json.dumps({"pid": 1, "lost": "cut"}) + "\n")
    assert made.rows.due() == []


def test_what_the_user_has(tmp_path: Path) -> None:
    made = outcome(tmp_path, [START])
    assert problems(made) == []
    assert problems(replace(made, places={})) == ["prompt 'one' is lost"]
    assert problems(replace(made, unsaved=[("mine", "its")])) == ["an unsaved buffer was 'mine', is 'its'"]
    assert problems(replace(made, opened=["q"], closed=[])) == ["question q was closed 0 times"]
    assert problems(replace(made, opened=["q"], closed=["q", "q"])) == ["question q was closed 2 times"]


@pytest.mark.parametrize("name", ["a.txt", "new.txt", "../out.txt"])
def test_files(tmp_path: Path, name: str) -> None:
    text = "<w1>\n</w1>\n"
    made = outcome(tmp_path, [START])
    path = made.workspace / name
    with (tmp_path / "log").open("a") as file:
        file.write(json.dumps({"pid": 1, "token": "w1", "path": str(path), "text": text}) + "\n")
    path.write_text(text)
    assert problems(made) == []
    path.write_text(text[:-3])
    (found,) = problems(made)
    assert f"{name} is not whole" in found
    path.unlink()
    (made.workspace / ".acp-1.tmp").write_text("")
    assert problems(made)[0] == "left behind: .acp-1.tmp"
