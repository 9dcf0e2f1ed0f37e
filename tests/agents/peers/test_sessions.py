"""Sessions, options and logins of agents made with the official SDKs, as their user sees them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.agents.peers.conftest import OpenDesk
from tests.agents.peers.kit import Peer
from tests.nvim import sessions_kit
from tests.nvim.trouble import open_chat
from tests.plugin import StartScreen, eventually

pytestmark = [pytest.mark.agents, pytest.mark.timeout(120)]

StartPeer = Callable[..., Peer]
OLD = ("The first of old", "The second of old")


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
    assert chat.status()["session"] == "old-2"
    assert chat.status()["title"] == "The second of old"
    chat.send("do talk now")
    chat.wait_turn()
    assert peer.log("session/prompt")[0]["params"]["sessionId"] == "old-2"
    assert peer.log("session/new") == []


def test_a_session_is_resumed(start_list: StartList) -> None:
    peer, desk = start_list(PEER_LACKS="load")
    chat = desk.open("The first of old", peer)
    chat.wait("── resumed: x does not repeat what was said before")
    chat.send("do talk on")
    chat.wait_turn()
    assert [message["params"]["sessionId"] for message in peer.log("session/resume")] == ["old-1"]
    assert peer.log("session/load") == []


def test_a_session_is_taken_up_after_a_restart(desk: OpenDesk) -> None:
    """The peer forgets its new sessions when it ends; that is said, and it goes on with another."""
    d = desk()
    d.done("talk first")
    d.screen.command("AcpRestart")
    d.chat.wait("── x does not remember this chat: ")
    d.chat.wait_state("idle")
    assert d.peer.refused()[0]["error"]["code"] == -32002
    assert "Another, second." in d.done("talk second")


def test_a_session_is_closed(start_list: StartList) -> None:
    peer, desk = start_list()
    chat = desk.open("The first of old", peer)
    chat.wait("── loaded")
    desk.listed(*OLD)
    desk.press("x", "The first of old")
    assert peer.wait("session/close")["params"] == {"sessionId": "old-1"}
    desk.shows(*(f"○ {title}" for title in OLD))


@pytest.mark.parametrize("language", ["typescript"], indirect=True)
def test_a_session_is_deleted(start_list: StartList) -> None:
    peer, desk = start_list()
    desk.press("D", "The first of old")
    desk.screen.wait("for good?")
    desk.screen.keys("2")
    desk.shows("The second of old", gone=["The first of old"])
    assert peer.wait("session/delete")["params"] == {"sessionId": "old-1"}
    desk.screen.keys("R")
    desk.shows("The second of old", gone=["The first of old"])


@pytest.mark.parametrize("language", ["python"], indirect=True)
def test_a_session_is_forked(start_list: StartList) -> None:
    peer, desk = start_list()
    desk.press("D", "The first of old")
    desk.screen.wait("acp: x cannot delete sessions")
    desk.press("F", "The first of old")
    eventually(lambda: desk.numbers() == [1])
    chat = desk.current(peer)
    chat.wait("── forked: x remembers what was said before.")
    chat.wait_state("idle")
    assert chat.status()["session"] == "fork of old-1"
    assert peer.log("session/fork")[0]["params"]["sessionId"] == "old-1"


def test_options(desk: OpenDesk) -> None:
    d = desk()
    d.screen.wait("Ask first mode · Small one")
    for command, wanted in [
        ("mode code", "Just code mode · Small one"),
        ("model Large one", "Just code mode · Large one"),
        ("model far", "Just code mode · Far one"),
    ]:
        d.screen.command(f"AcpOptions {command}")
        d.chat.wait_winbar(wanted)
        d.screen.wait(wanted)
    d.screen.command("AcpOptions web true")
    d.screen.command("AcpOptions thought_level High")
    d.screen.command("AcpOptions tone warm")
    eventually(lambda: len(d.peer.log("session/set_config_option")) == 6)
    values = [message["params"] for message in d.peer.log("session/set_config_option")]
    assert {"sessionId": "new-1", "configId": "web", "type": "boolean", "value": True} in values

    def labels() -> dict[str, str]:
        found = d.screen.lua("return require('acp').options()")
        return {each["id"]: str(each.get("label")) for each in found}

    wanted_labels = {"mode": "Just code", "model": "Far one", "effort": "High", "tone": "Warm"}
    eventually(lambda: labels().items() >= wanted_labels.items(), message=lambda: str(labels()))
    assert d.screen.messages() == ""


def test_modes(desk: OpenDesk) -> None:
    d = desk({"PEER_MODES": "1"})
    d.screen.wait("Ask first mode")
    d.screen.command("AcpOptions mode code")
    d.screen.wait("Just code mode")
    params = [message["params"] for message in d.peer.log("session/set_mode")]
    assert params == [{"sessionId": "new-1", "modeId": "code"}]


def test_what_a_session_is_given(desk: OpenDesk, tmp_path: Path) -> None:
    """Folders, and servers of all kinds that the agent takes; the SDK has read them."""
    more = tmp_path / "more"
    more.mkdir()
    servers = {
        "files": {"command": [sys.executable, "-V"], "env": {"KEY": "value"}},
        "docs": {"url": "https://example.org/mcp", "headers": {"Accept": "text/plain"}},
        "old": {"type": "sse", "url": "https://example.org/sse"},
    }
    d = desk(directories=[str(more)], mcp_servers=servers)
    (new,) = d.peer.log("session/new")
    assert new["params"]["cwd"] == str(d.workspace)
    assert new["params"]["additionalDirectories"] == [str(more)]
    given = {server["name"]: server.get("type") for server in new["params"]["mcpServers"]}
    if d.peer.language == "typescript":
        assert given == {"files": None, "docs": "http", "old": "sse"}
    else:
        assert given == {"files": None, "docs": "http"}  # this one takes no sse
        assert "old" in d.chat.text()
    assert d.peer.refused() == []


def test_login_and_logout(start_peer: StartPeer, start_screen: StartScreen, tmp_path: Path) -> None:
    peer = start_peer(PEER_LOCKED=str(tmp_path / "who"))
    chat = open_chat(start_screen, peer.settings)
    chat.submit("do talk after")
    chat.until("? login  x  waiting for you")
    chat.sees("By itself")
    chat.screen.command("AcpPermit 1")
    chat.until("Another, after.", "── done")  # the prompt has waited
    assert [message["params"] for message in peer.log("authenticate")] == [{"methodId": "own"}]
    chat.screen.command("AcpLogout")
    if peer.language == "python":
        chat.until("── x offers no logout.")
        return
    chat.until("? logout x  waiting for you")
    chat.screen.command("AcpPermit 1")
    chat.until("── logged out of x\n")
    assert [message["params"] for message in peer.log("logout")] == [{}]
    assert not (tmp_path / "who").exists()
    chat.quiet()


@pytest.mark.parametrize("language", ["typescript"], indirect=True)
def test_login_in_a_terminal(start_peer: StartPeer, start_screen: StartScreen, tmp_path: Path) -> None:
    peer = start_peer(PEER_LOCKED=str(tmp_path / "who"))
    chat = open_chat(start_screen, peer.settings)
    chat.until("? login  x  waiting for you")
    chat.sees("In a terminal")
    chat.screen.command("AcpPermit 2")
    chat.until("ready in")
    chat.until_state("idle")
    assert (tmp_path / "who").read_text() == "terminal"
    assert peer.log("authenticate") == []
    assert len(peer.events("start")) == 2  # the agent was started again


@pytest.mark.parametrize("language", ["typescript"], indirect=True)
def test_a_session_that_is_not_wanted_any_more(start_peer: StartPeer, start_screen: StartScreen) -> None:
    """The SDK tells its agent that the request was cancelled."""
    peer = start_peer(PEER_SLOW="1")
    chat = open_chat(start_screen, peer.settings)
    chat.submit("do talk never")
    peer.wait("session/new")
    chat.screen.keys("<Esc>:AcpCancel<CR>")
    chat.until("✗ x could not start the session: Request cancelled", ":AcpRestart tries again")
    chat.until_prompt("do talk never")
    assert len(peer.log("$/cancel_request")) == 1
