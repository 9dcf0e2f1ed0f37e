"""What an agent tells beside its answer, from the wire to the screen: notices, compaction, usage, modes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Chat, Stage, ask, play, selected, update, ways
from tests.plugin import StartScreen

TEXT = {"type": "text", "text": "It was long.\n"}
MODES = {
    "currentModeId": "plan",
    "availableModes": [{"id": "plan", "name": "Plan"}, {"id": "code", "name": "Code"}],
}


@ways
@pytest.mark.req("V1-159", "V1-160")
def test_notices_and_compaction(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [
        {"say": "one"},
        update("notice", severity="warning", title="Nearly full", description="Say less."),
        update("compaction_update", compactionId="c", status="in_progress"),
        {"say": "two"},
        update("compaction_summary_chunk", compactionId="c", content=TEXT),
        update("notice", severity="info", title=""),
        update("compaction_update", compactionId="c", status="completed"),
        update("compaction_update", compactionId="d", status="failed", error="no room"),
        END,
    ]
    for chat in play(way, start_screen, agent, actions):
        chat.send()
        chat.wait_turn()
        shown = chat.text().split("\n")
        at = shown.index("one")
        assert shown[at : at + 16] == [
            "one",
            "",
            "── x (warning): Nearly full",
            "  │ Say less.",
            "",
            "✓ compact what came before",
            "  │ It was long.",
            "",
            "two",
            "",
            "── x: a notice without words",
            "",
            "✗ compact what came before  failed",
            "  │ no room",
            "",
            "── done",
        ]


@ways
@pytest.mark.req("V1-157", "V1-158")
def test_usage(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    cost = {"amount": 12.5, "currency": "credits"}
    actions = [
        update("usage_update", used=85, size=100, cost=cost),
        update("usage_update", used=90, size=0),
        END,
    ]
    for chat in play(way, start_screen, agent, actions):
        chat.send()
        chat.wait_turn()
        chat.wait_winbar("90 tokens · 12.5 credits")
        assert chat.status()["usage"] == {"used": 90, "size": 0, "cost": "12.5 credits"}


def test_usage_of_any_size(start_screen: StartScreen, agent: MakeAgent) -> None:
    """Whole numbers of the protocol go up to 2^64; Neovim has 63 bits, Lua 53."""
    actions = [update("usage_update", used=2**64 - 1, size=2**64 - 1), END]
    (chat,) = play("whole", start_screen, agent, actions)
    chat.send()
    chat.wait_turn()
    chat.wait_winbar("9007T/9007T")


@ways
@pytest.mark.req("V1-138", "V1-144")
def test_the_mode_changes_after_the_plan_was_allowed(
    way: str, start_screen: StartScreen, agent: MakeAgent
) -> None:
    call = {"toolCallId": "$session", "title": "Ready?", "kind": "switch_mode", "rawInput": {"plan": "1. do"}}
    ident = "ask $session"
    actions = [
        ask(ident, call),
        {"await": ident},
        update("current_mode_update", currentModeId="code"),
        update("tool_call_update", toolCallId="$session", status="completed"),
        END,
    ]
    new = [{"reply": {"sessionId": "$session", "modes": MODES}}]
    for chat in play(way, start_screen, agent, actions, on={"session/new": new}):
        chat.wait_winbar("Plan mode")
        chat.send()
        chat.wait_pending(1)
        chat.permit("allow_once")
        chat.wait_turn()
        chat.wait_winbar("Code mode")
        assert chat.status()["mode"] == "Code"
        assert chat.agent.response(f"ask {chat.session}")["result"] == selected("ok")
        assert "✓ mode   Ready?\n  │ 1. do" in chat.text()


def test_what_was_not_offered_is_ignored_and_traced(start_screen: StartScreen, agent: MakeAgent) -> None:
    entry = {"content": "a", "priority": "high", "status": "pending"}
    actions = [
        {"say": "one "},
        update("plan_update", plan={"type": "items", "planId": "p", "entries": [entry]}),
        update("plan_removed", planId="p"),
        update("subagent_update", subagentId="s"),
        {"say": "two"},
        END,
    ]
    (chat,) = play("whole", start_screen, agent, actions)
    chat.send()
    chat.wait_turn()
    assert "one two\n" in chat.text()
    assert "plan" not in chat.text()
    trace = chat.trace()
    for kind in ("plan_update", "plan_removed", "subagent_update"):
        assert f"unknown update {kind}" in trace


@ways
@pytest.mark.req("V1-139", "V1-140")
def test_a_plan_of_a_hundred_that_is_cleared(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    def plan(done: int) -> Json:
        entries = [
            {"content": f"step {n}", "priority": "low", "status": "completed" if n < done else "pending"}
            for n in range(100)
        ]
        return update("plan", entries=[*entries, {"content": 7}])

    actions = [*[plan(n) for n in range(20)], {"say": "text"}, update("plan", entries=[]), END]
    for chat in play(way, start_screen, agent, actions):
        chat.send()
        chat.wait_turn()
        assert "plan  removed\n\ntext\n" in chat.text()
        assert "step" not in chat.text()
        assert "plan" not in chat.winbar()


COMMANDS = [{"name": "review", "description": "look", "input": {"hint": "PR"}}]


@pytest.mark.parametrize("embedded", [True, False])
@pytest.mark.req("V1-69", "V1-100", "V1-155")
def test_a_command_begins_its_prompt(
    embedded: bool, start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    file = tmp_path / "a b%.py"
    file.write_text("one\ntwo\n")
    info: dict[str, Any] = {
        "protocolVersion": 1,
        "agentCapabilities": {"promptCapabilities": {"embeddedContext": embedded}},
    }
    played = agent(
        on={
            "initialize": [{"reply": info}],
            "session/prompt": [update("available_commands_update", availableCommands=COMMANDS), END],
        }
    )
    screen = start_screen(size=(150, 40), init=WATCH, cwd=tmp_path)
    stage = Stage(screen, PASSIVE)
    stage.setup(x=played)
    chat: Chat = stage.open(played)
    chat.wait_state("idle")
    context = [{"path": str(file), "first": 1, "last": 2, "text": "one\ntwo"}]
    send = "local text, context = ... require('acp').send(text, { context = context })"
    for number, text in enumerate(["/review 3", "look at this"], 1):
        screen.lua(send, text, context)
        chat.wait_turn(number)
    first, second = [message["params"]["prompt"] for message in played.log("session/prompt")]
    said = {"type": "text", "text": "/review 3"}
    assert first[0] == said
    assert second[1] == {"type": "text", "text": "look at this"}
    assert first[1] == second[0]
    if embedded:
        assert first[1]["resource"]["uri"] == f"file://{tmp_path}/a%20b%25.py#L1-L2"
    else:
        assert "one\ntwo" in first[1]["text"]
