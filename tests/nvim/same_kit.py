"""The same work, done by an agent of each protocol that we speak: its side of it, and what its user sees."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.agents.aap_script import Call, Step, Stop, text, thinking
from tests.agents.aap_server import AapServer
from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.cases.kit import update

INFO = {"name": "scripted", "version": "1.0"}
HELLO_2 = {"reply": {"protocolVersion": 2, "info": INFO, "capabilities": {"session": {}}}}
OLD, NEW, OTHER = "one\ntwo\n", "one\n2\n", "one\n3\n"
LONG = 400
SERVED = {"search": "Search the web", "drop": "Drop the table"}
"""Tools of the agent's own, with their titles."""
RUN, FOLLOW = "seq 2", "tail -f a.txt"
PLAN = [
    {"content": "look", "priority": "high", "status": "completed"},
    {"content": "change", "priority": "medium", "status": "in_progress"},
]
ALLOW = {"optionId": "allow", "name": "Allow once", "kind": "allow_once"}
ALWAYS = {"optionId": "always", "name": "Always allow it", "kind": "allow_always"}
REJECT = {"optionId": "reject", "name": "Reject", "kind": "reject_once"}


class V1:
    """The actions of an agent of version 1 for each step of the work."""

    protocol = "acp-v1"
    hello: Json | None = None

    def turn(self, *actions: Json, stop: str = "end_turn") -> list[Json]:
        return [*actions, {"reply": {"stopReason": stop}}]

    def say(self, words: str) -> Json:
        return {"say": words}

    def think(self, words: str) -> Json:
        return update("agent_thought_chunk", content={"type": "text", "text": words})

    def call(self, ident: str, **fields: Any) -> Json:
        return update("tool_call", toolCallId=ident, **fields)

    def patch(self, ident: str, **fields: Any) -> Json:
        return update("tool_call_update", toolCallId=ident, **fields)

    def edit(self, path: str, old: str, new: str) -> Json:
        return {"type": "diff", "path": path, "oldText": old, "newText": new}

    def ask(self, call: str, **fields: Any) -> list[Json]:
        """Ask about a call, and wait for the answer."""
        return asked(f"q-{call}", {**self.subject(call, **fields), "options": [ALLOW, ALWAYS, REJECT]})

    def subject(self, call: str, **fields: Any) -> Json:
        return {"toolCall": {"toolCallId": call, **fields}}

    def run(self, ident: str, command: str, cwd: str) -> list[Json]:
        """A command of ours, for the agent, after a question."""
        program, *args = command.split()
        given = {"command": program, "args": args, "cwd": cwd}
        shown = {"title": command, "kind": "execute", "rawInput": {"command": command, "cwd": cwd}}
        made = f"create-{ident}"
        return [
            self.call(ident, status="pending", **shown),
            *self.ask(ident, **shown),
            {"request": "terminal/create", "params": {"sessionId": "$session", **given}, "id": made},
            {"await": made, "keep": {"terminal": "terminalId"}},
            self.patch(
                ident, status="in_progress", content=[{"type": "terminal", "terminalId": "$terminal"}]
            ),
        ]

    def exited(self, ident: str) -> list[Json]:
        """Until the command has ended."""
        params = {"sessionId": "$session", "terminalId": "$terminal"}
        waited = f"exit-{ident}"
        return [
            {"request": "terminal/wait_for_exit", "id": waited, "params": params},
            {"await": waited},
            self.patch(ident, status="completed"),
        ]

    def plan(self) -> Json:
        return update("plan", entries=PLAN)

    def cancelled(self) -> list[Json]:
        """The end of a turn that has a command at work."""
        params = {"sessionId": "$session", "terminalId": "$terminal"}
        return [
            {"wait": "session/cancel"},
            {"request": "terminal/release", "id": "release", "params": params},
            {"await": "release"},
            {"reply": {"stopReason": "cancelled"}},
        ]


