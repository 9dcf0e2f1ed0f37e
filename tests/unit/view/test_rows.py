"""Rows of tool calls: icon, verb, target, counts, word, body, fold, links."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.view.helpers import DATE_NEW, DATE_OLD, Chat, at, edit, text

from acp_nvim.session.content import Block, Change, Diff, UnknownContent


def row(**fields: Any) -> str:
    chat = Chat()
    chat.tool("t", fields.pop("title", ""), fields.pop("kind", "other"), **fields)
    return chat.lines()[0]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"kind": "read", "locations": at("a.py", 3)}, "○ read   a.py:3"),
        ({"kind": "read", "locations": at("a.py", 3), "raw_input": {"limit": 5}}, "○ read   a.py:3-7"),
        ({"kind": "delete", "locations": at("/etc/x")}, "○ delete /etc/x"),
        ({"kind": "think", "title": "Plan the work"}, "○ think  Plan the work"),
        ({"kind": "switch_mode", "title": "Ready to code?"}, "○ mode   Ready to code?"),
        ({"kind": "other", "title": "external_directory"}, "○ tool   external_directory"),
        ({"kind": "weird", "title": "", "name": "mcp__x"}, "○ tool   mcp__x"),
        ({"kind": "other"}, "○ tool"),
        ({"kind": "fetch", "title": "Fetch", "raw_input": {"url": "http://x/y"}}, "○ fetch  http://x/y"),
        ({"kind": "search", "title": "grep", "raw_input": {"pattern": "a.*b"}}, "○ search a.*b"),
        ({"kind": "execute", "title": "bash", "locations": at("/ws")}, "○ run    bash"),
        ({"kind": "execute", "raw_input": {"command": ["ls", "a b"]}}, "○ run    ls 'a b'"),
        ({"kind": "execute", "title": "x", "status": "in_progress"}, "● run    x"),
        ({"kind": "execute", "title": "x", "status": "paused"}, "○ run    x  paused"),
        ({"kind": "execute", "title": "x", "status": "failed"}, "✗ run    x  failed"),
        ({"kind": "edit", "title": "x", "status": "completed"}, "✓ edit   x"),
        ({"title": "two\nlines\x1b[2J\u202e"}, "○ tool   two lines^[[2J<U+202E>"),
        ({"title": "word " * 40}, f"○ tool   {'word ' * 11}…"),
        (
            {"kind": "edit", "content": [edit("a.py", "x\n", "y\nz\n")], "locations": at("a.py", 7)},
            "○ edit   a.py:7  +2 -1",
        ),
        (
            {"kind": "edit", "content": [edit("a.py", "x\n", ""), edit("b.py", None, "y\n", "add")]},
            "○ edit   a.py and 1 more  +1 -1",
        ),
        (
            {
                "kind": "move",
                "content": [Diff((Change("move", "/home/me/src/app/b", "/home/me/src/app/a"),))],
            },
            "○ move   a -> b",
        ),
    ],
)
def test_row(fields: dict[str, Any], shown: str) -> None:
    assert row(**fields) == shown


def test_turn_ends_leave_no_row_unfinished() -> None:
    chat = Chat()
    chat.prompt("go")
    chat.tool("a", "one", "execute", status="in_progress")
    chat.end("error")
    assert "✗ run    one  no answer" in chat.lines()
    chat.prompt("go")
    chat.tool("b", "two", "execute", status="in_progress")
    chat.end("cancelled")
    assert "– run    two  cancelled" in chat.lines()


@pytest.mark.parametrize(
    ("option", "outcome", "word"), [("once", "selected", "no result"), (None, "withdrawn", "no answer")]
)
def test_who_gave_no_answer(option: str | None, outcome: str, word: str) -> None:
    """Not the user, if they have answered: the agent said nothing of how it went."""
    chat = Chat()
    chat.prompt("go")
    chat.tool("a", "one", "edit")
    chat.ask("a")
    chat.answer("q1", option, outcome)
    chat.end()
    assert f"✗ edit   one  {word}" in chat.lines()


def test_a_permission_stays_open_whatever_else_comes() -> None:
    """C05: the agent moves the call on while its question is unanswered."""
    chat = Chat()
    chat.tool("t1", "write", "edit", status="pending")
    chat.ask("t1")
    chat.patch("t1", status="in_progress", title="write")
    shown = chat.lines()
    assert shown[0] == "? edit   write  waiting for you"
    assert shown[-1] == "  │ 1 Allow once  2 Always allow npm  3 Reject"
    assert chat.buffer.of_kind("row")[0].deco["question"] == "q1"


def test_cancelled_while_a_question_is_open() -> None:
    """C15: the row is marked at once."""
    chat = Chat()
    chat.prompt("go")
    chat.tool("t1", "rm x", "delete")
    chat.ask("t1")
    chat.answer("q1", None, "cancelled", "cancel")
    chat.frames()
    assert "– delete rm x  cancelled" in chat.lines()


def test_an_announcement_that_comes_twice_keeps_the_diff() -> None:
    """C16."""
    chat = Chat()
    chat.tool("t1", "Edit", "edit", content=[edit("a.py", "a\n", "b\n")])
    chat.tool("t1", "Edit a.py", "edit", status="in_progress")
    assert chat.lines() == [
        "● edit   a.py  +1 -1",
        "  │ @@ -1 +1 @@",
        "  │ - a",
        "  │ + b",
    ]
    assert len(chat.buffer.of_kind("row")) == 1


def test_a_question_is_never_in_a_fold() -> None:
    """C34: neither alone nor among reads."""
    chat = Chat()
    for n in range(5):
        chat.tool(f"r{n}", "Read", "read", locations=at(f"f{n}.py"), status="completed")
    chat.ask("r2")
    shown = chat.screen()
    assert shown[0] == "✓ read   2 files ▸"
    assert shown[1] == "? read   f2.py  waiting for you"
    assert shown[-1] == "✓ read   2 files ▸"
    for block in chat.buffer.of_kind("row"):
        rows = {row for first, last, *_ in block.deco["folds"] for row in range(first, last + 1)}
        assert rows == {0, 1, *range(len(block.lines) - 2, len(block.lines))}


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_what_went_wrong_leaves_the_group(status: str) -> None:
    chat = Chat()
    for n in range(4):
        chat.tool(f"r{n}", "Read", "read", locations=at(f"f{n}.py"), status="completed")
    chat.patch("r1", status=status)
    assert [line[:14].rstrip() for line in chat.screen()] == [
        "✓ read   f0.py",
        f"{'✗' if status == 'failed' else '–'} read   f1.py",
        "✓ read   2 fil",
    ]


def test_a_group_counts_up_in_one_line() -> None:
    chat = Chat()
    seen = []
    for n, kind in enumerate(["read", "read", "search", "search"]):
        chat.tool(f"r{n}", "x", kind, locations=at("a.py") if kind == "read" else [], status="in_progress")
        chat.patch(f"r{n}", status="completed")
        seen.append(chat.screen())
    assert seen == [
        ["✓ read   a.py"],
        ["✓ read   1 file ▸"],
        ["✓ read   1 file, 1 search ▸"],
        ["✓ read   1 file, 2 searches ▸"],
    ]
    chat.say("between")
    chat.tool("r9", "x", "search", status="in_progress")
    assert chat.screen()[-1] == "● search x"
    assert [block.id for block in chat.buffer.of_kind("row")] == [1, 3]


def test_output() -> None:
    chat = Chat()
    chat.tool("x", "make", "execute", status="in_progress")
    chat.patch("x", content=[text("".join(f"\x1b[32mline {n}\x1b[0m\n" for n in range(100)))])
    assert chat.lines() == ["● run    make", *(f"  │ line {n}" for n in range(92, 100))]
    chat.patch("x", status="completed", raw_output={"exit_code": 0})
    assert chat.lines() == ["✓ run    make", *(f"  │ line {n}" for n in range(50, 100))]
    assert chat.screen() == ["✓ run    make ▸"]


@pytest.mark.parametrize(
    "fields",
    [
        {"content": [text("```console\nout\n```")]},
        {"raw_output": "out\n"},
        {"raw_output": {"output": "out\n", "metadata": {"exit": 0}}},
        {"raw_output": {"stdout": "out\n", "stderr": ""}},
        {"raw_output": {"formatted_output": "out"}},
        {"raw_output": {"metadata": {"output": "out"}}},
    ],
)
def test_where_agents_put_output(fields: dict[str, Any]) -> None:
    chat = Chat()
    chat.tool("x", "make", "execute", status="completed", **fields)
    assert chat.lines() == ["✓ run    make", "  │ out"]


LONG = "python -m pytest -q -n 4 tests/unit tests/nvim --timeout 60 -k 'not slow'"
CUT = "python -m pytest -q -n 4 tests/unit tests/nvim --timeout …"


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"raw_input": {"command": LONG}, "status": "completed"}, [f"✓ run    {CUT}", f"  │ {LONG}"]),
        (
            {"title": f"`{LONG}`", "status": "failed", "raw_output": "bad\n"},
            [f"✗ run    {CUT}  failed", f"  │ {LONG}", "  │ bad"],
        ),
        (
            {"raw_input": {"command": LONG}, "status": "in_progress", "raw_output": "so far\n"},
            [f"● run    {CUT}", f"  │ {LONG}", "  │ so far"],
        ),
        ({"raw_input": {"command": "make all"}, "status": "completed"}, ["✓ run    make all"]),
    ],
)
def test_a_command_that_does_not_fit_its_row_stands_below_it(
    fields: dict[str, Any], shown: list[str]
) -> None:
    chat = Chat()
    chat.tool("x", fields.pop("title", "Shell"), "execute", **fields)
    assert chat.lines() == shown


def test_a_command_that_was_rejected_can_be_read_in_full() -> None:
    chat = Chat()
    chat.prompt("go")
    chat.tool("x", "Shell", "execute", raw_input={"command": LONG})
    chat.ask("x")
    chat.answer("q1", "reject")
    chat.patch("x", status="failed")
    shown = chat.lines()
    at_row = shown.index(f"⊘ run    {CUT}  rejected by you")
    assert shown[at_row + 1] == f"  │ {LONG}"


def test_hunks_are_capped() -> None:
    """C36: the row appears at once, with counts, and a way to see all."""
    chat = Chat()
    new = "".join(f"{n}\n" for n in range(1439))
    chat.tool("e", "Write", "edit", content=[edit("a.txt", None, new, "add")], status="completed")
    shown = chat.lines()
    assert shown[0] == "✓ edit   a.txt  +1439"
    assert len(shown) == 202
    assert shown[-1] == "  │ … 1,240 more lines, <CR> opens the diff"


def test_a_huge_line_is_cut() -> None:
    """C36: one line of 5 MB."""
    chat = Chat()
    chat.tool("e", "Edit", "edit", content=[edit("a.txt", "a" * 5_000_000, "b")], status="completed")
    ops, size = chat.transcript.take()
    assert size < 3000
    assert ops[0][2][2].endswith("a (4,999,000 more characters)")


def test_too_large() -> None:
    chat = Chat()
    chat.tool("e", "Edit", "edit", content=[edit("a.txt", "\n" * 400_001, "b")], status="completed")
    assert chat.lines() == ["✓ edit   a.txt  too large"]


def test_a_diff_with_carriage_returns_shows_them() -> None:
    chat = Chat()
    chat.tool("e", "Edit", "edit", content=[edit("a.txt", "a\r\n", "a\n")], status="completed")
    assert chat.lines()[2:] == ["  │ - a^M", "  │ + a"]


def test_a_patch_is_shown_as_it_is() -> None:
    chat = Chat()
    patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    change = Diff((Change("modify", "/home/me/src/app/x"),), patch_format="git_patch", patch=patch)
    chat.tool("e", "Edit", "edit", content=[change])
    assert chat.lines() == ["○ edit   x  +1 -1", "  │ @@ -1,2 +1,2 @@", "  │   a", "  │ - b", "  │ + c"]


def test_other_content_has_a_line() -> None:
    chat = Chat()
    content = [
        Block("image", data="A" * 1000, mime="image/png"),
        Block("audio", mime="audio/wav", size=84_000),
        Block("link", uri="file:///a/b.txt", name="b.txt"),
        UnknownContent({"type": "hologram", "x": "\x1b"}),
    ]
    chat.tool("t", "Look", "other", content=content, status="completed")
    assert chat.lines()[1:] == [
        "  │ image  image/png, 750 B",
        "  │ audio  audio/wav, 84 kB",
        "  │ link  b.txt  file:///a/b.txt",
        '  │ hologram  {"type": "hologram", "x": "\\u001b"}',
    ]


def test_links_and_decoration() -> None:
    chat = Chat()
    content = [edit("src/date.py", DATE_OLD, DATE_NEW)]
    chat.tool("e", "Edit", "edit", content=content, locations=at("src/date.py", 6), status="in_progress")
    chat.frames()
    deco = chat.buffer.blocks[1].deco
    assert deco["links"] == [[0, "/home/me/src/app/src/date.py", 6]]
    assert deco["spin"] == [0]
    assert deco["since"] == [[0, 1_000_000]]
    assert deco["body"] == [[1, 5, "diff"]]
    assert "folds" not in deco
    for group, marked in {
        "AcpRunning": "●",
        "AcpVerb": "edit   ",
        "AcpPath": "src/date.py:6",
        "AcpAdd": "+2",
    }.items():
        assert chat.buffer.marked(group) == [marked]
    chat.patch("e", status="completed")
    chat.frames()
    deco = chat.buffer.blocks[1].deco
    assert deco["folds"] == [[0, 5, True]]
    assert "spin" not in deco


def test_why_a_call_failed() -> None:
    chat = Chat()
    chat.tool("e", "Edit", "edit", locations=at("a.py"), status="failed")
    chat.patch("e", raw_output={"error": "Could not find oldString in the file."})
    assert chat.lines() == ["✗ edit   a.py  failed", "  │ Could not find oldString in the file."]
