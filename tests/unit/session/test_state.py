"""Plans, options, usage, titles, compaction, notes."""

from __future__ import annotations

import pytest
from tests.unit.session.build import chunk, play, session, timeline

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Cost, Note, Plan, PlanEntry, Usage
from acp_nvim.session.events import (
    CommandsSet,
    CompactionAppend,
    CompactionPatch,
    InfoPatch,
    NoteShown,
    OptionsSet,
    OptionValue,
    PlanRemoved,
    PlanSet,
    TurnEnded,
    TurnStarted,
    UsageSet,
)
from acp_nvim.session.options import Choice, Command, Option


def plan(name: str, *entries: str) -> PlanSet:
    return PlanSet(Plan(name, entries=[PlanEntry(entry) for entry in entries]))


@pytest.mark.req("V1-139", "V1-140", "V2-125")
def test_a_plan_is_replaced_where_it_first_appeared() -> None:
    target = session()
    play(target, plan("default"))
    assert target.items == []  # an empty plan shows nothing
    play(target, plan("default", "a", "b"), chunk("agent", "x"), plan("default", "a"), plan("other", "c"))
    assert timeline(target) == ["plan default|a", "agent|x", "plan other|c"]
    play(target, plan("default"), PlanRemoved("other"), PlanRemoved("unknown"))
    assert timeline(target) == ["plan default|", "agent|x", "plan other|"]


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("acp-v1", ["user|one", "plan default|a", "end|end_turn", "user|two", "plan default|b"]),
        ("acp-v2", ["user|one", "plan default|b", "end|end_turn", "user|two"]),
    ],
)
def test_a_plan_of_a_later_turn_stands_in_that_turn(protocol: str, expected: list[str]) -> None:
    """v1 has no ids: the next task would be written over the last one. v2 has ids, and they count."""
    target = session(protocol)
    play(target, TurnStarted([Block.of_text("one")]), plan("default", "a"), TurnEnded("end_turn"))
    play(target, TurnStarted([Block.of_text("two")]), plan("default", "b"))
    assert timeline(target) == expected


@pytest.mark.req("V2-127")
def test_an_unknown_type_replaces_what_was_there() -> None:
    target = session("acp-v2")
    play(target, plan("p", "a"), PlanSet(Plan("p", type="mindmap", raw={"x": 1})))
    known = target.plans["p"]
    assert (known.type, known.entries, known.raw) == ("mindmap", [], {"x": 1})


@pytest.mark.req("V1-144", "V1-153")
def test_options_are_replaced_as_a_list_and_one_value_by_category() -> None:
    target = session()
    mode = Option("mode", "Mode", "select", "a", [Choice("a", "A"), Choice("b", "B")], category="mode")
    play(target, OptionsSet([mode]), OptionValue("mode", "b"), OptionValue("model", "nothing there"))
    assert [option.label for option in target.options] == ["B"]
    play(target, OptionsSet([]))
    assert target.options == []


@pytest.mark.req("V1-157", "V1-158")
def test_usage_keeps_the_cost() -> None:
    target = session()
    cost = Cost(0.5, "USD")
    play(target, UsageSet(Usage(1, 10, cost)), UsageSet(Usage(2, 10)))
    assert target.usage == Usage(2, 10, cost)
    play(target, UsageSet(Usage(3, 10), keep_cost=False))
    assert target.usage == Usage(3, 10)


@pytest.mark.req("V1-154", "V1-156")
def test_info_and_commands() -> None:
    target = session()
    play(target, InfoPatch("done\x07\x1b]52;c;ZXZpbA==\x07", "2026"), CommandsSet([Command("init", "d")]))
    assert target.title == "done\x07\x1b]52;c;ZXZpbA==\x07"  # as sent: making it harmless is the view's part
    play(target, InfoPatch(updated_at=None))
    assert [target.title is None, target.updated_at is None] == [False, True]
    play(target, InfoPatch(title=None))
    assert [target.title, target.commands] == [None, [Command("init", "d")]]


@pytest.mark.req("V1-160")
def test_compaction_is_an_upsert() -> None:
    target = session()
    play(
        target,
        CompactionPatch("c1"),
        chunk("agent", "a"),
        CompactionAppend("c1", Block.of_text("s")),
        CompactionPatch("c1", status="completed", error="e"),
        CompactionAppend("c2", Block.of_text("t")),
    )
    assert timeline(target) == ["compaction c1|completed", "agent|a", "compaction c2|in_progress"]
    first = target.compactions["c1"]
    assert ([str(b.text) for b in first.summary], first.error) == (["s"], "e")
    play(target, CompactionPatch("c1", summary=None, error=None))
    assert (first.summary, first.error, first.status) == ([], None, "completed")


def test_notes_stand_in_the_timeline() -> None:
    target = session()
    note = Note("n1", "error", "agent exited (0)")
    assert play(target, NoteShown(note)) == [[note]]
    assert target.items == [note]
