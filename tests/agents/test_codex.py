"""codex speaks both versions of ACP; claude, which only speaks the older one, is asked in the same ways.

``make test-agents`` installs them where it can; the tests of one that is not there are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fake_llm import FakeLlm
from tests.agents.real import FILES, INIT, SCENARIOS, SIZE, Chat, make_workspace, programs, settings
from tests.plugin import StartScreen

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

PROTOCOLS = ("auto", "acp-v2", "acp-v1")
ASKING = {"options": {"mode": "read-only"}}
"""The mode in which codex asks before it changes a file, and the same as the catalog has it."""
ASKING_TOO = {"env": {"INITIAL_AGENT_MODE": "read-only"}}

HARMLESS = (
    "_auth/status_update is unknown",  # an extension of its own, which nobody has asked for
    "nothing to cancel for id",  # a question that it takes back has just been answered "cancelled"
    "it speaks ACP version 1, and was to speak version 2",
)


def need(program: str) -> str:
    path = programs() / program
    if not path.exists():
        pytest.skip(f"{program} is not installed: make test-agents does it, if npm offers one for this Node")
    return str(path)


def trace(chat: Chat) -> list[str]:
    """The lines of the trace."""
    chat.screen.command("stopinsert")
    chat.screen.command(f"AcpTrace {chat.name}")
    chat.until(lambda: any("initialize" in line for line in chat.screen.lines()), "the trace is shown")
    return list(chat.screen.lines())


def complaints(chat: Chat) -> list[str]:
    """What we had to say of the agent's messages: each was decoded, and strictly."""
    return [line for line in trace(chat) if " · " in line and not any(known in line for known in HARMLESS)]


class Codex:
    """A chat with codex over one protocol; ``FakeLlm`` is its model."""

    def __init__(self, start_screen: StartScreen, folder: Path) -> None:
        self._start_screen = start_screen
        self._folder = folder
        self.workspace = folder / "ws"

    def chat(self, llm: FakeLlm, protocol: str, more: dict[str, Any]) -> Chat:
        screen = self._start_screen(size=SIZE, cwd=self.workspace, init=INIT, files=("README.md",))
        home = self._folder / "home"
        screen.setup(settings("codex", home, self.workspace, llm.url, protocol=protocol, **more))
        chat = Chat("codex", screen, self.workspace)
        chat.open()
        return chat


@pytest.fixture
def codex(start_screen: StartScreen, tmp_path: Path) -> Codex:
    need("codex-acp")
    make_workspace(tmp_path / "ws")
    return Codex(start_screen, tmp_path)


@pytest.fixture
def llm(tmp_path: Path) -> Iterator[FakeLlm]:
    with FakeLlm(SCENARIOS, tmp_path / "ws") as server:
        yield server


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_turns(codex: Codex, llm: FakeLlm, protocol: str) -> None:
    """Words and thoughts, an edit and a command that are allowed, an edit that is rejected, an error."""
    chat = codex.chat(llm, protocol, ASKING)
    assert f"ACP v{1 if protocol == 'acp-v1' else 2}" in chat.text()

    chat.send("markdown")
    assert "naïve 日本語 🎉" in chat.finish()

    chat.send("edit")
    assert "greeting.txt" in chat.question()
    assert (chat.workspace / "greeting.txt").read_text() == FILES["greeting.txt"]
    text = chat.finish()
    assert "now says **hello ACP**" in text
    assert re.search(r"^· think(?s:.*)should read the file", text, re.MULTILINE)
    assert [row for row in chat.rows("edit") if row.startswith("✓") and "+1 -1" in row], text
    assert (chat.workspace / "greeting.txt").read_text() == "# greetings\nhello ACP\ngoodbye world\n"
    chat.until(lambda: chat.screen.lines(chat.buffer("greeting.txt"))[1] == "hello ACP", "the buffer has it")
    chat.wait_home()

    chat.send("shell")
    assert "echo out-line-1" in chat.question()
    assert not (chat.workspace / "shell-was-here.txt").exists()
    text = chat.finish()
    assert "The command ran." in text
    assert "  │ out-line-1" in text
    assert (chat.workspace / "shell-was-here.txt").read_text() == "ran\n"

    chat.send("error")
    text = chat.finish()
    # Over the older version it says so in words, and that it is done.
    assert re.search(r"^{.*scripted error" if protocol == "acp-v1" else r"^✗ error: ", text, re.MULTILINE), (
        text
    )
    chat.send("markdown")
    assert chat.finish().count("naïve 日本語 🎉") == 2
    assert chat.screen.messages().strip() == ""
    assert complaints(chat) == []


