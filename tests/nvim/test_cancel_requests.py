"""``$/cancel_request`` in both directions: what the user takes back, and what the agent does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.cases.kit import END, PASSIVE, ask
from tests.nvim.options_kit import ALL, with_options
from tests.nvim.trouble import Chat, change, open_chat, ready_chat
from tests.plugin import StartScreen, eventually

REFUSED = {"error": {"code": -32800, "message": "Request cancelled"}}
WAIT = {"wait": "$/cancel_request"}


def cancelled(agent: ScriptedAgent) -> list[Any]:
    """The ids of our requests that the agent was told to give up."""
    return [message["params"]["requestId"] for message in agent.log("$/cancel_request")]


def sent(agent: ScriptedAgent, method: str) -> list[Any]:
    return [message["id"] for message in agent.log(method)]


def cancel(chat: Chat) -> None:
    chat.screen.keys("<Esc>:AcpCancel<CR>")


@pytest.mark.req("V1-86")
def test_a_session_that_is_not_wanted_any_more(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"session/new": [WAIT, REFUSED]})
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    x.wait("session/new")
    cancel(chat)
    chat.until("✗ x could not start the session: Request cancelled", ":AcpRestart tries again")
    chat.until_prompt("hello")
    assert cancelled(x) == sent(x, "session/new")
    assert len(chat.troubles) == 1
    chat.quiet()
    change(x, session_new=[{"reply": {"sessionId": "s1"}}])
    chat.screen.command("AcpRestart")
    chat.until("ready in")
    chat.works()


@pytest.mark.req("V1-86")
def test_a_session_that_is_made_all_the_same(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"session/new": [WAIT, {"reply": {"sessionId": "s1"}}]})
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    x.wait("session/new")
    cancel(chat)
    chat.until_prompt("hello")
    chat.until("ready in")
    assert x.log("session/prompt") == []
    chat.works()


@pytest.mark.req("V1-86")
def test_a_session_that_is_loaded(start_screen: StartScreen, agent: MakeAgent) -> None:
    """Given up in the middle: no new session is made in its place."""
    hello = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
    x = agent(
        {
            "initialize": [{"reply": hello}],
            "session/load": [WAIT, REFUSED],
            "session/prompt": [[END], [{"exit": 3}]],
        }
    )
    chat = ready_chat(start_screen, x)
    chat.works("hello")
    chat.submit("and now?")
    chat.until("✗ connection lost")
    chat.screen.command("AcpRestart")
    x.wait("session/load")
    cancel(chat)
    chat.until("✗ x could not start the session: Request cancelled")
    assert cancelled(x) == sent(x, "session/load")
    assert len(x.log("session/new")) == 1


@pytest.mark.req("V1-86")
def test_a_change_of_an_option(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = with_options(agent, *ALL, on={"session/set_config_option": [WAIT, REFUSED]})
    chat = ready_chat(start_screen, x)
    chat.screen.keys("<Esc>:AcpOptions mode code<CR>")
    x.wait("session/set_config_option")
    cancel(chat)
    chat.sees("acp: x did not set Mode to Code: Request cancelled")
    assert cancelled(x) == sent(x, "session/set_config_option")
    assert chat.status["mode"] == "Ask"
    chat.screen.clear_messages()
    cancel(chat)
    chat.sees("acp: nothing runs that could be cancelled")
    chat.screen.clear_messages()


def test_an_option_of_the_settings(start_screen: StartScreen, agent: MakeAgent) -> None:
    """The prompt is given back, and the chat goes on without it."""
    x = with_options(agent, *ALL, on={"session/set_config_option": [WAIT, REFUSED]})
    chat = open_chat(start_screen, {**x.settings, "options": {"mode": "code"}})
    chat.submit("hello")
    x.wait("session/set_config_option")
    cancel(chat)
    chat.until("  │ mode: Request cancelled")
    chat.until_prompt("hello")
    chat.works()


@pytest.mark.req("V1-86")
def test_a_login(start_screen: StartScreen, agent: MakeAgent) -> None:
    methods = [{"id": "web", "name": "Browser"}]
    hello = {"protocolVersion": 1, "authMethods": methods}
    wanted = {"error": {"code": -32000, "message": "Authentication required"}}
    x = agent({"initialize": [{"reply": hello}], "session/new": [wanted], "authenticate": [WAIT, REFUSED]})
    chat = open_chat(start_screen, x)
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 1")
    x.wait("authenticate")
    chat.sees("logging in, :AcpCancel")
    cancel(chat)
    chat.until("– login  Browser  cancelled")
    eventually(lambda: cancelled(x) == sent(x, "authenticate"))


@pytest.mark.req("V1-86")
@pytest.mark.parametrize("made", [False, True])
def test_a_chat_that_is_closed_while_its_session_is_made(
    start_screen: StartScreen, agent: MakeAgent, made: bool
) -> None:
    """The agent serves another chat and lives on: what it makes all the same is closed there."""
    reply = {"reply": {"sessionId": "late"}} if made else REFUSED
    x = agent({"session/new": [[{"reply": {"sessionId": "s1"}}], [WAIT, reply]]})
    chat = ready_chat(start_screen, x)
    chat.screen.command("AcpChat!")
    x.wait("session/new", 2)
    chat.screen.command("bwipeout! acp://x/2")
    eventually(lambda: cancelled(x) == sent(x, "session/new")[1:])
    if made:
        assert x.wait("session/close")["params"] == {"sessionId": "late"}
    chat.screen.command("AcpChat x")
    chat.screen.keys("<Esc>")
    chat.submit("hello")
    chat.until("── done")
    assert len(x.log("session/close")) == made


# What the agent takes back.


def file_request(method: str, path: str) -> Json:
    params = {"sessionId": "$session", "path": path, "content": "theirs\n"}
    return {"request": method, "id": "f", "params": params}


TAKES_BACK = {"send": {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "f"}}}
KINDS = ["permission", "read", "write", "conflict", "terminal"]


@pytest.fixture(params=KINDS)
def question(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Json]:
    """A kind of question, and what the agent sends to have it asked."""
    kind: str = request.param
    path = str(tmp_path / "outside.txt")
    Path(path).write_text("mine\n")
    made = {
        "permission": ask("f", {"toolCallId": "t", "title": "npm test", "kind": "execute"}),
        "read": file_request("fs/read_text_file", path),
        "write": file_request("fs/write_text_file", path),
        "conflict": file_request("fs/write_text_file", "$cwd/here.txt"),
        "terminal": {
            "request": "terminal/create",
            "id": "f",
            "params": {
                "sessionId": "$session",
                "command": "touch",
                "args": [str(tmp_path / "made")],
                "cwd": "/",
            },
        },
    }
    return kind, made[kind]


def asked(start_screen: StartScreen, x: ScriptedAgent, kind: str) -> Chat:
    """A chat in which the agent's question is open."""
    screen = start_screen(size=(100, 40))
    screen.setup({**PASSIVE, "agents": {"x": x.settings}, "default_agent": "x"})
    if kind == "conflict":
        screen.command("edit here.txt")
        screen.api.buf_set_lines(0, 0, -1, False, ["my unsaved edit"])
    screen.command("AcpChat")
    screen.keys("<Esc>")
    chat = Chat(screen)
    chat.until_state("idle")
    chat.submit("go")
    chat.until_state("waiting")
    return chat


