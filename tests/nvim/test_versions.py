"""The same work over each version of ACP looks the same; and the version is found out by asking."""

from __future__ import annotations

import difflib
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import OPTIONS, PASSIVE, WATCH, Chat, Stage, ask, selected, update
from tests.plugin import StartScreen, eventually, marked

TIMES = re.compile(r"\b(?:done )?(?:in |after )?\d+(?:\.\d+)? s\b|\bdone\b")
PLAN = [
    {"content": "look", "priority": "high", "status": "completed"},
    {"content": "change", "priority": "medium", "status": "in_progress"},
]
OLD, NEW = "one\ntwo\n", "one\n2\n"
LONG = 400

INFO = {"name": "scripted", "version": "1.0"}
HELLO_2 = {"reply": {"protocolVersion": 2, "info": INFO, "capabilities": {"session": {}}}}


class V1:
    """The actions of an agent of version 1 for each step of the work."""

    protocol = "acp-v1"
    hello: Json | None = None

    def turn(self, *actions: Json, stop: str = "end_turn") -> list[Json]:
        return [*actions, {"reply": {"stopReason": stop}}]

    def say(self, text: str) -> Json:
        return {"say": text}

    def call(self, ident: str, **fields: Any) -> Json:
        return update("tool_call", toolCallId=ident, **fields)

    def patch(self, ident: str, **fields: Any) -> Json:
        return update("tool_call_update", toolCallId=ident, **fields)

    def edit(self, path: str) -> Json:
        return {"type": "diff", "path": path, "oldText": OLD, "newText": NEW}

    def ask(self, ident: str, call: str, title: str) -> Json:
        return ask(ident, {"toolCallId": call, "title": title})

    def run(self, cwd: str) -> list[Json]:
        """A command of ours, for the agent."""
        params = {"sessionId": "$session", "command": "printf", "args": ["a\\nb\\n"], "cwd": cwd}
        return [
            {"request": "terminal/create", "params": params, "id": "create"},
            {"await": "create", "keep": {"terminal": "terminalId"}},
            self.call(
                "run", title="printf 'a\\nb\\n'", kind="execute", status="in_progress",
                rawInput={"command": "printf 'a\\nb\\n'"},
                content=[{"type": "terminal", "terminalId": "$terminal"}],
            ),
            {"request": "terminal/wait_for_exit", "id": "exit",
             "params": {"sessionId": "$session", "terminalId": "$terminal"}},
            {"await": "exit"},
        ]  # fmt: skip

    def plan(self) -> Json:
        return update("plan", entries=PLAN)

    def cancelled(self) -> list[Json]:
        return [{"wait": "session/cancel"}, {"reply": {"stopReason": "cancelled"}}]


class V2(V1):
    """The same of version 2."""

    protocol = "acp-v2"
    hello = HELLO_2
    _said = 0
    _turns = 0

    def turn(self, *actions: Json, stop: str = "end_turn") -> list[Json]:
        return [*self._begins(), *actions, update("state_update", state="idle", stopReason=stop)]

    def _begins(self) -> list[Json]:
        self._turns += 1
        mine = f"user-{self._turns}"
        return [
            update("state_update", state="running"),
            {"reply": {"messageId": mine}},
            update("user_message", messageId=mine, content=[{"type": "text", "text": "$text"}]),
        ]

    def say(self, text: str) -> Json:
        self._said += 1
        return update(
            "agent_message_chunk", messageId=f"said-{self._said}", content={"type": "text", "text": text}
        )

    def call(self, ident: str, **fields: Any) -> Json:
        return self.patch(ident, **fields)

    def edit(self, path: str) -> Json:
        text = f"diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        return {
            "type": "diff",
            "changes": [{"operation": "modify", "path": path, "fileType": "text"}],
            "patch": {"format": "git_patch", "text": text},
        }

    def ask(self, ident: str, call: str, title: str) -> Json:
        params = {
            "sessionId": "$session",
            "title": title,
            "subject": {"type": "tool_call", "toolCall": {"toolCallId": call}},
            "options": OPTIONS,
        }
        return {
            "send": {"jsonrpc": "2.0", "id": ident, "method": "session/request_permission", "params": params}
        }

    def run(self, cwd: str) -> list[Json]:
        """A command of the agent's own, which tells what it writes."""
        coded = [b64encode(piece).decode() for piece in (b"a\nb", b"\n")]
        return [
            self.patch("run", title="printf 'a\\nb\\n'", kind="execute", status="in_progress",
                       rawInput={"command": "printf 'a\\nb\\n'"},
                       content=[{"type": "terminal", "terminalId": "t1"}]),
            update("terminal_update", terminalId="t1", command="printf 'a\\nb\\n'", cwd=cwd),
            *[update("terminal_output_chunk", terminalId="t1", data=piece) for piece in coded],
            update("terminal_update", terminalId="t1", exitStatus={"exitCode": 0}),
        ]  # fmt: skip

    def plan(self) -> Json:
        return update("plan_update", plan={"type": "items", "planId": "p", "entries": PLAN})

    def cancelled(self) -> list[Json]:
        return [{"wait": "session/cancel"}, update("state_update", state="idle", stopReason="cancelled")]


