"""An agent that does not start: one message with reason and remedy, and the chat goes on later (C28)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import BAD, MakeAgent
from tests.nvim.trouble import BACK, Chat, change, configure, open_chat, ready_chat, starts
from tests.plugin import StartScreen, eventually

FAILS: dict[str, tuple[list[str], list[str]]] = {
    "not in PATH": (
        ["no-such-agent", "--acp"],
        [
            "✗ x did not start: cannot run `no-such-agent --acp`: no 'no-such-agent' in $PATH",
            "│ directory: ",
            "│ $PATH: /",
            "│ set agents.x.command, or install no-such-agent\n  │ then :AcpRestart",
        ],
    ),
    "no such file": (
        ["/no/such/agent"],
        ["✗ x did not start: cannot run `/no/such/agent`: /no/such/agent does not exist"],
    ),
    "a directory": (
        ["/tmp"],
        ["cannot run `/tmp`: /tmp is a directory", "│ set agents.x.command; then :AcpRestart"],
    ),
    "not executable": ([str(BAD / "not_executable.sh")], ["not_executable.sh is not executable"]),
    "exits at once": (
        ["/bin/sh", str(BAD / "exits.sh")],
        [
            "✗ x ended with exit code 3, before it was ready",
            "  │ loading configuration",
            "  │ FATAL: no license found in /etc/agent",
            "│ :AcpRestart tries again; :AcpTrace has all it said",
        ],
    ),
    "exits in silence": (
        ["/bin/sh", "-c", "exit 0"],
        ["✗ x ended with exit code 0, before it was ready"],
    ),
    "garbage, then the end": (
        ["/bin/sh", "-c", r"printf '\033[2J{\n\377[[[\nusage: agent\n'; kill -9 $$"],
        ["✗ x was ended by SIGKILL, before it was ready"],
    ),
}


def fails(chat: Chat, *said: str, text: str = "") -> None:
    """Assert that exactly this is said of the failure, once, and that the text is back."""
    chat.until(*said)
    chat.until_state("failed")
    chat.until_prompt(text)
    assert len(chat.troubles) == 1, chat.show()
    assert chat.text.count(BACK) == bool(text)
    assert chat.status["queued"] == 0
    chat.sees("✗ failed, :AcpRestart")
    chat.quiet()


@pytest.mark.parametrize("kind", FAILS)
def test_a_command_that_does_not_run(start_screen: StartScreen, agent: MakeAgent, kind: str) -> None:
    command, said = FAILS[kind]
    chat = open_chat(start_screen, command)
    chat.submit("two\nlines")
    fails(chat, *said, text="two\nlines")
    chat.sees(said[0][:60])
    if kind not in ("not in PATH", "exits at once"):
        return
    configure(chat.screen, agent())
    chat.screen.command("AcpRestart")
    chat.until("ready in")
    assert not chat.troubles
    chat.works()
    chat.until("❯ two\n  lines")


def test_an_agent_of_the_catalog_that_is_not_installed(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    screen = start_screen(size=(120, 40), init=f"vim.env.PATH = '{tmp_path}:/usr/bin:/bin'")
    screen.keys(":AcpChat codex<CR>")
    chat = Chat(screen, "acp://codex/1")
    chat.until(
        "✗ codex did not start: cannot run `codex-acp`: no 'codex-acp' in $PATH",
        f"  │ $PATH: {tmp_path}:/usr/bin:/bin",
        "  │ npm install -g @agentclientprotocol/codex-acp\n"
        "  │ installs it, then :AcpRestart; or set agents.codex.command",
    )
    assert len(chat.troubles) == 1
    chat.quiet()
    command = agent().command
    program = tmp_path / "codex-acp"
    program.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command) + "\n")
    program.chmod(0o755)
    screen.command("AcpRestart")
    chat.until("ready in")
    chat.works()


def test_what_the_user_should_know_stands_in_the_first_head(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    screen = start_screen(size=(120, 40))
    screen.setup({"agents": {"goose": agent().settings}, "default_agent": "goose"})
    screen.command("AcpChat")
    chat = Chat(screen, "acp://goose/1")
    note = "goose acts without asking in its mode \"auto\": agents.goose.env = { GOOSE_MODE = 'approve' }"
    chat.until("ready in", note)
    chat.works()
    screen.command("AcpChat!")
    second = Chat(screen, "acp://goose/2")
    second.until("ready in")
    assert note not in second.text


def test_a_failed_start_is_not_tried_again_by_itself(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [{"exit": 7}]})
    chat = open_chat(start_screen, x)
    fails(chat, "✗ x ended with exit code 7, before it was ready")
    chat.submit("one")
    chat.until("✗ not sent: the agent is not running. Your text is back in the prompt.")
    chat.until_prompt("one")
    chat.submit()
    chat.until_prompt("one")
    assert len(chat.troubles) == 2
    assert len(starts(x)) == 1


@pytest.mark.parametrize(("version", "remedy"), [(99, "update acp.nvim"), (0, "update the agent")])
def test_an_unknown_version_of_the_protocol(
    start_screen: StartScreen, agent: MakeAgent, version: int, remedy: str
) -> None:
    chat = open_chat(start_screen, agent({"initialize": [{"reply": {"protocolVersion": version}}]}))
    said = f"✗ x cannot be used: it speaks ACP version {version}, acp.nvim speaks version 1"
    fails(chat, said, f"  │ {remedy}")


def test_initialize_is_refused(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"error": {"code": -32603, "message": "Internal error", "data": {"details": "no license"}}}
    chat = open_chat(start_screen, agent({"initialize": [error]}))
    said = "✗ x cannot be used: Internal error: no license"
    fails(chat, said, ":AcpRestart tries again; :AcpTrace has the full answer")


def test_a_session_is_refused(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"error": {"code": -32603, "message": "Internal error", "data": {"details": "disk is full"}}}
    x = agent({"session/new": [error]})
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    said = "✗ x could not start the session: Internal error: disk is full"
    fails(chat, said, ":AcpRestart tries again; :AcpTrace has the full answer", text="hello")
    change(x, session_new=[{"reply": {"sessionId": "s"}}])
    chat.screen.command("AcpRestart")
    chat.until("ready in")
    assert not chat.troubles
    chat.works()


SECRETS: dict[str, tuple[Any, str]] = {
    "fails": (["/bin/sh", "-c", "echo vault is sealed >&2; exit 2"], "/bin/sh failed (2): vault is sealed"),
    "is missing": (["/no/such/pass"], "/no/such/pass: "),
    "says nothing": (["true"], "true failed (0): it printed nothing"),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_the_command_of_a_secret(start_screen: StartScreen, agent: MakeAgent, kind: str) -> None:
    command, said = SECRETS[kind]
    x = agent()
    chat = open_chat(start_screen, {**x.settings, "env": {"TOKEN": {"cmd": command}}})
    chat.submit("hello")
    remedy = "  │ check agents.x.env.TOKEN.cmd, then :AcpRestart"
    fails(chat, f"✗ agents.x.env.TOKEN: {said}", remedy, text="hello")
    assert not starts(x)


def test_a_folder_that_is_gone_at_the_next_start(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    chat = ready_chat(start_screen, {**agent().settings, "cwd": str(folder)})
    folder.rmdir()
    chat.screen.command("AcpRestart")
    said = ("✗ x did not start: the folder /", "/gone does not exist", "│ make it again, then :AcpRestart")
    fails(chat, *said)
    folder.mkdir()
    chat.screen.command("AcpRestart")
    chat.until("ready in")
    chat.works()


def test_a_folder_that_is_gone_before_the_chat(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    screen = start_screen(size=(100, 30))
    configure(screen, agent())
    folder = tmp_path / "gone"
    folder.mkdir()
    screen.command(f"cd {folder}")
    folder.rmdir()
    screen.keys(":AcpChat<CR>")
    screen.wait("acp: the present folder does not exist any more; :cd to another one")
    assert not screen.blocked()
    screen.command(f"cd {tmp_path}")
    screen.command("AcpChat")
    Chat(screen).until("ready in")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"agentz": {}}, "acp: setup(): agentz is no setting (did you mean agents?)"),
        (
            {"agents": {"x": {"command": "my-agent"}}},
            "acp: setup(): agents.x.command must be a list of strings, as { 'a', 'b' }, not 'my-agent'",
        ),
        (
            {"agents": {"x": {"stall_s": -1}}},
            "acp: setup(): agents.x.stall_s must be a number of seconds above 0, not -1",
        ),
    ],
)
def test_wrong_settings(start_screen: StartScreen, settings: dict[str, Any], said: str) -> None:
    screen = start_screen(size=(120, 20))
    screen.setup(settings)
    screen.wait(said)
    assert not screen.blocked()
    assert len(screen.messages().splitlines()) == 1


def test_an_unknown_agent(start_screen: StartScreen, agent: MakeAgent) -> None:
    screen = start_screen(size=(120, 20))
    configure(screen, agent())
    screen.keys(":AcpChat nobody<CR>")
    screen.wait("acp: there is no agent 'nobody'; :AcpChat <Tab> lists them, or set agents.nobody.command")
    assert not screen.blocked()
    screen.command("AcpChat")
    chat = Chat(screen)
    eventually(lambda: chat.status["state"] == "idle", message=chat.show)
