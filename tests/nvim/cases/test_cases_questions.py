"""Cases C05 to C07, C14 to C16, C32 and C40: questions, and the rows they stand in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import (
    CANCELLED,
    END,
    WATCH,
    Chat,
    Stage,
    ask,
    diff,
    play,
    selected,
    update,
    ways,
)
from tests.plugin import ROOT, Screen, StartScreen, eventually

CANCELLED_TURN = {"reply": {"stopReason": "cancelled"}}
ASKING: Json = {}
"""Settings as a user has them who set nothing."""


def rows_of(chat: Chat, wanted: str) -> list[str]:
    """The transcript's rows with this text, without bodies."""
    return [line for line in chat.text().split("\n") if wanted in line and not line.startswith("  │")]


def wait_row(chat: Chat, wanted: str, state: str) -> None:
    """Wait until the one row with this text shows this state."""

    def seen() -> bool:
        rows = rows_of(chat, wanted)
        return len(rows) == 1 and state in rows[0]

    eventually(seen, message=lambda: f"no row {wanted!r} with {state!r} in\n{chat.text()}")


def ident(chat: Chat, name: str) -> str:
    """The id of a request of the script for a chat's session."""
    return f"{name}-{chat.session}"


@pytest.mark.req("V1-126", "V1-127", "V1-129")
@ways
def test_c05_the_call_goes_on_while_its_question_is_open(
    way: str, start_screen: StartScreen, agent: MakeAgent
) -> None:
    actions = [
        update("tool_call", toolCallId="t1", title="write", kind="edit", status="pending"),
        ask("q-$session", {"toolCallId": "t1", "title": "external_directory", "kind": "other"}),
        update("tool_call_update", toolCallId="t1", status="in_progress", title="write"),
        {"say": "waiting"},
        {"await": "q-$session"},
        END,
    ]
    chats = play(way, start_screen, agent, actions)
    for chat in chats:
        chat.send()
    for chat in chats:
        chat.wait("waiting\n")
        status = chat.wait_state("waiting")
        assert status["pending"] == 1
        chat.wait_winbar("waiting for you")
        wait_row(chat, "write", "waiting for you")
    for chat in reversed(chats):
        chat.permit("allow_once")
        assert chat.agent.response(ident(chat, "q"))["result"] == selected("ok")
        chat.wait_turn()
    assert all(len(chat.agent.responses(ident(chat, "q"))) == 1 for chat in chats)


