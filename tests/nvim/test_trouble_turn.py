"""A prompt that is answered with an error: the message is shown, and the session goes on."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import ask
from tests.nvim.trouble import ready_chat
from tests.plugin import StartScreen

ERRORS: dict[str, tuple[Json, list[str]]] = {
    "internal": (
        {"code": -32603, "message": "Internal error"},
        ["✗ error: Internal error (-32603)", "  │ :AcpTrace has the full answer"],
    ),
    "with details": (
        {"code": -32603, "message": "Internal error", "data": {"details": "model is overloaded"}},
        ["✗ error: Internal error: model is overloaded (-32603)", "  │ :AcpTrace has the full answer"],
    ),
    "the model's error as JSON": (
        {"code": -32603, "message": '{"error":{"code":529,"message":"Overloaded"}}'},
        ["✗ error: Overloaded (-32603)"],
    ),
    "a limit": (
        {"code": 429, "message": "rate limit reached"},
        ["✗ error: rate limit reached (429)", "  │ Wait a little, then send again."],
    ),
    "unknown session": (
        {"code": -32002, "message": "Resource not found: session"},
        ["✗ error: Resource not found: session (-32002)", "  │ :AcpRestart"],
    ),
    "nothing": ({"code": -1, "message": ""}, ["✗ error: error -1\n"]),
    "control characters": (
        {"code": -32603, "message": "bad\x1b[2J\nluck"},
        ["✗ error: bad^[[2J luck (-32603)"],
    ),
    "no object": ({}, ["✗ error: "]),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_a_prompt_is_answered_with_an_error(start_screen: StartScreen, agent: MakeAgent, kind: str) -> None:
    error, said = ERRORS[kind]
    x = agent(
        {"session/prompt": [[{"say": "I try"}, {"error": error}], [{"reply": {"stopReason": "end_turn"}}]]}
    )
    chat = ready_chat(start_screen, x)
    chat.submit("hello")
    chat.until("I try", *said)
    chat.until_state("idle")
    assert len(chat.troubles) == 1, chat.show()
    assert chat.status["stop_reason"] == "error"
    chat.sees(" x  ready", "✗ error: ")
    chat.quiet()
    chat.works()


def test_what_was_queued_comes_back(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"code": -32603, "message": "Internal error"}
    question = ask(7, {"toolCallId": "t"}, [{"optionId": "y", "name": "Yes", "kind": "allow_once"}])
    plays = [[question, {"await": 7}, {"error": error}], [{"reply": {"stopReason": "end_turn"}}]]
    chat = ready_chat(start_screen, agent({"session/prompt": plays}))
    chat.submit("first")
    chat.submit("second")
    chat.type("third")
    chat.until("waiting for you")
    chat.sees("queued 1  second")
    chat.screen.command("AcpPermit 1")
    chat.until("✗ error: Internal error")
    chat.until_prompt("second\nthird")
    chat.works()


def test_what_is_sent_at_once_after_an_error_goes_out(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"code": -32603, "message": "Internal error"}
    x = agent(
        {"session/prompt": [[{"error": error}], [{"say": "again"}, {"reply": {"stopReason": "end_turn"}}]]}
    )
    chat = ready_chat(start_screen, x)
    chat.screen.lua("""
        vim.api.nvim_create_autocmd('User', { pattern = 'AcpStatus', callback = function()
          local status = require('acp').status()
          if status.state == 'idle' and status.stop_reason == 'error' and not _G.sent then
            _G.sent = require('acp').send('and now?')
          end
        end })
    """)
    chat.submit("hello")
    chat.until("✗ error: Internal error", "❯ and now?", "again", "── done")
    assert chat.prompt == ""


@pytest.mark.parametrize("result", [{}, {"stopReason": None}, {"stopReason": "tired"}, None, "done"])
def test_an_odd_answer_ends_the_turn(start_screen: StartScreen, agent: MakeAgent, result: object) -> None:
    plays = [[{"reply": result}], [{"reply": {"stopReason": "end_turn"}}]]
    chat = ready_chat(start_screen, agent({"session/prompt": plays}))
    chat.submit("hello")
    chat.until(
        '── stopped: x said "tired"' if result == {"stopReason": "tired"} else "── ended: x gave no reason"
    )
    chat.works()