def work(speaks: V1, folder: Path) -> list[list[Json]]:
    """The turns: read, edit after a question, run a command, plan, be cancelled, be rejected, talk long."""
    file = str(folder / "a.txt")
    begun = speaks.turn(
        speaks.say("Wait."), speaks.call("slow", title="Sleep", kind="other", status="in_progress")
    )
    return [
        speaks.turn(
            speaks.call("read", title="Read a.txt", kind="read", status="in_progress",
                        locations=[{"path": file, "line": 1}]),
            speaks.patch("read", status="completed"),
            speaks.say("It has **two** lines."),
        ),
        speaks.turn(
            speaks.call("edit", title="Edit a.txt", kind="edit", status="pending",
                        content=[speaks.edit(file)],
                        locations=[{"path": file}]),
            speaks.ask("q1", "edit", "Edit a.txt"),
            {"await": "q1"},
            {"write": file, "text": NEW},
            speaks.patch("edit", status="completed"),
            speaks.say("Changed."),
        ),
        speaks.turn(*speaks.run(str(folder)), speaks.patch("run", status="completed"), speaks.say("Ran.")),
        speaks.turn(speaks.plan(), speaks.say("Planned.")),
        [*begun[:-1], *speaks.cancelled()],
        speaks.turn(
            speaks.call("rm", title="Delete a.txt", kind="delete", status="pending",
                        locations=[{"path": file}]),
            speaks.ask("q2", "rm", "Delete a.txt"),
            {"await": "q2"},
            speaks.patch("rm", status="failed"),
            speaks.say("Then not."),
        ),
        speaks.turn({"loop": LONG, "do": [speaks.say("{i} ")]}),
    ]  # fmt: skip


def played(speaks: V1, start_screen: StartScreen, agent: MakeAgent, folder: Path) -> tuple[str, list[str]]:
    """Let it be done; return the transcript, and the questions as they stood in it."""
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text(OLD)
    on: dict[str, Any] = {"session/prompt": work(speaks, folder)}
    if speaks.hello is not None:
        on["initialize"] = [speaks.hello]
    scripted = agent(on=on)
    screen = start_screen(size=(120, 40), init=WATCH, cwd=folder)
    screen.setup({**PASSIVE, "agents": {"x": {**scripted.settings, "protocol": speaks.protocol}}})
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    questions: list[str] = []

    def answer(choice: str, result: str, ident: str) -> None:
        chat.wait_pending(1)
        chat.wait_state("waiting")
        questions.append(chat.wait("1 Allow"))
        chat.permit(choice)
        assert scripted.response(ident)["result"] == selected(result)

    for turns, text in enumerate(("read it", "edit it", "run it", "plan it"), 1):
        chat.send(text)
        if text == "edit it":
            answer("1", "ok", "q1")
        chat.wait_turn(turns)
    chat.send("wait")
    chat.wait("Sleep")
    chat.cancel()
    assert chat.wait_turn(5)["stop_reason"] == "cancelled"
    chat.send("delete it")
    answer("2", "no", "q2")
    chat.wait_turn(6)
    chat.send("count")
    chat.wait_turn(7)
    chat.wait(f"{LONG - 1} {LONG}")
    return chat.text(), questions


