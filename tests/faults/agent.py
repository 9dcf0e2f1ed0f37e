#!/usr/bin/env python3
"""An agent that does everything wrong, from a seed: ``agent.py PLAN.json``. Standard library only.

The plan: ``seed``; ``version`` 1 or 2; ``log``, a file of JSON lines; ``rate``, how often a message that it
writes goes wrong; ``calm``: it does nothing but answer "calm: TEXT"; ``lasting``: whether it can resume;
``acts``: what it does in a turn (Agent.ACTS), by default everything its version has, and
from ``least`` to ``most`` of them.

In the log: ``start``, ``in`` (each message received), ``asked`` (a request as it was written; ``clean``:
whole, so that it is due an answer), ``token`` (a text that was to be written, with its path), ``lost`` (it
has broken the connection itself), ``eof``. What goes wrong is one of ``Wire.FAULTS``.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

Json = dict[str, Any]
OPTIONS = [
    {"optionId": "ok", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


class Log:
    """One line for each thing, written at once: a kill cuts none."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def __call__(self, **row: Any) -> None:
        os.write(self._fd, (json.dumps({"pid": os.getpid(), **row}) + "\n").encode())


class Wire:
    """What is written, and what goes wrong with it."""

    FAULTS: ClassVar = {
        "cut": 1, "kill": 1, "close": 1, "exit": 1, "drop": 3, "split": 8, "delay": 8, "twice": 6, "later": 8,
        "corrupt": 6, "shorten": 4, "stray": 6, "flood": 2, "stderr": 2, "unknown": 4, "deep": 2,
    }  # fmt: skip

    def __init__(self, rng: random.Random, rate: float, log: Log) -> None:
        self._rng = rng
        self._rate = rate
        self._log = log
        self._lock = threading.RLock()
        self._held: list[Json] = []

    def send(self, message: Json) -> None:
        """Write a message, or what becomes of it."""
        with self._lock:
            message = {"jsonrpc": "2.0", **message}
            held, self._held = self._held, []
            fault = "" if self._rng.random() >= self._rate else self._pick()
            if fault == "later":
                self._held = [message]
            elif fault:
                getattr(self, f"_{fault}")(message)
            else:
                self._whole(message)
            for each in held:
                self._whole(each)

    def flush(self) -> None:
        """Write what was held back."""
        with self._lock:
            held, self._held = self._held, []
            for each in held:
                self._whole(each)

    def _pick(self) -> str:
        return self._rng.choices(list(self.FAULTS), list(self.FAULTS.values()))[0]

    def _whole(self, message: Json) -> None:
        self._note(message, True)
        self._put(_line(message))

    def _note(self, message: Json, clean: bool) -> None:
        if "method" in message and "id" in message:
            path = message.get("params", {}).get("path")
            self._log(asked=message["id"], method=message["method"], clean=clean, path=path)

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(1, view) :]
            except OSError:
                self._log(lost="broken pipe")
                os._exit(0)

    def _cut(self, message: Json) -> None:
        self._note(message, False)
        data = _line(message)
        self._log(lost="cut")
        self._put(data[: self._rng.randrange(len(data))])
        os._exit(self._rng.choice([0, 1, 137]))

    def _kill(self, message: Json) -> None:
        self._log(lost="kill")
        os.kill(os.getpid(), signal.SIGKILL)

    def _exit(self, message: Json) -> None:
        self._log(lost="exit")
        os._exit(self._rng.choice([0, 3]))

    def _close(self, message: Json) -> None:
        self._log(lost="close")
        os.close(1)
        os.open(os.devnull, os.O_WRONLY)

    def _drop(self, message: Json) -> None:
        pass

    def _split(self, message: Json) -> None:
        self._note(message, True)
        data = _line(message)
        for at in sorted(self._rng.randrange(len(data)) for _ in range(3)):
            part, data = data[:at], data[at:]
            self._put(part)
            time.sleep(self._rng.random() * 0.004)
        self._put(data)

    def _delay(self, message: Json) -> None:
        time.sleep(self._rng.random() * 0.05)
        self._whole(message)

    def _twice(self, message: Json) -> None:
        for _ in range(self._rng.randint(2, 4)):
            self._whole(message)

    def _corrupt(self, message: Json) -> None:
        self._note(message, False)
        data = bytearray(_line(message)[:-1])
        for _ in range(self._rng.randint(1, 8)):
            data[self._rng.randrange(len(data))] = self._rng.randrange(256)
        self._damaged(bytes(data))

    def _damaged(self, line: bytes) -> None:
        """What may still be understood of it is asked for, too."""
        with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
            params = json.loads(line.decode("utf-8", "replace"))["params"]
            self._log(token="damaged", path=str(params["path"]), text=str(params["content"]))
        self._put(line + b"\n")

    def _shorten(self, message: Json) -> None:
        self._note(message, False)
        data = _line(message)[:-1]
        first = self._rng.randrange(len(data))
        self._damaged(data[:first] + data[first + self._rng.randint(1, 40) :])

    def _stray(self, message: Json) -> None:
        stray = [
            b"npm warn deprecated\n", b"\xff\xfe\x00\n", b"[]\n", b"null\n", b'{"jsonrpc":"2.0"}\n', b"{}\n",
            b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}\n', b"\r\n\n", b'"id"\n',
        ]  # fmt: skip
        self._put(self._rng.choice(stray))
        self._whole(message)

    def _flood(self, message: Json) -> None:
        update = {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "flood \n" * 20},
        }
        line = _line(_update("s1", {**update, "messageId": "flood"}))
        self._put(line * self._rng.randint(100, 1500))
        self._whole(message)

    def _stderr(self, message: Json) -> None:
        os.write(2, b"\x1b[31mwarning \xff\n" * 500)
        self._whole(message)

    def _unknown(self, message: Json) -> None:
        unknown: list[Json] = [
            {"id": self._rng.randint(0, 40), "result": {}},
            {"id": "never", "error": {"code": -32603, "message": "no\nsuch\x1b[0m"}},
            {"method": "session/update", "params": {"sessionId": "other", "update": {"sessionUpdate": "?"}}},
            {"method": "$/cancel_request", "params": {"requestId": "never"}},
            {"method": "session/update", "params": None},
            {"id": f"u{self._rng.random()}", "method": "fs/no_such", "params": {}},
        ]
        self._whole({"jsonrpc": "2.0", **self._rng.choice(unknown)})
        self._whole(message)

    def _deep(self, message: Json) -> None:
        self._put(b'{"jsonrpc":"2.0","method":"session/update","params":' + b"[" * 20_000 + b"\n")
        self._whole(message)


