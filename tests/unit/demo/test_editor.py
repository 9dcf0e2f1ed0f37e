"""What the demo over HTTP does with tools of the editor: its scripts, without a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from acp_nvim.demo.aap_session import CLIENT_TOOLS, META
from acp_nvim.demo.editor import Tools, script_of
from acp_nvim.demo.requests import parse

SERVED = [tool["name"] for tool in META["agents"][0]["tools"]]
#: As the editor names them for this server.
DECLARED = [f"editor_{name}" if name in SERVED else name for name in CLIENT_TOOLS]

Answer = Callable[[str, dict[str, Any]], str]


def play(prompt: str, answer: Answer, declared: list[str] | None = None) -> list[str]:
    """What it says, and the calls it makes."""
    script = script_of(parse(prompt), Tools(DECLARED if declared is None else declared, SERVED))
    assert script is not None
    did: list[str] = []
    result: str | None = None
    while True:
        try:
            step = next(script) if result is None else script.send(result)
        except StopIteration:
            return did
        result = None
        if isinstance(step, str):
            did.append(step)
        else:
            did.append(f"{step['name']} {step['input']}")
            result = answer(step["name"], step["input"])


def project(name: str, given: dict[str, Any]) -> str:
    files = {"a.md": "nothing\n", "b.txt": "they recieve it\n", "c.py": "recieve\n"}
    match name:
        case "editor_list_files":
            return "\n".join([".env", *files, "(there are more: ask for a folder)"])
        case "editor_read_file":
            return files[given["path"]]
        case "run_command":
            return "exit code 0\n```\n"
    return "done"


def test_the_tour() -> None:
    did = play("tour", project)
    assert [each for each in did if each.split(" ")[0] in DECLARED] == [
        "open_buffers {}",
        "editor_list_files {}",
        "editor_read_file {'path': 'a.md'}",
        "editor_read_file {'path': 'b.txt'}",
        "edit_file {'path': 'b.txt', 'old_text': 'recieve', 'new_text': 'receive', 'replace_all': True}",
        "run_command {'command': ['ls', '-l']}",
    ]
    assert "It is over:\n\n~~~~\nexit code 0\n```\n~~~~\n\n" in did


def test_the_tour_of_a_project_without_a_slip() -> None:
    did = play("tour", lambda name, given: "demo-note-1.md" if "list" in name else "(the file is empty)")
    assert any(each.startswith("write_file {'path': 'demo-note-2.md'") for each in did)


@pytest.mark.parametrize(
    ("prompt", "call"),
    [
        (
            "replace one by two in a.md",
            "edit_file {'path': 'a.md', 'old_text': 'one', 'new_text': 'two'}",
        ),
        ("create n.md with some text", "write_file {'path': 'n.md', 'text': 'some text\\n'}"),
        ("run ls -l 'a b'", "run_command {'command': ['ls', '-l', 'a b']}"),
        ("run ls | wc", "run_command {'command': ['sh', '-c', 'ls | wc']}"),
        ("run echo 'a", "run_command {'command': ['sh', '-c', \"echo 'a\"]}"),
    ],
)
def test_single_requests(prompt: str, call: str) -> None:
    assert play(prompt, lambda *_: "It failed: no") == [
        call,
        "Your editor says:\n\n```\nIt failed: no\n```\n\n",
    ]


@pytest.mark.parametrize("prompt", ["tour", "run ls", "create a with b", "replace a by b in c"])
def test_without_the_tools_it_says_what_to_set(prompt: str) -> None:
    (said,) = play(prompt, project, SERVED)
    assert "client_tools = { '" in said
    assert ":AcpRestart" in said


@pytest.mark.parametrize("prompt", ["help", "list", "show a.md", "sing"])
def test_the_rest_is_the_servers(prompt: str) -> None:
    assert script_of(parse(prompt), Tools(DECLARED, SERVED)) is None
