"""An agent that wants a login: the user is asked, and what was interrupted goes on (C13)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.login_kit import (
    ASKS,
    END,
    METHODS,
    SESSION,
    WANTED,
    asked,
    hello,
    listening,
    locked,
    prompts,
    used,
)
from tests.nvim.trouble import BACK, Chat, configure, kill_agent, open_chat, ready_chat, starts
from tests.plugin import StartScreen, eventually

SELECT = """
_G.asked = {}
vim.ui.select = function(items, opts, done)
  local names = vim.tbl_map(opts.format_item, items)
  table.insert(_G.asked, { names, opts.prompt, opts.kind })
  _G.done = function(i) done(items[i]) end
end
"""
"""A picker of the user's that waits for the test."""


@pytest.mark.req("V1-36", "V1-41")
def test_a_session_wants_a_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, *METHODS)
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    chat.screen.keys("<Esc>")
    asked(chat)
    chat.sees(
        "1 Browser  opens a page",
        "– Device  enter a code",
        "cannot be used from here (device_code)",
        " 1  Browser  opens a page",
        " 2  API key",
        " 3  Not now",
        "? waiting for you",
    )
    chat.until("✗ not logged in\n  │ :AcpLogin lists the ways x offers")
    assert (chat.prompt, chat.status["queued"], len(chat.troubles)) == ("", 1, 1)

    chat.screen.keys("q")  # no answer: nothing has happened, and it waits
    chat.screen.wait(lambda text: " 3  Not now" not in text)
    assert (used(x), chat.status["state"], chat.status["queued"]) == ([], "waiting", 1)

    chat.screen.keys(":AcpLogin<CR>")
    listening(chat)
    chat.screen.keys("2")
    chat.until(
        "✓ login  API key  accepted\n",
        "── x has accepted the login",
        "ACP v1 · ready in",
        "❯ hello",
        "── done",
    )
    chat.until_state("idle")
    assert (used(x), prompts(x), len(starts(x))) == (["key"], ["hello"], 1)
    assert chat.troubles == []
    assert chat.prompt == ""
    chat.works()


@pytest.mark.req("V1-41")
@pytest.mark.parametrize("how", ["Not now", ":AcpPermit cancel<CR>", ":AcpCancel<CR>"])
def test_the_user_does_not_want_to(start_screen: StartScreen, agent: MakeAgent, how: str) -> None:
    x = locked(agent, *METHODS)
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    chat.screen.keys("<Esc>")
    asked(chat)
    chat.screen.keys("3" if how == "Not now" else f"q{how}")
    chat.until_prompt("hello")
    chat.until(BACK, "✗ not logged in")
    chat.until("– login  x  cancelled" if "AcpCancel" in how else "⊘ login  x  not now")
    chat.sees(" x  ✗ not logged in, :AcpLogin")
    assert (chat.status["state"], chat.status["queued"], used(x)) == ("failed", 0, [])
    chat.quiet()
    # The session was not started, but can be: also by a prompt, for the login may have happened elsewhere.
    chat.submit()
    chat.until("── done")
    assert (prompts(x), len(x.log("session/new"))) == (["hello"], 2)


@pytest.mark.req("V1-41")
def test_a_prompt_wants_a_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [hello(*METHODS)], "session/prompt": [[{"sleep": 200}, WANTED], [END]]})
    chat = ready_chat(start_screen, x)
    chat.submit("first")
    chat.submit("second")
    chat.type("third")
    chat.screen.keys("<Esc>")
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 1")
    chat.until("── x has accepted the login")
    eventually(lambda: chat.text.count("── done") == 2, message=chat.show)
    assert prompts(x) == ["first", "first", "second"]
    assert (used(x), len(x.log("session/new")), chat.prompt) == (["oauth-1"], 1, "third")
    chat.quiet()


