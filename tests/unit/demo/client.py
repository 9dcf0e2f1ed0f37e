"""A bare client for the demo agent: JSON lines over its pipes, everything received is kept."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

PACKAGES = Path(__file__).resolve().parents[3] / "python"
PATIENCE = 15.0  # seconds


class DemoClient:
    """One demo agent, started in the constructor. ``answer`` is the option chosen for permission requests.

    ``files`` None: the client offers no file access; else it offers both and these are its open buffers.
    ``offers``: what else ``clientCapabilities`` has. A command in a terminal is only noted, and has
    ended at once if there is ``exits``. ``filled`` is the answer to forms and pages.
    """

    def __init__(
        self,
        cwd: Path,
        *arguments: str,
        files: dict[str, str] | None = None,
        offers: Json | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.cwd = cwd
        self.files = files
        self.offers = offers or {}
        self.exits: Json | None = {"exitCode": 0, "signal": None}
        self.written = "one\ntwo\n"
        self.terminals: list[Json] = []  # requests, with their method
        self.filled: Json = {"action": "cancel"}
        self.elicited: list[Json] = []
        self.answer: str | None = "allow"
        self.received: list[Json] = []
        self.permissions: list[Json] = []
        self.on_message: Callable[[Json], None] = lambda message: None
        self.process = subprocess.Popen(
            [sys.executable, "-m", "acp_nvim.demo", "--speed", "0", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGES), "LANG": "C.UTF-8", **(env or {})},
            start_new_session=True,
        )
        self._buffer = b""
        self._next_id = 0

    def hello(self) -> Json:
        """Shake hands and return what the agent says of itself."""
        files = {"fs": {"readTextFile": True, "writeTextFile": True}} if self.files is not None else {}
        offered = {**files, **self.offers}
        said = self.request("initialize", {"protocolVersion": 1, "clientCapabilities": offered})
        result: Json = said["result"]
        return result

    def start(self) -> str:
        """Shake hands and return the id of a new session."""
        self.hello()
        return str(self.new()["result"]["sessionId"])

    def new(self) -> Json:
        return self.request("session/new", {"cwd": str(self.cwd), "mcpServers": []})

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, **message: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def begin(self, method: str, params: Json) -> int:
        """Send a request without waiting and return its id."""
        self._next_id += 1
        self.send(id=self._next_id, method=method, params=params)
        return self._next_id

    def request(self, method: str, params: Json) -> Json:
        return self.wait(self.begin(method, params))

    def prompt(self, session: str, text: str, *attached: Json) -> Json:
        """Play a turn and return the answer to its prompt."""
        blocks = [{"type": "text", "text": text}, *attached]
        return self.request("session/prompt", {"sessionId": session, "prompt": blocks})

    def wait(self, ident: int) -> Json:
        """Take in messages, answering requests, until the response ``ident`` comes."""
        return self.until(lambda message: message.get("id") == ident and "method" not in message)

    def until(self, wanted: Callable[[Json], bool]) -> Json:
        """Take in messages, answering requests, until ``wanted`` says so of one."""
        while True:
            message = self.receive()
            if message.get("method") == "session/request_permission":
                self.permissions.append(message["params"])
                if self.answer is not None:
                    self.choose(message["id"], self.answer)
            elif str(message.get("method")).startswith("terminal/"):
                self._serve_terminal(message)
            elif message.get("method") == "elicitation/create":
                self.elicited.append(message["params"])
                self.send(id=message["id"], result=self.filled)
            elif "method" in message and "id" in message:
                self._serve_file(message)
            self.on_message(message)
            if wanted(message):
                return message

    def choose(self, ident: Any, option: str) -> None:
        """Answer a permission request; ``cancelled`` is the other outcome."""
        selected = {"outcome": "selected", "optionId": option}
        outcome = {"outcome": "cancelled"} if option == "cancelled" else selected
        self.send(id=ident, result={"outcome": outcome})

    def _serve_terminal(self, message: Json) -> None:
        method, params = message["method"].removeprefix("terminal/"), message["params"]
        assert self.offers.get("terminal"), "the agent uses what was not offered"
        self.terminals.append({"method": method, **params})
        results: dict[str, Json | None] = {
            "create": {"terminalId": "t1"},
            "wait_for_exit": self.exits,
            "output": {"output": self.written, "truncated": False, "exitStatus": self.exits},
            "release": {},
        }
        if results[method] is not None:
            self.send(id=message["id"], result=results[method])

    def _serve_file(self, message: Json) -> None:
        params = message["params"]
        name = str(Path(params["path"]).relative_to(self.cwd))
        assert self.files is not None, f"the agent uses what was not offered: {message['method']}"
        if message["method"] == "fs/write_text_file":
            self.files[name] = params["content"]
            self.send(id=message["id"], result=None)
        elif name in self.files:
            self.send(id=message["id"], result={"content": self.files[name]})
        else:
            self.send(id=message["id"], error={"code": -32002, "message": f"no {name}"})

    def receive(self) -> Json:
        """The next message. AssertionError when none comes."""
        assert self.process.stdout
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"no message; the last ones: {self.received[-5:]}"
            data = os.read(self.process.stdout.fileno(), 65536)
            assert data, f"the agent has ended; the last messages: {self.received[-5:]}"
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        message: Json = json.loads(line)
        self.received.append(message)
        return message

    def updates(self, kind: str = "") -> list[Json]:
        """All updates so far, or those of one kind."""
        found = [m["params"]["update"] for m in self.received if m.get("method") == "session/update"]
        return [update for update in found if not kind or update["sessionUpdate"] == kind]

    def said(self) -> str:
        """The text of all answers so far."""
        return "".join(u["content"].get("text", "") for u in self.updates("agent_message_chunk"))

    def story(self) -> list[str]:
        """What happened, shortened: kinds of updates (repeated ones once), tool calls with their states."""
        told: list[str] = []
        for message in self.received:
            if message.get("method") == "session/request_permission":
                told.append("ask")
            elif message.get("method") == "session/update":
                update = message["params"]["update"]
                kind = update["sessionUpdate"]
                names = {"agent_message_chunk": "say", "agent_thought_chunk": "think"}
                if kind == "tool_call":
                    entry = f"{update['kind']} {update['status']}"
                elif kind == "tool_call_update":
                    entry = update.get("status", "output")
                else:
                    entry = names.get(kind, kind)
                if told[-1:] != [entry]:
                    told.append(entry)
        return told

    def close(self) -> int:
        """Close the agent's input and return its exit status."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
