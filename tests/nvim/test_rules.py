"""`permission.rules` in a real Neovim: what a rule decides is not asked, is said, and can be revoked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.nvim.stub import INIT
from tests.plugin import Screen, StartNvim, StartScreen, eventually
from tools import demo
from tools.stage import Stage, build

EDIT = {"action": "allow", "kind": "edit", "path": "*.txt"}
ECHO = {"action": "reject", "command": ["echo"]}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return build(tmp_path / "stage", 0.0)


SAID = "local log = require('acp.message').log return #log > 0 and log[#log].text or ''"


def transcript(screen: Screen) -> str:
    buffers = screen.lua("return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())")
    name = next(each for each in buffers if each.endswith("acp://demo/1"))
    return "\n".join(screen.lines(screen.funcs.bufnr(f"^{name}$")))


def test_a_rule_decides_until_it_is_revoked(stage: Stage, start_screen: StartScreen) -> None:
    screen = start_screen(size=demo.SIZE, cwd=stage.project, init=stage.init, files=("greeting.txt",))
    screen.wait(demo.is_ready)
    screen.lua(
        """
        _G.heard = {}
        for _, name in ipairs({ 'AcpPermission', 'AcpPermissionDone' }) do
          vim.api.nvim_create_autocmd('User', { pattern = name, callback = function(args)
            table.insert(_G.heard, name .. ' ' .. tostring(args.data.by))
          end })
        end
        local settings = { permission = { rules = ... } }
        require('acp').setup(settings)
        """,
        [EDIT, ECHO],
    )
    screen.keys(demo.PROMPT, "<C-s>")
    eventually(lambda: "allowed by a rule" in transcript(screen), message=screen.text)
    screen.wait(demo.has_ended)
    assert "hello Neovim" in (stage.project / "greeting.txt").read_text()
    assert screen.lua("return _G.heard") == ["AcpPermissionDone rule"]
    screen.keys("run echo hello", "<C-s>")
    eventually(lambda: "rejected by a rule" in transcript(screen), message=screen.text)
    assert "wants to" not in screen.text()

    screen.command("stopinsert")
    screen.command("AcpTrace")
    screen.wait("answered by rule (allow edit under *.txt)")
    screen.wait("answered by rule (reject the command echo)")
    screen.command("bdelete")

    screen.command("AcpRules revoke 2")
    assert screen.lua(SAID) == "revoked: reject the command echo"
    screen.command("AcpSend run echo again")
    screen.wait("wants to run a command")
    screen.command("AcpPermit reject_once")
    eventually(lambda: "rejected by you" in transcript(screen), message=screen.text)
    screen.command("AcpRules")
    screen.wait("reject the command echo  (revoked)")
    screen.keys("2")
    eventually(lambda: screen.lua(SAID) == "holds again: reject the command echo", message=screen.text)


def test_commands_about_rules(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT)
    nvim.command("AcpRules")
    assert nvim.lua(SAID) == "there are no rules: everything is asked; :help acp-rules"
    nvim.setup({"permission": {"rules": [EDIT]}})
    for command, said in (
        ("AcpRules revoke 2", "there is no rule 2; there are 1"),
        ("AcpRules forget", ":AcpRules takes revoke or restore, and a number, not 'forget'"),
        ("AcpRules revoke", "revoked: allow edit under *.txt"),
        ("AcpRules restore", "holds again: allow edit under *.txt"),
    ):
        nvim.command(command)
        assert nvim.lua(SAID) == said
    assert nvim.funcs.getcompletion("AcpRules re", "cmdline") == ["revoke", "restore"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("allow", " must be a table, as { action = 'allow', kind = 'read' }"),
        ({}, " needs action = 'allow', 'reject' or 'ask'"),
        ({"action": "always", "kind": "read"}, " needs action ="),
        ({"action": "allow", "kind": "read", "title": "x"}, " has no title: known are action, kind"),
        ({"action": "allow"}, " would allow everything: give it a kind, a path or a command"),
        ({"action": "reject"}, " would reject everything:"),
        ({"action": "allow", "agent": "claude"}, " would allow everything:"),
        ({"action": "allow", "path": "src/**"}, " allows by path alone: give it a kind, too"),
        ({"action": "allow", "kind": "execute"}, ".kind: 'execute' says too little to be allowed"),
        ({"action": "allow", "kind": "write"}, ".kind: 'write' is none; known are read, edit,"),
        (
            {"action": "allow", "command": "npm test"},
            ".command must be a list of words, as { 'npm', 'test' }",
        ),
        ({"action": "allow", "command": []}, ".command must be a list of words"),
        ({"action": "allow", "command": ["x"], "kind": "read"}, " has a command: then no kind and no path"),
        ({"action": "allow", "kind": "read", "path": [1]}, ".path must be a string or a list of strings"),
        ({"action": "reject", "path": "x", "agent": 3}, ".agent must be the name of an agent"),
    ],
)
def test_a_wrong_rule_is_named_and_left_out(start_nvim: StartNvim, rule: Any, said: str) -> None:
    nvim = start_nvim(init=INIT + "vim.o.columns = 200")
    nvim.setup({"permission": {"rules": [rule, {"action": "reject", "agent": "codex"}]}})
    assert nvim.lua("return require('acp.config').problems") == [
        nvim.lua("return require('acp.config').problems[1]")
    ]
    assert nvim.lua("return require('acp.config').problems[1]").startswith(f"permission.rules[1]{said}")
    taken = nvim.lua("return require('acp.config').get().permission.rules")
    assert [each["words"] for each in taken] == ["reject by codex"]


def test_who_hears_of_a_question_can_answer_it(stage: Stage, start_screen: StartScreen) -> None:
    screen = start_screen(size=demo.SIZE, cwd=stage.project, init=stage.init, files=("greeting.txt",))
    screen.wait(demo.is_ready)
    screen.lua(
        """
        vim.api.nvim_create_autocmd('User', { pattern = 'AcpPermission', callback = function(args)
          _G.answered = { require('acp').permit(args.data.options[1].kind) }
        end })
        """
    )
    screen.keys(demo.PROMPT, "<C-s>")
    screen.wait(demo.has_ended)
    assert screen.lua("return _G.answered") == [True]
    assert "hello Neovim" in (stage.project / "greeting.txt").read_text()
