"""Bad input: the demo agent answers in words and goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.demo.client import PACKAGES, DemoClient

REFUSED: dict[str, tuple[bytes, Any, int]] = {
    "not JSON": (b"hello\n", None, -32700),
    "not UTF-8": (b'{"id":5,"method":"\xff"}\n', None, -32700),
    "deep": (b"[" * 100_000 + b"\n", None, -32700),
    "a batch": (b"[]\n", None, -32600),
    "a number": (b"42\n", None, -32600),
    "unknown method": (b'{"jsonrpc":"2.0","id":"a","method":"_x/y"}\n', "a", -32601),
    "list as params": (b'{"jsonrpc":"2.0","id":6,"method":"session/new","params":[1]}\n', 6, -32602),
    "no version": (b'{"jsonrpc":"2.0","id":6,"method":"initialize"}\n', 6, -32602),
    "too early": (b'{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/"}}\n', 7, -32600),
    "no session": (b'{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":null}\n', 8, -32002),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_with_its_id(client: DemoClient, case: str) -> None:
    data, ident, code = REFUSED[case]
    client.write(data)
    answer = client.receive()
    assert answer["id"] == ident
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]
    assert client.start() == "demo-1"


@pytest.mark.parametrize(
    ("cwd", "words"),
    [("relative", "absolute"), ("/no/such/folder", "not a folder"), (None, "absolute"), (7, "absolute")],
)
def test_a_session_needs_a_folder(client: DemoClient, cwd: Any, words: str) -> None:
    client.start()
    answer = client.request("session/new", {"cwd": cwd, "mcpServers": []})
    assert answer["error"]["code"] == -32602
    assert words in answer["error"]["message"]


def test_blank_lines_late_answers_and_unknown_notifications_do_no_harm(client: DemoClient) -> None:
    client.write(b"\n  \r\n")
    client.send(id=99, result={})
    client.send(id=None, error={"code": 1, "message": "x"})
    client.send(method="$/progress", params={})
    client.send(method="session/cancel", params={"sessionId": "nobody"})
    client.send(method="session/cancel", params=[1])
    assert client.start() == "demo-1"


@pytest.mark.req("V1-04")
def test_lines_may_come_in_pieces_and_the_last_one_without_an_end(client: DemoClient) -> None:
    client.start()
    blocks = [{"type": "text", "text": "show “é🚀”"}, {"type": "nonsense"}, 5]
    request = {"id": 50, "method": "session/prompt", "params": {"sessionId": "demo-1", "prompt": blocks}}
    data = json.dumps(request, ensure_ascii=False).encode() + b"\n"
    for at in range(0, len(data), 7):
        client.write(data[at : at + 7])
    assert client.wait(50)["result"] == {"stopReason": "end_turn"}
    assert "There is no file `é🚀`" in client.said()


def test_a_prompt_that_is_no_list_is_refused(client: DemoClient) -> None:
    session = client.start()
    answer = client.request("session/prompt", {"sessionId": session, "prompt": "text"})
    assert answer["error"]["code"] == -32602


def test_the_command_line_explains_itself(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "acp_nvim.demo", *arguments]
        return subprocess.run(argv, cwd=PACKAGES, capture_output=True, text=True, check=False, input="")

    assert "--speed" in run("--help").stdout
    assert "demo agent" in run("--version").stdout
    assert run("--speed", "-1").returncode == 2


def test_the_demo_imports_nothing_but_the_standard_library() -> None:
    packages = f"import sys; sys.path.insert(0, {str(PACKAGES)!r})"
    code = f"{packages}; import acp_nvim.demo.__main__; print([m for m in sys.modules if 'anyio' in m])"
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"