def plain(text: str, folder: Path) -> list[str]:
    """Without what differs from run to run: times, the folder, and the name of the protocol."""
    lines = text.replace(str(folder), "FOLDER").replace("ACP v1", "ACP").replace("ACP v2", "ACP").splitlines()
    return [TIMES.sub("TIME", re.sub(r"ready in .*", "ready", line)) for line in lines]


@pytest.mark.timeout(180)
def test_the_same_work_looks_the_same(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    shown = []
    for speaks in (V1(), V2()):
        folder = tmp_path / speaks.protocol / "project"
        text, questions = played(speaks, start_screen, agent, folder)
        shown.append((plain(text, folder), [plain(each, folder) for each in questions]))
        assert "two" not in (folder / "a.txt").read_text()
        assert "✗" not in text
    differs = difflib.unified_diff(shown[0][0], shown[1][0], lineterm="")
    assert "\n".join(differs) == ""
    assert shown[1] == shown[0]
    text = "\n".join(shown[0][0])
    for wanted in ("a.txt  +1 -1", "- two", "printf", "│ b", "look", "rejected by", "cancelled by"):
        assert wanted in text, text


@pytest.mark.req("V2-04", "V2-07", "V2-08")
@pytest.mark.parametrize(
    ("refusal", "starts"),
    [
        ([], 1),
        ([{"error": {"code": -32602, "message": "version 2?"}}], 2),
        ([{"stderr": "panic: 2\n"}, {"exit": 3}], 2),
        ([{"error": {"code": -32022, "message": "no", "data": {"requested": 2, "supported": [1]}}}], 1),
    ],
    ids=["answers 1", "refuses", "dies", "names 1"],
)
def test_auto_falls_back(
    start_screen: StartScreen, agent: MakeAgent, refusal: list[Json], starts: int, tmp_path: Path
) -> None:
    """Without losing files, terminals, boolean options and logging in."""
    (tmp_path / "a.txt").write_text("text\n")
    answer = {"reply": {"protocolVersion": 1, "agentInfo": INFO, "agentCapabilities": {}}}
    two = [{"if": {"protocolVersion": 2}, "do": refusal}] if refusal else []
    read = {"sessionId": "$session", "path": str(tmp_path / "a.txt")}
    scripted = agent(
        on={
            "initialize": [*two, answer],
            "session/prompt": [
                {"request": "fs/read_text_file", "params": read, "id": "r"},
                {"await": "r", "keep": {"read": "content"}},
                {"say": "read: $read"},
                {"reply": {"stopReason": "end_turn"}},
            ],
        }
    )
    screen = start_screen(size=(120, 40), init=WATCH, cwd=tmp_path)
    screen.setup({**PASSIVE, "agents": {"x": {**scripted.settings, "protocol": "auto"}}})
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    chat.wait("ACP v1")
    assert "✗" not in chat.text()
    assert len(scripted.events("start")) == starts
    last = scripted.log("initialize")[-1]["params"]["clientCapabilities"]
    assert (last["fs"], last["terminal"]) == ({"readTextFile": True, "writeTextFile": True}, True)
    assert last["session"]["configOptions"] == {"boolean": {}}
    assert last["auth"] == {"terminal": True}
    chat.send()
    chat.wait("read: text")
    chat.wait_turn()
    running = {row["pid"] for row in scripted.events("start")} & set(marked(screen.marker))
    assert running == {scripted.events("start")[-1]["pid"]}


@pytest.mark.req("V2-01", "V2-03")
def test_auto_speaks_version_2_with_an_agent_that_does(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    speaks = V2()
    scripted = agent(on={"initialize": [HELLO_2], "session/prompt": speaks.turn(speaks.say("hello"))})
    screen = start_screen(size=(120, 40), init=WATCH, cwd=tmp_path)
    screen.setup({**PASSIVE, "protocol": "auto", "agents": {"x": scripted.settings}})
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    chat.wait("ACP v2")
    chat.send()
    chat.wait_turn()
    assert "hello" in chat.text()
    assert [len(scripted.log("initialize")), len(scripted.events("start"))] == [1, 1]


@pytest.mark.req("V2-02")
def test_version_2_alone_and_an_agent_of_version_1(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    scripted = agent()
    screen = start_screen(size=(120, 40), init=WATCH, cwd=tmp_path)
    screen.setup({**PASSIVE, "agents": {"x": {**scripted.settings, "protocol": "acp-v2"}}})
    chat = Stage(screen).open(scripted)
    chat.wait_state("failed")
    chat.wait("x cannot be used: it speaks ACP version 1, and was to speak version 2")
    chat.wait("set protocol = 'auto' for this agent")


@pytest.mark.req("V2-52", "V2-56", "V2-62")
def test_a_prompt_that_was_not_taken_comes_back_and_work_of_its_own_is_waited_for(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    speaks = V2()
    scripted = agent(
        on={
            "initialize": [HELLO_2],
            "session/prompt": [
                [{"error": {"code": -32603, "message": "the queue is full"}}],
                [
                    *speaks.turn(speaks.say("First.")),
                    update("state_update", state="running"),
                    speaks.say("My own work."),
                    {"wait": "session/cancel"},
                    update("state_update", state="idle", stopReason="cancelled"),
                ],
                speaks.turn(speaks.say("Third.")),
            ],
        }
    )
    screen = start_screen(size=(120, 40), init=WATCH, cwd=tmp_path)
    screen.setup({**PASSIVE, "agents": {"x": {**scripted.settings, "protocol": "acp-v2"}}})
    chat: Chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    chat.send("one")
    chat.wait("not sent: the queue is full")
    chat.wait("Your text is back in the prompt.")
    eventually(lambda: chat.prompt() == "one", message=chat.prompt)
    chat.wait_state("idle")
    chat.send("two")
    chat.wait("My own work.")
    chat.wait_state("running")
    chat.send("three")
    eventually(lambda: chat.status()["queued"] == 1, message=lambda: str(chat.status()))
    assert len(scripted.log("session/prompt")) == 2
    chat.cancel()
    chat.wait("Third.")
    chat.wait_turn(4)
    assert [each["stop_reason"] for each in chat.events("AcpTurnEnd")] == [
        "error",
        "end_turn",
        "cancelled",
        "end_turn",
    ]


@pytest.mark.req("V2-73", "V2-74", "V2-96", "V2-107")
def test_one_row_is_cancelled_where_the_agent_can(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    speaks = V2()
    can = {"capabilities": {"cancel": {}}, "status": "in_progress"}
    turn = speaks.turn(
        speaks.call("one", title="One", **can),
        speaks.call("two", title="Two", status="in_progress"),
        speaks.call("three", title="Three", status="in_progress",
                    content=[{"type": "terminal", "terminalId": "t1"}]),
        update("terminal_update", terminalId="t1", command="sleep 99", capabilities={"cancel": {}}),
        {"wait": "tool_call/cancel"},
        {"wait": "terminal/cancel"},
        speaks.patch("one", status="cancelled"),
        update("terminal_update", terminalId="t1", exitStatus={"signal": "SIGTERM"}),
        speaks.patch("two", status="completed"),
        speaks.patch("three", status="completed"),
    )  # fmt: skip
    scripted = agent(
        on={
            "initialize": [HELLO_2],
            "session/prompt": turn,
            "tool_call/cancel": [{"reply": {}}],
            "terminal/cancel": [{"reply": {}}],
        }
    )
    screen = start_screen(size=(120, 40), init=WATCH, cwd=tmp_path)
    screen.setup({**PASSIVE, "agents": {"x": {**scripted.settings, "protocol": "acp-v2"}}})
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    chat.send()
    chat.wait("sleep 99")
    chat.focus()
    screen.keys("<Esc><C-w>k")

    def cancel(title: str) -> None:
        screen.lua("vim.fn.cursor(1, 1) vim.fn.search(...)", title)
        screen.keys("x")

    cancel("Two")
    screen.wait("x cannot cancel this alone; :AcpCancel cancels the turn")
    cancel("One")
    assert scripted.wait("tool_call/cancel")["params"] == {"sessionId": "s1", "toolCallId": "one"}
    assert "One  cancelled" not in chat.text()
    cancel("Three")
    assert scripted.wait("terminal/cancel")["params"] == {"sessionId": "s1", "terminalId": "t1"}
    chat.wait_turn()
    chat.wait("One  cancelled")
    cancel("One")
    screen.wait("nothing here goes on")
