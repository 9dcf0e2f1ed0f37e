"""What prompts are understood as."""

from __future__ import annotations

import pytest

from acp_nvim.demo.commands import COMMANDS, Command
from acp_nvim.demo.requests import (
    Ask,
    Background,
    Compact,
    Conflict,
    Create,
    Delete,
    Help,
    List,
    Mode,
    Move,
    Name,
    Output,
    Page,
    Picture,
    Plan,
    Replace,
    Request,
    Run,
    Search,
    Show,
    Silence,
    Step,
    Tour,
    Unknown,
    parse,
)

CASES: dict[str, Request] = {
    "help": Help(),
    "Help!": Help(),
    "/help": Help(),
    "hello": Help(),
    "What can you do?": Help(),
    "show me everything": Tour(),
    "Please show me everything!": Tour(),
    "/tour": Tour(),
    "list files": List(),
    "List all the files.": List(),
    "ls src": List("src"),
    "list files in src": List("src"),
    "show me the files in docs": List("docs"),
    "show src/a.py": Show("src/a.py"),
    "Show me the file 'a b.txt'.": Show("a b.txt"),
    "show @src/a.py:7-13": Show("src/a.py", 7, 13),
    "open src/a.py:7": Show("src/a.py", 7, 7),
    "read lines 3 to 9 of a.txt": Show("a.txt", 3, 9),
    "show line 3 of a.txt": Show("a.txt", 3, 3),
    "show it": Show(None),
    "run make all in the background": Background("make all"),
    "/run make in the background.": Background("make"),
    "search leap": Search("leap"),
    "search for is leap": Search("is leap"),
    "find 'x in y' in src/date.py": Search("x in y", "src/date.py"),
    "grep TODO in all files": Search("TODO"),
    "replace world by ACP in greeting.txt": Replace("world", "ACP", "greeting.txt"),
    "change hello world to hi in @greeting.txt:2": Replace("hello world", "hi", "greeting.txt"),
    "Please replace 'a in b' with \"c\" in all files.": Replace("a in b", "c", None, True),
    "replace teh by the everywhere": Replace("teh", "the", None, True),
    "replace teh by the in all files at once": Replace("teh", "the", None, True, True),
    "replace a by b in c at once": Replace("a", "b in c at once"),
    "replace `a` by `` in f.txt": Replace("a", "", "f.txt"),
    "replace a by b": Replace("a", "b"),
    "create notes.md with hello there": Create("notes.md", "hello there"),
    "write a new file a/b.txt with `x`": Create("a/b.txt", "x"),
    "delete a/b.txt": Delete("a/b.txt"),
    "Please remove the file 'a b.txt'.": Delete("a b.txt"),
    "delete it": Delete(None),
    "move a.txt to b/c.txt": Move("a.txt", "b/c.txt"),
    "rename the file a.txt to 'b c.txt'.": Move("a.txt", "b c.txt"),
    "demo": Tour(),
    "demo conflict": Conflict(),
    "demo conflict in greeting.txt 3": Conflict("greeting.txt", 3),
    "demo conflict 0.5 s": Conflict(None, 0.5),
    "demo output": Output(),
    "demo output 20 lines": Output(20),
    "demo silence": Silence(),
    "demo silence 75 seconds": Silence(75),
    "demo silence 1.5s.": Silence(1.5),
    "plan: delete a.txt, then demo silence 1": Plan(
        (Step("delete a.txt", Delete("a.txt")), Step("demo silence 1", Silence(1)))
    ),
    "ask me something": Ask(),
    "/ask": Ask(),
    "open a page": Page(),
    "show me the web page!": Page(),
    "/page please": Page(),
    "show a page.md": Unknown("show a page.md"),
    "show a picture": Picture(),
    "draw me some pictures.": Picture(),
    "go to plan mode": Mode("read"),
    "switch to the edit mode.": Mode("edit"),
    "set the mode to read-only": Mode("read"),
    "change to read only mode": Mode("read"),
    "/mode ask": Mode("ask"),
    "/mode fly": Unknown("/mode fly"),
    "/mode": Unknown("/mode"),
    "change the mood to edit": Replace("the mood", "edit"),
    "call this chat 'a b'": Name("a b"),
    "/name leap years": Name("leap years"),
    "/compact": Compact(),
    "/run ls; ls": Run("ls; ls"),
    "/RUN ls": Run("ls"),
    "/show a.txt:3": Show("a.txt", 3, 3),
    "/list": List(),
    "/list src": List("src"),
    "/search leap": Search("leap"),
    "/replace a by b in c": Replace("a", "b", "c"),
    "/create a.txt with b": Create("a.txt", "b"),
    "/plan list files, then ask me something": Plan(
        (Step("list files", List()), Step("ask me something", Ask()))
    ),
    "/fly": Unknown("/fly"),
    "/usr/bin/env": Unknown("/usr/bin/env"),
    "run ls -l | wc -l": Run("ls -l | wc -l"),
    "run `make test`": Run("make test"),
    "execute sleep 5; echo x": Run("sleep 5; echo x"),
    "run if true; then ls; fi": Run("if true; then ls; fi"),
    "!ls": Run("ls"),
    "make a plan": Plan(),
    "/plan": Plan(),
    "Make a plan and do it.": Plan(),
    "plan: list files, then run ls": Plan((Step("list files", List()), Step("run ls", Run("ls")))),
    "make a plan to list files; show a.txt": Plan(
        (Step("list files", List()), Step("show a.txt", Show("a.txt")))
    ),
    "1. list files\n2. search x": Plan((Step("list files", List()), Step("search x", Search("x")))),
    "plan: fix the bug": Plan((Step("fix the bug", Unknown("fix the bug")),)),
    "fix the bug": Unknown("fix the bug"),
    "list files\nand think": Unknown("list files\nand think"),
    "": Unknown(""),
    "   ": Unknown(""),
    "日本語": Unknown("日本語"),
    "show": Unknown("show"),
    "replace a": Unknown("replace a"),
}


@pytest.mark.parametrize("text", CASES)
def test_a_prompt_is_understood(text: str) -> None:
    assert parse(text) == CASES[text]


EXAMPLES = {
    "plan": "list files, then show a.txt",
    "list": "src",
    "show": "a.txt",
    "search": "x",
    "replace": "a by b in c",
    "create": "a with b",
    "run": "ls",
    "mode": "edit",
    "name": "x",
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_command_that_is_offered_is_understood(command: Command) -> None:
    assert (command.hint is not None) == (command.name in EXAMPLES)
    asked = parse(f"/{command.name} {EXAMPLES.get(command.name, '')}")
    assert not isinstance(asked, Unknown)
