"""What a question says: all of it, and the same in the row and in the card."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.view.helpers import DATE_NEW, DATE_OLD, HOME, OPTIONS, Chat, at, edit, text

from acp_nvim.session.asked import (
    CommandSubject,
    PathSubject,
    Permission,
    PermissionOption,
    UnknownSubject,
)
from acp_nvim.session.content import Change, Diff
from acp_nvim.session.entities import ToolCall
from acp_nvim.session.events import PermissionOpened
from acp_nvim.view.question import Question
from acp_nvim.view.questions import describe, words


def ask(kind: str, title: str = "", asked: dict[str, Any] | None = None, **fields: Any) -> Question:
    chat = Chat()
    chat.tool("t", title, kind, **fields)
    permission = chat.ask("t", **(asked or {}))
    return describe(permission, chat.session.tool_calls["t"], chat.session, home=HOME)


def test_a_command_in_full() -> None:
    command = "npm install left-pad@1.3.0 --save-exact \\\n  && rm -rf build/cache \\\n  && npm test"
    raw = {"command": command, "cwd": "/srv/x"}
    question = ask("execute", "Install dependency and verify", raw_input=raw)
    assert question.title == "claude wants to run a command"
    assert question.lines == [
        "npm install left-pad@1.3.0 --save-exact \\",
        "  && rm -rf build/cache \\",
        "  && npm test",
        "in /srv/x",
        'claude says: "Install dependency and verify"',
    ]
    assert question.marks[0] == (0, 0, len(question.lines[0]), "AcpCommand")
    assert (3, 3, 9, "AcpPath") in question.marks
    assert question.payload(7) == {
        "id": "q1",
        "chat": 7,
        "n_open": 1,
        "title": question.title,
        "prompt": "claude wants to run: npm install left-pad@1.3.0 --save-exact \\ && rm -rf build/cache \\"
        " && npm test in /srv/x",
        "what": question.prompt.replace("claude wants to run: ", "run "),
        "lines": question.lines,
        "marks": [list(mark) for mark in question.marks],
        "options": [
            {"id": "once", "name": "Allow once", "kind": "allow_once"},
            {"id": "always", "name": "Always allow npm", "kind": "allow_always"},
            {"id": "reject", "name": "Reject", "kind": "reject_once"},
        ],
    }


@pytest.mark.parametrize(
    ("kind", "title", "fields", "words", "prompt"),
    [
        (
            "execute",
            "npm test",
            {"raw_input": {"cmd": "npm test"}},
            "run a command",
            "run: npm test in ~/src/app",
        ),
        ("execute", "do `it`", {}, "run a command", "run: do it"),
        ("edit", "", {"content": [edit("a.py", "x\n", "y\n")]}, "edit a file", "edit: a.py +1 -1"),
        ("edit", "", {"content": [edit("a.py", "", "y\n")]}, "create a file", "create: a.py +1"),
        ("delete", "", {"locations": at("a.py")}, "delete a file", "delete: a.py"),
        ("move", "", {"locations": at("a.py")}, "move a file", "move: a.py"),
        ("read", "x", {"locations": at("/etc/x")}, "read outside the project", "read: /etc/x"),
        ("read", "x", {"locations": at("a.py")}, "use a tool", "use a tool: x"),
        ("other", "Rename symbol", {}, "use a tool", "use a tool: Rename symbol"),
    ],
)
def test_titles(kind: str, title: str, fields: dict[str, Any], words: str, prompt: str) -> None:
    question = ask(kind, title, **fields)
    assert question.title == f"claude wants to {words}"
    assert question.prompt == f"claude wants to {prompt}"


def test_a_plan_can_be_read() -> None:
    """C07: the plan stands only in the raw input."""
    plan = {"plan": "1. add test\n2. fix parser"}
    question = ask("switch_mode", "Ready to code?", content=[], raw_input=plan)
    assert question.title == "claude wants to change the mode"
    assert question.lines == ["1. add test", "2. fix parser", 'claude says: "Ready to code?"']
    chat = Chat()
    chat.tool("t5", "Ready to code?", "switch_mode", content=[text("# Plan\n\ndo it")])
    chat.ask("t5")
    assert chat.lines() == [
        "? mode   Ready to code?  waiting for you",
        "  │ # Plan",
        "  │ ",
        "  │ do it",
        '  │ claude says: "Ready to code?"',
        "  │ 1 Allow once  2 Always allow npm  3 Reject",
    ]


def test_an_edit_shows_its_hunks() -> None:
    question = ask("edit", "Edit date.py", content=[edit("src/date.py", DATE_OLD, DATE_NEW)])
    assert question.lines == [
        "src/date.py  +2",
        "@@ -6,2 +6,4 @@",
        "  def is_leap(year):",
        "+     if year % 100 == 0:",
        "+         return year % 400 == 0",
        "      return year % 4 == 0",
    ]
    assert question.known == 1
    assert (3, 0, len(question.lines[3]), "AcpAdd") in question.marks


def test_only_long_hunks_are_cut() -> None:
    new = "".join(f"{n}\n" for n in range(1000))
    question = ask("edit", content=[edit("a.txt", None, new, "add")])
    assert len(question.lines) == 202
    assert question.lines[-1] == "… 801 more lines, K on it shows all"
    long = ask("execute", raw_input={"command": "x" * 20_000})
    assert "".join(long.lines[:-1]) == "x" * 20_000


def test_several_files() -> None:
    question = ask("edit", content=[edit("a", "1\n", "2\n"), edit("b", "3\n", "4\n")])
    assert [line for line in question.lines if line[:1] not in "@+-"] == ["a  +1 -1", "b  +1 -1"]


@pytest.mark.parametrize(
    ("op", "why", "real", "title", "lines"),
    [
        ("read", "outside", "/etc/x", "read outside the project", ["/etc/x", "outside the project"]),
        ("write", "outside", "/etc/x", "edit a file", ["/etc/x", "outside the project"]),
        ("write", "protected", "/etc/x", "edit a file", ["/etc/x", "protected"]),
        (
            "write",
            "modified",
            "/etc/x",
            "edit a file",
            ["/etc/x", "has unsaved edits", "Yes replaces them and saves; u brings them back"],
        ),
        ("read", "other", "/real/y", "read a file", ["/etc/x", "really /real/y"]),
    ],
)
def test_our_questions_about_paths(op: str, why: str, real: str, title: str, lines: list[str]) -> None:
    chat = Chat()
    permission = Permission(
        "p", list(OPTIONS), subject=PathSubject(op, "/etc/x", real, why), asked_by="client"
    )
    chat.apply(PermissionOpened(permission))
    question = describe(permission, None, chat.session, home=HOME)
    assert question.title == f"claude wants to {title}"
    assert question.lines == lines


def test_our_question_with_a_change() -> None:
    change = edit("/etc/npmrc", "a\n", "a\nb\n")
    subject = PathSubject("write", "/etc/npmrc", "/etc/npmrc", "outside", change)
    chat = Chat()
    chat.apply(PermissionOpened(Permission("p", list(OPTIONS[:1]), subject=subject, asked_by="client")))
    assert chat.lines() == [
        "? edit   /etc/npmrc  +1  waiting for you",
        "  │ outside the project",
        "  │ @@ -1 +1,2 @@",
        "  │   a",
        "  │ + b",
        "  │ 1 Allow once",
    ]


@pytest.mark.parametrize(
    ("disk", "mine", "title", "said"),
    [
        (
            "b\n",
            "a\n",
            "claude has changed a file on disk",
            "on disk already; Yes takes it into the buffer too",
        ),
        ("c\n", "a\n", "claude wants to edit a file", None),
        ("c\n", "", "claude wants to edit a file", None),
        (None, "", "claude wants to create a file", None),
    ],
)
def test_our_question_about_unsaved_edits(disk: str | None, mine: str, title: str, said: str | None) -> None:
    change = edit("/etc/npmrc", mine, "b\n")
    subject = PathSubject("write", "/etc/npmrc", "/etc/npmrc", "modified", change, "a\n", disk)
    permission = Permission("p", list(OPTIONS[:1]), subject=subject, asked_by="client")
    chat = Chat()
    chat.apply(PermissionOpened(permission))
    question = describe(permission, None, chat.session, home=HOME)
    assert question.title == title
    assert question.lines[1] == "has unsaved edits"
    assert (said is None) == (question.lines[2] != "on disk already; Yes takes it into the buffer too")
    assert words(permission, chat.session) == question.prompt
    if said:
        assert question.prompt == "claude has changed on disk: /etc/npmrc; take it into the buffer?"
        assert question.what == "has changed on disk /etc/npmrc; take it into the buffer?"


@pytest.mark.req("V2-117", "V2-119", "V2-124")
def test_a_command_subject_wins_over_the_raw_input() -> None:
    asked = {"subject": CommandSubject("rm -rf build", "/ws"), "description": "Clean\nup"}
    question = ask("execute", "x", asked, raw_input={"command": "ls"})
    assert question.lines == ["rm -rf build", "in /ws", 'claude says: "Clean', '  up"', 'claude says: "x"']


def test_the_variables_a_command_gets_are_shown_in_full() -> None:
    variables = (("PATH", "/ws/bin:" + "x" * 9000), ("A\x1b[2J", "1\n2 in /\u202e"))
    subject = CommandSubject("git status", "/ws", "/ws", "asked", variables)
    question = describe(Permission("p", list(OPTIONS), subject=subject), None, Chat().session, home=HOME)
    assert "".join(question.lines[2:4]) == "with PATH=/ws/bin:" + "x" * 9000
    assert question.lines[:2] == ["git status", "in /ws"]
    assert question.lines[4:] == ["with A^[[2J=1", "  2 in /<U+202E>"]


PATCHES: list[tuple[Diff, str]] = [
    (Diff((Change("modify", "/home/me/src/app/a.py"),), patch="@@ -1 +1 @@\n-x\n+y\n"), "a.py  +1 -1"),
    (Diff((Change("add", "/home/me/src/app/b.py"),), patch="@@ -0,0 +1 @@\n+y\n"), "b.py  +1"),
    (Diff((Change("delete", "/home/me/src/app/c.py"),), patch="@@ -1 +0,0 @@\n-x\n"), "c.py  -1  delete"),
    (Diff((Change("move", "/home/me/src/app/d.py", "/home/me/src/app/old.py"),)), "d.py  move from old.py"),
    (Diff((Change("copy", "/home/me/src/app/e.py", "/etc/x"),)), "e.py  copy from /etc/x"),
    (Diff((Change("modify", "/home/me/src/app/f.png", None, "binary"),)), "f.png  binary"),
    (Diff((Change("add", "/home/me/src/app/g", None, "directory"),)), "g  new directory"),
    (Diff((Change("_swap\n", "/home/me/src/app/h", None, "text"),)), "h  _swap"),
]


@pytest.mark.req("V2-109", "V2-110", "V2-111")
def test_what_is_done_to_files_without_two_texts() -> None:
    for diff, line in PATCHES:
        question = ask("edit", content=[diff])
        assert question.lines[0] == line
    question = ask("edit", content=[diff for diff, _ in PATCHES])
    shown = [line for line in question.lines if not line.startswith(("@@", "- ", "+ "))]
    assert shown == [line for _, line in PATCHES]


@pytest.mark.req("V2-109")
def test_the_row_of_several_files() -> None:
    chat = Chat()
    chat.tool("t", kind="edit", status="completed", content=[PATCHES[0][0], PATCHES[3][0], PATCHES[5][0]])
    assert [line for line in chat.lines() if line.strip()] == [
        "✓ edit   a.py and 2 more  +1 -1",
        "  │ a.py",
        "  │ @@ -1 +1 @@",
        "  │ - x",
        "  │ + y",
        "  │ d.py  move from old.py",
        "  │ f.png  binary",
    ]
    chat.patch("t", content=[PATCHES[3][0]])
    assert "✓ edit   old.py -> d.py" in chat.lines()


@pytest.mark.req("V2-120", "V2-124")
def test_a_subject_nobody_knows() -> None:
    subject = UnknownSubject("_purchase", {"type": "_purchase", "price": 3})
    asked = {"subject": subject, "title": "Buy it?", "description": "It is\ncheap."}
    question = ask("other", asked=asked)
    assert question.prompt == "claude wants to use a tool: Buy it?"
    assert question.lines == [
        "type: _purchase",
        "price: 3",
        'claude says: "Buy it?"',
        'claude says: "It is',
        '  cheap."',
    ]


def test_a_command_nobody_named_is_not_guessed() -> None:
    """What gemini sends: the command is only in the title, so it is the agent's words."""
    content = [text("[current working directory /ws] (scripted)")]
    question = ask("execute", "echo hi", content=content)
    assert question.lines == ['claude says: "echo hi"', "[current working directory /ws] (scripted)"]
    assert question.marks == [(1, 0, len(question.lines[1]), "AcpNote")], "what counts is not dimmed"
    assert ask("execute", content=content).marks == []