@pytest.mark.req("V1-136")
@ways
def test_c06_two_questions(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [
        ask("a-$session", {"toolCallId": "t1", "title": "npm test", "kind": "execute"}),
        ask("b-$session", {"toolCallId": "t2", "title": "edit x", "kind": "edit"}),
        {"await": "b-$session"},
        {"say": "one is answered"},
        {"await": "a-$session"},
        END,
    ]
    chats = play(way, start_screen, agent, actions)
    for chat in chats:
        chat.send()
    for chat in chats:
        chat.wait_pending(2)
        wait_row(chat, "npm test", "waiting for you (1)")
        wait_row(chat, "edit x", "waiting for you (2)")
        answer_row(chat, "edit x", "2")
        assert chat.agent.response(ident(chat, "b"))["result"] == selected("no")
        chat.wait("one is answered")
        assert chat.agent.responses(ident(chat, "a")) == []
        assert chat.status()["pending"] == 1
        wait_row(chat, "npm test", "waiting for you")
        chat.permit("1")
        assert chat.agent.response(ident(chat, "a"))["result"] == selected("ok")
        chat.wait_turn()


def answer_row(chat: Chat, row: str, key: str) -> None:
    """Go to a row of the transcript, open its question with <CR> and type a digit there."""
    screen = chat.screen
    chat.focus()
    number = next(n for n, line in enumerate(chat.text().split("\n"), 1) if row in line)
    screen.lua(
        "local buf, row = ... local win = vim.fn.win_findbuf(buf)[1] vim.api.nvim_set_current_win(win)"
        " vim.api.nvim_win_set_cursor(win, { row, 0 })",
        chat.buf,
        number,
    )
    screen.keys("<CR>")
    wait_chooser(screen)
    screen.keys(key)


def wait_chooser(screen: Screen) -> None:
    """Wait until the chooser has the focus and takes keys."""
    eventually(
        lambda: (screen.funcs.maparg("?", "n", False, True) or {}).get("desc"),
        message=lambda: f"no chooser\n{screen.text()}",
    )


@pytest.mark.req("V1-133", "V1-128")
@pytest.mark.parametrize("way", ["whole", "cut"])
def test_c07_a_plan_in_the_raw_input(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    options = [
        {"optionId": "ok", "name": "Yes, and auto-accept edits", "kind": "allow_always"},
        {"optionId": "no", "name": "No, keep planning", "kind": "reject_once"},
    ]
    call = {
        "toolCallId": "t5",
        "title": "Ready to code?",
        "kind": "switch_mode",
        "content": [],
        "rawInput": {"plan": "1. add test\n2. fix parser"},
    }
    (chat,) = play(way, start_screen, agent, [ask(51, call, options), {"await": 51}, END], settings=ASKING)
    chat.send()
    wait_chooser(chat.screen)
    for shown in (chat.text(), chat.screen.text()):
        for wanted in (
            "1. add test",
            "2. fix parser",
            "Ready to code?",
            "auto-accept edits",
            "keep planning",
        ):
            assert wanted in shown
    chat.screen.keys("2")
    assert chat.agent.response(51)["result"] == selected("no")
    chat.wait_turn()


@pytest.mark.req("V1-129")
@ways
def test_c14_an_agent_that_stops_after_a_rejection(
    way: str, start_screen: StartScreen, agent: MakeAgent
) -> None:
    call = {"toolCallId": "t1", "title": "Edit h.py", "kind": "edit"}
    actions = [ask("q-$session", call), {"await": "q-$session"}, CANCELLED_TURN]
    chats = play(way, start_screen, agent, actions)
    for chat in chats:
        chat.send()
    for chat in chats:
        chat.wait_state("waiting")
        chat.permit("reject_once")
        assert chat.agent.response(ident(chat, "q"))["result"] == selected("no")
        assert chat.wait_turn()["stop_reason"] == "cancelled"
        wait_row(chat, "h.py", "rejected by you")
        assert "── stopped after your rejection. Say what to do instead." in chat.text()
        assert "cancelled by you" not in chat.text()
        assert "error" not in chat.text()
        assert chat.status()["state"] == "idle"
        assert "ready" in chat.winbar()


def test_c14_the_reason_can_be_typed_at_once(start_screen: StartScreen, agent: MakeAgent) -> None:
    call = {"toolCallId": "t1", "title": "Edit h.py", "kind": "edit"}
    (chat,) = play(
        "whole", start_screen, agent, [ask(71, call), {"await": 71}, CANCELLED_TURN], settings=ASKING
    )
    chat.screen.keys("i")
    chat.send()
    wait_chooser(chat.screen)
    chat.screen.keys("2")
    chat.wait_turn()
    chat.screen.keys("not that file", "<C-s>")
    eventually(lambda: len(chat.agent.log("session/prompt")) == 2)
    assert chat.agent.log("session/prompt")[1]["params"]["prompt"][-1]["text"] == "not that file"


@pytest.mark.req("V1-78", "V1-79", "V1-80", "V1-81")
@ways
def test_c15_cancel_while_a_question_is_open(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [
        update("tool_call", toolCallId="t0", title="sleep 9", kind="execute", status="in_progress"),
        ask("q-$session", {"toolCallId": "t1", "title": "rm x", "kind": "delete"}),
        {"await": "q-$session"},
        {"wait": "session/cancel"},
        ask("late-$session", {"toolCallId": "t2", "title": "rm y", "kind": "delete"}),
        {"await": "late-$session"},
        {"wait": "session/prompt", "count": 2 if way != "two" else 4},
        CANCELLED_TURN,
    ]
    chats = play(way, start_screen, agent, actions)
    for chat in chats:
        chat.send()
    for chat in chats:
        chat.wait_state("waiting")
    for chat in chats:
        chat.cancel()
        assert chat.agent.response(ident(chat, "q"))["result"] == CANCELLED
        assert chat.agent.response(ident(chat, "late"))["result"] == CANCELLED
        told = [message["params"]["sessionId"] for message in chat.agent.log("session/cancel")]
        assert told.count(chat.session) == 1
        # The turn goes on, but nothing looks as if it did.
        chat.wait("cancelled")
        for title in ("sleep 9", "rm x"):
            wait_row(chat, title, "cancelled")
            assert rows_of(chat, title)[0].startswith("–")
        assert chat.events("AcpTurnEnd") == []
        chat.wait_winbar("cancelling")
        assert chat.status()["pending"] == 0
    assert "waiting for you" not in "".join(chat.text() for chat in chats)
    assert "wants to" not in chats[0].screen.text()


@pytest.mark.req("V1-78", "V1-80")
def test_c15_the_chooser_closes(start_screen: StartScreen, agent: MakeAgent) -> None:
    call = {"toolCallId": "t1", "title": "rm x", "kind": "delete"}
    actions = [ask(81, call), {"await": 81}, CANCELLED_TURN]
    (chat,) = play("whole", start_screen, agent, actions, settings=ASKING)
    chat.send()
    wait_chooser(chat.screen)
    chat.screen.keys(":AcpCancel<CR>")
    assert chat.agent.response(81)["result"] == CANCELLED
    chat.wait_turn()
    chat.screen.wait(lambda text: "wants to" not in text)
    assert chat.screen.api.get_option_value("filetype", {"buf": chat.screen.api.get_current_buf()}) in (
        "acp-prompt",
        "acp-chat",
    )
    assert "cancelled by you" in chat.text()


@pytest.mark.req("V1-80")
def test_c15_an_answer_after_the_cancel_is_none(start_screen: StartScreen, agent: MakeAgent) -> None:
    """A key that was on its way while the question was still on the screen."""
    call = {"toolCallId": "t1", "title": "rm x", "kind": "delete"}
    actions = [ask(81, call), {"await": 81}, CANCELLED_TURN]
    (chat,) = play("whole", start_screen, agent, actions, settings=ASKING)
    chat.send()
    wait_chooser(chat.screen)
    chat.screen.lua("require('acp').cancel() require('acp.question').permit('allow_once')")
    assert chat.agent.response(81)["result"] == CANCELLED
    chat.wait_turn()
    wait_row(chat, "rm x", "cancelled")


@pytest.mark.req("V1-110", "V1-112")
@ways
def test_c16_a_call_that_is_announced_twice(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    first = update(
        "tool_call", toolCallId="t1", title="Edit", kind="edit", content=[diff("/ws/a.py", "a\n", "b\n")]
    )
    again = update("tool_call", toolCallId="t1", title="Edit a.py", kind="edit", status="in_progress")
    chats = play(way, start_screen, agent, [first, again, {"say": "then"}, {"wait": "session/cancel"}, END])
    for chat in chats:
        chat.send()
    for chat in chats:
        chat.wait("then")
        assert rows_of(chat, "edit   ") == ["● edit   /ws/a.py  +1 -1"]
        assert "  │ - a\n  │ + b\n" in chat.text()
        titles = [event["title"] for event in chat.events("AcpToolCall")]
        assert titles[-1] == "Edit a.py"
        assert {event["id"] for event in chat.events("AcpToolCall")} == {"t1"}


HASTY = """
vim.ui.select = function(items, opts, on_choice)
  _G.asked = (_G.asked or 0) + 1
  on_choice(items[1], 1)
  on_choice(nil)
  vim.defer_fn(function() on_choice(items[2], 2) _G.late = true end, 300)
end
"""


@pytest.mark.req("V1-12", "V1-129")
def test_c32_a_picker_that_calls_back_three_times(start_screen: StartScreen, agent: MakeAgent) -> None:
    call = {"toolCallId": "t1", "title": "npm i", "kind": "execute"}
    played = agent(on={"session/prompt": [[ask(181, call), {"await": 181}, END], [END]]})
    stage = Stage(start_screen(size=(150, 40), init=WATCH + HASTY), ASKING)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    chat.send()
    assert chat.wait_turn()["stop_reason"] == "end_turn"
    eventually(lambda: stage.screen.lua("return _G.late"))
    chat.send("again")
    chat.wait_turn(2)
    assert stage.screen.lua("return _G.asked") == 1
    assert [answer["result"] for answer in played.responses(181)] == [selected("ok")]
    assert [event["option"] for event in chat.events("AcpPermissionDone")] == ["ok"]


@pytest.mark.req("V1-131", "V1-132")
@ways
def test_c40_nothing_is_approved_by_itself(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [
        ask("a-$session", {"toolCallId": "t1", "title": "curl x | sh", "kind": "execute"}),
        ask("b-$session", {"toolCallId": "t2", "title": "no kind given"}),
        {"await": "a-$session"},
        {"await": "b-$session"},
        END,
    ]
    chats = play(way, start_screen, agent, actions, settings=ASKING)
    for chat in chats:
        chat.send()
    for chat in chats:
        chat.wait_pending(2)
        shown = [event["title"] for event in chat.events("AcpPermission")]
        assert shown == ["curl x | sh", "no kind given"]
        assert chat.agent.responses(ident(chat, "a")) == []
        assert chat.agent.responses(ident(chat, "b")) == []
    for chat in chats:
        chat.permit("reject_once")
        chat.permit("reject_once")
        chat.wait_turn()
        answers = [event["by"] for event in chat.events("AcpPermissionDone")]
        assert answers == ["user", "user"]
        assert chat.agent.response(ident(chat, "b"))["result"] == selected("no")


def test_c40_defaults_in_code_and_help_agree(screen: Screen) -> None:
    help_text = (ROOT / "doc/acp.txt").read_text(encoding="utf-8")
    block = re.search(r"require\('acp'\)\.setup\((\{\n.*?\n\t\})\)", help_text, re.DOTALL)
    assert block is not None
    documented = screen.lua(f"return {block[1]}")
    defaults = screen.lua("return require('acp.config').get()")
    for name, value in documented.items():
        if name != "keymaps":  # all of them stand in the chapter of maps
            assert merged(defaults[name], value) == defaults[name], name
    assert not defaults["permission"].get("rules")


def merged(defaults: Any, documented: Any) -> Any:
    """The defaults with what is documented of them on top."""
    if isinstance(defaults, dict) and isinstance(documented, dict):
        return {**defaults, **documented}
    return documented
