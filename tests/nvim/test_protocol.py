"""Promises of the protocol that only the whole chain can keep: a real Neovim, its host, a scripted agent."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Stage, ask, play, selected, update
from tests.plugin import StartScreen, eventually

from acp_nvim.client.chat import CANCEL_PATIENCE

EMBEDS = {
    "reply": {
        "protocolVersion": 1,
        "agentCapabilities": {
            "promptCapabilities": {"embeddedContext": True},
            "sessionCapabilities": {"close": {}},
        },
    }
}


@pytest.mark.req("V1-02", "V1-03", "V1-21", "V1-100")
def test_nothing_but_messages_with_absolute_paths_is_written(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    """From the start to the end of an agent, with lines of a file that was opened by a relative name."""
    folder = tmp_path / "with a space"
    folder.mkdir()
    (folder / "a.py").write_text("one\ntwo\nthree\n")
    played = agent(on={"initialize": [EMBEDS], "session/prompt": [ask("q", {"toolCallId": "t"}), END]})
    screen = start_screen(size=(150, 40), init=WATCH, cwd=folder, files=("a.py",))
    stage = Stage(screen, PASSIVE)
    stage.setup(x=played)
    screen.command("2,3AcpSend what is this?")
    prompt = played.wait("session/prompt")["params"]["prompt"]
    played.response("q")
    screen.keys("<Esc>:qa!<CR>")
    assert screen.wait_exit() == 0
    resource = next(block["resource"] for block in prompt if block["type"] == "resource")
    assert resource["uri"] == f"{folder.resolve().as_uri()}/a.py#L2-L3"
    assert played.log("session/new")[0]["params"]["cwd"] == str(folder.resolve())
    assert [row["raw"] for row in played.rows() if "raw" in row] == []
    assert played.problems() == []
    assert len(played.log()) >= 4


@pytest.mark.req("V1-130")
def test_always_is_the_agents_to_remember(start_screen: StartScreen, agent: MakeAgent) -> None:
    """The same call again, after an answer for always: it is asked again, since the agent asks."""
    options = [
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "never", "name": "Never", "kind": "reject_always"},
    ]
    call = {"toolCallId": "t1", "title": "make", "kind": "execute", "rawInput": {"command": "make"}}
    names = ("q1", "q2", "q3")
    actions = [step for name in names for step in (ask(name, call, options), {"await": name})]
    (chat,) = play("whole", start_screen, agent, [*actions, END])
    chat.send()
    for name, choice, option in zip(
        names, ("allow_always", "reject_always", "allow_always"), ("always", "never", "always"), strict=True
    ):
        chat.wait_pending(1)
        assert chat.agent.responses(name) == []
        chat.permit(choice)
        assert chat.agent.response(name)["result"] == selected(option)
    chat.wait_turn()


@pytest.mark.req("V1-138", "V1-144")
def test_the_mode_changes_after_a_question_about_it(start_screen: StartScreen, agent: MakeAgent) -> None:
    modes = {
        "currentModeId": "plan",
        "availableModes": [{"id": "plan", "name": "Plan"}, {"id": "code", "name": "Code"}],
    }
    call = {"toolCallId": "t1", "title": "Ready to code?", "kind": "switch_mode"}
    options = [{"optionId": "code", "name": "Yes", "kind": "allow_once"}]
    actions = [
        ask("q", call, options),
        {"await": "q"},
        update("current_mode_update", currentModeId="code"),
        END,
    ]
    new = [{"reply": {"sessionId": "$session", "modes": modes}}]
    (chat,) = play("whole", start_screen, agent, actions, on={"session/new": new})
    eventually(lambda: chat.status()["mode"] == "Plan", message=lambda: str(chat.status()))
    chat.send()
    chat.wait_pending(1)
    chat.permit("allow_once")
    eventually(lambda: chat.status()["mode"] == "Code", message=lambda: str(chat.status()))
    chat.wait_turn()


@pytest.mark.req("V1-84")
def test_an_agent_that_does_not_stop_can_be_ended(start_screen: StartScreen, agent: MakeAgent) -> None:
    (chat,) = play("whole", start_screen, agent, [{"say": "busy"}])
    chat.send()
    chat.wait("busy")
    chat.cancel()
    eventually(
        lambda: "has not stopped yet" in chat.text() and ":AcpRestart" in chat.text(),
        CANCEL_PATIENCE + 15,
        chat.text,
    )
    assert chat.status()["state"] == "running"  # it is the agent's to end (V1-83)
    first = chat.agent.events("start")[0]["pid"]
    chat.go()
    chat.screen.command("AcpRestart")
    chat.wait_state("idle")
    assert [row["pid"] for row in chat.agent.events("start")][-1] != first
