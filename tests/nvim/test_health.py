""":checkhealth acp names causes and commands; messages never ask for a key."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.nvim.stub import AGENT, INIT, update
from tests.plugin import Neovim, StartNvim


def report(nvim: Neovim) -> str:
    nvim.command("checkhealth acp")
    return "\n".join(nvim.lines())


def test_without_anything(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + "_G.host_state = 'off' vim.env.PATH = '/nowhere'")
    text = report(nvim)
    for line in (
        "host: off; :AcpChat starts it",
        "codex: not installed (looked for codex-acp in $PATH); npm install -g @agentclientprotocol/codex-acp",
        "goose: not installed (looked for goose in $PATH); curl -fsSL https://",
        "looked for in $PATH: /nowhere",
        "demo: built in; no language model, no account",
        "none; :AcpChat opens one",
    ):
        assert line in text
    assert "ERROR" not in text


def test_agents_that_are_there_come_first_with_their_path_and_note(
    start_nvim: StartNvim, tmp_path: Path
) -> None:
    program = tmp_path / "opencode"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    nvim = start_nvim(init=INIT + f"vim.env.PATH = '{tmp_path}'")
    text = report(nvim)
    assert f"opencode: {program}" in text
    assert "opencode: opencode acts without asking unless" in text
    assert text.index(f"opencode: {program}") < text.index("auggie: not installed")
    assert "goose acts without asking" not in text


@pytest.mark.parametrize(
    ("setup", "lines"),
    [
        (
            {"agents": {"mine": {"command": ["nothing-like-it"]}}},
            [
                "mine: not installed (looked for nothing-like-it in $PATH)",
                "set agents.mine.command, or install nothing-like-it",
            ],
        ),
        (
            {"agents": {"mine": {"command": ["/tmp"]}}},
            ["mine: /tmp is a folder, not a program", "set agents.mine.command\n"],
        ),
        ({"agents": {"mine": {"env": {"A": "b"}}}}, ["mine: no command", "set agents.mine.command"]),
        (
            {"agents": {"r": {"protocol": "aap", "url": "http://127.0.0.1:1"}}},
            ["r: over HTTP at http://127.0.0.1:1\n"],
        ),
        (
            {"agents": {"r": {"protocol": "aap", "url": "https://me:hush@agent.example/v1?key=hush"}}},
            ["r: over HTTP at https://•••@agent.example/v1\n"],
        ),
        (
            {"agents": {"r": {"protocol": "aap", "url": "http://127.0.0.1:1", "api_key_env": "NO_SUCH_KEY"}}},
            ["r: $NO_SUCH_KEY is not set, which is to hold the key"],
        ),
        ({"default_agent": "nobody"}, ["default_agent 'nobody' does not exist"]),
        ({"colour": 1}, ["setup(): colour is no setting: known are agents"]),
    ],
)
def test_settings(start_nvim: StartNvim, setup: dict[str, object], lines: list[str]) -> None:
    nvim = start_nvim(init=INIT)
    nvim.setup(setup)
    text = report(nvim)
    for line in lines:
        assert line in text


def test_a_session_and_its_last_error(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    update(
        nvim,
        {"state": "failed", "error": "ended with exit code 127 after 0.1 s: sh: not found", "pending": 1},
    )
    text = report(nvim)
    assert "claude: ended with exit code 127 after 0.1 s" in text
    assert ":AcpRestart starts it again; :AcpTrace claude shows all it said" in text
    assert "claude 1: failed, 0 queued, 1 open questions, in " in text


def test_a_foreign_highlighter_is_named(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.lua("vim.treesitter.start(vim.fn.bufnr('^acp://claude/1$'), 'markdown')")
    assert "chat 1 has a treesitter highlighter" in report(nvim)


def test_a_failed_host(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT)
    nvim.lua("""require('acp.host').status = function()
      return { state = 'failed', error = 'python3 has no anyio', python = '/usr/bin/python3' }
    end""")
    text = report(nvim)
    assert "host: python3 has no anyio (/usr/bin/python3)" in text
    assert ":AcpInstall makes the Python environment" in text


def test_a_failed_host_is_one_error(start_nvim: StartNvim) -> None:
    """It is not each chat's failure as well, with another remedy."""
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    nvim.lua("""require('acp.host').status = function()
      return { state = 'failed', error = 'python3 has no anyio', python = '/usr/bin/python3' }
    end""")
    update(nvim, {"state": "failed", "error": "python3 has no anyio"})
    text = report(nvim)
    assert text.count("ERROR") == 1
    assert ":AcpRestart" not in text


def test_the_environment_is_named_before_the_first_chat(start_nvim: StartNvim, tmp_path: Path) -> None:
    nvim = start_nvim(init=INIT, python=None)
    assert (
        "Python environment: not made yet; :AcpInstall makes it, and the first :AcpChat offers to"
        in report(nvim)
    )
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.touch()
    nvim.lua("local at = ... require('acp.host').environment = function() return at end", str(tmp_path))
    assert f"Python environment: {tmp_path}" in report(nvim)
    nvim.lua("vim.g.acp_python = '/usr/bin/python3'")
    assert "Python environment" not in report(nvim)  # it is not used


def test_messages_stand_there_in_full(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT)
    nvim.lua("require('acp.message').error(('x'):rep(300), { 'detail one' })")
    text = report(nvim)
    assert "x" * 300 in text
    assert "detail one" in text


@pytest.mark.parametrize(
    ("text", "cells", "cut"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("a", 0, "…")],
)
def test_cut_counts_cells(start_nvim: StartNvim, text: str, cells: int, cut: str) -> None:
    nvim = start_nvim(init=INIT)
    assert nvim.lua("return require('acp.message').cut(...)", text, cells) == cut


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("done\x07\x1b]52;c;ZXZpbA==\x07", "done ]52;c;ZXZpbA== "),
        ("a\nb\tc", "a b c"),
        ("\u202egnirts", "gnirts"),
        ("a\u2066b\u2069", "ab"),
        ("\u009b31m", " 31m"),
        ("grün 日本", "grün 日本"),
    ],
)
def test_text_of_others_is_made_plain(start_nvim: StartNvim, text: str, plain: str) -> None:
    """C39."""
    nvim = start_nvim(init=INIT)
    assert nvim.lua("return require('acp.message').plain(...)", text) == plain


def test_a_message_once(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT)
    for _ in range(3):
        nvim.lua("require('acp.message').once('key', 'warning', 'only once')")
    assert nvim.lua("return #require('acp.message').log") == 1
    assert nvim.messages() == "acp: only once"


def test_what_the_user_typed_wrong_is_no_error_and_a_past_failure_neither(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    for command in ("AcpChat nobody", "AcpCancel", "AcpTrace nobody", "9AcpChat"):
        nvim.api.command(command)
    nvim.lua("require('acp.message').error('python3 has no package', { 'detail' })")
    update(nvim, {"state": "failed", "error": "it was lost"})
    update(nvim, {"state": "idle"})
    text = report(nvim)
    assert "there is no agent 'nobody'" in text
    assert "python3 has no package\n" in text
    assert "ERROR" not in text
    assert "WARNING" not in text


def test_a_python_that_is_no_name(start_nvim: StartNvim) -> None:
    """It was ignored without a word."""
    nvim = start_nvim(init=INIT + "vim.g.acp_python = 5", python=None)
    assert "g:acp_python must be a string, not 5: ignored" in report(nvim)