@pytest.mark.parametrize(
    ("kind", "name", "shown"),
    [
        ("allow_always", "Allow for this session", "Allow for this session (always)"),
        ("reject_always", "Reject", "Reject (always)"),
        ("allow_always", "Always allow npm", "Always allow npm"),
        ("allow_always", "Yes, allow ALL edits", "Yes, allow ALL edits"),
        ("allow_once", "Allow", "Allow"),
    ],
)
def test_an_answer_for_always_shows(kind: Any, name: str, shown: str) -> None:
    question = ask("execute", "x", {"options": [PermissionOption("o", name, kind)]})
    option = question.payload(1)["options"][0]
    assert (option["name"], option["name"] + option.get("note", "")) == (name, shown)
    row = Question()
    question.put_options(row)
    assert row.lines == [f"1 {shown}"]
    warned = [(0, 2, 2 + len(shown), "AcpWarn")] if kind.endswith("always") else []
    assert [mark for mark in row.marks if mark[3] == "AcpWarn"] == warned


def test_what_is_asked_in_short() -> None:
    assert ask("edit", "Write", content=[edit("a.py", "x\n", "y\n")]).what == "edit a.py +1 -1"
    assert ask("other", "Rename symbol").what == "use a tool Rename symbol"


def test_a_tool_shows_what_it_gets() -> None:
    raw = {"symbol": "a", "options": {"deep": True}, "text": "one\ntwo"}
    question = ask("other", "Rename symbol", raw_input=raw)
    assert question.lines == [
        "symbol: a",
        'options: {"deep": true}',
        "text: one",
        "  two",
        'claude says: "Rename symbol"',
    ]


