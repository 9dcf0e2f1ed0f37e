"""Tool calls, the questions in their rows, and how turns end."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.session.build import OPTIONS, answer, ask, chunk, play, prompt, session, shown, timeline

from acp_nvim.session.asked import Permission
from acp_nvim.session.content import Block, Change, Diff, Location
from acp_nvim.session.entities import Failure, ToolCall
from acp_nvim.session.events import (
    Event,
    PermissionClosed,
    PermissionOpened,
    ReplayEnded,
    ReplayStarted,
    StateSet,
    ToolAppend,
    ToolPatch,
    TurnCancelling,
    TurnEnded,
    Unknown,
)

DIFF = Diff((Change("modify", "/ws/a.py"),), "a\n", "b\n")
FULL: dict[str, Any] = {
    "title": "Edit a.py",
    "name": "edit",
    "kind": "edit",
    "status": "in_progress",
    "content": [DIFF],
    "locations": [Location("/ws/a.py", 3)],
    "raw_input": {"x": 1},
    "raw_output": "out",
    "can_cancel": True,
    "meta": {"k": 1},
}
EMPTY: dict[str, Any] = {
    "title": "",
    "name": None,
    "kind": "other",
    "status": "pending",
    "content": [],
    "locations": [],
    "raw_input": None,
    "raw_output": None,
    "can_cancel": False,
    "meta": {},
}


def state(call: ToolCall) -> dict[str, Any]:
    return {name: getattr(call, name) for name in FULL}


@pytest.mark.req("V1-102", "V2-85", "V2-87")
def test_the_first_event_creates_a_call_with_defaults() -> None:
    target = session()
    play(target, ToolPatch("t1"), ToolAppend("t2", DIFF))
    assert state(target.tool_calls["t1"]) == EMPTY
    assert state(target.tool_calls["t2"]) == {**EMPTY, "content": [DIFF]}


@pytest.mark.parametrize("field", list(FULL))
@pytest.mark.req("V1-103", "V1-104", "V1-105", "V1-106", "V2-83", "V2-88")
def test_each_field_has_three_states(field: str) -> None:
    target = session("acp-v2")
    play(target, ToolPatch("t1", **FULL))
    call = target.tool_calls["t1"]
    assert state(call) == FULL
    play(target, ToolPatch("t1"))
    assert state(call) == FULL
    play(target, ToolPatch("t1", **{field: None}))
    assert state(call) == {**FULL, field: EMPTY[field]}
    play(target, ToolPatch("t1", **{field: FULL[field]}))
    assert state(call) == FULL


@pytest.mark.req("V1-105")
def test_lists_are_replaced_never_appended() -> None:
    target = session()
    play(target, ToolPatch("t1", **FULL), ToolPatch("t1", content=[], locations=[Location("/b")]))
    call = target.tool_calls["t1"]
    assert (call.content, call.locations) == ([], [Location("/b")])


@pytest.mark.req("V2-89")
def test_content_chunks_append_to_what_is_there() -> None:
    target = session("acp-v2")
    one, two, three = (Block.of_text(text) for text in "123")
    play(target, ToolAppend("t1", one), ToolAppend("t1", two))
    call = target.tool_calls["t1"]
    assert [b.text and str(b.text) for b in call.content if isinstance(b, Block)] == ["1", "2"]
    play(target, ToolPatch("t1", content=[three]), ToolAppend("t1", one))
    assert [b.text and str(b.text) for b in call.content if isinstance(b, Block)] == ["3", "1"]


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("edit", "paused", ("edit", None, "paused", None)),
        ("telepathy", "pondering", ("other", "telepathy", "in_progress", "pondering")),
        (None, None, ("other", None, "pending", None)),
    ],
)
@pytest.mark.req("V1-108", "V1-109", "V2-90", "V2-91")
def test_unknown_words_are_kept_beside_a_known_one(
    kind: str | None, status: str | None, expected: tuple[str | None, ...]
) -> None:
    target = session()
    play(target, ToolPatch("t1", kind="read", status="completed"), ToolPatch("t1", kind=kind, status=status))
    call = target.tool_calls["t1"]
    assert (call.kind, call.kind_raw, call.status, call.status_raw) == expected


@pytest.mark.req("V1-110", "V1-112")
def test_c16_a_repeated_start_keeps_place_and_diff() -> None:
    target = session()
    play(
        target,
        ToolPatch("t1", title="Edit", kind="edit", content=[DIFF]),
        chunk("agent", "text"),
        ToolPatch("t1", title="Edit a.py", kind="edit", status="in_progress"),
    )
    assert timeline(target) == ["tool t1|in_progress|Edit a.py", "agent|text"]
    assert target.tool_calls["t1"].content == [DIFF]


@pytest.mark.req("V1-111")
def test_any_order_of_statuses_is_accepted() -> None:
    target = session()
    seen: list[tuple[bool, float | None]] = []
    for status in ("completed", "in_progress", "failed", "pending", "completed"):
        play(target, ToolPatch("t1", status=status), start=float(len(seen)))
        call = target.tool_calls["t1"]
        seen.append((call.final, call.ended))
    assert seen == [(True, 0.0), (False, None), (True, 2.0), (False, None), (True, 4.0)]


@pytest.mark.req("V1-127", "V1-136")
def test_c05_an_open_question_keeps_the_row_waiting() -> None:
    target = session()
    play(target, prompt("x"), ToolPatch("t1", title="write", kind="edit"), ask("q1"))
    call = target.tool_calls["t1"]
    for status in ("in_progress", "completed", "failed", None):
        play(target, ToolPatch("t1", title="write", status=status))
        assert shown(call) == "waiting"
        assert target.state == "requires_action"
    play(target, ToolPatch("t1", status="in_progress"), answer("q1", "ok"))
    assert (shown(call), target.state, call.local) == ("in_progress", "running", "granted")


@pytest.mark.req("V1-136")
def test_c06_two_questions_are_two() -> None:
    target = session()
    play(target, prompt("x"), ask("q1", "t1"), ask("q2", "t2"), answer("q2", "ok"))
    assert [p.id for p in target.open_permissions] == ["q1"]
    assert shown(target.tool_calls["t1"]) == "waiting"
    assert shown(target.tool_calls["t2"]) == "pending"
    assert target.state == "requires_action"


@pytest.mark.req("V1-136")
def test_c06_two_questions_for_one_call_are_two() -> None:
    target = session()
    play(target, prompt("x"), ask("q1"), ask("q2"))
    call = target.tool_calls["t1"]
    assert [p.id for p in call.permissions] == ["q1", "q2"]
    play(target, answer("q1", "no"))
    assert shown(call) == "waiting"
    play(target, answer("q2", "ok"))
    assert (shown(call), call.local) == ("pending", "granted")


def test_a_question_without_a_call_gets_a_row_of_its_own() -> None:
    for option, state_shown in (("ok", "completed"), ("no", "rejected"), (None, "cancelled")):
        target = session()
        permission = Permission("q1", list(OPTIONS), title="Write /etc/hosts", asked_by="client")
        outcome: Event = (
            answer("q1", option) if option else PermissionClosed("q1", "cancelled", None, "cancel")
        )
        play(target, prompt("x"), PermissionOpened(permission))
        assert timeline(target)[1:] == ["tool question:q1|waiting|Write /etc/hosts"]
        play(target, outcome)
        call = target.tool_calls["question:q1"]
        assert (shown(call), call.side, call.final) == (state_shown, "client", True)


def test_the_first_answer_counts() -> None:
    target = session()
    play(target, ask("q1"), answer("q1", "ok"), answer("q1", "no"), answer("q9", "no"))
    permission = target.permissions["q1"]
    assert (permission.state, permission.answer, permission.by) == ("answered", "ok", "user")


@pytest.mark.req("V1-85")
def test_a_withdrawn_question_leaves_no_mark() -> None:
    target = session()
    play(target, prompt("x"), ask("q1"), PermissionClosed("q1", "withdrawn", None, "agent"))
    assert target.permissions["q1"].state == "withdrawn"
    assert (shown(target.tool_calls["t1"]), target.state) == ("pending", "running")


def test_always_is_said_with_the_options_name() -> None:
    target = session()
    play(target, ask("q1"), answer("q1", "always"), ToolPatch("t1", status="completed"))
    call = target.tool_calls["t1"]
    assert (call.granted_always, call.local) == ("Always allow npm", "none")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([answer("q1", "no")], "rejected", id="at once"),
        pytest.param([answer("q1", "no"), ToolPatch("t1", status="failed")], "rejected", id="then failed"),
        pytest.param([answer("q1", "no"), ToolPatch("t1", status="cancelled")], "rejected", id="cancelled"),
        pytest.param([answer("q1", "no"), ToolPatch("t1", status="in_progress")], "in_progress", id="runs"),
        pytest.param(
            [answer("q1", "no"), ToolPatch("t1", status="in_progress"), ToolPatch("t1", status="failed")],
            "rejected", id="runs, then fails",
        ),
        pytest.param([answer("q1", "no"), ToolPatch("t1", status="completed")], "completed", id="completed"),
        pytest.param([answer("q1", "no"), TurnEnded("end_turn")], "rejected", id="nothing more (gemini)"),
        pytest.param(
            [answer("q1", "no"), ToolPatch("t1", status="pending"), TurnEnded("end_turn")],
            "rejected", id="nothing final",
        ),
        pytest.param([answer("q1", "no"), TurnEnded("cancelled")], "rejected", id="C14"),
        pytest.param([answer("q1", "no"), TurnCancelling()], "rejected", id="then cancelled by us"),
        pytest.param([PermissionClosed("q1", "cancelled", None, "user")], "rejected", id="refused"),
        pytest.param([answer("q1", "no"), ask("q2"), answer("q2", "ok")], "pending", id="asked again"),
        pytest.param(
            [answer("q1", "no"), ask("q2"), answer("q2", "ok"), ToolPatch("t1", status="failed")],
            "failed", id="asked again, allowed, failed",
        ),
    ],
)  # fmt: skip
@pytest.mark.req("V1-82")
def test_a_rejection_is_what_the_row_shows(events: list[Event], expected: str) -> None:
    target = session()
    play(target, prompt("x"), ToolPatch("t1"), ask("q1"), *events)
    assert shown(target.tool_calls["t1"]) == expected
    assert target.turns[0].rejected


def test_c14_a_turn_that_stops_after_a_rejection_tells_so() -> None:
    target = session()
    play(target, prompt("x"), ask("q1"), answer("q1", "no"), TurnEnded("cancelled"))
    turn = target.turns[0]
    assert (turn.stop, turn.rejected, turn.cancelling, turn.state) == ("cancelled", True, False, "cancelled")
    assert target.state == "idle"


@pytest.mark.req("V1-79", "V1-82", "V1-83")
def test_c15_cancelling_marks_unfinished_rows_at_once() -> None:
    target = session()
    play(
        target,
        prompt("x"),
        ToolPatch("t1", status="completed"),
        ToolPatch("t2", status="in_progress"),
        ask("q3", "t3"),
    )
    (touched,) = play(target, TurnCancelling())
    assert [item.id for item in touched if isinstance(item, ToolCall)] == ["t2", "t3"]
    play(target, PermissionClosed("q3", "cancelled", None, "cancel"))
    calls = target.tool_calls
    assert [shown(calls[name]) for name in ("t1", "t2", "t3")] == ["completed", "cancelled", "cancelled"]
    assert target.turn is not None  # the turn ends when the agent says so
    assert target.turn.cancelling
    assert not target.turn.rejected
    play(target, ToolPatch("t2", status="failed"))
    assert shown(calls["t2"]) == "failed"  # what the agent says replaces our mark


@pytest.mark.parametrize(
    ("stop", "expected", "turn_state"),
    [
        ("cancelled", "cancelled", "cancelled"),
        ("error", "no answer", "failed"),
        ("lost", "no answer", "failed"),
        ("end_turn", "no answer", "done"),
        ("budget_exceeded", "no answer", "done"),
        (None, "no answer", "done"),
    ],
)
@pytest.mark.req("V1-71", "V1-74", "V1-113")
def test_the_end_of_a_turn_gives_unfinished_rows_a_final_mark(
    stop: str | None, expected: str, turn_state: str
) -> None:
    target = session()
    error = Failure("boom") if stop in ("error", "lost") else None
    play(
        target, prompt("x"), ToolPatch("t1", status="completed"), ToolPatch("t2"), chunk("agent", "a"),
        TurnEnded(stop, error), start=1.0,
    )  # fmt: skip
    turn = target.turns[0]
    assert shown(target.tool_calls["t1"]) == "completed"
    assert shown(target.tool_calls["t2"]) == expected
    assert (turn.stop, turn.state, turn.error, turn.ended) == (stop, turn_state, error, 5.0)
    assert target.messages["agent", "v1:5"].ended == 5.0
    assert target.state == "idle"
    assert target.turn is None


@pytest.mark.req("V1-111")
def test_updates_after_the_end_are_taken() -> None:
    target = session()
    play(target, prompt("x"), ToolPatch("t1"), TurnEnded("end_turn"), ToolPatch("t1", status="completed"))
    assert timeline(target) == ["user|x", "tool t1|completed|", "end|end_turn"]
    assert target.tool_calls["t1"].final


@pytest.mark.req("V2-64")
def test_an_end_without_a_turn_is_nothing() -> None:
    target = session("acp-v2")
    play(target, prompt("x"), TurnEnded("end_turn"), TurnEnded(None))
    assert timeline(target) == ["user|x", "end|end_turn"]


@pytest.mark.req("V2-66", "V2-67", "V2-68", "V2-69")
def test_background_work_goes_on() -> None:
    target = session("acp-v2")
    background = [{"type": "tool_call", "toolCallId": "t1"}, {"type": "new"}]
    play(
        target, prompt("x"), ToolPatch("t1"), ToolPatch("t2"),
        StateSet("running", background), TurnCancelling(), TurnEnded("cancelled"),
    )  # fmt: skip
    assert [shown(call) for call in target.tool_calls.values()] == ["pending", "cancelled"]
    play(target, StateSet("idle"))
    assert target.background is None
    assert shown(target.tool_calls["t1"]) == "pending"  # not reported is not none


@pytest.mark.req("V2-66", "V2-67")
@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (StateSet("idle", [{"type": "tool_call", "toolCallId": "t1"}]), "pending"),
        (StateSet("idle"), "pending"),
        (StateSet("idle", []), "no answer"),
        (StateSet("lost"), "no answer"),
    ],
)
def test_background_work_is_shown_as_long_as_it_is_known_of(after: StateSet, expected: str) -> None:
    target = session("acp-v2")
    play(
        target, prompt("x"), ToolPatch("t1"),
        StateSet("idle", [{"type": "tool_call", "toolCallId": "t1"}]), TurnEnded("end_turn"), after,
    )  # fmt: skip
    call = target.tool_calls["t1"]
    assert shown(call) == expected
    assert call.final == (expected == "no answer")
    play(target, ToolPatch("t1", status="completed"))
    assert shown(call) == "completed"


@pytest.mark.req("V2-58", "V2-61", "V2-65")
def test_a_v2_agent_says_what_it_does_itself() -> None:
    target = session("acp-v2")
    states = []
    for event in (prompt("x"), StateSet("requires_action"), ask("q1"), answer("q1", "ok"), StateSet("busy")):
        play(target, event)
        states.append(target.state)
    assert states == ["idle", "requires_action", "requires_action", "requires_action", "busy"]


@pytest.mark.req("V1-113")
def test_replayed_calls_without_a_result_are_unfinished() -> None:
    target = session()
    play(target, ReplayStarted(), ToolPatch("t1", status="completed"), ToolPatch("t2"), ReplayEnded())
    assert [shown(call) for call in target.tool_calls.values()] == ["completed", "no answer"]


def test_a_lost_session_stays_lost() -> None:
    target = session()
    play(target, prompt("x"), StateSet("lost"), TurnEnded("lost", Failure("gone", kind="transport")))
    assert target.state == "lost"


def test_the_unknown_changes_nothing() -> None:
    target = session()
    before = target.arrival
    assert play(target, Unknown("session/update", {"a": 1})) == [[]]
    assert (target.items, target.arrival) == ([], before + 1)
