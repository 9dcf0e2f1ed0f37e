"""The transcript's book-keeping: order, bounds, rewriting no more than needed."""

from __future__ import annotations

from tests.unit.view.helpers import CWD, Chat, at, edit, text

from acp_nvim.session.events import CommandsSet
from acp_nvim.view.entries import MAX_GROUP
from acp_nvim.view.head import Head


def test_a_row_is_one_set_however_often_it_changed() -> None:
    chat = Chat()
    chat.tool("t", "x", "execute")
    chat.tool("u", "y", "execute")
    chat.frames()
    for n in range(50):
        chat.patch("t", content=[text(f"{n}\n" * n)], status="in_progress")
    assert [op[:2] for op in chat.frame()] == [["set", 1]]
    assert chat.frame() == []
    assert not chat.transcript.dirty


def test_rows_never_move() -> None:
    chat = Chat()
    for n in range(6):
        chat.tool(f"t{n}", f"call {n}", "execute")
    for n in (3, 0, 5):
        chat.patch(f"t{n}", status="completed")
        chat.frames()
    assert chat.lines() == [f"{'✓' if n in (3, 0, 5) else '○'} run    call {n}" for n in range(6)]


def test_what_changes_no_item_writes_nothing() -> None:
    chat = Chat()
    chat.prompt("x")
    chat.frames()
    chat.apply(CommandsSet(()))
    assert not chat.transcript.dirty


def test_a_question_is_not_kept_waiting_by_the_text_before_it() -> None:
    chat = Chat()
    chat.say("a long answer\n" * 100_000)
    chat.tool("t", "rm x", "delete")
    chat.ask("t")
    ops = chat.frame()
    assert any(op[3].get("question") == "q1" for op in ops if op[3])
    chat.frames()
    lines = chat.lines()
    assert lines[:2] == ["a long answer"] * 2
    assert lines[100_000:100_002] == ["", "? delete rm x  waiting for you"]


def test_numbers_follow_the_open_questions() -> None:
    chat = Chat()
    for n in (1, 2, 3):
        chat.tool(f"t{n}", f"call {n}", "execute")
        chat.ask(f"t{n}", f"q{n}")
    chat.frames()
    chat.answer("q1", "once")
    ops = chat.frame()
    assert {op[1] for op in ops} == {1, 2, 3}
    shown = [line for line in chat.lines() if "call" in line and "says" not in line]
    assert shown == [
        "● run    call 1",
        "? run    call 2  waiting for you (1)",
        "? run    call 3  waiting for you (2)",
    ]
    chat.answer("q2", "once")
    assert "? run    call 3  waiting for you" in chat.lines()


def test_many_blocks_take_several_frames() -> None:
    chat = Chat()
    for n in range(500):
        chat.tool(f"t{n}", f"call {n}", "execute")
    counts = []
    while chat.transcript.dirty:
        counts.append(len(chat.frame()))
    assert max(counts) <= 200
    assert chat.lines() == [f"○ run    call {n}" for n in range(500)]


def test_a_group_has_an_end() -> None:
    chat = Chat()
    for n in range(MAX_GROUP + 10):
        chat.tool(f"r{n}", "Read", "read", locations=at(f"f{n}.py"), status="completed")
    assert chat.screen() == [f"✓ read   {MAX_GROUP} files ▸", "✓ read   10 files ▸"]


def test_what_got_lost_is_written_again() -> None:
    chat = Chat()
    chat.say("one\ntwo\n")
    chat.frames()
    chat.say("three")
    chat.tool("t", "x", "execute")
    lost, _ = chat.transcript.take()
    chat.transcript.again(lost)
    assert chat.lines() == ["one", "two", "three", "", "○ run    x"]


def test_settled_looks_at_what_was_there() -> None:
    chat = Chat()
    chat.say("text\n" * 100_000)
    last = chat.transcript.last
    assert not chat.transcript.settled(last)
    chat.end_message()
    chat.frames()
    chat.tool("t", "x", "execute")
    assert chat.transcript.settled(last)
    assert not chat.transcript.settled(chat.transcript.last)


def test_the_head_is_rewritten_in_place() -> None:
    chat = Chat()
    chat.prompt("x")
    chat.frames()
    chat.transcript.set_head(Head("claude", CWD))
    assert chat.transcript.dirty
    assert [op[:2] for op in chat.frame()] == [["set", 0]]
    assert chat.buffer.lines[:4] == [
        "claude in ~/src/app",
        "Starting. You can type already; the prompt is sent when the agent is ready.",
        "",
        "❯ x",
    ]


def test_details() -> None:
    chat = Chat()
    for n in (1, 2):
        chat.tool(f"r{n}", "Read\x1b", "read", locations=at(f"f{n}.py", n), status="completed")
    chat.patch("r2", raw_input={"limit": 3}, raw_output="text\n")
    chat.say("answer")
    chat.frames()
    assert chat.transcript.details(1, 1) == [
        "title     Read^[",
        "kind      read",
        "status    completed",
        "id        r2",
        "path      ~/src/app/f2.py:2",
        "",
        "raw input",
        "  {",
        '    "limit": 3',
        "  }",
        "",
        "output",
        "  text",
    ]
    assert chat.transcript.details(2)[0].startswith("message   agent")
    assert chat.transcript.details(99) == []


def test_details_have_the_whole_diff() -> None:
    chat = Chat()
    new = "".join(f"{n}\n" for n in range(1000))
    chat.tool("e", "Write", "edit", content=[edit("a.txt", None, new, "add")])
    chat.frames()
    shown = chat.transcript.details(1)
    assert shown[shown.index("diff  a.txt") + 1] == "  @@ -0,0 +1,1000 @@"
    assert shown[-1] == "  + 999"


def test_unread_is_zero_in_the_end() -> None:
    chat = Chat()
    chat.say("abc")
    assert chat.transcript.unread == 3
    chat.prompt("question?")
    assert chat.transcript.unread == 12
    chat.frames()
    assert chat.transcript.unread == 0
    assert chat.transcript.lines_written == len(chat.buffer.lines) - 3