@pytest.mark.req("V1-41")
def test_a_prompt_that_wants_a_login_comes_back(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [hello(*METHODS)], "session/prompt": [[WANTED], [END]]})
    chat = ready_chat(start_screen, x)
    chat.submit("first")
    chat.until("? login  x  waiting for you")
    chat.submit("second")
    chat.type("third")
    chat.screen.command("AcpPermit reject_once")
    chat.until_prompt("first\nsecond\nthird")
    chat.until_state("idle")
    assert prompts(x) == ["first"]
    chat.works()
    assert prompts(x) == ["first", "first\nsecond\nthird"]


def test_a_login_that_helps_nothing_is_not_tried_again_and_again(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    x = agent({"initialize": [hello(METHODS[0])], "session/prompt": [WANTED]})
    chat = ready_chat(start_screen, x)
    chat.submit("hello")

    def again(count: int) -> bool:
        """Whether so many logins have helped nothing, and the question is there again."""
        rows = (chat.text.count("✓ login  Browser"), chat.text.count("? login  x  waiting for you"))
        return rows == (count, 1) and len(prompts(x)) == count + 1

    for count in (0, 1):
        eventually(partial(again, count), message=chat.show)
        chat.screen.command("AcpPermit 1")
    eventually(partial(again, 2), message=chat.show)
    assert len(used(x)) == 2
    chat.screen.command("AcpPermit reject_once")
    chat.until_prompt("hello")


@pytest.mark.req("V1-36")
def test_a_refusal_is_shown_with_its_detail(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"code": -32603, "message": "Internal error", "data": {"details": "the key has expired"}}
    x = locked(agent, METHODS[0], METHODS[2], authenticate=[[{"error": error}], [{"reply": {}}]])
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 2")
    chat.until("✗ login  API key  failed", "│ ✗ Internal error: the key has expired")
    chat.until("? login  x  waiting for you")
    assert (chat.prompt, chat.status["queued"], prompts(x)) == ("", 1, [])
    chat.screen.command("AcpPermit 1")
    chat.until("── x has accepted the login", "── done")
    assert (used(x), prompts(x)) == (["key", "oauth-1"], ["hello"])


@pytest.mark.req("V1-36")
def test_a_login_that_takes_long(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, *METHODS, authenticate=[[], [{"reply": None}]])
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 1")
    chat.until("● login  Browser")
    chat.sees(" x  ● logging in, :AcpCancel")
    chat.submit("and this")  # waits, too
    chat.screen.command("AcpLogin")
    chat.until("── a login is under way: Browser\n  │ :AcpCancel ends it")
    assert (len(used(x)), chat.status["queued"], chat.status["state"]) == (1, 2, "starting")
    chat.quiet()
    chat.screen.command("AcpCancel")
    chat.until("– login  Browser  cancelled")
    chat.until_prompt("hello\nand this")
    chat.until_state("failed")
    chat.screen.command("AcpLogin")
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 2")
    chat.until("── x has accepted the login")
    chat.until_state("idle")
    assert (used(x), prompts(x)) == (["oauth-1", "key"], [])
    chat.works()


@pytest.mark.req("V1-41")
def test_two_chats_want_the_same_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    plays = {"initialize": [hello(*METHODS)], "session/new": [[WANTED], [WANTED], [SESSION]]}
    chat = open_chat(start_screen, agent(plays))
    x = chat.screen
    chat.submit("one")
    chat.until("? login  x  waiting for you")
    x.command("AcpChat!")
    other = Chat(x, "acp://x/2")
    other.submit("two")
    other.until("✗ not logged in")
    eventually(lambda: other.status["queued"] == 1)
    assert "? login" not in other.text
    assert (other.status["state"], other.prompt, chat.status["pending_all"]) == ("failed", "", 1)
    x.command("AcpLogin")  # shows the question of the other chat
    listening(chat)
    x.keys("1")
    for each in (chat, other):
        each.until("── done")
        each.until_state("idle")
    assert "── x has accepted the login" in chat.text
    assert chat.troubles == other.troubles == []


def test_the_chat_that_asks_is_closed(start_screen: StartScreen, agent: MakeAgent) -> None:
    plays = {"initialize": [hello(*METHODS)], "session/new": [[WANTED], [WANTED], [SESSION]]}
    x = agent(plays)
    chat = open_chat(start_screen, x)
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpChat!")
    other = Chat(chat.screen, "acp://x/2")
    other.submit("two")
    other.until("✗ not logged in")
    chat.screen.command("bwipeout! acp://x/1")
    other.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 1")
    other.until("── x has accepted the login", "── done")
    assert (prompts(x), used(x)) == (["two"], ["oauth-1"])


@pytest.mark.req("V1-41")
def test_who_works_elsewhere_is_not_disturbed(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, METHODS[0], session_new=[[{"sleep": 300}, WANTED], [SESSION]])
    screen = start_screen(size=(150, 40))
    configure(screen, x)
    screen.command("AcpChat")
    screen.keys("<Esc>")
    chat = Chat(screen)
    code = screen.lua("return vim.fn.win_getid(1)")
    screen.api.set_current_win(code)
    screen.keys("ihere")
    chat.sees(ASKS)
    screen.lua("vim.wait(700)")
    screen.keys("!")
    assert screen.api.get_current_win().handle == code
    assert screen.api.get_mode()["mode"] == "i"
    assert screen.lines() == ["here!"]
    screen.keys("<Esc>:AcpChat<CR><Esc>:AcpChat<CR>")
    screen.command("tabnew")  # not on the screen any more: a notice says who waits
    chat.sees(f"? {ASKS}  :AcpPermit")
    screen.command("AcpPermit 1")
    chat.until("── x has accepted the login")


def test_a_picker_of_the_users(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, *METHODS)
    chat = open_chat(start_screen, x, init=SELECT)
    eventually(lambda: chat.screen.lua("return #_G.asked == 1"))
    assert chat.screen.lua("return _G.asked[1]") == [
        ["Browser: opens a page", "API key", "Not now"],
        ASKS,
        "acp_permission",
    ]
    chat.screen.lua("_G.done(nil)")
    assert chat.status["state"] == "waiting"
    chat.screen.command("AcpLogin x")
    eventually(lambda: chat.screen.lua("return #_G.asked == 2"))
    chat.screen.lua("_G.done(1)")
    chat.until("── x has accepted the login")
    chat.works()


def test_each_way_is_offered_once(start_screen: StartScreen, agent: MakeAgent) -> None:
    """By its id. Ways of one name are told apart by what the agent says of them, else by their ids."""
    ways: list[Json] = [
        {"id": "google", "name": "Log in with Google", "description": "of the agent"},
        {"id": "key", "name": "Gemini API key", "type": "unheard_of"},
        {"id": "google", "name": "Log in with Google", "description": "again"},
        {"id": "key", "name": "Gemini API key", "description": "for developers"},
        {"id": "cloud", "name": "Gemini API key", "description": "for companies"},
        {"id": "one", "name": "Gateway"},
        {"id": "two", "name": "Gateway"},
    ]
    x = agent({"initialize": [hello(*ways)]})
    chat = ready_chat(start_screen, x)
    chat.screen.keys(":AcpLogin<CR>")
    listening(chat)
    assert [each["name"] for each in options(chat)] == [
        "Log in with Google",
        "Gemini API key",
        "Gemini API key",
        "Gateway (one)",
        "Gateway (two)",
        "Not now",
    ]
    assert chat.screen.text().count("Log in with Google") == 2  # in the row, and in the chooser beside it
    chat.sees(" 2  Gemini API key  for developers", " 3  Gemini API key  for companies")
    chat.until("  │ 2 Gemini API key  for developers\n  │ 3 Gemini API key  for companies\n")
    assert "wants you" not in chat.screen.text()  # the user wants it
    chat.screen.keys("2")
    chat.until("✓ login  Gemini API key  accepted", "── x has accepted the login; the next prompt shows")
    assert used(x) == ["key"]
    chat.screen.command("checkhealth acp")
    health = "\n".join(chat.screen.lines())
    assert "x: asks for no login now" in health
    assert "logged in" not in health


def options(chat: Chat) -> list[Json]:
    return list(chat.screen.lua("return require('acp.question.card').get().question.options"))


def test_on_demand(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [hello(*METHODS)]})
    chat = ready_chat(start_screen, x)
    chat.screen.keys(":AcpLogin<CR>")
    listening(chat)
    assert "says:" not in chat.screen.text()
    chat.screen.keys("2")
    chat.until("✓ login  API key", "── x has accepted the login")
    chat.until_state("idle")
    assert (used(x), len(x.log("session/new"))) == (["key"], 1)
    chat.works()


