"""End lines, notes, plans, compaction, the head: exactly the words of ui.md section 4."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.view.helpers import CWD, Chat, edit

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Failure, Note, Plan, PlanEntry
from acp_nvim.session.events import (
    CompactionAppend,
    CompactionPatch,
    FileWritten,
    NoteShown,
    PlanRemoved,
    PlanSet,
    TurnCancelling,
)
from acp_nvim.text.sanitise import LINE_BYTES
from acp_nvim.view.head import Head
from acp_nvim.view.icons import ASCII


def end(stop: str | None, seconds: float = 12, **fields: Any) -> list[str]:
    chat = Chat()
    chat.prompt("go")
    chat.now += seconds
    chat.end(stop, **fields)
    shown = chat.lines()
    assert shown[:2] == ["❯ go", ""]
    assert shown[-1] == ""
    return shown[2:-1]


@pytest.mark.req("V1-71", "V1-72", "V1-74")
@pytest.mark.parametrize(
    ("stop", "seconds", "shown"),
    [
        ("end_turn", 42, "── done in 42 s"),
        ("end_turn", 1.9, "── done"),
        ("end_turn", 125, "── done in 2 min 5 s"),
        ("end_turn", 120, "── done in 2 min"),
        ("end_turn", 3780, "── done in 1 h 3 min"),
        ("max_tokens", 1, '── stopped: the answer reached the token limit. Send "continue" to go on.'),
        (
            "max_turn_requests",
            1,
            '── stopped: claude used up its steps for one turn. Send "continue" to go on.',
        ),
        ("refusal", 1, "── refused by claude. It forgets this prompt and all that followed it."),
        ("cancelled", 12, "── cancelled by claude after 12 s"),
        ("budget_exceeded", 1, '── stopped: claude said "budget_exceeded"'),
        (None, 1, "── ended: claude gave no reason"),
    ],
)
def test_ends(stop: str | None, seconds: float, shown: str) -> None:
    assert end(stop, seconds) == [shown]


def test_cancelled_by_you() -> None:
    chat = Chat()
    chat.prompt("go")
    chat.apply(TurnCancelling())
    chat.now += 12
    chat.end("cancelled")
    assert chat.lines()[2] == "── cancelled by you after 12 s"


@pytest.mark.parametrize(
    ("stop", "confirmed", "shown"),
    [
        ("end_turn", True, "── cancelled by you after 12 s; claude calls it done · 1 file +1"),
        ("end_turn", False, "── cancelled by you after 12 s"),
        (None, True, "── cancelled by you after 12 s"),
        ("refusal", True, "── refused by claude. It forgets this prompt and all that followed it."),
        ("max_tokens", True, '── stopped: the answer reached the token limit. Send "continue" to go on.'),
    ],
)
def test_cancelled_by_you_and_ended_otherwise(stop: str | None, confirmed: bool, shown: str) -> None:
    """Some agents (opencode, while it tries a model again) end a cancelled turn as any other."""
    chat = Chat()
    chat.prompt("go")
    chat.tool("a", "", "edit", content=[edit("a.py", None, "1\n")], status="completed")
    chat.apply(TurnCancelling())
    chat.now += 12
    chat.end(stop, confirmed=confirmed)
    assert chat.lines()[-2] == shown


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (
            Failure("Internal error", -32603),
            ["── cancelled by you after 12 s", "  │ claude says: Internal error", ""],
        ),
        (
            Failure("no", kind="auth"),
            ["✗ not logged in", "  │ no", "  │ :AcpLogin lists the ways claude offers", ""],
        ),
    ],
)
def test_cancelled_by_you_and_failed(error: Failure, shown: list[str]) -> None:
    """Some agents fail at what they were stopped in, and say so as of any failure."""
    chat = Chat()
    chat.prompt("go")
    chat.apply(TurnCancelling())
    chat.now += 12
    chat.end("error", error=error)
    assert chat.lines()[2:] == shown


def test_stopped_after_a_rejection() -> None:
    """C14: neither an error nor cancelled by you."""
    chat = Chat()
    chat.prompt("go")
    chat.tool("t1", "Edit h.py", "edit")
    chat.ask("t1")
    chat.answer("q1", "reject")
    chat.end("cancelled")
    assert chat.lines()[2:] == [
        "⊘ edit   Edit h.py  rejected by you",
        "",
        "── stopped after your rejection. Say what to do instead.",
        "",
    ]


def test_what_was_changed() -> None:
    chat = Chat()
    for turn in range(2):
        chat.prompt("go")
        new = "".join(f"{n}\n" for n in range(12))
        chat.tool(f"a{turn}", "", "edit", content=[edit("a.py", None, new)], status="completed")
        chat.tool(f"b{turn}", "", "edit", content=[edit("b.py", "1\n2\n3\n4\n", "")], status="completed")
        chat.tool(f"c{turn}", "", "edit", content=[edit("c.py", "1\n", "")], status="failed")
        chat.now += 42 * turn
        chat.end()
    ends = [line for line in chat.lines() if line.startswith("──")]
    assert ends == ["── done · 2 files +12 -4", "── done in 42 s · 2 files +12 -4"]


def test_what_was_written_without_a_call_counts() -> None:
    chat = Chat()
    chat.prompt("go")
    chat.tool("a", "", "edit", content=[edit("a.py", None, "1\n")], status="completed")
    chat.apply(FileWritten(edit("b.py", "1\n", "2\n3\n"), ("b.py",)))
    chat.end()
    assert [line for line in chat.lines() if line[:1] in "✓──" and line] == [
        "✓ edit   a.py  +1",
        "✓ edit   b.py  +2 -1",
        "── done · 2 files +3 -1",
    ]


@pytest.mark.parametrize(
    ("stop", "failure", "shown"),
    [
        (
            "error",
            Failure("rate limit reached", 429),
            [
                "✗ error: rate limit reached (429)",
                "  │ Wait a little, then send again. :AcpTrace has the full answer.",
            ],
        ),
        (
            "lost",
            Failure("claude ended with exit code 137", data=["FATAL ERROR: Reached heap limit"]),
            [
                "✗ connection lost: claude ended with exit code 137",
                "  │ FATAL ERROR: Reached heap limit",
                "  │ :AcpRestart starts it again and resumes this chat",
            ],
        ),
        (
            "error",
            Failure("auth required", -32000, kind="auth"),
            ["✗ not logged in", "  │ :AcpLogin lists the ways claude offers"],
        ),
        (
            "error",
            Failure("Internal error", -32603, data={"details": "no\x1b model"}),
            ["✗ error: Internal error (-32603)", "  │ no^[ model", "  │ :AcpTrace has the full answer"],
        ),
        (
            "error",
            Failure("odd", data={"x": 1}, remedy=":AcpRestart"),
            ["✗ error: odd", '  │ {"x": 1}', "  │ :AcpRestart"],
        ),
        ("error", None, ["✗ error: no reason was given", "  │ :AcpTrace has the full answer"]),
        # In 60 columns `:` would be parted from its command.
        (
            "error",
            Failure("gone", remedy="start the server, or correct agents.x.url; then :AcpRestart"),
            ["✗ error: gone", "  │ start the server, or correct agents.x.url", "  │ then :AcpRestart"],
        ),
    ],
)
def test_errors(stop: str, failure: Failure | None, shown: list[str]) -> None:
    assert end(stop, error=failure) == shown


def test_commands_stand_out() -> None:
    chat = Chat()
    title = "not sent: the agent is not running. Your text is back in the prompt."
    chat.apply(NoteShown(Note("n", "error", title, [":AcpRestart"])))
    assert chat.lines() == [f"✗ {title}", "  │ :AcpRestart", ""]
    assert chat.buffer.marked("AcpError") == [f"✗ {title}"]
    assert chat.buffer.marked("AcpKey") == [":AcpRestart"]


@pytest.mark.parametrize(("severity", "group"), [("info", "AcpNote"), ("warning", "AcpWarn")])
def test_notes(severity: Any, group: str) -> None:
    chat = Chat()
    chat.apply(NoteShown(Note("n", severity, "resumed:\nthe agent remembers")))
    assert chat.lines() == ["── resumed: the agent remembers", ""]
    assert chat.buffer.marked(group) == ["── resumed: the agent remembers"]


def test_a_plan_is_rewritten_where_it_stands() -> None:
    chat = Chat()
    chat.apply(PlanSet(Plan("default", entries=[PlanEntry("one"), PlanEntry("t\nwo", status="in_progress")])))
    chat.say("text")
    assert chat.lines()[:3] == ["plan  0 of 2", "  ○ one", "  ● t wo"]
    chat.apply(PlanSet(Plan("default", entries=[PlanEntry("one", status="completed")])))
    assert chat.lines() == ["plan  1 of 1", "  ✓ one", "", "text", ""]
    chat.apply(PlanRemoved("default"))
    assert chat.lines()[0] == "plan  removed"


@pytest.mark.req("V1-139", "V1-140")
def test_a_plan_with_odd_entries() -> None:
    chat = Chat()
    entries = [PlanEntry("a", "urgent", "blocked\x1b"), PlanEntry("b\nb\nb", "low", "in_progress")]
    chat.apply(PlanSet(Plan("default", entries=entries)))
    assert chat.lines() == ["plan  0 of 2", "  ○ a  blocked^[", "  ● b b b", ""]
    assert chat.transcript.details(1) == [
        "plan      2 entries, id default",
        "urgent    a  (blocked^[)",
        "low       b b b  (in_progress)",
    ]
    many = [PlanEntry(f"step {n}", status="completed") for n in range(100)]
    chat.apply(PlanSet(Plan("default", entries=many)))
    assert chat.lines()[:2] == ["plan  100 of 100", "  ✓ step 0"]
    assert len(chat.lines()) == 102
    chat.apply(PlanSet(Plan("default")))
    assert chat.lines() == ["plan  removed", ""]


def test_a_plan_of_text() -> None:
    chat = Chat()
    chat.apply(PlanSet(Plan("p", type="markdown", text="# Do\n\n- it\n")))
    assert chat.lines() == ["plan", "  # Do", "", "  - it", ""]


@pytest.mark.req("V1-160")
def test_compaction_is_a_row_placed_once() -> None:
    chat = Chat()
    chat.apply(CompactionPatch("c"))
    chat.say("text")
    assert chat.lines() == ["● compact what came before", "", "text", ""]
    assert chat.buffer.of_kind("note")[0].deco["spin"] == [0]
    for piece in ("It was", " long.\n"):
        chat.apply(CompactionAppend("c", Block.of_text(piece)))
    chat.apply(CompactionAppend("c", Block("image", mime="image/png", size=3)))
    chat.apply(CompactionAppend("c", Block("text", text=Block.of_text("x").text, audience=("assistant",))))
    chat.apply(CompactionPatch("c", status="completed"))
    assert chat.lines() == [
        "✓ compact what came before",
        "  │ It was long.",
        "  │ image  image/png, 3 B",
        "",
        "text",
        "",
    ]
    assert chat.screen()[0] == "✓ compact what came before ▸"
    (block,) = chat.buffer.of_kind("note")
    assert "spin" not in block.deco
    assert block.deco["links"] == [[2, {"item": [2]}]]
    found = chat.transcript.content(block.id, [2])
    assert found is not None
    assert found.type == "image"
    chat.apply(CompactionPatch("c", summary=None))
    assert chat.lines()[:2] == ["✓ compact what came before", ""]


@pytest.mark.parametrize(
    ("status", "row"),
    [
        ("failed", "✗ compact what came before  failed"),
        ("cancelled", "– compact what came before  cancelled"),
        ("_paused\n", "○ compact what came before  _paused"),
    ],
)
@pytest.mark.req("V1-160")
def test_compaction_that_did_not_work(status: str, row: str) -> None:
    chat = Chat()
    chat.apply(CompactionPatch("d", status=status, error="no room\nleft"))
    assert chat.lines() == [row, "  │ no room", "  │ left", ""]
    assert chat.screen()[:3] == [row, "  │ no room", "  │ left"]  # a reason is not folded away


@pytest.mark.parametrize(("stop", "word"), [("cancelled", "cancelled"), ("lost", "no answer")])
def test_compaction_that_did_not_end(stop: str, word: str) -> None:
    chat = Chat()
    chat.prompt("go")
    chat.apply(CompactionPatch("c"))
    chat.end(stop)
    assert chat.lines()[2].endswith(f" compact what came before  {word}")
    assert "spin" not in chat.buffer.of_kind("note")[0].deco
    chat.apply(CompactionPatch("c", status="completed"))  # it went on after all
    assert chat.lines()[2] == "✓ compact what came before"


@pytest.mark.req("V1-159")
def test_notices_are_the_agents_words_and_end_no_message() -> None:
    chat = Chat()
    chat.say("one")
    lines = ["see :help\x1b[2J"]
    chat.apply(NoteShown(Note("n", "warning", "Nearly\nfull", lines, by="agent")))
    chat.apply(NoteShown(Note("o", "error", "Full", by="agent")))
    chat.apply(NoteShown(Note("p", "info", "Hm", by="agent", severity_raw="critical")))
    chat.apply(NoteShown(Note("q", "info", "Hm", by="agent")))
    chat.say(" two")
    assert chat.lines() == [
        "one two",
        "",
        "── claude (warning): Nearly full",
        "  │ see :help^[[2J",
        "",
        "✗ claude (error): Full",
        "",
        "── claude (critical): Hm",
        "",
        "── claude: Hm",
        "",
    ]
    assert chat.buffer.marked("AcpKey") == []  # a command in its words is no remedy of ours
    assert chat.transcript.details(2)[:3] == [
        "note      Nearly full",
        "severity  warning",
        "by        claude",
    ]


def head(**fields: Any) -> list[str]:
    chat = Chat()
    chat.transcript.set_head(Head(agent="claude", cwd=CWD, **fields))
    chat.frames()
    lines = chat.buffer.blocks[0].lines
    assert lines[-1] == ""
    return lines[:-1]


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({}, ["Starting. You can type already; the prompt is sent when the agent is ready."]),
        (
            {
                "state": "ready",
                "title": "Claude Code",
                "version": "1.2.0",
                "speaks": "ACP v1",
                "commands": 14,
                "ready_s": 0.83,
            },
            ["Claude Code 1.2.0 · ACP v1 · 14 commands · ready in 0.8 s"],
        ),
        ({"state": "ready", "speaks": "ACP v1"}, ["ACP v1 · ready"]),
        (
            {"state": "ready", "speaks": "ACP v1", "note": "it does not\nask"},
            ["ACP v1 · ready", "it does not ask"],
        ),
        ({"state": "failed", "note": "it does not ask"}, ["✗ the agent is not running"]),
        (
            {"state": "failed", "failure": "claude: no such program", "lines": [":checkhealth acp"]},
            ["✗ claude: no such program", "  │ :checkhealth acp"],
        ),
        ({"state": "failed"}, ["✗ the agent is not running"]),
        (
            {"state": "ready", "demo": True},
            [
                "The built-in demo, for when no coding agent is found."
                " It has no language model and needs no account.",
                "",
                "  try it     show me everything",
                "  get one    :checkhealth acp  lists agents, how to install them, and where it looked",
                "  have one?  :help acp-settings-agents  names any agent that speaks ACP",
            ],
        ),
    ],
)
def test_head(fields: dict[str, Any], lines: list[str]) -> None:
    assert head(**fields) == ["claude in ~/src/app", *lines]


def test_ascii_ends() -> None:
    chat = Chat(icons=ASCII, label="Claude")
    chat.prompt("go")
    chat.end("refusal")
    assert chat.lines()[2] == "-- refused by Claude. It forgets this prompt and all that followed it."


def test_an_error_of_a_megabyte_is_a_line_of_bounded_length() -> None:
    chat = Chat()
    chat.prompt("go")
    chat.end("error", error=Failure("é" * 500_000))
    line = next(line for line in chat.lines() if "error: é" in line)
    assert LINE_BYTES - 32 < len(line.encode()) <= LINE_BYTES
    assert line.endswith("é...")
