#!/usr/bin/env python3
"""An agent that plays a script: ``scripted.py SCRIPT.json``. Standard library only.

A script is an object:

``on``       method -> list of plays. The n-th message of that method plays the n-th list of actions, the last
             one again and again. Methods without an entry play what a correct agent does (``DEFAULTS``).
``start``    actions played before anything is read.
``eof``      actions played when standard input ends; default: exit with 0. An empty list: go on living.
``sigterm``  "default", "ignore", or an exit code.
``log``      file of JSON lines: every message received, and events.

Plays run side by side, each in a thread. An action is an object whose first key names it:

``{"reply": RESULT}``  ``{"error": {...}}``   answer the message that started the play
``{"send": MESSAGE}``                         any JSON value as a line; ``jsonrpc`` is not added
``{"update": {...}}``  ``{"say": TEXT}``      a session/update; an agent_message_chunk
``{"request": METHOD, "params": {...}, "id": ID}``   without waiting
``{"await": ID, "keep": {NAME: FIELD}}``      until our request ID is answered; ``$NAME`` is then its FIELD
``{"wait": METHOD, "count": N}``              until N messages (default 1) of this method have come, ever
``{"raw": TEXT}``  ``{"hex": DIGITS}``        bytes as they are; with ``"times": N`` that often
``{"split": MESSAGE, "at": [BYTE, ...], "ms": N}``   one line in several writes, N ms apart
``{"sleep": MS}``  ``{"stderr": TEXT}`` (``"times": N``)
``{"if": {FIELD: VALUE}, "do": [ACTION, ...]}``   if the message's parameters are so, instead of what follows
``{"loop": N, "do": [ACTION, ...]}``          ``{i}`` in texts is 1, 2, ...
``{"write": PATH, "text": TEXT}``             change a file on disk
``{"fork": SECONDS, "session": BOOL, "stubborn": BOOL}``   a sleeping child; in its own session; ignores TERM
``{"exit": CODE}``  ``{"kill": SIGNAL}``  ``{"close": "stdout"|"stderr"}``

In all strings: ``$session`` the session of the message that started the play (or of the last session/new),
``$cwd`` its folder, ``$text`` the text of its prompt, ``$pid``; ``$id`` alone becomes the message's id.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]

DEFAULTS: dict[str, list[Json]] = {
    "initialize": [
        {
            "reply": {
                "protocolVersion": 1,
                "agentInfo": {"name": "scripted", "version": "1.0"},
                "agentCapabilities": {"sessionCapabilities": {"close": {}}},
                "authMethods": [],
            }
        }
    ],
    "authenticate": [{"reply": {}}],
    "session/new": [{"reply": {"sessionId": "$session"}}],
    "session/prompt": [{"reply": {"stopReason": "end_turn"}}],
    "session/close": [{"reply": {}}],
}

LONGEST = 1 << 20  # bytes of a line that may hold a request

SLEEPER = (
    "import signal, sys, time\n"
    "if sys.argv[2] == '1': signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "time.sleep(float(sys.argv[1]))\n"
)


class Player:
    """Reads messages, plays what the script says to them, writes everything received into the log."""

    def __init__(self, script: Json) -> None:
        self.on: dict[str, list[list[Json]]] = script.get("on", {})
        self.start: list[Json] = script.get("start", [])
        self.eof: list[Json] = script.get("eof", [{"exit": 0}])
        self._log_path = Path(script["log"])
        self._started = time.monotonic()
        self._writing = threading.Lock()
        self._logging = threading.Lock()  # not the same: a client that does not read must not stop the log
        self._news = threading.Condition()
        self._counts: dict[str, int] = {}
        self._answered: dict[str, Json] = {}
        self._asked: dict[str, str] = {}  # our requests: id (as JSON) -> method
        self._line = b""  # what was written of a line that has no end yet
        self._names: dict[str, str] = {"session": "s1", "cwd": "", "text": "", "pid": str(os.getpid())}
        self._sessions = 0

    def log(self, **entry: Any) -> None:
        row = {"t": round(time.monotonic() - self._started, 4), **entry}
        with self._logging, self._log_path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def run(self) -> None:
        self.log(event="start", pid=os.getpid(), argv=sys.argv, cwd=str(Path.cwd()), env=dict(os.environ))
        self.play(self.start, {})
        for line in sys.stdin.buffer:
            self.receive(line)
        self.log(event="eof")
        self.play(self.eof, {})
        while True:  # the script wants to outlive its input
            time.sleep(60)

    def receive(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self.log(raw=line.decode("utf-8", "replace"))
            return
        if not isinstance(message, dict):
            self.log(msg=message)
            return
        method = message.get("method")
        asked = None if "method" in message else self._asked.get(json.dumps(message.get("id")))
        self.log(msg=message, **({"to": asked} if asked else {}))
        with self._news:
            if method is None:
                self._answered[json.dumps(message.get("id"))] = message
            else:
                self._counts[method] = self._counts.get(method, 0) + 1
            self._news.notify_all()
        if method is None:
            return
        plays = self.on.get(method) or ([DEFAULTS[method]] if method in DEFAULTS else [[]])
        actions = plays[min(self._counts[method], len(plays)) - 1]
        names = self._names_of(message)
        thread = threading.Thread(
            target=self.play, args=(actions, {"message": message, **names}), daemon=True
        )
        thread.start()

    def _names_of(self, message: Json) -> dict[str, str]:
        """What ``$session``, ``$cwd`` and ``$text`` mean in the play of this message."""
        params = message.get("params") or {}
        if message["method"] == "session/new":
            self._sessions += 1
            self._names.update(session=f"s{self._sessions}", cwd=str(params.get("cwd")))
        names = dict(self._names)
        if isinstance(session := params.get("sessionId"), str):
            names["session"] = session
        if isinstance(blocks := params.get("prompt"), list):
            names["text"] = "\n".join(str(b["text"]) for b in blocks if isinstance(b, dict) and "text" in b)
        return names

    def play(self, actions: list[Json], context: Json) -> None:
        try:
            for action in actions:
                if "if" in action:
                    params = (context.get("message") or {}).get("params") or {}
                    if all(params.get(name) == value for name, value in action["if"].items()):
                        self.play(action["do"], context)
                        return
                    continue
                self.act(action, context)
        except BrokenPipeError:
            self.log(event="broken pipe")

    def act(self, action: Json, context: Json) -> None:
        name = next(iter(action))
        value = fill(action[name], context)
        ident = (context.get("message") or {}).get("id")
        times = int(action.get("times", 1))
        match name:
            case "reply":
                if isinstance(value, dict) and "protocolVersion" in value:
                    self.log(event="speaks", version=value["protocolVersion"], id=ident)
                self.line({"jsonrpc": "2.0", "id": ident, "result": value})
            case "error":
                self.line({"jsonrpc": "2.0", "id": ident, "error": value})
            case "send":
                self.line(value)
            case "update":
                self.update(value, context)
            case "say":
                block = {"type": "text", "text": value}
                self.update({"sessionUpdate": "agent_message_chunk", "content": block}, context)
            case "request":
                params = fill(action.get("params", {}), context)
                self.line({"jsonrpc": "2.0", "id": action["id"], "method": value, "params": params})
            case "await":
                self.until(lambda: json.dumps(value) in self._answered)
                result = self._answered[json.dumps(value)].get("result") or {}
                for key, field in action.get("keep", {}).items():
                    context.setdefault("kept", {})[key] = result.get(field)
            case "wait":
                self.until(lambda: self._counts.get(value, 0) >= int(action.get("count", 1)))
            case "raw":
                for _ in range(times):
                    self.write(value.encode())
            case "hex":
                for _ in range(times):
                    self.write(bytes.fromhex(value))
            case "split":
                self.split(value, action["at"], action.get("ms", 0))
            case "sleep":
                time.sleep(value / 1000)
            case "stderr":
                for _ in range(times):
                    os.write(2, value.encode())
            case "loop":
                for number in range(1, value + 1):
                    self.play(action["do"], {**context, "i": str(number)})
            case "write":
                Path(value).write_text(fill(action["text"], context), encoding="utf-8")
            case "fork":
                self.fork(value, bool(action.get("session")), bool(action.get("stubborn")))
            case "exit":
                self.log(event="exit", code=value)
                os._exit(value)
            case "kill":
                os.kill(os.getpid(), signal.Signals[value])
            case "close":
                os.close({"stdout": 1, "stderr": 2}[value])
            case _:
                self.log(event="error", text=f"unknown action {name!r}")
                os._exit(70)

    def line(self, message: Any) -> None:
        self.write(encode(message))

    def update(self, update: Json, context: Json) -> None:
        params = {"sessionId": context.get("session", "s1"), "update": update}
        self.line({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def write(self, data: bytes) -> None:
        with self._writing:
            self.remember(data)
            view = memoryview(data)
            while view:
                view = view[os.write(1, view) :]

    def remember(self, data: bytes) -> None:
        """Note the requests in what is written, so that the log tells which one an answer answers."""
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            if b'"id"' not in line or b'"method"' not in line:
                continue
            with contextlib.suppress(ValueError, RecursionError, TypeError, KeyError):
                message = json.loads(line)
                self._asked[json.dumps(message["id"])] = message["method"]
        if len(self._line) > LONGEST:
            self._line = b""

    def split(self, message: Any, at: list[int], pause_ms: float) -> None:
        data = encode(message)
        for first, last in zip([0, *at], [*at, len(data)], strict=True):
            self.write(data[first:last])
            time.sleep(pause_ms / 1000)

    def until(self, true: Any) -> None:
        with self._news:
            self._news.wait_for(true)

    def fork(self, seconds: float, session: bool, stubborn: bool) -> None:
        argv = [sys.executable, "-c", SLEEPER, str(seconds), "1" if stubborn else "0"]
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=session)
        self.log(event="fork", pid=child.pid, session=session)


def encode(message: Any) -> bytes:
    """A line of raw UTF-8; of escapes where that cannot be (lone surrogates)."""
    try:
        return json.dumps(message, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message).encode() + b"\n"


def fill(value: Any, context: Json) -> Any:
    """``value`` with the names of the context put in."""
    if isinstance(value, str):
        if value == "$id":
            return (context.get("message") or {}).get("id")
        for name in ("session", "cwd", "text", "pid"):
            value = value.replace(f"${name}", str(context.get(name, "")))
        for name, kept in context.get("kept", {}).items():
            value = value.replace(f"${name}", str(kept))
        return value.replace("{i}", context["i"]) if "i" in context else value
    if isinstance(value, list):
        return [fill(item, context) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, context) for key, item in value.items()}
    return value


def main() -> None:
    script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    player = Player(script)
    sigterm = script.get("sigterm", "default")
    if sigterm == "ignore":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif sigterm != "default":
        signal.signal(signal.SIGTERM, lambda *_: os._exit(int(sigterm)))
    player.run()


if __name__ == "__main__":
    main()