def nothing_done(chat: Chat, tmp_path: Path, kind: str) -> None:
    assert (tmp_path / "outside.txt").read_text() == "mine\n"
    assert not (tmp_path / "made").exists()
    if kind == "conflict":
        here = chat.screen.funcs.bufnr("here.txt")
        assert chat.screen.lines(here) == ["my unsaved edit"]


@pytest.mark.req("V1-85")
def test_the_agent_takes_its_request_back(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, question: tuple[str, Json]
) -> None:
    kind, request = question
    x = agent(
        {
            "session/prompt": [
                request,
                {"sleep": 700},
                TAKES_BACK,
                TAKES_BACK,
                {"await": "f"},
                {"sleep": 200},
                END,
            ]
        }
    )
    chat = asked(start_screen, x, kind)
    chat.until("── done")
    answers = x.responses("f")
    assert [answer["error"]["code"] for answer in answers] == [-32800]
    assert chat.status["pending"] == 0
    assert chat.screen.lua("return require('acp.question').count()") == 0
    nothing_done(chat, tmp_path, kind)


@pytest.mark.req("V1-80", "V1-87")
def test_the_user_ends_the_turn(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, question: tuple[str, Json]
) -> None:
    kind, request = question
    stopped = {"reply": {"stopReason": "cancelled"}}
    x = agent({"session/prompt": [request, {"wait": "session/cancel"}, {"await": "f"}, stopped]})
    chat = asked(start_screen, x, kind)
    cancel(chat)
    chat.until("── cancelled by you")
    (answer,) = x.responses("f")
    if kind == "permission":
        assert answer["result"] == {"outcome": {"outcome": "cancelled"}}
    else:
        assert answer["error"]["code"] == -32800
    nothing_done(chat, tmp_path, kind)


@pytest.mark.req("V1-87")
def test_the_agent_is_ended_by_us(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, question: tuple[str, Json]
) -> None:
    kind, request = question
    x = agent({"session/prompt": [request]})
    chat = asked(start_screen, x, kind)
    chat.screen.command("AcpRestart")
    assert x.response("f")["error"]["code"] == -32800
    chat.until_state("idle")
    assert chat.screen.lua("return require('acp.question').count()") == 0
    nothing_done(chat, tmp_path, kind)
