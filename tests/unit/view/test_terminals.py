"""Terminals in the rows of tool calls."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.view.helpers import CWD, Chat, text

from acp_nvim.session.asked import CommandSubject, PermissionOption
from acp_nvim.session.content import TerminalRef
from acp_nvim.session.events import TerminalBytes, TerminalPatch
from acp_nvim.session.terminals import Exit
from acp_nvim.view.icons import ASCII
from acp_nvim.view.terminals import COMMAND_LINES, caption, script

YES_NO = (PermissionOption("yes", "Yes", "allow_once"), PermissionOption("no", "No", "reject_once"))


def running(command: str = "npm test", output: str = "", **fields: Any) -> Chat:
    """A chat with a call that shows a terminal of ours."""
    chat = Chat()
    chat.apply(TerminalPatch("t1", command=command, cwd=CWD), TerminalBytes("t1", output.encode()))
    call = {"title": command, "kind": "execute", "status": "in_progress", "content": [TerminalRef("t1")]}
    chat.tool("c1", **{**call, **fields})
    return chat


@pytest.mark.req("V1-120")
def test_the_end_of_the_output_lives() -> None:
    chat = running(output="".join(f"{n}\n" for n in range(20)))
    assert chat.lines() == ["● run    npm test", *(f"  │ {n}" for n in range(12, 20))]
    chat.apply(TerminalBytes("t1", b"ne"), TerminalBytes("t1", b"w\n"))
    assert chat.lines()[-2:] == ["  │ 19", "  │ new"]
    assert chat.buffer.blocks[1].deco["spin"] == [0]
    chat.apply(TerminalPatch("t1", exit=Exit(0)))
    assert chat.lines()[0] == "● run    npm test  exit 0"
    chat.patch("c1", status="completed")
    assert chat.lines() == ["✓ run    npm test", *(f"  │ {n}" for n in range(20)), "  │ new"]
    assert chat.screen() == ["✓ run    npm test ▸"]


@pytest.mark.req("V1-195")
def test_bars_are_one_line_and_colours_are_none() -> None:
    chat = running(output="\x1b[32mok\x1b[0m\n")
    for percent in range(0, 101, 10):
        chat.apply(TerminalBytes("t1", f"\r\x1b[K{percent} %".encode()))
    chat.apply(TerminalBytes("t1", b"\x1b]52;c;ZXZpbA==\x07\x1b[?1049h\n"))
    assert chat.lines()[1:] == ["  │ ok", "  │ 100 %"]


@pytest.mark.req("V1-185")
@pytest.mark.parametrize(
    ("status", "ended", "word"),
    [
        ("completed", Exit(0), "✓ run    npm test"),
        ("completed", Exit(1), "✗ run    npm test  failed, exit 1"),
        ("failed", Exit(2), "✗ run    npm test  failed, exit 2"),
        ("failed", Exit(0), "✗ run    npm test  failed"),
        ("completed", Exit(None, "SIGSEGV"), "✗ run    npm test  failed, SIGSEGV"),
        ("completed", Exit(None, "SIG\x1bX"), "✗ run    npm test  failed, SIG^[X"),
        ("failed", Exit(None, "SIGKILL"), "✗ run    npm test  failed, SIGKILL"),
        ("in_progress", Exit(1), "● run    npm test  exit 1"),
        ("in_progress", Exit(None, "SIGTERM"), "● run    npm test  SIGTERM"),
        ("in_progress", None, "● run    npm test"),
        ("completed", None, "✓ run    npm test  still running"),
        ("completed", Exit(), "✓ run    npm test"),
    ],
)
def test_how_it_ended(status: str, ended: Exit | None, word: str) -> None:
    chat = running(status=status)
    chat.apply(TerminalPatch("t1", exit=ended))
    assert chat.lines() == [word]


def test_a_call_that_is_never_said_to_run_shows_its_command() -> None:
    chat = running(status="pending", title="Check it", output="one\n")
    chat.frames()
    assert chat.screen() == ["○ run    Check it", "  │ npm test", "  │ one"]
    chat.apply(TerminalPatch("t1", exit=Exit(3)))
    assert chat.lines()[0] == "○ run    Check it  exit 3"


@pytest.mark.parametrize(
    ("ended", "word"),
    [(Exit(3), "exit 3"), (Exit(None, "SIGKILL"), "SIGKILL"), (Exit(), "no answer"), (None, "no answer")],
)
def test_the_turn_is_over_and_the_agent_said_nothing_of_its_command(ended: Exit | None, word: str) -> None:
    chat = Chat()
    chat.prompt("go")
    chat.apply(TerminalPatch("t1", command="make", cwd=CWD))
    chat.tool("c1", "make", "execute", content=[TerminalRef("t1")])
    chat.apply(TerminalPatch("t1", exit=ended))
    chat.end()
    assert f"✗ run    make  {word}" in chat.lines()


def test_what_the_agent_stopped_has_not_failed() -> None:
    chat = running(status="completed")
    chat.apply(TerminalPatch("t1", stopped=True), TerminalPatch("t1", exit=Exit(None, "SIGTERM")))
    assert chat.lines() == ["✓ run    npm test  stopped, SIGTERM"]


@pytest.mark.req("V1-120", "V1-188")
def test_it_survives_its_release() -> None:
    chat = running(output="all\n", status="completed")
    chat.apply(TerminalPatch("t1", exit=Exit(0)), TerminalPatch("t1", released=True))
    assert chat.lines() == ["✓ run    npm test", "  │ all"]


@pytest.mark.req("V1-121")
def test_an_unknown_terminal_has_a_placeholder() -> None:
    chat = Chat()
    chat.tool("c1", "npm test", "execute", status="in_progress", content=[TerminalRef("x\n\x1b]")])
    assert chat.lines() == ["● run    npm test", "  │ terminal x ^[]: nothing is known about it"]
    chat.patch("c1", raw_output={"formatted_output": "1 passed\n", "exit_code": 0}, status="completed")
    assert chat.lines() == ["✓ run    npm test", "  │ 1 passed"]


def test_a_terminal_that_comes_after_its_reference() -> None:
    chat = Chat()
    chat.tool("c1", "npm test", "execute", status="in_progress", content=[TerminalRef("t1")])
    chat.lines()
    chat.apply(TerminalPatch("t1", command="npm test", cwd=CWD), TerminalBytes("t1", b"go\n"))
    assert chat.lines() == ["● run    npm test", "  │ go"]


@pytest.mark.parametrize(
    ("command", "title", "body"),
    [
        ("npm test", "npm test", []),
        ("npm test", "`npm test`", []),
        ("bash -lc 'npm test'", "npm test", []),
        ("bash -lc 'npm test'", "Test", ["npm test"]),
        ("a && \\\n  b", "Build", ["a && \\", "  b"]),
        ("echo \x1b[31mx\u202e", "Say", ["echo ^[[31mx<U+202E>"]),
    ],
)
def test_the_command_stands_in_full(command: str, title: str, body: list[str]) -> None:
    chat = running(command, "out\n", title=title, raw_input={"command": title.strip("`")})
    assert chat.lines()[1:] == [*(f"  │ {line}" for line in body), "  │ out"]


def test_a_long_command_is_not_cut_in_the_body() -> None:
    command = "npm run build -- " + " ".join(f"--flag-{n}" for n in range(20))
    chat = running(command, "out\n")
    first, second, third = chat.lines()
    assert first.endswith("…")
    assert (second, third) == (f"  │ {command}", "  │ out")
    chat = running("\n".join(f"echo {n}" for n in range(100)), title="Say much")
    assert len(chat.lines()) == 1 + COMMAND_LINES + 1
    assert chat.lines()[-1] == "  │ … 60 more lines, K shows all"


def test_without_a_title_the_row_says_the_command() -> None:
    chat = running("npm test", title="")
    assert chat.lines() == ["● run    npm test"]


def test_another_folder_is_named() -> None:
    chat = running(output="out\n")
    chat.apply(TerminalPatch("t1", cwd="/home/me/other"))
    assert chat.lines()[1:] == ["  │ in ~/other", "  │ out"]


def test_several_terminals_of_a_call() -> None:
    chat = running(output="one\n")
    chat.apply(TerminalPatch("t2", command="npm run lint", cwd=CWD), TerminalBytes("t2", b"two\n"))
    chat.patch("c1", content=[TerminalRef("t1"), TerminalRef("t2")])
    chat.apply(TerminalPatch("t1", exit=Exit(2)), TerminalPatch("t2", exit=Exit(0)))
    chat.patch("c1", status="completed")
    assert chat.lines() == [
        "✗ run    npm test  failed, exit 2",
        "  │ one",
        "  │ exit 2",
        "  │ npm run lint",
        "  │ two",
        "  │ exit 0",
    ]
    assert chat.buffer.blocks[1].deco["terminals"] == [[1, 2, 1], [3, 5, 2], [0, 5, 1]]


def test_a_tool_of_another_kind_shows_its_terminal() -> None:
    chat = running(output="out\n", kind="other", title="Deploy")
    assert chat.lines() == ["● tool   Deploy", "  │ npm test", "  │ out"]
    chat.apply(TerminalPatch("t1", exit=Exit(1)))
    chat.patch("c1", status="completed")
    assert chat.lines()[0] == "✗ tool   Deploy  failed, exit 1"


def test_reads_stay_one_line() -> None:
    chat = Chat()
    chat.tool("c1", "cat a", "read", status="completed")
    chat.apply(TerminalPatch("c1", owner="agent", call="c1"), TerminalBytes("c1", b"text\n"))
    assert chat.lines() == ["✓ read   cat a"]


def test_of_the_agents_own_terminals_silence_says_nothing() -> None:
    chat = Chat()
    chat.tool("c1", "ls", "execute", status="completed", raw_input={"command": "ls"})
    chat.apply(TerminalPatch("c1", owner="agent", call="c1"))
    chat.apply(TerminalBytes("c1", "".join(f"{n}\n" for n in range(60)).encode()))
    assert chat.lines() == ["✓ run    ls", *(f"  │ {n}" for n in range(10, 60))]


def test_text_content_is_shown_while_the_terminal_has_nothing() -> None:
    chat = running(content=[TerminalRef("t1"), text("from the agent")])
    assert chat.lines() == ["● run    npm test", "  │ from the agent"]
    chat.apply(TerminalBytes("t1", b"from the command"))
    assert chat.lines() == ["● run    npm test", "  │ from the command"]


@pytest.mark.req("V2-101")
def test_half_a_character_waits() -> None:
    chat = running()
    chat.apply(TerminalBytes("t1", "日本".encode()[:4]))
    assert chat.lines()[1:] == ["  │ 日"]
    chat.apply(TerminalPatch("t1", exit=Exit(0)))
    assert chat.lines()[1:] == ["  │ 日\ufffd"]


def test_much_output_is_a_small_frame() -> None:
    chat = running()
    chat.frames()
    before, written = chat.transcript.lines_written, 0
    for _ in range(50):
        chat.apply(TerminalBytes("t1", b"a line of output, and another one\n" * 30_000))
        ops = chat.frame()
        assert [op[0] for op in ops] == ["set"]
        written += sum(len(line) for line in ops[0][2])
        assert not chat.transcript.dirty
    assert chat.transcript.lines_written - before <= 50 * 9
    assert written < 50 * 9 * 60


def test_details_have_command_and_output() -> None:
    chat = running("npm test -- --watch", "\x1b[1mout\x1b[0m\n")
    chat.apply(TerminalPatch("t1", exit=Exit(None, "SIGINT")))
    chat.frames()
    details = chat.transcript.details(1, 0)
    assert "  npm test -- --watch" in details
    assert "ended     SIGINT" in details
    assert details[-1] == "  out"


def test_a_question_of_ours_says_folder_and_why() -> None:
    chat = Chat()
    subject = CommandSubject("make install", f"{CWD}/link", "/opt/x", "outside")
    chat.ask(None, subject=subject, asked_by="client", options=YES_NO)
    assert chat.lines() == [
        "? run    make install  waiting for you",
        "  │ make install",
        "  │ in ~/src/app/link",
        "  │ really /opt/x",
        "  │ outside the project",
        "  │ 1 Yes  2 No",
    ]
    chat.answer("q1", "yes")
    assert chat.lines() == ["✓ run    make install  allowed"]


def test_ascii() -> None:
    chat = Chat(icons=ASCII)
    chat.apply(TerminalPatch("t1", command="ls"), TerminalBytes("t1", b"a\n"))
    chat.tool("c1", "ls", "execute", status="in_progress", content=[TerminalRef("t1")])
    assert chat.lines() == ["* run    ls", "  | a"]


@pytest.mark.parametrize(
    ("ended", "stopped", "shown"),
    [
        (None, False, ("running", "AcpRunning")),
        (Exit(0), False, ("exit 0", "AcpDone")),
        (Exit(3), False, ("exit 3", "AcpFailed")),
        (Exit(None, "SIGSEGV"), False, ("SIGSEGV", "AcpFailed")),
        (Exit(None, "SIGTERM"), True, ("SIGTERM", "AcpNote")),
        (Exit(), False, ("ended", "AcpNote")),
    ],
)
def test_the_bar_of_the_whole_output(ended: Exit | None, stopped: bool, shown: tuple[str, str]) -> None:
    chat = running("npm test\n&& echo \x1b")
    chat.apply(TerminalPatch("t1", exit=ended, stopped=stopped))
    made = caption(chat.session.terminals["t1"], chat.session)
    assert made == {"command": "npm test && echo ^[", "state": shown[0], "group": shown[1]}


def test_the_bar_of_a_command_the_agent_did_not_tell() -> None:
    chat = Chat()
    chat.tool("c1", "List", "execute", raw_input={"command": "ls -l"})
    chat.apply(TerminalPatch("c1", owner="agent", call="c1"))
    assert caption(chat.session.terminals["c1"], chat.session)["command"] == "ls -l"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/bin/sh -c 'make test | tail'", "make test | tail"),
        ("bash -lc ls", "ls"),
        ("sh -c 'a\nb'", "a\nb"),
        ("sh -c", "sh -c"),
        ("sh -c 'not closed", "sh -c 'not closed"),
        ("sh -c ls name", "sh -c ls name"),
        ("sh -ec ls", "sh -ec ls"),
        ("push -c ls", "push -c ls"),
        ("./sh -c ls", "./sh -c ls"),
    ],
)
def test_the_script_of_a_shell(command: str, shown: str) -> None:
    assert script(command) == shown
