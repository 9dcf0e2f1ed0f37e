"""Cases C27 to C29: agents that do not end, do not start, or take their time."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.agents.fixtures import BAD, Json, MakeAgent, ScriptedAgent
from tests.nvim.cases.kit import WATCH, Chat, Stage, ask, assert_gone, play
from tests.plugin import Screen, StartScreen, eventually, marked, none_left

LEAVING = 2.0
"""Seconds Neovim may take to close: less than the grace that stubborn agents have."""

ENDS: dict[str, list[Json]] = {
    "idle": [],
    "in a turn": [{"say": "busy"}, {"wait": "never"}],
    "with a question": [ask(1, {"toolCallId": "t1", "title": "rm x", "kind": "delete"}), {"await": 1}],
    "in a flood": [{"loop": 1_000_000, "do": [{"say": "text {i}\n"}]}],
}


@pytest.mark.req("V1-18")
@pytest.mark.parametrize("when", ENDS)
def test_c27_leaving_does_not_wait_for_the_agent(
    when: str, start_screen: StartScreen, agent: MakeAgent
) -> None:
    start = [{"fork": 600, "session": True, "stubborn": True}]
    (chat,) = play("whole", start_screen, agent, ENDS[when], start=start, sigterm="ignore", eof=[])
    screen = chat.screen
    if ENDS[when]:
        chat.send()
        eventually(lambda: "busy" in chat.text() or chat.status()["pending"] or "text 9" in chat.text())
    agents = {row["pid"] for row in (*chat.agent.events("start"), *chat.agent.events("fork"))}
    assert len(agents) == 2
    assert agents <= set(marked(screen.marker))
    started = time.monotonic()
    screen.keys("<Esc>:qa<CR>")
    assert screen.wait_exit() == 0
    assert time.monotonic() - started < LEAVING
    none_left(screen.marker)


def start_failing(start_screen: StartScreen, unstarted: ScriptedAgent, command: list[str]) -> Chat:
    """Open a chat whose agent cannot be started."""
    screen = start_screen(size=(150, 40), init=WATCH, env={"PATH": "/nowhere/bin:/usr/bin:/bin"})
    screen.setup({"agents": {"x": {"command": command}}})
    screen.command("AcpChat x")
    screen.leave_insert()
    return Chat(screen, unstarted, 1, "")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["no-such-agent", "--acp"], "no 'no-such-agent' in $PATH"),
        ([str(BAD)], f"{BAD} is a directory"),
        ([str(BAD / "not_executable.sh")], f"{BAD / 'not_executable.sh'} is not executable"),
        (["/no/such/agent", "--acp"], "/no/such/agent does not exist"),
    ],
)
def test_c28_a_command_that_cannot_be_run(
    command: list[str], reason: str, start_screen: StartScreen, agent: MakeAgent
) -> None:
    chat = start_failing(start_screen, agent(), command)
    screen = chat.screen
    screen.keys("ifix it", "<C-s>")
    chat.wait_state("failed")
    shown = chat.wait(reason)
    assert f"`{' '.join(command)}`" in shown, "the command that was tried"
    assert "set agents.x.command" in shown
    if "/" not in command[0]:
        assert "/nowhere/bin:/usr/bin:/bin" in shown, "where it was looked for"
    eventually(lambda: chat.prompt() == "fix it", message=chat.prompt)
    chat.wait_winbar("✗ failed, :AcpRestart")
    eventually(lambda: reason in chat.status().get("error", ""))
    # It is said once, and nothing is tried again by itself.
    assert shown.count("did not start") == 1
    assert screen.messages().count("\n") == 0
    screen.command("checkhealth acp")
    health = "\n".join(screen.lines())
    assert reason in health
    assert "agents.x.command" in health
    screen.command("bwipeout")
    assert chat.trace().count("\n") < 3


def test_c28_restart_after_the_remedy(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = start_failing(start_screen, agent(), ["no-such-agent"])
    chat.wait_state("failed")
    good = agent()
    chat.screen.setup({"agents": {"x": good.settings}})
    chat.screen.command("AcpRestart")
    chat.wait_state("idle")
    chat.send()
    assert chat.wait_turn()["stop_reason"] == "end_turn"


def test_c28_an_agent_that_ends_at_once(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = start_failing(start_screen, agent(), ["/bin/sh", str(BAD / "exits.sh")])
    chat.wait_state("failed")
    shown = chat.wait("ended with exit code 3")
    assert "FATAL: no license found in /etc/agent" in shown


SLOW: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": {}}


@pytest.mark.req("V1-23", "V1-45", "V1-48")
def test_c29_opened_twice_while_it_starts(start_screen: StartScreen, agent: MakeAgent) -> None:
    played = agent(on={"initialize": [{"sleep": 700}, {"reply": SLOW}]})
    screen = start_screen(size=(150, 40), init=WATCH)
    stage = Stage(screen)
    stage.setup(x=played)
    first = stage.open(played)
    again = stage.open(played)
    assert again.n == first.n
    assert again.buf == first.buf
    third = stage.open(played, new=True)
    assert third.n != first.n
    first.focus()
    screen.keys("i", *"typing works ")
    screen.wait("typing works")
    assert played.log("session/new") == [], "it still starts"
    screen.keys("<C-s>")
    assert "starting" in first.winbar()
    first.wait_turn()
    third.wait_state("idle")
    assert len(played.events("start")) == 1
    assert len(played.log("initialize")) == 1
    assert len(played.log("session/new")) == 2
    prompts = [message["params"]["prompt"][0]["text"] for message in played.log("session/prompt")]
    assert prompts == ["typing works "]
    assert windows(screen, first) == 1


def windows(screen: Screen, chat: Chat) -> int:
    """How many windows show a transcript."""
    return len(screen.funcs.win_findbuf(chat.buf))


def test_c29_restarted_while_it_starts(start_screen: StartScreen, agent: MakeAgent) -> None:
    silent, good = agent(on={"initialize": []}), agent()
    screen = start_screen(size=(150, 40), init=WATCH)
    stage = Stage(screen)
    stage.setup(x=silent)
    chat = stage.open(silent)
    silent.wait("initialize")
    chat.send("kept")
    stage.setup(x=good)
    screen.command("AcpRestart")
    screen.command("AcpRestart")
    eventually(lambda: good.log("session/prompt") or "kept" in chat.prompt(), message=chat.text)
    assert_gone(screen, silent.events("start")[0]["pid"])
    if not good.log("session/prompt"):  # given back, not lost
        screen.keys("<C-s>")
    chat.wait_turn()
    assert [message["params"]["prompt"][0]["text"] for message in good.log("session/prompt")] == ["kept"]
    assert len(marked_agents(screen, good)) == 1


def marked_agents(screen: Screen, played: ScriptedAgent) -> set[int]:
    """Pids of the living processes of an agent."""
    return {row["pid"] for row in played.events("start")} & set(marked(screen.marker))