def asked(ident: str, params: Json) -> list[Json]:
    """Ask for a permission, and wait for the answer."""
    whole = {"sessionId": "$session", **params}
    message = {"jsonrpc": "2.0", "id": ident, "method": "session/request_permission", "params": whole}
    return [{"send": message}, {"await": ident}]


class V2(V1):
    """The same of version 2."""

    protocol = "acp-v2"
    hello = HELLO_2
    _said = 0
    _turns = 0

    def turn(self, *actions: Json, stop: str = "end_turn") -> list[Json]:
        return [*self.begins(), *actions, update("state_update", state="idle", stopReason=stop)]

    def begins(self) -> list[Json]:
        self._turns += 1
        mine = f"user-{self._turns}"
        return [
            update("state_update", state="running"),
            {"reply": {"messageId": mine}},
            update("user_message", messageId=mine, content=[{"type": "text", "text": "$text"}]),
        ]

    def say(self, words: str) -> Json:
        return self._words("agent_message_chunk", words)

    def think(self, words: str) -> Json:
        return self._words("agent_thought_chunk", words)

    def _words(self, kind: str, words: str) -> Json:
        self._said += 1
        return update(kind, messageId=f"said-{self._said}", content={"type": "text", "text": words})

    def call(self, ident: str, **fields: Any) -> Json:
        return self.patch(ident, **fields)

    def edit(self, path: str, old: str, new: str) -> Json:
        signed = ["-" + line for line in old.splitlines()[1:]] + ["+" + line for line in new.splitlines()[1:]]
        hunk = "\n".join(["@@ -1,2 +1,2 @@", " " + old.splitlines()[0], *signed])
        words = f"diff --git {path} {path}\n--- {path}\n+++ {path}\n{hunk}\n"
        return {
            "type": "diff",
            "changes": [{"operation": "modify", "path": path, "fileType": "text"}],
            "patch": {"format": "git_patch", "text": words},
        }

    def subject(self, call: str, **fields: Any) -> Json:
        subject: Json = {"type": "tool_call", "toolCall": {"toolCallId": call, **fields}}
        if fields["kind"] == "execute":
            subject = {"type": "command", **fields["rawInput"], "toolCallId": call}
        return {"title": fields["title"], "subject": subject}

    def run(self, ident: str, command: str, cwd: str) -> list[Json]:
        """A command of the agent's own, which tells what it writes."""
        shown = {"title": command, "kind": "execute", "rawInput": {"command": command, "cwd": cwd}}
        terminal = f"t-{ident}"
        told = (b"1\n2", b"\n") if command == RUN else (NEW.encode(),)
        return [
            self.call(ident, status="pending", **shown),
            *self.ask(ident, **shown),
            self.patch(ident, status="in_progress", content=[{"type": "terminal", "terminalId": terminal}]),
            update("terminal_update", terminalId=terminal, command=command, cwd=cwd),
            *[
                update("terminal_output_chunk", terminalId=terminal, data=b64encode(piece).decode())
                for piece in told
            ],
        ]

    def exited(self, ident: str) -> list[Json]:
        return [
            update("terminal_update", terminalId=f"t-{ident}", exitStatus={"exitCode": 0}),
            self.patch(ident, status="completed"),
        ]

    def plan(self) -> Json:
        return update("plan_update", plan={"type": "items", "planId": "p", "entries": PLAN})

    def cancelled(self) -> list[Json]:
        return [{"wait": "session/cancel"}, update("state_update", state="idle", stopReason="cancelled")]


