"""Notices for who looks elsewhere: the end of a turn, a question, by the bell or by ``vim.notify``."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, ask
from tests.nvim.sessions_kit import Desk
from tests.plugin import StartScreen, eventually

RECORD = "_G.told = {} vim.notify = function(text, level) table.insert(_G.told, { text, level }) end"
ERROR: Json = {"error": {"code": -32603, "message": "over\nloaded"}}


def test_the_end_of_a_turn_is_told_once_to_who_does_not_see_it(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    desk = Desk(start_screen)
    end = {"reply": {"stopReason": "max_tokens"}}
    stopped: list[Json] = [{"wait": "session/cancel"}, {"reply": {"stopReason": "cancelled"}}]
    plays: Any = [[END], [END], [END], [ERROR], [end], stopped, [{"sleep": 100}, END], [END]]
    x = agent({"session/prompt": plays})
    desk.setup({"x": x}, notify={"turn_end": "notify"})
    desk.screen.lua(RECORD)
    chat = desk.chat(x)

    def told() -> list[Any]:
        return list(desk.screen.lua("return _G.told"))

    def turn(text: str = "go\x1b[31m on") -> None:
        count = len(chat.events("AcpTurnEnd"))
        chat.send(text)
        eventually(lambda: len(chat.events("AcpTurnEnd")) > count)

    turn()
    assert told() == []  # it is on the screen
    desk.screen.api.ui_set_focus(False)
    turn()
    assert told() == [["x is done: go^[[31m on  :AcpChat", 2]]
    desk.screen.api.ui_set_focus(True)
    chat.hide()
    turn()
    turn()
    turn()
    assert told()[1:] == [
        ["x is done: go^[[31m on  :AcpChat", 2],
        ["x failed: go^[[31m on (over loaded)  :AcpChat", 3],
        ["x stopped: go^[[31m on (max_tokens)  :AcpChat", 3],
    ]
    count = len(chat.events("AcpTurnEnd"))
    chat.send()
    x.wait("session/prompt", 6)
    desk.screen.lua("require('acp').cancel()")
    eventually(lambda: len(chat.events("AcpTurnEnd")) == count + 1)
    assert len(told()) == 4
    # The user waits for all that is queued.
    chat.send("one")
    chat.send("two")
    eventually(lambda: len(chat.events("AcpTurnEnd")) == count + 3)
    assert len(told()) == 5
    desk.screen.lua("vim.notify = function() error('mine is broken') end")
    turn("last")
    desk.screen.wait("vim.notify failed")


@pytest.mark.parametrize("how", ["bell", "notify", "float"])
def test_a_question_while_neovim_has_no_focus(start_screen: StartScreen, agent: MakeAgent, how: str) -> None:
    desk = Desk(start_screen)
    question = ask("q", {"toolCallId": "t", "title": "Run it"})
    x = agent({"session/prompt": [question, {"await": "q"}, END]})
    desk.setup({"x": x}, notify={"question": how, "turn_end": "bell"})
    desk.screen.lua(RECORD)
    bells: list[int] = []
    desk.screen._on_bell = lambda *_: bells.append(1)  # type: ignore[attr-defined]
    chat = desk.chat(x)
    desk.screen.api.ui_set_focus(False)
    chat.send()
    eventually(lambda: desk.screen.lua("return #require('acp.question.queue').of()") == 1)
    desk.screen.pump()
    assert len(bells) == (1 if how == "bell" else 0)
    assert len(desk.screen.lua("return _G.told")) == (1 if how == "notify" else 0)
    desk.screen.api.ui_set_focus(True)
    desk.screen.keys("<C-w>p")
    desk.screen.keys("v")
    eventually(lambda: desk.screen.api.get_mode()["mode"] == "v")
    desk.screen.api.ui_set_focus(False)
    desk.screen.lua("assert(require('acp').permit('allow_once'))")
    chat.wait_turn()
    # The bell does not end a selection. What rings then goes to the terminal past Neovim's own bell.
    assert desk.screen.api.get_mode()["mode"] == "v"
    assert desk.screen.lua("return vim.o.belloff") == "all"