@pytest.mark.parametrize("title", ["Write a.py", "`a.py`", "edit", "/home/me/src/app/a.py", "Edit file a.py"])
def test_a_title_that_repeats_is_left_out(title: str) -> None:
    question = ask("edit", title, content=[edit("a.py", "x\n", "y\n")])
    assert not any("says" in line for line in question.lines)


def test_nothing_dangerous_gets_through() -> None:
    raw = {"command": "ls\x1b[2A\u202e\r\nrm"}
    question = ask("execute", "x\x07", raw_input=raw, asked={"title": "a\u2066b"})
    assert question.lines[:2] == ["ls^[[2A<U+202E>", "rm"]
    assert 'claude says: "a<U+2066>b"' in question.lines
    for line in (*question.lines, question.title, question.prompt):
        assert line.isprintable()


def test_without_anything_there_is_still_a_line() -> None:
    chat = Chat()
    permission = Permission("p", [])
    question = describe(permission, ToolCall("x"), chat.session)
    assert question.title == "claude wants to ask you something"
    assert question.lines
    body = Question()
    question.put_options(body)
    assert body.lines == ["no answers are offered; :AcpPermit cancel refuses"]


def test_two_questions_in_one_row() -> None:
    chat = Chat()
    chat.tool("t", "x", "execute", raw_input={"command": "ls"})
    chat.ask("t", "q1")
    chat.ask("t", "q2", options=OPTIONS[:1])
    shown = chat.lines()
    assert shown[0] == "? run    ls  waiting for you (1, 2)"
    assert [line for line in shown if "1 Allow" in line] == [
        "  │ 1 Allow once  2 Always allow npm  3 Reject",
        "  │ 1 Allow once",
    ]
