"""A session of the faulty agent: what it does in a turn. Standard library only."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.faults.wire import Json, token_text, update_of

if TYPE_CHECKING:
    from tests.faults.agent import Agent

OPTIONS = [
    {"optionId": "ok", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
WORDS = ["word ", "\n\n# Head\n", "caf\u00e9 \U0001f680 ", "```lua\nx = 1\n", "\x1b[2J"]
FIELDS: list[Json] = [
    {"name": {"type": "string", "minLength": 2}},
    {"port": {"type": "integer", "minimum": 1, "default": 80}, "on": {"type": "boolean"}},
    {"colour": {"type": "string", "enum": ["red", "blue"]}},
    {"sizes": {"type": "array", "items": {"type": "string", "enum": ["s", "m"]}, "minItems": 1}},
    {"secret": {"type": "string", "format": "password"}, "odd": {"type": "no such"}},
    {},
]
BROKEN: list[Any] = [None, 7, {}, {"properties": 7}, {"type": "object", "properties": {"a": {"type": 3}}}]
URLS = [
    "https://example.com/login?state=1",
    "javascript:alert(1)",
    "http://",
    "https://a b/",
    "file:///etc/passwd",
]


class Talk:
    """A turn is a number of acts in an order of its own; each ask may wait for its answer, or not.

    Every text has the session's name in it.
    """

    ACTS = ("speak", "speak", "call", "permit", "permit", "read", "write", "write", "run")

    def __init__(self, agent: Agent, name: str) -> None:
        self.name = name
        self.cancelled = threading.Event()
        self._agent = agent
        self._rng = agent.rng
        self._pages: list[str] = []

    def turn(self, message: Json) -> None:
        """Answer a prompt, in a thread of its own."""
        agent = self._agent
        self.cancelled.clear()
        text = "".join(str(block.get("text", "")) for block in message["params"]["prompt"])
        if agent.locked() and self._rng.random() < 0.5:
            self._refuse(message, text)
            return
        if agent.version == 2:
            agent.wire.send({"id": message["id"], "result": {"messageId": agent.name("m")}})
            self.say({"sessionUpdate": "state_update", "state": "running"})
        if agent.calm:
            self._chunk(f"calm: {text}")
        else:
            for _ in range(self._rng.randint(agent.least, agent.most)):
                if self.cancelled.is_set():
                    break
                getattr(self, f"_{self._rng.choice(agent.acts)}")()
        stop = "cancelled" if self.cancelled.is_set() else "end_turn"
        if agent.version == 2:
            self.say({"sessionUpdate": "state_update", "state": "idle", "stopReason": stop})
        elif agent.locked():
            self._refuse(message, text)
        elif agent.calm or self._rng.random() < 0.9:
            agent.wire.send({"id": message["id"], "result": {"stopReason": stop}})
        else:
            agent.wire.send({"id": message["id"], "error": {"code": -32603, "message": "model is gone"}})
        agent.wire.flush()

    def _refuse(self, message: Json, text: str) -> None:
        self._agent.log(refused=text)
        self._agent.wire.send({"id": message["id"], "error": {"code": -32000, "message": "Log in first"}})

    def say(self, update: Json) -> None:
        self._agent.wire.send(update_of(self.name, update))

    def _chunk(self, text: str) -> None:
        update: Json = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        more = {"messageId": self._agent.name("a")} if self._agent.version == 2 else {}
        self.say({**update, **more})

    def _speak(self) -> None:
        for _ in range(self._rng.randint(1, 20)):
            words = [
                "word ",
                "\n\n# Head\n",
                "caf\u00e9 \U0001f680 ",
                "```lua\nx = 1\n",
                "\x1b[2J",
                self.name,
            ]
            self._chunk(self._rng.choice(words))

    def _call(self) -> None:
        call = self._agent.name("t")
        first = "tool_call" if self._agent.version == 1 else "tool_call_update"
        states = self._rng.sample(["pending", "in_progress", "completed", "failed", "completed"], 3)
        self.say({"sessionUpdate": first, "toolCallId": call, "title": f"run {self.name}", "kind": "execute"})
        for state in states:
            self.say({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": state})

    def _ask(self, method: str, wait: bool, **params: Any) -> Json:
        agent, name = self._agent, self._agent.name("q")
        agent.wire.send({"id": name, "method": method, "params": {"sessionId": self.name, **params}})
        if self._rng.random() < 0.1:
            agent.wire.send({"method": "$/cancel_request", "params": {"requestId": name}})
        answer = agent.answer(name, self.cancelled) if wait else {}
        return answer if isinstance(answer, dict) else {}

    def _permit(self) -> None:
        wait, title = self._rng.random() < 0.6, f"May I in {self.name}?"
        call = {"toolCallId": self._agent.name("t"), "title": title, "kind": "execute"}
        if self._agent.version == 1:
            self._ask("session/request_permission", wait, toolCall=call, options=OPTIONS)
        else:
            subject = {"type": "tool_call", "toolCall": call}
            self._ask("session/request_permission", wait, title=title, subject=subject, options=OPTIONS)

    def _form(self) -> None:
        """A form to fill in, or what is none."""
        fields = self._rng.choice(FIELDS)
        schema: Any = {"type": "object", "properties": fields, "required": list(fields)[:1]}
        if self._rng.random() < 0.2:
            schema = self._rng.choice(BROKEN)
        mode = self._rng.choice(["form"] * 9 + ["no such"])
        said = f"Tell me in {self.name}"
        self._ask(
            "elicitation/create", self._rng.random() < 0.6, mode=mode, message=said, requestedSchema=schema
        )

    def _page(self) -> None:
        """A page to visit, whose end may be told at once, later, twice, or never; of an old one, too."""
        ident = self._agent.name("e")
        self._pages.append(ident)
        said, url = f"Visit for {self.name}", self._rng.choice([URLS[0], *URLS])
        wait = self._rng.random() < 0.4
        self._ask("elicitation/create", wait, mode="url", message=said, url=url, elicitationId=ident)
        for _ in range(self._rng.choice([0, 1, 1, 2])):
            params = {"elicitationId": self._rng.choice([ident, *self._pages])}
            self._agent.wire.send({"method": "elicitation/complete", "params": params})

    def _read(self) -> None:
        self._ask("fs/read_text_file", self._rng.random() < 0.6, path=self._path())

    def _write(self) -> None:
        token, path = self._agent.name("w"), self._path()
        text = token_text(token, self._rng.choice([1, 40, 20_000]))
        self._agent.log(token=token, path=path, text=text)
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

    def _exit(self) -> None:
        """Its process ends in the middle."""
        self._agent.log(lost="exit")
        os._exit(0)

    def _wait(self) -> None:
        self.cancelled.wait()
