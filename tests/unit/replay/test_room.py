"""Nothing of a replay leaves its folder, whatever the recording says."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.replay.recording import Entry, Json
from acp_nvim.replay.room import Room


def room(folder: Path, recorded: str | None = "/home/mona/app") -> Room:
    made = Room.named(folder, recorded)
    made.project.mkdir(parents=True, exist_ok=True)
    return made


def incoming(method: str, ident: Any = 1, **params: Any) -> Entry:
    return Entry(0, "in", {"jsonrpc": "2.0", "id": ident, "method": method, "params": params})


def answer(ident: Any, **result: Any) -> Entry:
    return Entry(0, "out", {"jsonrpc": "2.0", "id": ident, "result": result})


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/home/mona/app/src/a.py", "src/a.py"),
        ("/home/mona/app", "outside"),
        ("/home/mona/app/../../../etc/passwd", "outside"),
        ("/home/mona/application/a", "outside/home/mona/application/a"),
        ("/etc/passwd", "outside/etc/passwd"),
        ("../../x", "outside"),
        ("a/b", "a/b"),
        ("~/.ssh/config", "~/.ssh/config"),
        ("", "outside"),
    ],
)
def test_paths(tmp_path: Path, path: str, inside: str) -> None:
    made = room(tmp_path)
    assert made.inside(path).startswith(f"{made.project}/{inside}")


@given(st.text(st.sampled_from("./~ab\\\x00 "), max_size=30))
def test_no_path_leaves_the_project(path: str) -> None:
    made = Room.named(Path("/scratch/replay"), "/a")
    found = Path(made.inside(path))
    assert made.project in found.parents
    assert ".." not in found.parts


def test_messages_of_the_agent_are_brought_inside(tmp_path: Path) -> None:
    made = room(tmp_path)
    change = {"type": "diff", "path": "/etc/hosts", "oldText": "a", "newText": "b"}
    update = {"toolCallId": "t", "title": "in /home/mona/app/x", "content": [change]}
    found = made.request([], incoming("session/update", update=update))["params"]["update"]
    assert found["title"] == f"in {made.project}/x"
    assert found["content"][0]["path"] == f"{made.project}/outside/etc/hosts"
    assert (
        made.out_of(f"{made.project}/outside/etc/hosts and {made.project}/x")
        == "/etc/hosts and /home/mona/app/x"
    )


def test_the_files_the_agent_found_are_there(tmp_path: Path) -> None:
    made = room(tmp_path)
    given = {"type": "resource", "resource": {"uri": "file:///home/mona/app/b%20c.py", "text": "two\n"}}
    entries = [
        incoming("fs/read_text_file", 1, path="/home/mona/app/src/a.py"),
        answer(1, content="one\n"),
        incoming("fs/read_text_file", 2, path="/home/mona/app/src/a.py/b"),
        answer(2, content="a file where a folder is needed"),
        incoming("fs/read_text_file", 3, path="/etc/passwd"),
        answer(3, content="secret"),
        Entry(0, "out", {"method": "session/prompt", "params": {"prompt": [given, {"type": "text"}, 1]}}),
    ]
    made.furnish(entries)
    assert (made.project / "src/a.py").read_text() == "one\n"
    assert (made.project / "b c.py").read_text() == "two\n"
    assert (made.project / "outside/etc/passwd").read_text() == "secret"


@pytest.mark.parametrize(
    ("ends", "code"), [({"exitStatus": {"exitCode": 3}}, 3), ({"exitStatus": {"signal": "KILL"}}, 1)]
)
def test_no_recorded_command_is_run(tmp_path: Path, ends: Json, code: int) -> None:
    made = room(tmp_path / "it's")
    marker = tmp_path / "run"
    create = incoming(
        "terminal/create", 1, command=f"touch {marker}; rm -rf x", args=["-c", f"touch {marker}"]
    )
    entries = [
        create,
        answer(1, terminalId="t1"),
        incoming("terminal/output", 2, terminalId="t1"),
        answer(2, output="all\n  $HOME 'quoted'\n", truncated=False, **ends),
    ]
    found = made.request(entries, create)["params"]
    assert set(found) == {"command", "args", "cwd"}
    done = subprocess.run([found["command"], *found["args"]], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("all\n  $HOME 'quoted'\n", code)
    assert not marker.exists()
    assert Path(found["command"]).name == "touch"
    assert tmp_path in Path(found["command"]).parents
