"""An agent that takes its time to start, and restarts while it does."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.trouble import Chat, change, open_chat, ready_chat, starts
from tests.plugin import StartScreen, eventually, marked

HELLO = {"reply": {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1.0"}}}
REMEDIES = (
    "  │ :AcpTrace shows what was said",
    "  │ :AcpRestart starts it again",
    "  │ :AcpCancel gives your text back",
)


def impatient(agent: ScriptedAgent, seconds: float = 0.1) -> Json:
    """The settings of an agent that may take a tenth of a second."""
    return {**agent.settings, "stall_s": seconds}


def tells(chat: Chat, why: str, seconds: float = 0.1) -> None:
    """Assert that the head says once that the agent is still starting, and what can be done."""
    chat.until(f"x is still starting: {why} ({seconds:g} s)", *REMEDIES)
    chat.sees("x is still starting: ", ":AcpCancel gives your text back", " x  still starting, :AcpRestart")
    assert chat.text.count("still starting") == 1
    assert chat.status["state"] == "starting"
    assert not chat.troubles
    chat.quiet()


def test_no_answer_to_initialize(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": []})
    chat = open_chat(start_screen, impatient(x))
    chat.submit("first\nprompt")
    chat.submit("second prompt")
    chat.type("not yet sent")
    tells(chat, "it does not answer initialize")
    chat.sees("queued 1  first prompt", "queued 2  second prompt", "not yet sent")
    assert chat.status["queued"] == 2
    chat.screen.command("AcpCancel")
    chat.until_prompt("first\nprompt\nsecond prompt\nnot yet sent")
    chat.screen.wait(lambda text: "queued" not in text)
    eventually(lambda: chat.status["queued"] == 0, message=chat.show)
    change(x, initialize=[HELLO])
    chat.screen.command("AcpRestart")
    chat.until("ready in")
    assert "still starting" not in chat.screen.text()
    chat.works()


def test_a_restart_keeps_the_queue(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": []})
    chat = open_chat(start_screen, impatient(x))
    chat.submit("hello")
    tells(chat, "it does not answer initialize")
    chat.screen.command("AcpRestart")
    chat.until("Starting. You can type already")  # again, as if nothing had been
    tells(chat, "it does not answer initialize")
    change(x, initialize=[HELLO])
    chat.screen.command("AcpRestart")
    chat.until("❯ hello", "── done")
    assert not chat.troubles
    assert len(starts(x)) == 3


def test_a_late_answer_is_welcome(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [{"wait": "never"}], "session/new": [{"reply": {"sessionId": "s"}}]})
    change(x, initialize=[{"sleep": 400}, HELLO])
    chat = open_chat(start_screen, impatient(x))
    chat.submit("hello")
    chat.until("x is still starting")
    chat.until("❯ hello", "── done", "ready in")
    assert "still starting" not in chat.text
    chat.sees(" x  ready")


def test_no_answer_to_session_new(start_screen: StartScreen, agent: MakeAgent) -> None:
    seconds = 2  # until then a busy machine has started the agent, too
    chat = open_chat(start_screen, impatient(agent({"session/new": []}), seconds))
    chat.submit("hello")
    tells(chat, "it does not answer session/new", seconds)
    chat.screen.command("AcpCancel")
    chat.until_prompt("hello")


def test_a_secret_that_takes_long(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent()
    chat = open_chat(start_screen, {**impatient(x), "env": {"TOKEN": {"cmd": ["sleep", "600"]}}})
    tells(chat, "the commands of agents.x.env have not ended")
    chat.screen.command("AcpRestart")
    chat.until("Starting. You can type already")
    tells(chat, "the commands of agents.x.env have not ended")
    eventually(lambda: sum("sleep 600" in line for line in marked(chat.screen.marker).values()) == 1)
    assert not starts(x)


@pytest.mark.parametrize(
    ("printed", "stray"),
    [("Welcome to x 1.0!", "“Welcome to x 1.0!”"), (r"\033[2J{\000\377[[[", "“^[[2J{^@�[[[”")],
)
def test_what_it_prints_is_shown(start_screen: StartScreen, printed: str, stray: str) -> None:
    command = ["/bin/sh", "-c", f"printf '{printed}\\n'; exec sleep 600"]
    chat = open_chat(start_screen, {"command": command, "stall_s": 1})
    chat.until("x is still starting: it does not answer initialize (1 s)")
    chat.until(f"It prints what is not ACP: {stray}", "Is agents.x.command right?", *REMEDIES)
    chat.quiet()


@pytest.mark.parametrize("late", ["", "sleep 1; "])
def test_what_is_no_agent_is_said_soon(start_screen: StartScreen, late: str) -> None:
    """Not after the 60 seconds of ``stall_s``."""
    command = ["/bin/sh", "-c", f"{late}echo hello; exec sleep 600"]
    chat = open_chat(start_screen, {"command": command})
    chat.until("x is still starting: it does not answer initialize (3 s)")
    chat.until("It prints what is not ACP: “hello”", "Is agents.x.command right?", *REMEDIES)


def test_its_last_words_are_shown(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [{"stderr": "Open https://example.org/device to log in\n"}]})
    chat = open_chat(start_screen, {**x.settings, "stall_s": 0.3})
    chat.until("  │ Open https://example.org/device to log in", *REMEDIES)


def test_a_restart_that_is_slow_says_so_below_the_conversation(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    x = agent()
    chat = ready_chat(start_screen, {**x.settings, "stall_s": 0.5})
    chat.works()
    change(x, initialize=[])
    chat.screen.command("AcpRestart")
    chat.until("── x is still starting: it does not answer initialize (0.5 s)", *REMEDIES)
    chat.sees("x is still starting")


@pytest.mark.parametrize("times", [1, 2, 5])
def test_restarts_during_the_start(start_screen: StartScreen, agent: MakeAgent, times: int) -> None:
    x = agent({"initialize": [{"sleep": 50}, HELLO]})
    chat = open_chat(start_screen, x)
    chat.screen.host_ready()
    for _ in range(times):
        eventually(lambda: starts(x))
        chat.screen.command("AcpRestart")
    chat.submit("hello")
    chat.until("❯ hello", "── done")
    assert not chat.troubles
    assert "was stopped" not in chat.text
    assert "cannot resume" not in chat.text
    chat.works()
    assert len(alive(chat)) == 1


@pytest.mark.parametrize("times", [1, 2, 5])
def test_restarts_in_a_row(start_screen: StartScreen, agent: MakeAgent, times: int) -> None:
    x = agent()
    chat = ready_chat(start_screen, x)
    chat.works("one")
    for _ in range(times):
        chat.screen.command("AcpRestart")
    assert chat.status["state"] == "starting"
    chat.type("still here")
    chat.until("── x cannot resume: it does not remember this chat")
    chat.until_state("idle")
    assert chat.text.count("x cannot resume") == 1
    assert not chat.troubles
    assert chat.prompt == "still here"
    chat.works()
    assert len(alive(chat)) == 1
    # One that was ended before it was ready has not been asked for a session.
    assert 2 <= len(x.log("session/new")) <= len(starts(x))


def alive(chat: Chat) -> list[str]:
    """The command lines of the agent's processes that live."""
    return [line for line in marked(chat.screen.marker).values() if "scripted.py" in line]
