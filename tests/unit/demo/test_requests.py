"""What prompts are understood as."""

from __future__ import annotations

import pytest

from acp_nvim.demo.requests import (
    Create,
    Help,
    List,
    Plan,
    Replace,
    Request,
    Run,
    Search,
    Show,
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
    "search leap": Search("leap"),
    "search for is leap": Search("is leap"),
    "find 'x in y' in src/date.py": Search("x in y", "src/date.py"),
    "grep TODO in all files": Search("TODO"),
    "replace world by ACP in greeting.txt": Replace("world", "ACP", "greeting.txt"),
    "change hello world to hi in @greeting.txt:2": Replace("hello world", "hi", "greeting.txt"),
    "Please replace 'a in b' with \"c\" in all files.": Replace("a in b", "c", None, True),
    "replace teh by the everywhere": Replace("teh", "the", None, True),
    "replace `a` by `` in f.txt": Replace("a", "", "f.txt"),
    "replace a by b": Replace("a", "b"),
    "create notes.md with hello there": Create("notes.md", "hello there"),
    "write a new file a/b.txt with `x`": Create("a/b.txt", "x"),
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
