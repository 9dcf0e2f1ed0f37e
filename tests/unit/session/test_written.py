"""Files written for the agent: a row of ours where no call of its own tells of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.session.build import play, prompt, session, timeline

from acp_nvim.session.asked import PathSubject, Permission
from acp_nvim.session.content import Change, Diff, Location
from acp_nvim.session.entities import ToolCall
from acp_nvim.session.events import Event, FileWritten, PermissionOpened, ToolPatch, TurnEnded

PATH = "/ws/a.py"
ROW = "tool written:1|completed|"


def wrote(old: str | None, new: str, *names: str) -> FileWritten:
    op = "add" if old is None else "modify"
    return FileWritten(Diff((Change(op, PATH),), old, new), names or (PATH,))


def test_a_write_without_a_call_gets_a_row_at_the_end_of_its_turn() -> None:
    target = session()
    play(target, prompt("go"), wrote("a\n", "b\n"))
    assert timeline(target) == ["user|go"]
    play(target, TurnEnded("end_turn"))
    assert timeline(target) == ["user|go", ROW, "end|end_turn"]
    call = target.tool_calls["written:1"]
    assert (call.side, call.kind, call.final) == ("client", "edit", True)
    assert call.content == [Diff((Change("modify", PATH),), "a\n", "b\n")]


def test_several_writes_of_a_file_are_one_change() -> None:
    target = session()
    play(target, prompt("go"), wrote(None, "1\n"), wrote("1\n", "2\n"), TurnEnded("end_turn"))
    assert target.tool_calls["written:1"].content == [Diff((Change("add", PATH),), None, "2\n")]


def test_what_was_written_back_is_no_change() -> None:
    target = session()
    play(target, prompt("go"), wrote("1\n", "2\n"), wrote("2\n", "1\n"), TurnEnded("end_turn"))
    assert timeline(target) == ["user|go", "end|end_turn"]


CALLS: list[tuple[Event, bool]] = [
    (ToolPatch("t", kind="edit", locations=[Location(PATH)]), True),
    (ToolPatch("t", kind="edit", locations=[Location("/link/a.py")]), True),
    (ToolPatch("t", kind="edit", raw_input={"file_path": PATH}), True),
    (ToolPatch("t", content=[Diff((Change("modify", PATH),), "a\n", "b\n")]), True),
    (ToolPatch("t", kind="edit", locations=[Location("/ws/b.py")]), False),
    (ToolPatch("t", kind="read", locations=[Location(PATH)], raw_input={"path": PATH}), False),
    (PermissionOpened(Permission("q", [], subject=PathSubject("write", PATH, PATH, "protected"))), True),
    (PermissionOpened(Permission("q", [], subject=PathSubject("read", PATH, PATH, "protected"))), False),
]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("call", "named"), CALLS)
def test_a_call_that_names_the_file_tells_of_it(call: Event, named: bool, first: bool) -> None:
    target = session()
    write = wrote("a\n", "b\n", PATH, "/link/a.py")
    both: tuple[Any, ...] = (call, write) if first else (write, call)
    play(target, prompt("go"), *both, TurnEnded("end_turn"))
    assert ("written:1" not in target.tool_calls) == named


def test_a_call_of_an_earlier_turn_tells_nothing_of_this_one() -> None:
    target = session()
    play(
        target, prompt("one"), ToolPatch("t", kind="edit", locations=[Location(PATH)]), TurnEnded("end_turn")
    )
    play(target, prompt("two"), wrote("a\n", "b\n"), TurnEnded("end_turn"), start=20.0)
    assert timeline(target)[-2:] == [ROW, "end|end_turn"]


def test_beside_a_turn_it_is_shown_at_once() -> None:
    target = session()
    play(target, wrote("a\n", "b\n"), wrote("b\n", "c\n"))
    assert [item.id for item in target.items if isinstance(item, ToolCall)] == ["written:1", "written:2"]
