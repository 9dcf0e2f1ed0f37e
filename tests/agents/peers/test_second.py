"""An agent of version 2 made with the official TypeScript SDK, and what its user sees of it.

All that this entry of the SDK calls stable is used: what is not stands in test_whole.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.agents.peers.conftest import OpenDesk
from tests.agents.peers.kit import SECOND, Desk, Peer
from tests.nvim import sessions_kit
from tests.nvim.elicit_kit import Asked
from tests.nvim.trouble import open_chat
from tests.plugin import StartScreen, eventually

pytestmark = [
    pytest.mark.agents,
    pytest.mark.timeout(120),
    pytest.mark.parametrize("language", [SECOND], indirect=True),
]

StartPeer = Callable[..., Peer]
OLD = ("The first of old", "The second of old")


def answer(desk: Desk) -> dict[str, Any]:
    """The JSON the agent has said it was answered with."""
    line = next(line for line in desk.chat.text().split("\n") if line.startswith('{"'))
    return dict(json.loads(line))


@pytest.mark.parametrize("env", [{}, {"PEER_ROUTED": "1"}])
def test_messages(desk: OpenDesk, env: dict[str, str]) -> None:
    d = desk(env, protocol="auto")
    text = d.done("talk soon")
    assert "ACP v2" in text
    assert "· think  1 line\n  │ Let me think.\n\nOne message.\n\nAnother, soon.\n\n── done\n" in text
    assert text.count("❯ do talk soon") == 1  # the agent has repeated it
    assert len(d.peer.events("start")) == 1
    assert d.screen.messages() == ""


def test_blocks(desk: OpenDesk) -> None:
    text = desk().done("blocks")
    for line in (
        "Here is a picture:",
        "  image  image/png, 70 B",
        "  audio  audio/wav, 46 B",
        "  link  text/markdown, 17 B  README.md  file://",
        "  resource  text/plain, 5 B  memory:///notes.txt",
        "  resource  application/octet-stream, 70 B  memory:///raw",
    ):
        assert f"\n{line}" in text
    assert "only for the model" not in text


def test_tool_calls(desk: OpenDesk) -> None:
    text = desk().done("tools")
    for row in (
        "✓ read   src/main.py:2",
        "– edit   Title of edit  cancelled",
        "✗ run    Title of execute  failed\n  │ it broke\n  │ and smoked",
        *("✓ delete Titled delete", "✓ move   Titled move", "✓ search Titled search"),
        *("✓ think  Titled think", "✓ fetch  Titled fetch", "✓ mode   Titled switch_mode"),
    ):
        assert row in text
    assert "it ran" not in text


def test_diffs(desk: OpenDesk) -> None:
    text = desk().done("diffs")
    for shown in (
        "made.txt  +1",
        "+ all new",
        "greeting.txt",
        "- hello world",
        "+ hello peer",
        "a.png",
        "b.png",
    ):
        assert shown in text, text


def test_plan(desk: OpenDesk) -> None:
    text = desk().done("plan")
    assert "  ✓ Look around\n  ○ Do it\n  ○ Rest  cancelled\n\nOne of three.\n" in text
    assert "○ Another plan" in text


def test_state(desk: OpenDesk) -> None:
    d = desk()
    d.screen.wait("Ask first mode")
    text = d.done("state")
    assert "── x changed the mode: Ask first to Just code" in text
    status = d.chat.status()
    assert (status["title"], status["model"]) == ("A title of its own", "Large one")
    assert status["usage"] == {"used": 1200, "size": 4800, "cost": "€0.25"}
    d.chat.focus()
    d.screen.keys("i/")
    d.screen.wait("came later")


def test_commands(desk: OpenDesk) -> None:
    d = desk()
    d.chat.focus()
    d.screen.keys("i/")
    assert "stops counting" in d.screen.wait("counts what you name")


def test_notices_and_compaction(desk: OpenDesk) -> None:
    text = desk().done("notices")
    for shown in (
        "── x: A notice: info\n  │ More about it.",
        "── x (warning): A notice: warning\n  │ More about it.",
        "✗ x (error): A notice: error\n  │ More about it.",
        "✓ compact what came before\n  │ In short.",
        "✗ compact what came before  failed\n  │ no room left",
        "– compact what came before  cancelled\n  │ Half of it.",
        "\nNoticed.\n",
    ):
        assert shown in text


@pytest.mark.parametrize("kind", ["allow_once", "allow_always", "reject_once", "reject_always"])
def test_a_change_that_is_asked_about(desk: OpenDesk, kind: str) -> None:
    d = desk()
    before = (d.workspace / "greeting.txt").read_text()
    d.do("edit")
    d.chat.wait_pending(1)
    d.chat.wait_state("waiting")
    text = d.chat.wait("May I change it?")
    assert "- hello world\n  │ + hello peer" in text
    d.screen.command(f"AcpPermit {kind}")
    d.chat.wait_turn()
    assert f"Chosen: id of {kind}." in d.chat.text()
    changed = before.replace("hello world", "hello peer") if "allow" in kind else before
    assert (d.workspace / "greeting.txt").read_text() == changed


def test_a_command_that_is_asked_about(desk: OpenDesk) -> None:
    d = desk()
    d.do("command")
    d.chat.wait_pending(1)
    text = d.chat.wait("May I run this?")
    for shown in ("It only prints.", 'printf "one\\ntw\\303\\266\\n"; exit 3', str(d.workspace)):
        assert shown in text
    d.screen.command("AcpPermit allow_once")
    d.chat.wait_turn()
    text = d.chat.text()
    assert "id of allow_once, then 3" in text
    for shown in ("│ from before", "│ one", "│ twö"):
        assert shown in text


def test_a_question_about_nothing(desk: OpenDesk) -> None:
    d = desk()
    d.do("anything")
    d.chat.wait_pending(1)
    assert "It is late." in d.chat.wait("Shall I go on?")
    d.screen.command("AcpPermit reject_once")
    d.chat.wait_turn()
    assert "Chosen: id of reject_once." in d.chat.text()


def begun(desk: Desk, count: int) -> bool:
    """Whether so many commands have written something."""
    return desk.chat.text().count("│ begun") == count


def test_commands_are_ended_alone(desk: OpenDesk) -> None:
    """One by its tool call, one by its terminal; ``x`` on the row does what the agent can."""
    d = desk()
    d.do("stoppable")
    d.chat.focus()
    d.screen.keys("<Esc><C-w>k")
    for count, (title, method) in enumerate(
        [("Sleep whole", "tool_call/cancel"), ("Sleep shell", "terminal/cancel")], 1
    ):
        eventually(partial(begun, d, count), message=d.chat.text)
        d.screen.lua("vim.fn.cursor(1, 1) vim.fn.search(...)", title)
        d.screen.keys("x")
        d.peer.wait(method)
    d.chat.wait_turn()
    text = d.chat.text()
    assert "Both ended." in text
    assert "Sleep whole  cancelled" in text
    assert "Sleep shell  cancelled" in text


def test_work_in_the_background(desk: OpenDesk) -> None:
    d = desk()
    assert "It goes on." in d.done("background")
    d.chat.wait_state("idle")
    d.screen.command("AcpOptions web true")
    d.chat.wait("And that was the work far off.")
    d.chat.wait_turn(2)
    text = d.chat.text()
    assert "✓ run    Far off" in text
    assert "│ it was done" in text


def test_a_form(desk: OpenDesk) -> None:
    d = desk()
    d.do("form")
    made = Asked(d.chat, d.peer)
    made.begin()
    for number, keys in enumerate(["Ann<CR>", "ann@example.org<CR>", *["<CR>"] * 8], start=1):
        d.screen.wait(f"{number} of 10")
        d.screen.keys(keys)
    d.screen.wait("1 sends")
    made.rest()
    d.screen.keys("1")
    d.chat.wait_turn()
    content = {
        "name": "Ann",
        "mail": "ann@example.org",
        "site": "https://example.org/",
        "day": "2026-01-02",
        "at": "2026-01-02T03:04:05Z",
        "port": 8080,
        "ratio": 0.5,
        "sure": True,
        "colour": "b",
        "some": ["y"],
    }
    assert answer(d) == {"action": "accept", "content": content}


@pytest.mark.parametrize(("choice", "action"), [("1", "accept"), ("2", "decline"), ("cancel", "cancel")])
def test_a_page(desk: OpenDesk, choice: str, action: str) -> None:
    url = "https://login.example.org/start?state=abc"
    d = desk()
    d.do("page")
    d.chat.wait_pending(1)
    assert url in d.screen.wait("x wants you to open a page")
    d.chat.permit(choice)
    d.chat.wait_turn()
    assert answer(d) == {"action": action}
    assert d.screen.lua("return _G.opened") == ([url] if action == "accept" else [])


def test_extensions(desk: OpenDesk) -> None:
    assert "extension: error -32601" in desk().done("extend")


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("end_turn", "── done"),
        ("max_tokens", "── stopped: the answer reached the token limit."),
        ("max_turn_requests", "── stopped: "),
        ("refusal", "── refused by x. It forgets this prompt and all that followed it."),
    ],
)
def test_the_end_of_a_turn(desk: OpenDesk, reason: str, shown: str) -> None:
    d = desk()
    assert f"Enough.\n\n{shown}" in d.done(f"stop {reason}")
    assert d.chat.status()["stop_reason"] == reason


def test_a_turn_that_fails(desk: OpenDesk) -> None:
    d = desk()
    assert "the model is out (-32603)" in d.done("fail")
    assert "One message." in d.done("talk")


def test_a_prompt_that_is_refused(desk: OpenDesk) -> None:
    d = desk()
    d.do("refuse")
    d.chat.wait("✗ not sent: Internal error: too much to do")
    eventually(lambda: d.chat.prompt() == "do refuse", message=d.chat.prompt)


def test_cancelling(desk: OpenDesk) -> None:
    """What is asked is answered, and what the agent says until it has stopped is shown."""
    d = desk()
    d.do("wait")
    d.chat.wait_pending(1)
    d.chat.cancel()
    d.chat.wait_turn()
    text = d.chat.wait("── cancelled by you")
    assert 'asked: result {"outcome":{"outcome":"cancelled"}}' in text
    assert d.chat.status()["pending"] == 0
    assert "One message." in d.done("talk")


def test_a_question_that_is_taken_back(desk: OpenDesk) -> None:
    d = desk()
    d.do("withdraw")
    d.chat.wait_pending(1)
    d.screen.wait("Choose allow_once")
    d.screen.command("AcpOptions web true")
    d.chat.wait_turn()
    assert 'taken back: result {"outcome":{"outcome":"cancelled"}}' in d.chat.text()
    assert d.chat.status()["pending"] == 0


def test_what_a_prompt_brings_along(desk: OpenDesk) -> None:
    d = desk()
    d.screen.command("wincmd t | 1AcpSend do received")
    d.chat.wait_turn()
    (prompt,) = d.peer.log("session/prompt")
    kinds = [block["type"] for block in prompt["params"]["prompt"]]
    assert sorted(kinds) == ["resource", "text"]
    assert f"\n{' '.join(kinds)}\n" in d.chat.text()


def test_options(desk: OpenDesk) -> None:
    d = desk()
    d.screen.wait("Ask first mode · Small one")
    for command, wanted in [
        ("mode code", "Just code mode · Small one"),
        ("model far", "Just code mode · Far one"),
    ]:
        d.screen.command(f"AcpOptions {command}")
        d.chat.wait_winbar(wanted)
    d.screen.command("AcpOptions web true")
    d.screen.command("AcpOptions thought_level High")
    eventually(lambda: len(d.peer.log("session/set_config_option")) == 4)
    values = [message["params"] for message in d.peer.log("session/set_config_option")]
    assert {"sessionId": "new-1", "configId": "web", "type": "boolean", "value": True} in values
    assert d.screen.messages() == ""


@pytest.fixture
def start_list(
    start_peer: StartPeer, start_screen: StartScreen
) -> Callable[..., tuple[Peer, sessions_kit.Desk]]:
    """A function that makes the agent of a Neovim, and lists its sessions."""

    def start(**env: str) -> tuple[Peer, sessions_kit.Desk]:
        peer = start_peer(**env)
        desk = sessions_kit.Desk(start_screen)
        desk.setup({"x": peer})
        desk.listed(*OLD)
        return peer, desk

    return start


StartList = Callable[..., tuple[Peer, sessions_kit.Desk]]


def test_a_session_is_loaded(start_list: StartList) -> None:
    peer, desk = start_list()
    asked = [message["params"] for message in peer.log("session/list")]
    assert [request.get("cursor") is None for request in asked] == [True, False]  # one page each
    chat = desk.open("The second of old", peer)
    chat.wait("── loaded 2 messages")
    text = chat.text()
    for shown in ("❯ What did we say?", "  │ It was long ago.", "✓ search Look back", "\nWe said *this*."):
        assert text.count(shown) == 1
    assert (chat.status()["session"], chat.status()["title"]) == ("old-2", "The second of old")
    (resumed,) = peer.log("session/resume")
    assert resumed["params"]["replayFrom"] == {"type": "start"}
    chat.send("do talk now")
    chat.wait_turn()


def test_a_session_is_taken_up_after_a_restart(desk: OpenDesk) -> None:
    d = desk()
    d.done("talk first")
    d.screen.command("AcpRestart")
    d.chat.wait("── x does not remember this chat: ")
    d.chat.wait_state("idle")
    assert d.peer.refused()[0]["error"]["code"] == -32002
    assert "Another, second." in d.done("talk second")


def test_a_session_is_closed_and_deleted(start_list: StartList) -> None:
    peer, desk = start_list()
    chat = desk.open("The first of old", peer)
    chat.wait("── loaded")
    desk.listed(*OLD)
    desk.press("x", "The first of old")
    assert peer.wait("session/close")["params"] == {"sessionId": "old-1"}
    desk.shows(*(f"○ {title}" for title in OLD))
    desk.press("D", "The first of old")
    desk.screen.wait("for good?")
    desk.screen.keys("2")
    desk.shows("The second of old", gone=["The first of old"])
    assert peer.wait("session/delete")["params"] == {"sessionId": "old-1"}


def test_what_a_session_is_given(desk: OpenDesk, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    servers = {
        "files": {"command": [sys.executable, "-V"], "env": {"KEY": "value"}},
        "docs": {"url": "https://example.org/mcp", "headers": {"Accept": "text/plain"}},
        "old": {"type": "sse", "url": "https://example.org/sse"},
    }
    d = desk(directories=[str(more)], mcp_servers=servers)
    (new,) = d.peer.log("session/new")
    assert new["params"]["additionalDirectories"] == [str(more)]
    given = {server["name"]: server["type"] for server in new["params"]["mcpServers"]}
    assert given == {"files": "stdio", "docs": "http"}
    assert "old" in d.chat.text()  # version 2 has no sse


def test_login_and_logout(start_peer: StartPeer, start_screen: StartScreen, tmp_path: Path) -> None:
    peer = start_peer(PEER_LOCKED=str(tmp_path / "who"))
    chat = open_chat(start_screen, peer.settings)
    chat.submit("do talk after")
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 1")
    chat.until("Another, after.", "── done")  # the prompt has waited
    assert [message["params"] for message in peer.log("auth/login")] == [{"methodId": "own"}]
    chat.screen.command("AcpLogout")
    chat.until("? logout x  waiting for you")
    chat.screen.command("AcpPermit 1")
    chat.until("── logged out of x\n")
    assert [message["params"] for message in peer.log("auth/logout")] == [{}]
    assert not (tmp_path / "who").exists()


def test_login_in_a_terminal(start_peer: StartPeer, start_screen: StartScreen, tmp_path: Path) -> None:
    peer = start_peer(PEER_LOCKED=str(tmp_path / "who"))
    chat = open_chat(start_screen, peer.settings)
    chat.until("? login  x  waiting for you")
    chat.sees("In a terminal")
    chat.screen.command("AcpPermit 2")
    chat.until("ready in")
    chat.until_state("idle")
    assert (tmp_path / "who").read_text() == "terminal"
    assert peer.log("auth/login") == []


def test_a_session_that_is_not_wanted_any_more(start_peer: StartPeer, start_screen: StartScreen) -> None:
    """The SDK tells its agent that the request was cancelled."""
    peer = start_peer(PEER_SLOW="1")
    chat = open_chat(start_screen, peer.settings)
    chat.submit("do talk never")
    peer.wait("session/new")
    chat.screen.keys("<Esc>:AcpCancel<CR>")
    chat.until("✗ x could not start the session: Request cancelled", ":AcpRestart tries again")
    assert len(peer.log("$/cancel_request")) == 1


def test_an_agent_without_sessions(start_peer: StartPeer, start_screen: StartScreen) -> None:
    chat = open_chat(start_screen, start_peer(PEER_LACKS="session").settings)
    chat.until("x cannot hold a conversation: it offers no sessions")
