"""Terminals in the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.session import reducer_terminals
from acp_nvim.session.content import TerminalRef
from acp_nvim.session.entities import Item, Session, ToolCall
from acp_nvim.session.events import Event, TerminalBytes, TerminalPatch, TerminalSet, ToolAppend, ToolPatch
from acp_nvim.session.reducer import apply
from acp_nvim.session.terminals import Exit, Output


def play(session: Session, *events: Event) -> list[str]:
    """Apply events; the ids of the tool calls that the last one touched."""
    touched: list[Item] = []
    for event in events:
        touched = apply(session, event, 1.0)
    return [item.id for item in touched if isinstance(item, ToolCall)]


def session() -> Session:
    return Session("s", "agent", "/ws")


@given(st.lists(st.binary(max_size=30), max_size=30), st.integers(0, 40), st.integers(0, 40))
def test_output_is_the_end_of_all_that_came(pieces: list[bytes], keep: int, less: int) -> None:
    made, whole = Output(keep), b""
    for piece in pieces:
        made.append(piece)
        whole += piece
        assert made.total == len(whole)
        assert made.since(0) == (made.first, whole[made.first :])
        assert made.size == min(keep, len(whole))
        for position in (0, made.total - 3, made.total, made.total + 5):
            at, data = made.since(position, 2)
            assert data == whole[at : at + 2]
            assert at == min(max(position, made.first), made.total)
    made.shrink(less)
    assert made.since(0)[1] == whole[len(whole) - min(less, keep, len(whole)) :]
    made.append(b"more")
    assert made.tail(100) == (whole + b"more")[len(whole) + 4 - made.size :]


@pytest.mark.req("V1-120")
@pytest.mark.parametrize("first", ["terminal", "call"])
def test_output_touches_the_calls_that_show_the_terminal(first: str) -> None:
    made = session()
    events: list[Event] = [TerminalPatch("t1", command="ls"), ToolPatch("c1", content=[TerminalRef("t1")])]
    play(made, *(events if first == "terminal" else reversed(events)), ToolPatch("c2"))
    play(made, ToolAppend("c3", TerminalRef("t1")))
    assert play(made, TerminalBytes("t1", b"a")) == ["c1", "c3"]
    assert play(made, TerminalPatch("t1", exit=Exit(1))) == ["c1", "c3"]
    (terminal,) = made.tool_calls["c1"].terminals
    assert (terminal.command, terminal.number, terminal.exit) == ("ls", 1, Exit(1))
    assert terminal.output.tail(9) == b"a"


@pytest.mark.req("V1-188")
def test_a_released_terminal_stays_in_its_call() -> None:
    made = session()
    play(made, TerminalPatch("t1"), ToolPatch("c1", content=[TerminalRef("t1")]), TerminalBytes("t1", b"x"))
    assert play(made, TerminalPatch("t1", released=True, stopped=True)) == ["c1"]
    (terminal,) = made.tool_calls["c1"].terminals
    assert (terminal.released, terminal.stopped, terminal.output.tail(9)) == (True, True, b"x")


def test_told_of_apart_from_the_content() -> None:
    made = session()
    play(made, ToolPatch("c1"), TerminalPatch("x", owner="agent", call="c1"), TerminalBytes("x", b"1"))
    call = made.tool_calls["c1"]
    assert [each.id for each in call.terminals] == ["x"]
    assert call.terminals[0].owner == "agent"
    play(made, ToolPatch("c1", content=[TerminalRef("y")]))
    assert call.terminals == []  # the content knows better
    play(made, ToolPatch("c1", content=[TerminalRef("x"), TerminalRef("x")]))
    assert [each.id for each in call.terminals] == ["x"]


@pytest.mark.req("V2-99")
def test_a_snapshot_begins_anew() -> None:
    made = session()
    play(made, TerminalBytes("t", b"old"))
    before = made.terminals["t"].output
    play(made, TerminalSet("t", b"new"), TerminalBytes("t", b"er"))
    after = made.terminals["t"].output
    assert after is not before
    assert after.tail(10) == b"newer"


@pytest.mark.req("V1-196")
def test_a_session_of_many_commands_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reducer_terminals, "ENDED_BYTES", 1000)
    monkeypatch.setattr(reducer_terminals, "SPARED_BYTES", 10)
    made = session()
    for number in range(20):
        play(made, TerminalBytes(f"t{number}", bytes([65 + number]) * 300))
    play(made, TerminalBytes("runs", b"r" * 5000))
    for number in range(20):
        play(made, TerminalPatch(f"t{number}", exit=Exit(0)))
    sizes = [made.terminals[f"t{n}"].output.size for n in range(20)]
    assert sum(sizes) <= 1000
    assert min(sizes) == 10  # something stays of each
    assert sizes[-1] == 300  # the newest is whole
    assert made.terminals["runs"].output.size == 5000
