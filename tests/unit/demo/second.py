"""A client for the demo agent that speaks version 2, and holds every message against the schema."""

from __future__ import annotations

import fcntl
import struct
import termios
from base64 import b64decode
from pathlib import Path
from typing import Any

from tests.conformance.definitions import STABLE_V2, Side
from tests.unit.demo.client import DemoClient, Json

SIDES: tuple[Side, ...] = ("client", "protocol")
OFFERS: Json = {"auth": {"terminal": {}}, "elicitation": {"form": {}, "url": {}}}


class Second(DemoClient):
    """Answers as its base does. ``offers`` are the ``capabilities``; None: all that there are."""

    def __init__(self, cwd: Path, *arguments: str, offers: Json | None = None, version: str = "2") -> None:
        super().__init__(cwd, "--protocol", version, *arguments, offers=OFFERS if offers is None else offers)
        self._asked: dict[int, str] = {}

    def hello(self) -> Json:
        params = {"protocolVersion": 2, "info": {"name": "test", "version": "1"}, "capabilities": self.offers}
        result: Json = self.request("initialize", params)["result"]
        return result

    def new(self) -> Json:
        return self.request("session/new", {"cwd": str(self.cwd)})

    def begin(self, method: str, params: Json) -> int:
        ident = super().begin(method, params)
        self._asked[ident] = method
        return ident

    def say(self, session: str, text: str) -> int:
        """Begin a prompt."""
        blocks = [{"type": "text", "text": text}]
        return self.begin("session/prompt", {"sessionId": session, "prompt": blocks})

    def prompt(self, session: str, text: str, *attached: Json) -> Json:
        """Play a turn to its end; returns the state that ends it."""
        blocks = [{"type": "text", "text": text}, *attached]
        answer = self.request("session/prompt", {"sessionId": session, "prompt": blocks})
        assert set(answer["result"]) == {"messageId"}, answer
        return self.idle()

    def idle(self) -> Json:
        """Wait until the agent says that it is idle."""
        message = self.until(lambda message: _update(message).get("state") == "idle")
        return _update(message)

    def until_update(self, **fields: Any) -> Json:
        """Wait for an update with these fields."""
        return _update(self.until(lambda message: fields.items() <= _update(message).items()))

    def receive(self) -> Json:
        message = super().receive()
        if "method" in message:
            endings = ("Request",) if "id" in message else ("Notification",)
            names = [STABLE_V2.name(side, message["method"], *endings) for side in SIDES]
            self._check(next(name for name in names if name), message["params"])
        elif "result" in message:
            name = STABLE_V2.name("agent", self._asked[message["id"]], "Response")
            assert name is not None
            self._check(name, message["result"])
        return message

    @staticmethod
    def _check(name: str, value: Any) -> None:
        found = [f"{error.json_path}: {error.message}" for error in STABLE_V2.closed(name).iter_errors(value)]
        assert not found, (name, found, value)

    def unread(self) -> int:
        """Bytes that wait in the pipe."""
        assert self.process.stdout is not None
        (count,) = struct.unpack("i", fcntl.ioctl(self.process.stdout, termios.FIONREAD, b"\0" * 4))
        return int(count)

    def states(self) -> list[str]:
        return [update["state"] for update in self.updates("state_update")]

    def output(self) -> bytes:
        """All that the terminals have shown."""
        return b"".join(b64decode(update["data"]) for update in self.updates("terminal_output_chunk"))


def _update(message: Json) -> Json:
    found: Json = message.get("params", {}).get("update", {})
    return found
