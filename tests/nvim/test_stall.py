"""An agent that says nothing while its turn runs: the winbar says so, and nothing else happens."""

from __future__ import annotations

from typing import Any

from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.terminal_kit import sh
from tests.nvim.trouble import Chat, open_chat, ready_chat
from tests.plugin import PATIENCE, StartScreen, eventually

DONE = {"reply": {"stopReason": "end_turn"}}
UNTIL_CANCELLED: list[Json] = [{"wait": "session/cancel"}, {"reply": {"stopReason": "cancelled"}}]
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
CALL = {
    "sessionUpdate": "tool_call",
    "toolCallId": "t1",
    "title": "make",
    "kind": "execute",
    "status": "in_progress",
}
ASK = {
    "request": "session/request_permission",
    "id": "q1",
    "params": {
        "sessionId": "$session",
        "toolCall": {"toolCallId": "t1", "title": "make", "kind": "execute"},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    },
}

COUNT = """
_G.patches, _G.events, _G.redraws = {}, 0, 0
local status = require('acp.status')
local update = status.update
status.update = function(chat, patch, seen)
  if patch.silent ~= nil then
    table.insert(_G.patches, { chat, patch.silent == vim.NIL and 'over' or patch.silent })
  end
  return update(chat, patch, seen)
end
"""
"""Lua that keeps what the host says of the silence."""


def impatient(agent: ScriptedAgent, seconds: float = 1) -> Json:
    return {**agent.settings, "stall_s": seconds}


def told(chat: Chat) -> list[list[Any]]:
    return list(chat.screen.lua("return _G.patches"))


def silent(chat: Chat) -> None:
    """Wait until the winbar says it, in amber."""
    text = chat.screen.wait(lambda text: " x  silent " in text and " s, :AcpCancel" in text)
    line = next(line for line in text.split("\n") if "x  silent" in line)
    assert not set(line) & set(SPINNER)


def test_the_winbar_says_it_and_nothing_else_happens(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"session/prompt": [{"update": CALL}, *UNTIL_CANCELLED]})
    chat = ready_chat(start_screen, impatient(x), init=COUNT)
    chat.submit("go")
    chat.until("● run    make")
    before = chat.text
    silent(chat)
    assert chat.text == before
    assert chat.status["state"] == "running"
    chat.quiet()
    # The icons stand still, and the seconds go on without a word of the host.
    eventually(lambda: chat.screen.lua("return require('acp.chat.spin').period()") == 1000)
    chat.screen.wait(" x  silent 3 s, :AcpCancel")
    assert told(chat) == [[1, 1]]
    assert "● run    make" in chat.screen.text()
    assert chat.text == before
    chat.screen.command("AcpCancel")
    chat.screen.wait(lambda text: "x  silent" not in text)
    chat.until("── cancelled by you")
    assert told(chat)[1:] == [[1, "over"]]


def test_it_goes_when_data_comes(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"session/prompt": [{"sleep": 1800}, {"update": CALL}, *UNTIL_CANCELLED]})
    chat = ready_chat(start_screen, impatient(x), init=COUNT)
    chat.submit("go")
    silent(chat)
    chat.until("● run    make")
    chat.screen.wait(lambda text: " x  silent" not in text and "running 0:0" in text)
    eventually(lambda: chat.screen.lua("return require('acp.chat.spin').period()") == 125)
    silent(chat)
    assert told(chat) == [[1, 1], [1, "over"], [1, 1]]


def test_no_silence_while_a_question_is_open(start_screen: StartScreen, agent: MakeAgent) -> None:
    play = [{"update": CALL}, ASK, {"await": "q1"}, *UNTIL_CANCELLED]
    chat = ready_chat(start_screen, impatient(agent({"session/prompt": play}), 0.3), init=COUNT)
    chat.submit("go")
    chat.until_state("waiting")
    # Longer than the limit: the host answers requests all the while.
    end = chat.screen.lua("return vim.uv.now() + 900")
    eventually(lambda: chat.screen.lua("return vim.uv.now()") > end)
    assert told(chat) == []
    chat.screen.command("AcpPermit 1")
    silent(chat)


def test_a_command_that_writes_is_no_silence(start_screen: StartScreen, agent: MakeAgent) -> None:
    program = "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.3; done; sleep 600"
    call = {**CALL, "content": [{"type": "terminal", "terminalId": "$t"}]}
    play = [*sh("t", program), {"update": call}, *UNTIL_CANCELLED]
    chat = ready_chat(start_screen, impatient(agent({"session/prompt": play}), 1.2), init=COUNT)
    chat.submit("go")
    chat.until("│ line 8")  # twice the limit later
    assert told(chat) == []
    silent(chat)


def test_a_start_that_took_long_is_no_silence(start_screen: StartScreen, agent: MakeAgent) -> None:
    hello = {"reply": {"protocolVersion": 1}}
    chat = open_chat(start_screen, impatient(agent({"initialize": [{"sleep": 700}, hello]}), 0.3), init=COUNT)
    chat.sees(" x  still starting, :AcpRestart")
    chat.until("ready in")
    chat.sees(" x  ready")
    assert told(chat) == [[1, 0], [1, "over"]]
    chat.works()


def test_idle_costs_nothing(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = ready_chat(start_screen, impatient(agent(), 0.2), init=COUNT)
    chat.works()
    end = chat.screen.lua("return vim.uv.now() + 700")
    eventually(lambda: chat.screen.lua("return vim.uv.now()") > end)
    assert told(chat) == []
    assert chat.screen.lua("return require('acp.chat.spin').period()") == 0


def test_each_chat_on_its_own(start_screen: StartScreen, agent: MakeAgent) -> None:
    """Two chats with one process: one goes on talking, the other hangs."""
    talk = [{"loop": 400, "do": [{"say": "word "}, {"sleep": 50}]}, DONE]
    x = agent({"session/prompt": [UNTIL_CANCELLED, talk]})
    chat = ready_chat(start_screen, impatient(x, 1), init=COUNT)
    chat.submit("hang")
    chat.screen.command("AcpChat!")
    eventually(lambda: chat.screen.lua("return require('acp').status().state") == "idle", PATIENCE)
    chat.screen.lua("require('acp').send('talk')")
    eventually(lambda: told(chat) == [[1, 1]])
    assert chat.screen.lua("return require('acp.status').raw(2).state") == "running"
    assert chat.screen.lua("return require('acp.status').raw(2).silent") is None
    end = chat.screen.lua("return vim.uv.now() + 1300")
    eventually(lambda: chat.screen.lua("return vim.uv.now()") > end)
    assert told(chat) == [[1, 1]]
