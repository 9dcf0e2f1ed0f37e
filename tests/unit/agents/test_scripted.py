"""The scripted agent says what its script says: other tests rely on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import BAD, MakeAgent, ScriptedAgent
from tests.plugin.poll import eventually
from tests.plugin.processes import kill

Json = dict[str, Any]


class Wire:
    """The client's end of the pipes."""

    def __init__(self, *argv: str) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def send(self, **message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def line(self) -> bytes:
        assert self.process.stdout
        return self.process.stdout.readline()

    def message(self) -> Json:
        found: Json = json.loads(self.line())
        return found

    def end(self) -> tuple[bytes, bytes, int]:
        """Close its input; what it wrote on both outputs, and its exit status."""
        out, err = self.process.communicate(timeout=15)
        return out, err, self.process.returncode

    def hang_up(self) -> None:
        """Close its input."""
        if self.process.stdin:
            self.process.stdin.close()
            self.process.stdin = None  # else communicate() would flush it


@pytest.fixture
def agent(unchecked_agent: MakeAgent) -> MakeAgent:
    """What these tests say to it by hand is not always ACP."""
    return unchecked_agent


@pytest.fixture
def wire() -> Iterator[Callable[[ScriptedAgent], Wire]]:
    started: list[Wire] = []

    def start(agent: ScriptedAgent) -> Wire:
        started.append(Wire(*agent.command))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.hang_up()
        for pipe in (one.process.stdout, one.process.stderr):
            assert pipe
            pipe.close()
        one.process.wait(15)


def test_without_a_script_it_is_a_correct_agent(agent: MakeAgent, wire: Callable[..., Wire]) -> None:
    made = agent()
    client = wire(made)
    client.send(id=0, method="initialize", params={"protocolVersion": 1})
    assert client.message()["result"]["protocolVersion"] == 1
    for number in (1, 2):
        client.send(id=number, method="session/new", params={"cwd": "/ws", "mcpServers": []})
        assert client.message()["result"] == {"sessionId": f"s{number}"}
    client.send(id="p", method="session/prompt", params={"sessionId": "s1", "prompt": []})
    assert client.message() == {"jsonrpc": "2.0", "id": "p", "result": {"stopReason": "end_turn"}}
    assert client.end()[2] == 0
    assert made.wait("session/new", 2)["id"] == 2
    assert [event["code"] for event in made.events("exit")] == [0]


def test_plays_follow_each_other_and_names_are_filled_in(agent: MakeAgent, wire: Callable[..., Wire]) -> None:
    first = [{"say": "$text in $cwd"}, {"error": {"code": -32000, "message": "log in, $session"}}]
    later = [{"loop": 2, "do": [{"say": "{i}"}]}, {"reply": "$id"}]
    client = wire(agent({"session/prompt": [first, later]}))
    client.send(id=1, method="session/new", params={"cwd": "/ws", "mcpServers": []})
    client.message()
    prompt = {"sessionId": "s7", "prompt": [{"type": "text", "text": "hi"}]}
    client.send(id=2, method="session/prompt", params=prompt)
    said = client.message()["params"]
    assert said["sessionId"] == "s7"
    assert said["update"]["content"]["text"] == "hi in /ws"
    assert client.message()["error"] == {"code": -32000, "message": "log in, s7"}
    for ident in ("3", 4):
        client.send(id=ident, method="session/prompt", params=prompt)
        assert [client.message()["params"]["update"]["content"]["text"] for _ in "12"] == ["1", "2"]
        assert client.message()["result"] == ident


def test_it_asks_and_waits(agent: MakeAgent, wire: Callable[..., Wire]) -> None:
    ask = {"request": "session/request_permission", "id": "q", "params": {"sessionId": "$session"}}
    cancelled = [{"wait": "session/cancel"}, {"send": {"cancelled": True}}]
    made = agent({"session/prompt": [ask, {"await": "q"}, {"reply": {}}, *cancelled]})
    client = wire(made)
    client.send(id=1, method="session/prompt", params={"sessionId": "s1"})
    assert client.message()["params"] == {"sessionId": "s1"}
    client.send(id="q", result={"x": 1})
    assert client.message()["id"] == 1
    client.send(method="session/cancel")
    assert client.message() == {"cancelled": True}
    assert made.response("q")["result"] == {"x": 1}
    assert len(made.responses("q")) == 1


def test_bytes_come_as_written(agent: MakeAgent, wire: Callable[..., Wire]) -> None:
    start = [
        {"raw": "é no JSON\n"},
        {"hex": "ff00", "times": 3},
        {"split": {"text": "🚀"}, "at": [11, 12], "ms": 1},
        {"send": "\ud83d"},
        {"stderr": "x" * 1000, "times": 300},
        {"raw": "no end"},
    ]
    client = wire(agent(start=start))
    out, err, code = client.end()
    assert out == "é no JSON\n".encode() + b"\xff\0" * 3 + '{"text": "🚀"}\n"\\ud83d"\nno end'.encode()
    assert len(err) == 300_000
    assert code == 0


def test_it_ends_as_told(agent: MakeAgent, wire: Callable[..., Wire]) -> None:
    assert wire(agent(start=[{"exit": 3}])).end()[2] == 3
    assert wire(agent(start=[{"kill": "SIGKILL"}])).end()[2] == -9
    assert wire(agent(eof=[{"exit": 4}])).end()[2] == 4
    assert wire(agent(start=[{"nonsense": 1}])).end()[2] == 70


@pytest.mark.parametrize(("sigterm", "code"), [("default", -15), (5, 5), ("ignore", -9)])
def test_signals(agent: MakeAgent, wire: Callable[..., Wire], sigterm: Any, code: int) -> None:
    made = agent(sigterm=sigterm, eof=[])
    client = wire(made)
    eventually(lambda: made.events("start"))
    client.process.send_signal(signal.SIGTERM)
    if sigterm == "ignore":
        client.hang_up()
        eventually(lambda: made.events("eof"))
        assert client.process.poll() is None
        client.process.kill()
    assert client.process.wait(15) == code


def test_children(agent: MakeAgent, wire: Callable[..., Wire]) -> None:
    made = agent(start=[{"fork": 600}, {"fork": 600, "session": True, "stubborn": True}])
    client = wire(made)
    forks = eventually(lambda: made.events("fork")[1:] and made.events("fork"))
    try:
        groups = [os.getsid(int(fork["pid"])) for fork in forks]
        assert groups[0] == os.getsid(client.process.pid)
        assert groups[1] == forks[1]["pid"]
    finally:
        for fork in forks:
            kill(int(fork["pid"]), signal.SIGKILL)


@pytest.mark.parametrize("program", sorted(path.name for path in BAD.iterdir() if path.is_file()))
def test_bad_agents_can_be_started_or_not(program: str) -> None:
    runs = program != "not_executable.sh"
    assert os.access(Path(BAD, program), os.X_OK) == runs
