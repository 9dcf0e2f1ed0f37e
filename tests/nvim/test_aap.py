"""Chats with agents over HTTP: what the user sees of turns, questions, options and sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.aap_faults import answers
from tests.agents.aap_script import Call, Hold, Kept, Quirks, Step, text, thinking
from tests.agents.aap_server import AapServer
from tests.nvim.aap_kit import KEY, chatting, remote
from tests.nvim.cases.kit import PASSIVE, WATCH
from tests.nvim.sessions_kit import Desk
from tests.nvim.trouble import Chat, open_chat
from tests.plugin import StartScreen, eventually

SEARCH = Call("1", "search", {"query": "cats"})


@pytest.mark.req("AAP-06", "AAP-44", "AAP-02")
def test_a_turn(start_screen: StartScreen) -> None:
    script: list[Step] = [[thinking("Let me see."), text("Hello **", "there", "**.")]]
    server = AapServer(script, key=KEY)
    settings = {"api_key_env": "AAP_KEY", "env": {"AAP_KEY": {"cmd": ["echo", KEY]}}}
    with chatting(start_screen, server, settings, init=WATCH) as chat:
        chat.until("x in ", "Helper 1.2.3", "AAP")
        chat.submit("hi")
        chat.until("hi", "Hello **there**.", "── done")
        assert chat.status["stop_reason"] == "end_turn"
        chat.works("and now?")
        seen = "return vim.tbl_map(function(e) return e[1] end, _G.seen)"
        turns = ["AcpTurnStart", "AcpTurnEnd"] * 2
        eventually(lambda: [e for e in chat.screen.lua(seen) if e.startswith("AcpTurn")] == turns)
        assert {each.headers["authorization"] for each in server.requests} == {f"Bearer {KEY}"}


@pytest.mark.req("AAP-04")
def test_the_key_is_masked_wherever_it_may_show(start_screen: StartScreen, tmp_path: Path) -> None:
    server = AapServer([[text(f"your key is {KEY}")]], key=KEY)
    settings = {"api_key_env": "AAP_KEY", "env": {"AAP_KEY": KEY}}
    with chatting(start_screen, server, settings) as chat:
        server.fail("POST turns", answers(500, f'{{"error": "bad {KEY}"}}'.encode()))
        chat.submit("hi")
        chat.until("the server failed (500 Internal Server Error: bad •••)")
        server.fail("POST turns", answers(200, b"x", f"text/{KEY}"))
        chat.submit("again")
        chat.until("is not AAP (text/•••")
        server.fail(
            "POST turns", answers(200, f"event: error\ndata: {KEY} is bad\n\n".encode(), "text/event-stream")
        )
        chat.submit("once more")
        chat.until("the server failed: ••• is bad")
        chat.screen.command("AcpTrace x")
        eventually(lambda: any("POST /sessions" in line for line in chat.screen.lines()))
        trace = "\n".join(chat.screen.lines())
        assert KEY not in trace
        assert "→ GET /meta" in trace
        assert "← 200 json" in trace


@pytest.mark.req("AAP-54", "AAP-57", "AAP-58", "AAP-62")
def test_a_question_about_a_tool_of_the_server(start_screen: StartScreen) -> None:
    server = AapServer([[text("I look."), SEARCH], [text("Found them.")]])
    with chatting(start_screen, server) as chat:
        chat.submit("look")
        chat.until("waiting for you", "query: cats", "Looks for pages.", "query: the words to look for")
        chat.sees("x wants to use a tool", "Allow once", "Reject, and say why")
        chat.until_state("waiting")
        chat.screen.command("AcpPermit allow_once")
        chat.until("Found them.", "── done")
        assert "found cats" in chat.text or chat.has("✓")
        assert server.turns[1]["messages"] == [
            {"role": "tool_permission", "toolCallId": "1", "granted": True}
        ]
        chat.quiet()


def sends(chat: Chat) -> None:
    """Send what a form shows: the key must not be one that was typed before it was seen."""
    chat.sees("1 sends")
    chat.screen.lua("vim.wait(300)")
    chat.screen.keys("1")


@pytest.mark.req("AAP-56")
@pytest.mark.parametrize("reason", ["not on a Friday", None])
def test_a_rejection_with_a_reason(start_screen: StartScreen, reason: str | None) -> None:
    server = AapServer([[SEARCH], [text("I see.")]])
    with chatting(start_screen, server, size=(110, 44)) as chat:
        chat.submit("look")
        chat.until_state("waiting")
        chat.screen.command("AcpPermit 4")
        chat.until("why is search rejected?")
        if reason is None:
            chat.screen.command("AcpPermit 2")
        else:
            chat.screen.command("AcpPermit 1")
            chat.sees("why not", "1 of 1", "x needs an answer")
            chat.screen.keys(reason)
            chat.sees(reason)
            chat.screen.keys("<CR>")
            chat.sees(f"why not: {reason}", "2  Say nothing")
            sends(chat)
        chat.until("I see.", "── done", "rejected by you")
        (message,) = server.turns[1]["messages"]
        assert not message["granted"]
        assert message.get("reason") == reason


@pytest.mark.req("AAP-38", "AAP-62")
def test_cancelling(start_screen: StartScreen) -> None:
    server = AapServer([[text("so far"), Hold()], [text("next")]])
    with chatting(start_screen, server) as chat:
        chat.submit("go")
        chat.until("so far")
        chat.screen.command("AcpCancel")
        chat.until("cancelled by you")
        eventually(lambda: server.dropped == 1)
        server.script = [[text("next")]]
        chat.works("again")


@pytest.mark.req("AAP-18", "AAP-19", "AAP-20", "AAP-21", "AAP-23")
def test_options_and_tools(start_screen: StartScreen) -> None:
    server = AapServer([[text("ok")]])
    with chatting(start_screen, server, {"options": {"style": "bold", "tool:clock": "off"}}) as chat:
        screen = chat.screen
        screen.command("AcpOptions model large")
        screen.command("AcpOptions tool:search trust")
        chat.sees("acp: tool Search the web: trust")
        screen.keys(":AcpOptions token abc<CR>")
        chat.sees("token is a secret: :AcpOptions token asks for it unseen")
        screen.clear_messages()
        screen.command("AcpOptions")
        chat.sees("tool Search the web", "trust", "Style", "bold", "Token", "not set")
        screen.keys("<Esc>")
        screen.keys(":AcpOptions token<CR>")
        chat.sees("x: Token:")
        screen.keys("hush-secret<CR>")
        screen.keys(":AcpOptions style<CR>")
        chat.sees("x: Style: bold")
        screen.keys("<C-u>short<CR>")
        screen.clear_messages()
        chat.submit("hi")
        chat.until("── done")
        assert server.turns[0]["agent"] == {
            "tools": [{"name": "search", "trust": True}],
            "options": {"style": "short", "model": "large", "token": "hush-secret"},
        }
        assert "hush-secret" not in chat.text
        screen.command("AcpTrace x")
        eventually(lambda: any("POST /sessions" in line for line in screen.lines()))
        row = next(i for i, line in enumerate(screen.lines(), 1) if "/turns" in line)
        screen.api.win_set_cursor(0, (row, 0))
        screen.keys("<CR>")
        eventually(lambda: any("•••" in line for line in screen.lines()), message=screen.text)
        assert not any("hush-secret" in line for line in screen.lines())


@pytest.mark.req("AAP-14", "AAP-15", "AAP-17", "AAP-66", "AAP-68")
def test_sessions_are_listed_loaded_and_deleted(start_screen: StartScreen) -> None:
    desk = Desk(start_screen)
    script: list[Step] = [[thinking("Hm."), text("The answer.")], [SEARCH], [text("Found.")]]
    with AapServer(script, page=1) as server:
        desk.screen.setup({"agents": {"x": remote(server)}, "default_agent": "x", **PASSIVE})
        desk.screen.command("AcpChat x")
        desk.screen.leave_insert()
        chat = Chat(desk.screen)
        chat.until_state("idle")
        chat.works("The question\nin two lines")
        eventually(lambda: chat.status.get("title") == "The question", message=chat.show)
        chat.submit("look")
        chat.until_state("waiting")
        chat.screen.command("AcpCancel")
        chat.until("cancelled by you")
        server.sessions["elsewhere"] = Kept("elsewhere", "helper", {}, {}, [])
        desk.screen.command("bwipeout! acp://x/1")

        desk.listed("The question", "(untitled)", agent="x")
        desk.press("<CR>", "The question")
        again = eventually(lambda: Chat(desk.screen, "acp://x/2"))
        again.until("Hm.", "The answer.", "waiting for you")  # what it was left with is asked
        eventually(lambda: again.status.get("title") == "The question", message=again.show)
        desk.screen.command("AcpPermit allow_once")
        again.until("Found.", "── done")
        assert server.turns[-1]["messages"] == [
            {"role": "tool_permission", "toolCallId": "1", "granted": True}
        ]
        again.works("more")

        desk.listed("(untitled)", agent="x")
        desk.press("D", "(untitled)")
        desk.screen.wait("2  Delete it")
        desk.screen.keys("2")
        eventually(lambda: "elsewhere" not in server.sessions, message=desk.screen.text)


@pytest.mark.req("AAP-38", "AAP-68")
def test_a_restart_takes_the_session_up(start_screen: StartScreen) -> None:
    with chatting(start_screen, AapServer([[text("one")], [text("two")]])) as chat:
        chat.works("hi")
        chat.screen.command("AcpRestart")
        chat.until("resumed: x remembers this chat")
        chat.works("more")


@pytest.mark.req("AAP-37")
def test_a_restart_ends_a_turn_that_hangs(start_screen: StartScreen) -> None:
    server = AapServer([[text("so far"), Hold()], [text("two")]])
    with chatting(start_screen, server) as chat:
        chat.submit("hi")
        chat.until("so far")
        chat.screen.command("AcpRestart")
        chat.until("resumed: x remembers this chat")
        eventually(lambda: server.dropped == 1)
        server.script = [[text("two")]]
        chat.works("more")


@pytest.mark.req("AAP-50")
@pytest.mark.parametrize("keeps", [False, True])
def test_a_stream_that_ends_without_a_word(start_screen: StartScreen, keeps: bool) -> None:
    """C26; but a server that has kept the answer in its history was done with it."""
    agent: dict[str, Any] = {"name": "one", "version": "1", "capabilities": {"stream": {"delta": {}}}}
    if keeps:
        agent["capabilities"] = {"stream": {"delta": {}}, "history": {"full": {}}}
    server = AapServer([[text("caf", "é")]], agents=[agent], quirks=Quirks(lose_stop=True))
    with chatting(start_screen, server) as chat:
        chat.submit("go")
        broken = "broken off: the answer ended without a word of x that it is done"
        chat.until("café", "── done" if keeps else broken)
        assert keeps != chat.has(broken)


def test_there_is_no_login_but_the_key(start_screen: StartScreen) -> None:
    with chatting(start_screen, AapServer()) as chat:
        chat.screen.command("AcpLogin")
        chat.until("the key comes from agents.x.api_key_env (:help acp-aap-key)")


@pytest.mark.req("AAP-68")
def test_cancelling_what_an_old_session_was_left_with(start_screen: StartScreen) -> None:
    server = AapServer([[SEARCH], [text("fine")], [text("new")]])
    with chatting(start_screen, server) as chat:
        chat.submit("look")
        chat.until_state("waiting")
        chat.screen.command("bwipeout! acp://x/1")
        history: list[dict[str, Any]] = server.kept.history
        assert history[-1]["role"] == "assistant"
        chat.screen.lua("require('acp').chat({ agent = 'x', new = true })")
        chat.screen.leave_insert()
        chat.screen.command("AcpSessions x")
        eventually(lambda: "look" in chat.screen.text(), message=chat.screen.text)
        chat.screen.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('acp://sessions'))")
        chat.screen.keys("/look<CR><CR>")
        again = eventually(lambda: Chat(chat.screen, "acp://x/3"))
        again.until_state("waiting")
        chat.screen.command("AcpCancel")
        again.until("cancelled by you")
        again.until_state("idle")
        again.works("next")
        assert [each["messages"][0].get("granted") for each in server.turns[1:]] == [False, None]


@pytest.mark.req("AAP-07")
def test_several_agents_to_choose_from(start_screen: StartScreen) -> None:
    agent: dict[str, Any] = {"version": "1", "capabilities": {"stream": {"delta": {}}}}
    agents = [{"name": "one", **agent}, {"name": "two", "title": "Number Two", **agent}]
    with AapServer([[text("hi")]], agents=agents) as server:
        chat = open_chat(start_screen, remote(server), size=(110, 44))
        chat.until("the server has several agents: which one?")
        chat.screen.command("AcpPermit 2")
        chat.until("the server's agents? It has: one, two", "set agents.x.agent to one of them")
        chat.screen.command("AcpRestart")
        eventually(lambda: chat.status["pending"] == 1, message=chat.show)
        chat.screen.command("AcpPermit 1")
        chat.sees("2    Number Two")
        chat.screen.keys("2")
        chat.sees("This is sent to x:", "agent: Number Two")
        sends(chat)
        chat.until("Number Two 1", "ready in")
        chat.works("hi")
        chat.screen.command("AcpRestart")
        chat.until("resumed: x remembers this chat")  # and which agent it was
        chat.works("hi")
        assert {session.agent for session in server.sessions.values()} == {"two"}
