"""A side question: a session that goes on from the one of a chat, which is not disturbed."""

from __future__ import annotations

from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END
from tests.nvim.sessions_kit import ALL, Desk, able
from tests.nvim.trouble import starts
from tests.plugin import StartScreen, eventually

FORKED: list[Json] = [{"reply": {"sessionId": "side"}}]


def test_a_side_question_during_a_turn(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    slow: list[Json] = [{"say": "Working"}, {"wait": "session/cancel"}, {"say": " and done"}, END]
    x = agent(
        {
            "initialize": ALL,
            "session/fork": FORKED,
            "session/prompt": [slow, [{"say": "because"}, END], [END]],
        }
    )
    desk.setup({"x": x})
    desk.screen.keys(":AcpFork<CR>")
    desk.screen.wait("acp: there is no chat to fork")
    chat = desk.chat(x)
    desk.screen.keys(":AcpFork<CR>")
    desk.screen.wait("acp: nothing was said in this chat yet")
    chat.send("change it all")
    chat.wait("Working")
    desk.screen.command("AcpFork why  so?")
    side = desk.current(x)
    assert side.n != chat.n
    side.wait("── forked: x remembers what was said before. It is not shown here.")
    side.wait("❯ why  so?\n\nbecause")
    assert (
        x.log("session/fork")[0]["params"]["sessionId"] == x.log("session/prompt")[0]["params"]["sessionId"]
    )
    assert x.log("session/prompt")[1]["params"]["sessionId"] == "side"
    assert len(starts(x)) == 1  # the same process
    assert x.log("session/cancel") == []
    assert chat.status()["state"] == "running"
    desk.screen.command("1AcpChat")
    desk.screen.keys("<Esc>")
    desk.screen.command("AcpCancel")
    chat.wait_turn()
    assert "Working and done" in chat.text()
    # By a key, with the prompt of the new chat for the question.
    desk.screen.lua("vim.g.maplocalleader = ','")
    desk.screen.command("AcpChat! x")
    desk.screen.keys("<Esc>")
    third = desk.current(x)
    third.wait_state("idle")
    third.send("hello")
    third.wait_turn()
    desk.screen.keys("<C-w>k,s")
    eventually(lambda: len(x.log("session/fork")) == 2)
    eventually(lambda: desk.current(x).n == 4)
    assert desk.screen.api.buf_get_name(0) == "acp://x/4/prompt"
    desk.screen.keys("<Esc>")


def test_an_agent_that_cannot(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent({"initialize": able("list"), "session/prompt": [END]})
    desk.setup({"x": x})
    chat = desk.chat(x)
    chat.send("hello")
    chat.wait_turn()
    desk.screen.keys(":AcpFork<CR>")
    desk.screen.wait("acp: x cannot fork a session; :AcpChat! begins a new one")
    assert desk.numbers() == [chat.n]
