"""An agent that does everything wrong, from a seed. Standard library only; ``command`` starts it.

The plan: ``seed``; ``version`` 1 or 2; ``log``, a file of JSON lines; ``rate``, how often a message that it
writes goes wrong; ``calm``: it does nothing but answer "calm: TEXT"; ``lasting``: whether it can resume;
``acts``: what it does in a turn (Talk.ACTS), by default everything its version has, and from ``least`` to
``most`` of them; ``batches`` as in Wire; ``login``: how often it wants a login although there was one.

In the log: ``start``, ``in`` (each message received), ``asked`` (a request as it was written; ``clean``:
whole, so that it is due an answer), ``token`` (a text that was to be written, with its path), ``refused`` (a
prompt that wants a login first), ``lost`` (it has broken the connection itself), ``eof``. What goes wrong is
one of ``Wire.FAULTS``.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from pathlib import Path
from typing import Any

from tests.faults.talk import Talk
from tests.faults.wire import Json, Log, Wire

ROOT = Path(__file__).parents[2]
METHODS = [{"id": "key", "name": "Key"}, {"id": "page", "name": "Page", "description": "in the browser"}]
WANTED = {"code": -32000, "message": "Authentication required"}


def command(plan: Path) -> list[str]:
    """What starts it; it needs neither our packages nor the environment."""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.faults.agent import main; main()"
    return [sys.executable, "-I", "-S", "-c", start, str(plan)]


class Agent:
    """Sessions have names of which none becomes another when a letter of it is lost."""

    def __init__(self, plan: Json) -> None:
        before = Path(plan["log"]).read_text() if Path(plan["log"]).exists() else ""
        starts = before.count('"start"')
        self.rng = random.Random(f"{plan['seed']} {starts}")
        self.version: int = plan["version"]
        self.calm: bool = plan["calm"]
        # Version 2 has no files and no terminals of the client: now and then they are asked for all the same.
        own = [*Talk.ACTS] if self.version == 1 else [*Talk.ACTS, *4 * ("speak", "call", "permit")]
        self.acts: list[str] = plan.get("acts") or own
        self.lasting: bool = plan["lasting"]
        self.least: int = plan.get("least", 1)
        self.most: int = plan.get("most", 12)
        self.log = Log(plan["log"])
        self.wire = Wire(self.rng, plan["rate"], self.log, plan.get("batches", ""))
        self._login: float = plan.get("login", 0)
        self._may = self.rng.random() > self._login  # the user is logged in
        self._news = threading.Condition()
        self._answered: dict[str, Json] = {}
        self._talks: dict[str, Talk] = {}
        self._made = before.count('"session/new"')
        self._count = 0

    def run(self) -> None:
        self.log(event="start", calm=self.calm)
        for line in sys.stdin.buffer:
            told = json.loads(line)
            for message in told if isinstance(told, list) else [told]:
                self.log(**{"in": message})
                self._take(message)
        self.log(event="eof")

    def name(self, kind: str) -> str:
        """A name that was never used."""
        self._count += 1
        return f"{kind}{os.getpid()}-{self._count}"

    def locked(self) -> bool:
        """Whether a login is wanted now; that may be forgotten in the middle."""
        if self._login and not self.calm and self.rng.random() < self._login / 2:
            self._may = False
        return not (self._may or self.calm)

    def answer(self, name: str, cancelled: threading.Event) -> Any:
        """The result that a request of ours has got; {} when there is none in time."""
        with self._news:
            self._news.wait_for(lambda: name in self._answered or cancelled.is_set(), timeout=2)
            return self._answered.get(name, {}).get("result")

    def _take(self, message: Json) -> None:
        if "method" not in message:
            with self._news:
                self._answered[str(message.get("id"))] = message
                self._news.notify_all()
            return
        talk = self._talk(message.get("params", {}).get("sessionId", ""))
        match message["method"]:
            case "session/prompt":
                threading.Thread(target=talk.turn, args=(message,), daemon=True).start()
            case "session/cancel":
                if self.rng.random() < 0.8 or self.calm:
                    talk.cancelled.set()
            case "authenticate" | "auth/login":
                self._authenticate(message)
            case "session/new" | "session/resume" if self.locked():
                self.wire.send({"id": message["id"], "error": WANTED})
            case _ if "id" in message:
                self.wire.send({"id": message["id"], "result": self._result(message)})

    def _talk(self, name: str) -> Talk:
        if name not in self._talks:
            self._talks[name] = Talk(self, name)
        return self._talks[name]

    def _authenticate(self, message: Json) -> None:
        how = "works" if self.calm else self.rng.choice(["works"] * 4 + ["fails", "fails", "hangs", "dies"])
        if how == "works":
            self._may = True
            self.wire.send({"id": message["id"], "result": {}})
        elif how == "fails":
            code = self.rng.choice([-32000, -32603])
            self.wire.send({"id": message["id"], "error": {"code": code, "message": "wrong key"}})
        elif how == "dies":
            self.log(lost="exit")
            os._exit(1)

    def _result(self, message: Json) -> Json:
        methods = METHODS if self._login else []
        match message["method"]:
            case "initialize" if self.version == 2:
                return {
                    "protocolVersion": 2,
                    "info": {"name": "faulty", "version": "1"},
                    "capabilities": {"session": {}},
                    "authMethods": [{"methodId": each["id"], "type": "agent", **each} for each in methods],
                }
            case "initialize":
                resume: Json = {"resume": {}} if self.lasting else {}
                return {
                    "protocolVersion": 1,
                    "agentInfo": {"name": "faulty", "version": "1"},
                    "agentCapabilities": {"sessionCapabilities": {"close": {}, **resume}},
                    "authMethods": methods,
                }
            case "session/new":
                self._made += 1
                name = f"s{self._made}" * 3
                return {"sessionId": name, **({"configOptions": []} if self.version == 2 else {})}
            case "session/resume" if self.version == 2:
                talk = self._talk(message["params"]["sessionId"])
                talk.say({"sessionUpdate": "state_update", "state": "idle"})
        return {}


def main() -> None:
    """Be the agent of the plan that is the last argument."""
    Agent(json.loads(Path(sys.argv[-1]).read_text(encoding="utf-8"))).run()