def work(speaks: V1, folder: Path) -> list[list[Json]]:
    """The turns, in the order of ``Work`` in test_same.py."""
    file = str(folder / "a.txt")

    def change(ident: str, new: str) -> list[Json]:
        shown = {
            "title": "Edit a file",
            "kind": "edit",
            "content": [speaks.edit(file, NEW if new == OTHER else OLD, new)],
            "locations": [{"path": file}],
        }
        return [speaks.call(ident, status="pending", **shown), *speaks.ask(ident, **shown)]

    def served(ident: str, name: str, **given: str) -> list[Json]:
        shown = {"title": SERVED[name], "kind": "other", "rawInput": given}
        return [speaks.call(ident, status="pending", **shown), *speaks.ask(ident, **shown)]

    def without_end(*actions: Json) -> list[Json]:
        begun = speaks.turn(*actions)
        return [*begun[:-1], *speaks.cancelled()]

    return [
        speaks.turn(
            speaks.think("Let me see."),
            speaks.call("read", title="Read a file", kind="read", status="in_progress",
                        locations=[{"path": file}]),
            speaks.patch("read", status="completed"),
            speaks.say("It has **two** lines."),
        ),
        speaks.turn(
            *change("edit", NEW),
            {"write": file, "text": NEW},
            speaks.patch("edit", status="completed"),
            speaks.say("Changed."),
        ),
        speaks.turn(*speaks.run("run", RUN, str(folder)), *speaks.exited("run"), speaks.say("Ran.")),
        speaks.turn(speaks.plan(), speaks.say("Planned.")),
        without_end(speaks.say("Wait."), *speaks.run("slow", FOLLOW, str(folder))),
        speaks.turn(*change("not", OTHER), speaks.patch("not", status="failed"), speaks.say("Then not.")),
        speaks.turn(
            *served("search", "search", query="cats"),
            speaks.patch("search", status="completed", content=[
                {"type": "content", "content": {"type": "text", "text": "found cats"}},
            ]),
            speaks.say("Found **two**."),
        ),
        speaks.turn(*served("drop", "drop", table="users"), speaks.say("Nor that.")),
        speaks.turn(speaks.say("cut"), stop="max_tokens"),
        speaks.turn({"loop": LONG, "do": [speaks.say("{i} ")]}),
    ]  # fmt: skip


def over_http() -> list[Step]:
    """The same for an agent over HTTP, which has tools of ours."""

    def change(ident: str, old: str, new: str) -> Call:
        return Call(ident, "edit_file", {"path": "a.txt", "old_text": old, "new_text": new})

    def run(ident: str, command: str) -> Call:
        return Call(ident, "run_command", {"command": command.split()})

    return [
        [thinking("Let me ", "see."), Call("read", "read_file", {"path": "a.txt"})],
        [text("It has **two**", " lines.")],
        [change("edit", "two", "2")],
        [text("Changed.")],
        [run("run", RUN)],
        [text("Ran.")],
        [text("Planned.")],
        [text("Wait."), run("slow", FOLLOW)],
        [Stop("end_turn")],  # it is told with the next prompt what became of the command
        [change("not", "2", "3")],
        [text("Then not.")],
        [Call("search", "search", {"query": "cats"})],
        [text("Found **two**.")],
        [Call("drop", "drop", {"table": "users"})],
        [text("Nor that.")],
        [text("cut"), Stop("max_tokens")],
        [text(*[f"{n} " for n in range(1, LONG + 1)])],
    ]


AGENT: Json = {
    "name": "scripted",
    "version": "1.0",
    "tools": [{"name": name, "title": title} for name, title in SERVED.items()],
    "capabilities": {"stream": {"delta": {}}, "history": {"full": {}}, "application": {"tools": {}}},
}
SPOKEN = ("acp-v1", "acp-v2", "aap")


@contextmanager
def speaking(protocol: str, agent: MakeAgent, folder: Path) -> Iterator[tuple[ScriptedAgent, Json]]:
    """An agent that does the work over a protocol, and its settings. Over HTTP the first is nobody."""
    if protocol == "aap":
        with AapServer(over_http(), agents=[AGENT], tools={"drop": lambda _given: "dropped"}) as server:
            tools = ["read_file", "edit_file", "run_command"]
            yield agent(), {"protocol": "aap", "url": server.url, "client_tools": tools}
        return
    speaks = V1() if protocol == "acp-v1" else V2()
    on: dict[str, Any] = {"session/prompt": work(speaks, folder)}
    if speaks.hello is not None:
        on["initialize"] = [speaks.hello]
    scripted = agent(on=on)
    yield scripted, {**scripted.settings, "protocol": protocol}