@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
def test_saying_no(codex: Codex, llm: FakeLlm, protocol: str) -> None:
    """A rejection, and a cancel: of words, and of a question. The session goes on each time."""
    chat = codex.chat(llm, protocol, ASKING_TOO)
    assert "INITIAL_AGENT_MODE" not in chat.text()
    chat.send("reject")
    text = chat.finish("reject_once")
    assert [row for row in chat.rows("edit") if row.startswith("⊘") and "rejected by you" in row], text

    chat.send("cancel")
    chat.until(lambda: "slow10 " in chat.text(), "some words have come")
    chat.screen.command("AcpCancel")
    text = chat.finish()
    assert "── cancelled by you" in text
    assert "slow600 " not in text

    chat.send("cancelperm")
    chat.question()
    chat.screen.command("AcpCancel")
    chat.wait_home()
    text = chat.finish()
    assert text.count("── cancelled by you") == 2
    assert "never be seen" not in text
    assert chat.answered()[-1]["outcome"] == "cancelled"
    assert (chat.workspace / "greeting.txt").read_text() == FILES["greeting.txt"]

    chat.send("markdown")
    assert "naïve" in chat.finish()
    assert chat.screen.messages().strip() == ""
    assert complaints(chat) == []


@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
def test_sessions(codex: Codex, llm: FakeLlm, protocol: str) -> None:
    """A session is taken up after a restart, in the mode that codex forgets; and shown from the list."""
    chat = codex.chat(llm, protocol, ASKING)
    chat.send("edit")
    chat.finish()
    before = chat.text().partition("❯")[2].rstrip()
    chat.screen.command("AcpRestart")
    chat.until(lambda: "codex remembers this chat" in chat.text(), "it is resumed")
    chat.until(lambda: chat.state() == "idle", "it is ready again")
    assert chat.text().partition("❯")[2].startswith(before)
    chat.screen.wait("Read-only mode")
    chat.send("reject")  # it still asks
    chat.finish("reject_once")
    assert complaints(chat) == []

    chat.screen.command("bwipeout! acp://codex/1")
    chat.screen.command("AcpSessions codex")
    chat.screen.wait("Change the greeting")
    chat.screen.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('acp://sessions'))")
    chat.screen.keys("/greeting<CR><CR>")
    chat.until(lambda: chat.screen.funcs.bufexists("acp://codex/2"), "it is opened")
    chat.screen.wait("── loaded")
    text = "\n".join(chat.screen.lines(int(chat.screen.funcs.bufnr("acp://codex/2"))))
    for wanted in (
        "[[edit]]",
        "+ hello ACP",
        "now says **hello ACP**",
        "[[reject]]",
        "I leave the file alone.",
    ):
        assert wanted in text, text


def test_what_it_does_without_being_told_to_ask(codex: Codex, llm: FakeLlm) -> None:
    """In its own default mode it edits the project and asks nobody: the catalog says so."""
    chat = codex.chat(llm, "auto", {})
    chat.send("edit")
    text = chat.finish()
    assert chat.asked() == []
    assert "INITIAL_AGENT_MODE = 'read-only'" in text, "what the user should know of it"
    assert "now says **hello ACP**" in text, text


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_codex_without_an_account(start_screen: StartScreen, tmp_path: Path, protocol: str) -> None:
    """Its ways to log in are offered by themselves."""
    chat = strangers(start_screen, tmp_path, "codex", "codex-acp", protocol)
    text = chat.until(lambda: "? login" in chat.text() and chat.text(), "it asks for a login")
    assert "✗ not logged in\n  │ :AcpLogin lists the ways codex offers" in text
    assert "1 API Key" in text
    assert "2 ChatGPT" in text
    assert complaints(chat) == []


@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        ("auto", "ACP v1"),
        ("acp-v1", "ACP v1"),
        ("acp-v2", "claude cannot be used: it speaks ACP version 1, and was to speak version 2"),
    ],
)
def test_claude_without_an_account(
    start_screen: StartScreen, tmp_path: Path, protocol: str, said: str
) -> None:
    """It answers with the older version: that is spoken, unless only the newer one was wanted."""
    chat = strangers(start_screen, tmp_path, "claude", "claude-agent-acp", protocol)
    chat.until(lambda: said in chat.text(), said)
    if protocol == "acp-v2":
        assert "set protocol = 'auto' for this agent" in chat.text()
    assert sum("→ initialize" in line for line in trace(chat)) == 1
    assert complaints(chat) == []


def strangers(start_screen: StartScreen, folder: Path, name: str, program: str, protocol: str) -> Chat:
    """A chat with an agent that knows nobody here."""
    command = [need(program)]
    make_workspace(folder / "ws")
    (folder / "home").mkdir()
    screen = start_screen(size=SIZE, cwd=folder / "ws", init=INIT)
    env = {"HOME": str(folder / "home"), "CODEX_HOME": str(folder / "home")}
    screen.setup({"agents": {name: {"command": command, "protocol": protocol, "env": env}}})
    screen.command(f"AcpChat {name}")
    return Chat(name, screen, folder / "ws")
