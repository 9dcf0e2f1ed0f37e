"""Files that an agent writes anew without a word of what is there (C19)."""

from __future__ import annotations

import pytest
from tests.unit.session.build import ask, play, session

from acp_nvim.session.content import Block, Change, Diff
from acp_nvim.session.events import Event, OverwriteFound, ToolAppend, ToolPatch

PATH = "/ws/a.py"


def said(new: str, old: str | None = None, path: str = PATH) -> Diff:
    return Diff((Change("add" if old is None else "modify", path),), old, new)


def over(new: str, old: str | None) -> Diff:
    return Diff((Change("modify", PATH),), old, new, replaces="file")


FOUND = OverwriteFound("t1", PATH, "old\n")
TEXT = Block.of_text("x")


@pytest.mark.req("C19")
@pytest.mark.parametrize(
    ("events", "content", "proposed"),
    [
        ([ToolPatch("t1", content=[said("new\n")]), FOUND], [over("new\n", "old\n")], []),
        ([ToolPatch("t1", content=[said("new\n", "")]), FOUND], [over("new\n", "old\n")], []),
        (
            [ToolPatch("t1", content=[said("new\n")]), OverwriteFound("t1", PATH, None)],
            [over("new\n", None)],
            [],
        ),
        # It says so again when it is done, or more of it.
        (
            [ToolPatch("t1", content=[said("n")]), FOUND, ToolPatch("t1", content=[said("new\n")])],
            [over("new\n", "old\n")],
            [],
        ),
        ([ToolPatch("t1"), ToolAppend("t1", said("new\n")), FOUND], [over("new\n", "old\n")], []),
        # What it was asked about stays known when it is dropped meanwhile.
        (
            [ToolPatch("t1", content=[said("new\n")]), ask("q"), FOUND, ToolPatch("t1", content=[])],
            [],
            [over("new\n", "old\n")],
        ),
        (
            [
                ToolPatch("t1", content=[said("new\n")]),
                ask("q"),
                FOUND,
                ToolPatch("t1", content=[]),
                ToolAppend("t1", said("new\n")),
            ],
            [over("new\n", "old\n")],
            [over("new\n", "old\n")],
        ),
        # What the agent says itself goes before what we have found; other files, other calls are let alone.
        (
            [
                ToolPatch("t1", content=[said("new\n")]),
                FOUND,
                ToolPatch("t1", content=[said("new\n", "its\n")]),
            ],
            [said("new\n", "its\n")],
            [],
        ),
        (
            [ToolPatch("t1", content=[said("x", "old\n"), said("new\n", None, "/ws/b"), TEXT]), FOUND],
            [said("x", "old\n"), said("new\n", None, "/ws/b"), TEXT],
            [],
        ),
        ([ToolPatch("t1", content=[said("n")]), OverwriteFound("t9", PATH, "old\n")], [said("n")], []),
    ],
)
def test_what_is_found_of_a_file(events: list[Event], content: list[object], proposed: list[Diff]) -> None:
    target = session()
    play(target, *events)
    call = target.tool_calls["t1"]
    assert [TEXT if isinstance(each, Block) else each for each in call.content] == content
    assert call.proposed == proposed
    assert "t9" not in target.tool_calls


def test_a_repeated_diff_is_the_same_one() -> None:
    """Rows keep what they have compared by identity."""
    target = session()
    play(target, ToolPatch("t1", content=[said("new\n")]), FOUND)
    before = target.tool_calls["t1"].content[0]
    play(target, ToolPatch("t1", content=[said("new\n")]))
    assert target.tool_calls["t1"].content[0] is before


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (said("x"), PATH),
        (said("x", ""), PATH),
        (said("x", "y"), None),
        (Diff((Change("delete", PATH),), None, ""), None),
        (Diff((Change("modify", PATH),), None, None, patch="@@"), None),
        (Diff((), None, "x"), None),
        (over("x", None), None),
    ],
)
def test_which_diffs_do_not_say_what_they_replace(made: Diff, path: str | None) -> None:
    assert made.unsaid == path
