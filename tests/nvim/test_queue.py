"""The queue: its prompts are changed, dropped, put in another order and sent at once, and none is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import ask
from tests.nvim.stub import AGENT, INIT, events, frame, status, update
from tests.nvim.test_prompt import waiting
from tests.nvim.trouble import Chat, ready_chat
from tests.plugin import Neovim, Screen, StartNvim, StartScreen, eventually

DONE = {"reply": {"stopReason": "end_turn"}}
HELD = [ask(7, {"toolCallId": "t"}, [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]), {"await": 7}]
STEERS = {"reply": {"protocolVersion": 1, "_meta": {"steering": {"supported": True}}}}


@pytest.fixture
def nvim(start_nvim: StartNvim) -> Neovim:
    """A chat whose agent works, with two prompts that wait; the cursor is in the prompt, in Normal mode."""
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    update(nvim, {"state": "running", "queued": 2})
    waiting(nvim, "one", "two")
    nvim.keys("draft<Esc>")
    return nvim


def changes(nvim: Neovim) -> list[dict[str, Any]]:
    return [{k: v for k, v in each.items() if k != "chat"} for each in events(nvim, "queued")]


def test_a_queued_prompt_is_replaced(nvim: Neovim) -> None:
    nvim.keys("[[")
    assert nvim.lines() == ["two"]
    nvim.keys("[[")
    assert nvim.lines() == ["one"]
    nvim.keys("A more<Esc><CR>")
    assert changes(nvim) == [{"id": 1, "seq": 1, "text": "one more", "now": False}]
    assert nvim.lines() == ["draft"]
    assert status(nvim)["queued"] == 2
    nvim.keys("2[[")
    assert nvim.lines() == ["one more"]  # at once, whatever the host says next
    nvim.keys("<CR>")
    assert len(changes(nvim)) == 1  # unchanged
    assert nvim.lua("return require('acp.chat.history').list(require('acp.chat').get(1).cwd)") == ["one more"]
    assert nvim.lines() == ["draft"]
    assert events(nvim, "send") == []


def test_an_emptied_one_is_dropped_and_older_news_does_not_bring_it_back(nvim: Neovim) -> None:
    nvim.keys("[[dd<CR>")
    assert changes(nvim) == [{"id": 2, "seq": 1, "text": "", "now": False}]
    assert status(nvim)["queued"] == 1
    assert nvim.lines() == ["draft"]
    update(nvim, {"queued": 2}, seen=0)
    waiting(nvim, "one", "two", seen=0)
    assert status(nvim)["queued"] == 1
    nvim.keys("[[")
    assert nvim.lines() == ["one"]
    waiting(nvim, "one", seen=1)
    update(nvim, {"queued": 1}, seen=1)
    assert status(nvim)["queued"] == 1


def test_what_is_typed_into_one_that_goes_out_is_kept(nvim: Neovim) -> None:
    nvim.keys("2[[A more<Esc>")
    rows = [{"id": 2, "text": "two"}]
    nvim.lua("require('acp.chat.prompt').queue(...)", 1, rows, 0)
    assert nvim.lines() == ["one more"]
    assert "does not wait any more; what you wrote stays here" in nvim.messages().replace("\n", "")
    nvim.keys("<CR>")
    (sent,) = events(nvim, "send")
    assert (sent["text"], changes(nvim)) == ("one more", [])
    assert nvim.lines() == ["draft"]


def test_a_change_that_comes_too_late_comes_back(nvim: Neovim) -> None:
    nvim.keys("2[[A more<Esc><CR>")
    nvim.lua("require('acp.chat.prompt').missed(...)", 1, "one more")
    assert nvim.lines() == ["one more", "draft"]
    assert "that prompt did not wait any more; your change is in the prompt" in nvim.messages().replace(
        "\n", ""
    )


def test_changes_of_several_are_kept_while_walking(nvim: Neovim) -> None:
    nvim.keys("[[A!<Esc>[[A?<Esc>]]")
    assert nvim.lines() == ["two!"]
    nvim.keys("]]")
    assert nvim.lines() == ["draft"]
    nvim.keys("A and on<Esc>2[[")
    assert nvim.lines() == ["one?"]
    nvim.keys("u")
    assert nvim.lines() == ["draft and on"]


def test_what_is_changed_is_what_outlives_neovim(nvim: Neovim) -> None:
    unsent = "return require('acp.chat.prompt').unsent(require('acp.chat').get(1))"
    nvim.lua("require('acp.chat.history').add(require('acp.chat').get(1).cwd, 'sent')")
    nvim.keys("[[A!<Esc>2[[")
    assert nvim.lines() == ["sent"]
    assert nvim.lua(unsent) == "one\ntwo!\ndraft"
    nvim.keys("A again<Esc>")
    assert nvim.lua(unsent) == "one\ntwo!\nsent again\ndraft"
    nvim.keys("9]]")
    assert nvim.lines() == ["draft"]
    assert nvim.lua(unsent) == "one\ntwo!\nsent again\ndraft"


def test_a_host_that_dies_gives_the_changed_texts_back(nvim: Neovim) -> None:
    nvim.keys("[[A!<Esc><CR>[[")
    assert nvim.lines() == ["two!"]
    nvim.lua("require('acp.status').host_lost('gone')")
    assert nvim.lines() == ["one", "two!", "draft"]
    assert status(nvim)["queued"] == 0


def test_lines_given_with_a_prompt_come_back_as_a_mention(nvim: Neovim, tmp_path: Path) -> None:
    context = [{"path": str(tmp_path / "a.py"), "first": 2, "last": 3, "text": "x"}]
    nvim.lua("require('acp').send('look', { context = ... })", context)
    (sent,) = events(nvim, "send")
    assert (sent["seq"], sent["context"]) == (1, context)
    nvim.lua("require('acp.chat.prompt').restore(1, 'look', { 1 })")
    assert nvim.lines() == ["look", f"@{tmp_path}/a.py:2-3", "draft"]
    waiting(nvim, "look", seen=1)
    nvim.keys("[[A here<Esc><CR>")
    frame(nvim, 1, ["❯ two", ""], kind="user")
    nvim.lua("require('acp.status').host_lost('gone')")
    assert nvim.lines()[:2] == ["look here", f"@{tmp_path}/a.py:2-3"]


def hold(start_screen: StartScreen, agent: MakeAgent, *plays: Any, **on: Any) -> Chat:
    """A chat whose first turn waits for an answer."""
    methods = {method.replace("__", "/"): play for method, play in on.items()}
    chat = ready_chat(
        start_screen,
        agent({"session/prompt": [[*HELD, DONE], *(plays or [[{"say": "<$text>"}, DONE]])], **methods}),
    )
    chat.submit("first")
    chat.until("waiting for you")
    return chat


def go_on(chat: Chat) -> None:
    chat.screen.command("AcpPermit 1")


def keys(chat: Chat, keys: str) -> None:
    chat.screen.api.set_current_win(chat.screen.funcs.bufwinid(chat._prompt))
    chat.screen.keys(keys)


def asked(chat: Chat) -> list[str]:
    return [line[len("❯ ") :] for line in chat.text.splitlines() if line.startswith("❯ ")]


def test_edited_dropped_and_moved_prompts_go_out_as_shown(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    chat = hold(start_screen, agent)
    for text in ("two", "three", "four"):
        chat.submit(text)
    chat.sees("queued 3  four")
    assert chat.status["queued"] == 3
    keys(chat, "2[[A changed<Esc><CR>")
    chat.sees("queued 2  three changed")
    keys(chat, "[[dd<CR>")
    eventually(lambda: chat.status["queued"] == 2)
    chat.screen.wait(lambda text: "four" not in text)
    chat.screen.command("AcpQueue earlier 2")
    chat.sees("queued 1  three changed", "queued 2  two")
    go_on(chat)
    chat.until("<three changed>", "<two>")
    chat.until_state("idle")
    assert asked(chat) == ["first", "three changed", "two"]
    assert chat.status["queued"] == 0


def test_the_lists_of_the_queue(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = hold(start_screen, agent)
    for text in ("two", "three"):
        chat.submit(text)
    chat.sees("queued 2  three")
    chat.screen.command("AcpQueue")
    chat.sees("queued prompts, the next first", "1  two", "2  three")
    chat.screen.keys("2")
    chat.sees("change it in the prompt", "send it before")
    chat.screen.keys("3")
    chat.sees("queued 1  three", "queued 2  two")
    chat.type("draft")
    chat.screen.command("AcpQueue edit 2")
    chat.until_prompt("two")
    chat.sees("queued 2 (in the prompt)  two")
    keys(chat, "A!<Esc>")
    chat.screen.command("AcpQueue drop 1")
    chat.sees("queued 1 (in the prompt)  two")
    go_on(chat)
    chat.until("<two>")
    assert chat.prompt == "two!"
    chat.screen.wait(lambda text: "queued 1" not in text)
    keys(chat, "]]")
    chat.until_prompt("draft")
    for wrong in ("drop 9", "burn 1", "drop x"):
        chat.screen.keys(f":AcpQueue {wrong}<CR>")
    assert chat.prompt == "draft"


def test_one_is_sent_at_once_and_the_turn_is_cancelled_for_it(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    cancelled = [*HELD[:1], {"wait": "session/cancel"}, {"reply": {"stopReason": "cancelled"}}]
    x = agent({"session/prompt": [cancelled, [{"say": "<$text>"}, DONE]]})
    chat = ready_chat(start_screen, x)
    chat.submit("first")
    chat.until("waiting for you")
    chat.submit("two")
    chat.submit("three")
    chat.sees("queued 2  three")
    keys(chat, "[[A, now<Esc>:AcpSend!<CR>")
    chat.until("<three, now>", "<two>")
    assert asked(chat) == ["first", "three, now", "two"]
    chat.until_state("idle")
    chat.screen.keys(":AcpQueue<CR>")
    chat.sees("nothing is queued")


def steering(start_screen: StartScreen, agent: MakeAgent, *answer: Any, after: Any = ()) -> Chat:
    x = agent(
        {
            "initialize": [[STEERS]],
            "_session/steering": [list(answer)],
            "session/prompt": [[{"say": "begun"}, *HELD, *after, DONE], [{"say": "<$text>"}, DONE]],
        }
    )
    chat = ready_chat(start_screen, x)
    chat.submit("first")
    chat.until("begun", "waiting for you")
    chat.submit("two")
    chat.sees("queued 1  two")
    return chat


def test_an_agent_that_can_is_steered(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = steering(start_screen, agent, {"reply": {"outcome": "injected"}}, after=[{"say": "turned"}])
    chat.type("a draft")
    chat.screen.command("AcpSend! left, not right")
    chat.until("❯ left, not right")
    assert (chat.prompt, chat.status["queued"], chat.status["state"]) == ("a draft", 1, "waiting")
    go_on(chat)
    chat.until("turned", "<two>")
    text = chat.text
    assert (
        text.index("begun") < text.index("❯ left, not right") < text.index("turned") < text.index("── done")
    )
    assert asked(chat) == ["first", "left, not right", "two"]


REFUSALS: dict[str, list[Any]] = {
    "refused": [{"reply": {"outcome": "failed"}}],
    "an error": [{"error": {"code": -32601, "message": "Method not found"}}],
    "an empty answer": [{"reply": {}}],
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_what_it_does_not_take_is_queued_first(
    start_screen: StartScreen, agent: MakeAgent, kind: str
) -> None:
    chat = steering(start_screen, agent, *REFUSALS[kind])
    chat.screen.command("AcpSend! left")
    chat.until("x did not take your prompt into this turn", "It is the next in the queue.")
    chat.sees("queued 1  left", "queued 2  two")
    assert chat.status["queued"] == 2
    go_on(chat)
    chat.until("<left>", "<two>")
    assert asked(chat) == ["first", "left", "two"]


def test_an_agent_that_dies_while_it_is_steered_loses_nothing(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    chat = steering(start_screen, agent, {"exit": 3})
    chat.screen.command("AcpSend! left")
    chat.until_state("failed")
    chat.until_prompt("left\ntwo")
    assert chat.status["queued"] == 0


def test_a_turn_that_ends_first_makes_it_the_next_prompt(start_screen: StartScreen, agent: MakeAgent) -> None:
    outcome = {"outcome": "promptRequired", "reason": "noRunningTurn"}
    late = {
        "send": {"jsonrpc": "2.0", "id": 3, "result": outcome}
    }  # 0: initialize, 1: session/new, 2: prompt
    x = agent(
        {
            "initialize": [[STEERS]],
            "_session/steering": [[]],
            "session/prompt": [
                [*HELD, {"wait": "_session/steering"}, DONE, late],
                [{"say": "<$text>"}, DONE],
            ],
        }
    )
    chat = ready_chat(start_screen, x)
    chat.submit("first")
    chat.until("waiting for you")
    chat.submit("two")
    chat.sees("queued 1  two")
    chat.screen.command("AcpSend! left")
    chat.sees("steering  left")
    go_on(chat)
    chat.until("<left>", "<two>")
    assert asked(chat) == ["first", "left", "two"]
    assert "did not take" not in chat.text


@pytest.mark.parametrize("bang", ["", "!"])
def test_a_cancel_while_it_is_steered(start_screen: StartScreen, agent: MakeAgent, bang: str) -> None:
    refused = {"reply": {"outcome": "promptRequired", "reason": "noRunningTurn"}}
    x = agent(
        {
            "initialize": [[STEERS]],
            "_session/steering": [[{"wait": "session/cancel"}, refused]],
            "session/prompt": [
                [{"say": "begun"}, {"wait": "session/cancel"}, {"reply": {"stopReason": "cancelled"}}],
                [{"say": "<$text>"}, DONE],
            ],
        }
    )
    chat = ready_chat(start_screen, x)
    chat.submit("first")
    chat.until("begun")
    chat.screen.command("AcpSend! left")
    chat.sees("steering  left")
    chat.screen.command(f"AcpCancel{bang}")
    chat.until("cancelled by you")
    if not bang:
        chat.until("<left>")
    chat.until_state("idle")
    chat.works("later")
    assert asked(chat) == ["first", *([] if bang else ["left"]), "later"]
    keys(chat, "2[[")
    chat.until_prompt("left")


def test_a_change_of_one_that_is_out_comes_back(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = hold(start_screen, agent)
    chat.type("draft")
    for change in ({"text": "too late"}, {"text": ""}, {"before": 0}, {"now": True}):
        chat.screen.lua("""
            local change = ...
            require('acp.chat.queue').change(require('acp.chat').get(1), 1, change)
        """, change)  # fmt: skip
    chat.until_prompt("too late\ndraft")
    chat.screen.wait("that prompt did not wait any more")
    assert (chat.status["queued"], chat.status["state"]) == (0, "waiting")
    go_on(chat)
    chat.until("── done")
    assert asked(chat) == ["first"]


def test_the_demo_agent_is_steered(start_screen: StartScreen) -> None:
    screen: Screen = start_screen(size=(100, 40))
    screen.command("AcpChat demo")
    screen.leave_insert()
    chat = Chat(screen, "acp://demo/1")
    chat.until_state("idle")
    chat.submit("run echo hi")
    chat.until("waiting for you")
    screen.command("AcpSend! call this chat Steered")
    chat.until("❯ call this chat Steered")
    screen.command("AcpPermit 3")
    chat.until("Now to what you added: “call this chat Steered”", "is called “Steered” now")
    eventually(lambda: chat.text.count("── done") + chat.text.count("── ended") == 1)
    chat.until_state("idle")


def test_a_key_sends_at_once(nvim: Neovim) -> None:
    nvim.keys("\\!")
    (sent,) = events(nvim, "send")
    assert (sent["text"], sent["now"]) == ("draft", True)
    nvim.keys("[[\\!")
    assert changes(nvim) == [{"id": 2, "seq": 2, "now": True}]
    assert nvim.lines() == [""]
