"""Which version of ACP is spoken, found out by asking; and what only version 2 has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import PASSIVE, WATCH, Chat, Stage, update
from tests.nvim.login_kit import WANTED
from tests.nvim.same_kit import HELLO_2, INFO, V2
from tests.nvim.test_login_terminal import TTY, in_terminal, program
from tests.nvim.trouble import open_chat
from tests.plugin import StartScreen, eventually, marked


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


@pytest.mark.req("V2-07")
def test_nothing_of_version_1_is_lost_when_auto_falls_back(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    """A login in a terminal, a boolean option, files and commands of ours: all of it is used."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("text\n")
    hello = {"protocolVersion": 1, "agentInfo": INFO, "agentCapabilities": {}, "authMethods": [TTY]}
    scripted = agent(on={"initialize": [{"reply": hello}], "session/new": [WANTED]})
    command = program(tmp_path, scripted)
    web: Json = {"id": "web", "name": "Web", "type": "boolean", "currentValue": False}
    session = {"sessionId": "s1"}
    read = {**session, "path": str(folder / "a.txt")}
    run = {**session, "command": "printf", "args": ["ran\\n"]}
    good = json.loads((tmp_path / "good.json").read_text())
    good["on"] |= {
        "session/new": [[{"reply": {**session, "configOptions": [web]}}]],
        "session/set_config_option": [[{"reply": {"configOptions": [{**web, "currentValue": True}]}}]],
        "session/prompt": [
            [
                {"request": "fs/read_text_file", "params": read, "id": "r"},
                {"await": "r", "keep": {"read": "content"}},
                {"say": "read: $read"},
                {"request": "terminal/create", "params": run, "id": "t"},
                {"await": "t", "keep": {"terminal": "terminalId"}},
                update("tool_call", toolCallId="run", title="printf", kind="execute", status="completed",
                       content=[{"type": "terminal", "terminalId": "$terminal"}]),
                {"reply": {"stopReason": "end_turn"}},
            ]
        ],
    }  # fmt: skip
    (tmp_path / "good.json").write_text(json.dumps(good))
    chat = open_chat(start_screen, {"command": command, "protocol": "auto"}, cwd=folder)
    in_terminal(chat)
    chat.screen.keys("good<CR>")
    chat.until("ACP v1", "ready in")
    chat.until_state("idle")
    chat.screen.command("AcpOptions web true")
    told = scripted.wait("session/set_config_option")["params"]
    assert told == {"sessionId": "s1", "configId": "web", "type": "boolean", "value": True}
    chat.submit("go")
    chat.until("read: text", "│ ran", "── done")
    chat.quiet()


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
    screen.wait("nothing here can be cancelled")