def test_login_without_a_chat_opens_one(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, *METHODS)
    screen = start_screen(size=(100, 30))
    screen.setup({"agents": {"x": x.settings}})
    screen.command("AcpLogin x")
    screen.wait("? login  x  waiting for you")
    chat = Chat(screen)
    chat.until("? login  x  waiting for you")
    screen.command("AcpPermit 2")
    chat.until("── x has accepted the login")
    chat.works()


@pytest.mark.parametrize("methods", [[], [METHODS[1]]])
def test_no_login_that_the_editor_can_do(
    start_screen: StartScreen, agent: MakeAgent, methods: list[Json]
) -> None:
    x = agent({"initialize": [hello(*methods)], "session/new": [WANTED]})
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    chat.until("✗ not logged in\n", "  │ log in with the agent's own program, then :AcpRestart")
    chat.until_prompt("hello")
    chat.screen.command("AcpLogin")
    chat.until("── x offers no login the editor can do.")
    if methods:
        chat.until("  │ Device: cannot be used from here (device_code): enter a code\n")
    assert len(chat.troubles) == 1
    assert used(x) == []
    chat.quiet()


def test_the_login_of_an_agent_of_the_catalog_is_named(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    command = locked(agent).command
    program = tmp_path / "qwen"
    program.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command) + "\n")
    program.chmod(0o755)
    screen = start_screen(size=(100, 30), init=f"vim.env.PATH = '{tmp_path}:/usr/bin:/bin'")
    screen.command("AcpChat qwen")
    chat = Chat(screen, "acp://qwen/1")
    chat.until("✗ not logged in\n", "  │ qwen auth\n  │ logs in, in a terminal; then :AcpRestart")
    screen.command("AcpLogin")
    chat.until("── qwen offers no login the editor can do.\n  │ qwen auth\n")


def test_more_than_that_a_login_is_needed_is_shown(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"code": -32000, "message": "Your plan has ended", "data": "see https://example.org/plans"}
    chat = open_chat(
        start_screen, agent({"initialize": [hello(METHODS[0])], "session/new": [{"error": error}]})
    )
    said = "Your plan has ended: see https://example.org/plans"
    chat.until("✗ not logged in\n", f"  │ {said}\n", ":AcpLogin lists", f'  │ x says: "{said}"')


def test_it_ends_during_the_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, METHODS[0], authenticate=[])
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 1")
    x.wait("authenticate")
    kill_agent(x)
    chat.until("✗ x was ended by SIGKILL\n", ":AcpRestart", "– login  Browser  cancelled")
    chat.until_prompt("hello")
    assert len(chat.troubles) == 1, chat.show()
    chat.quiet()


def test_it_is_started_again_while_the_question_is_open(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = locked(agent, METHODS[0])
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpRestart")
    eventually(lambda: len(starts(x)) == 2)
    eventually(
        lambda: chat.text.count("? login  x  waiting for you") == 1 and chat.text.count("login  x") == 2
    )
    chat.until_prompt("hello")
    chat.screen.command("AcpPermit 1")
    chat.until("── x has accepted the login")
    chat.works()
