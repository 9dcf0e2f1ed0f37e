"""What AAP has in common with ACP looks the same: text, thoughts, tools, questions, the ends of turns."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from tests.agents.aap_server import AapServer, Call, Hold, Step, Stop, text, thinking
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.aap_kit import remote
from tests.nvim.cases.kit import OPTIONS, WATCH, update
from tests.nvim.test_versions import V1, plain
from tests.nvim.trouble import Chat, open_chat
from tests.plugin import StartScreen, eventually

LONG = 300
SPECS = {"search": "Search the web", "drop": "Drop the table"}
AGENT: Json = {
    "name": "scripted",
    "version": "1.0",
    "tools": [{"name": name, "title": title, "description": title} for name, title in SPECS.items()],
    "capabilities": {"stream": {"delta": {}}, "history": {"full": {}}},
}
SCRIPT: list[Step] = [
    [thinking("Let me ", "see."), text("I look", " it up."), Call("t1", "search", {"query": "cats"})],
    [text("Found **two**.")],
    [Call("t2", "drop", {"table": "users"})],
    [text("Then not.")],
    [text("Wait."), Hold()],
    [text("cut"), Stop("max_tokens")],
    [text(*[f"{n} " for n in range(1, LONG + 1)])],
]


def over_acp() -> dict[str, Any]:
    """The same work by an agent of version 1."""
    speaks = V1()

    def thought(words: str) -> Json:
        return update("agent_thought_chunk", content={"type": "text", "text": words})

    def call(ident: str, name: str, **given: str) -> Json:
        return speaks.call(ident, title=SPECS[name], kind="other", status="pending", rawInput=given)

    def ask(ident: str, row: str) -> list[Json]:
        params = {"sessionId": "$session", "toolCall": {"toolCallId": row}, "options": OPTIONS}
        message = {"jsonrpc": "2.0", "id": ident, "method": "session/request_permission", "params": params}
        return [{"send": message}, {"await": ident}]

    found = [{"type": "content", "content": {"type": "text", "text": "found cats"}}]
    turns = [
        speaks.turn(
            thought("Let me see."),
            speaks.say("I look it up."),
            call("t1", "search", query="cats"),
            *ask("q1", "t1"),
            speaks.patch("t1", status="completed", content=found),
            speaks.say("Found **two**."),
        ),
        speaks.turn(call("t2", "drop", table="users"), *ask("q2", "t2"), speaks.say("Then not.")),
        [speaks.say("Wait."), *speaks.cancelled()],
        speaks.turn(speaks.say("cut"), stop="max_tokens"),
        speaks.turn({"loop": LONG, "do": [speaks.say("{i} ")]}),
    ]
    info = {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1.0"}}
    return {"initialize": [{"reply": info}], "session/prompt": turns}


def done(chat: Chat) -> str:
    """Do the work as a user does; return the transcript."""
    chat.until_state("idle")
    for prompt, answer, end in (
        ("look it up", "allow_once", "Found"),
        ("drop it", "reject_once", "Then not."),
    ):
        chat.submit(prompt)
        chat.until_state("waiting")
        chat.screen.command(f"AcpPermit {answer}")
        chat.until(end)
        chat.until_state("idle")
    chat.submit("wait")
    chat.until("Wait.")
    chat.screen.command("AcpCancel")
    chat.until("cancelled by you")
    chat.until_state("idle")
    chat.submit("talk")
    chat.until("token limit")
    chat.until_state("idle")
    chat.submit("count")
    chat.until(f"{LONG - 1} {LONG}")
    chat.until_state("idle")
    eventually(lambda: chat.text.count("── ") == 5, message=chat.show)
    chat.quiet()
    return chat.text


def test_the_same_work_looks_the_same(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    options: dict[str, Any] = {"size": (120, 50), "init": WATCH, "cwd": tmp_path}
    local = done(open_chat(start_screen, agent(on=over_acp()), **options))
    drop = {"drop": lambda _given: "dropped"}
    with AapServer(SCRIPT, agents=[AGENT], tools=drop) as server:
        chat = open_chat(start_screen, remote(server), **options)
        server_shown = done(chat)
    one, other = (plain(each.replace("AAP", "ACP"), tmp_path) for each in (local, server_shown))
    assert "\n".join(difflib.unified_diff(one, other, lineterm="")) == ""
    for wanted in ("think", "✓ tool", "Search the web", "rejected by you", "Found **two**."):
        assert wanted in server_shown