class Agent:
    """A turn is a number of acts in an order of its own; each ask may wait for its answer, or not."""

    def __init__(self, plan: Json) -> None:
        starts = Path(plan["log"]).read_text().count('"start"') if Path(plan["log"]).exists() else 0
        self._rng = random.Random(f"{plan['seed']} {starts}")
        self.version: int = plan["version"]
        self.calm: bool = plan["calm"]
        # Version 2 has no files and no terminals of the client: now and then they are asked for all the same.
        own = list(self.ACTS) if self.version == 1 else [*self.ACTS, *4 * ("speak", "call", "permit")]
        self._acts: list[str] = plan.get("acts") or own
        self.lasting: bool = plan["lasting"]
        self._least: int = plan.get("least", 1)
        self._most: int = plan.get("most", 12)
        self.log = Log(plan["log"])
        self.wire = Wire(self._rng, plan["rate"], self.log)
        self._news = threading.Condition()
        self._answered: dict[str, Json] = {}
        self._cancelled = threading.Event()
        self._count = 0

    def run(self) -> None:
        self.log(event="start", calm=self.calm)
        for line in sys.stdin.buffer:
            message = json.loads(line)
            self.log(**{"in": message})
            if "method" not in message:
                with self._news:
                    self._answered[str(message.get("id"))] = message
                    self._news.notify_all()
            elif message["method"] == "session/prompt":
                threading.Thread(target=self._turn, args=(message,), daemon=True).start()
            elif message["method"] == "session/cancel":
                if self._rng.random() < 0.8 or self.calm:
                    self._cancelled.set()
            elif "id" in message:
                self.wire.send({"id": message["id"], "result": self._result(message)})
        self.log(event="eof")

    def _result(self, message: Json) -> Json:
        match message["method"]:
            case "initialize" if self.version == 2:
                return {
                    "protocolVersion": 2,
                    "info": {"name": "faulty", "version": "1"},
                    "capabilities": {"session": {}},
                }
            case "initialize":
                resume: Json = {"resume": {}} if self.lasting else {}
                return {
                    "protocolVersion": 1,
                    "agentInfo": {"name": "faulty", "version": "1"},
                    "agentCapabilities": {"sessionCapabilities": {"close": {}, **resume}},
                }
            case "session/new":
                return {"sessionId": "s1", **({"configOptions": []} if self.version == 2 else {})}
            case "session/resume" if self.version == 2:
                self._say({"sessionUpdate": "state_update", "state": "idle"})
        return {}

    # -- a turn

    def _turn(self, message: Json) -> None:
        self._cancelled.clear()
        params = message["params"]
        text = "".join(str(block.get("text", "")) for block in params["prompt"])
        self._session = params["sessionId"]
        if self.version == 2:
            self.wire.send({"id": message["id"], "result": {"messageId": self._name("m")}})
            self._say({"sessionUpdate": "state_update", "state": "running"})
        if self.calm:
            self._chunk(f"calm: {text}")
        else:
            for _ in range(self._rng.randint(self._least, self._most)):
                if self._cancelled.is_set():
                    break
                getattr(self, f"_{self._rng.choice(self._acts)}")()
        stop = "cancelled" if self._cancelled.is_set() else "end_turn"
        if self.version == 2:
            self._say({"sessionUpdate": "state_update", "state": "idle", "stopReason": stop})
        elif self.calm or self._rng.random() < 0.9:
            self.wire.send({"id": message["id"], "result": {"stopReason": stop}})
        else:
            self.wire.send({"id": message["id"], "error": {"code": -32603, "message": "model is gone"}})
        self.wire.flush()

    def _say(self, update: Json) -> None:
        self.wire.send(_update("s1", update))

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{os.getpid()}-{self._count}"

    def _chunk(self, text: str) -> None:
        update: Json = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        self._say({**update, **({"messageId": self._name("a")} if self.version == 2 else {})})

    def _speak(self) -> None:
        for _ in range(self._rng.randint(1, 20)):
            self._chunk(
                self._rng.choice(
                    ["word ", "\n\n# Head\n", "caf\u00e9 \U0001f680 ", "```lua\nx = 1\n", "\x1b[2J"]
                )
            )

    def _call(self) -> None:
        call = self._name("t")
        first = "tool_call" if self.version == 1 else "tool_call_update"
        states = self._rng.sample(["pending", "in_progress", "completed", "failed", "completed"], 3)
        self._say({"sessionUpdate": first, "toolCallId": call, "title": "run", "kind": "execute"})
        for state in states:
            self._say({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": state})

    def _ask(self, method: str, wait: bool, **params: Any) -> Json:
        name = self._name("q")
        self.wire.send({"id": name, "method": method, "params": {"sessionId": "s1", **params}})
        if self._rng.random() < 0.1:
            self.wire.send({"method": "$/cancel_request", "params": {"requestId": name}})
        if not wait:
            return {}
        with self._news:
            self._news.wait_for(lambda: name in self._answered or self._cancelled.is_set(), timeout=2)
            answer = self._answered.get(name, {}).get("result")
        return answer if isinstance(answer, dict) else {}

    def _permit(self) -> None:
        wait = self._rng.random() < 0.6
        call = {"toolCallId": self._name("t"), "title": "May I?", "kind": "execute"}
        if self.version == 1:
            self._ask("session/request_permission", wait, toolCall=call, options=OPTIONS)
        else:
            subject = {"type": "tool_call", "toolCall": call}
            self._ask("session/request_permission", wait, title="May I?", subject=subject, options=OPTIONS)

    def _read(self) -> None:
        self._ask("fs/read_text_file", self._rng.random() < 0.6, path=self._path())

    def _write(self) -> None:
        token, path = self._name("w"), self._path()
        text = token_text(token, self._rng.choice([1, 40, 20_000]))
        self.log(token=token, path=path, text=text)
        self._ask("fs/write_text_file", self._rng.random() < 0.6, path=path, content=text)

    def _path(self) -> str:
        name = self._rng.choice(
            ["plain.txt", "open.txt", "unsaved.txt", "new.txt", "sub/new.txt", ".envrc", "../out.txt"]
        )
        return str(Path.cwd() / name)

    def _run(self) -> None:
        shell = self._rng.choice(
            ["echo hi", "sleep 30", "exit 3", "yes | head -c 300000", "sleep 30 & sleep 30"]
        )
        made = self._ask("terminal/create", True, command="/bin/sh", args=["-c", shell])
        name = made.get("terminalId", "never")
        for method in self._rng.sample(["output", "wait_for_exit", "kill", "release", "output"], 4):
            self._ask(f"terminal/{method}", False, terminalId=name)
        if self._rng.random() < 0.7:
            self._ask("terminal/release", False, terminalId=name)

    def _wait(self) -> None:
        self._cancelled.wait()

    ACTS = ("speak", "speak", "call", "permit", "permit", "read", "write", "write", "run")


def token_text(token: str, lines: int) -> str:
    """A text of which one can tell whether it is whole."""
    return f"<{token}>\n" * lines + f"</{token}>\n"


def _update(session: str, update: Json) -> Json:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}


def _line(message: Json) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


if __name__ == "__main__":
    Agent(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))).run()
