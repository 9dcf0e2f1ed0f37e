"""Terminals the agent tells of in ``_meta``: the shapes its adapters send, and others."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.protocol.acp_v1.bench import Bench, opened

from acp_nvim.session.events import TerminalPatch
from acp_nvim.session.terminals import Exit, Terminal

pytestmark = pytest.mark.anyio


def told(kind: str = "tool_call_update", call: str = "c1", **meta: Any) -> dict[str, Any]:
    return {"sessionUpdate": kind, "toolCallId": call, "title": "npm test", "_meta": meta}


async def terminals(bench: Bench, call: str = "c1") -> list[Terminal]:
    await bench.settle()
    return bench.session.tool_calls[call].terminals


def text(terminal: Terminal) -> str:
    return terminal.output.tail(1000).decode()


@pytest.mark.req("V1-120", "V1-209")
@pytest.mark.parametrize("key", ["terminal_output", "terminal_output_delta"])
async def test_what_the_adapters_send(key: str) -> None:
    async with opened() as bench:
        bench.says(
            {
                **told("tool_call", terminal_info={"terminal_id": "c1", "cwd": "/ws/sub"}),
                "kind": "execute",
                "status": "pending",
                "content": [{"type": "terminal", "terminalId": "c1"}],
            },
            told() | {"_meta": {key: {"terminal_id": "c1", "data": "one\n"}}},
            told() | {"_meta": {key: {"terminal_id": "c1", "data": "two\n"}}},
            {
                **told(terminal_exit={"terminal_id": "c1", "exit_code": 1, "signal": None}),
                "status": "failed",
                "content": [{"type": "terminal", "terminalId": "c1"}],
            },
        )
        (terminal,) = await terminals(bench)
        assert (terminal.owner, terminal.cwd, terminal.exit) == ("agent", "/ws/sub", Exit(1))
        assert text(terminal) == "one\ntwo\n"


async def test_all_in_one_and_without_content() -> None:
    async with opened() as bench:
        bench.says(
            told(
                "tool_call",
                terminal_exit={"exitCode": 0},
                terminal_output={"data": "all of it"},
                terminal_info={"command": "npm test"},
            )
        )
        (terminal,) = await terminals(bench)
        assert (terminal.id, terminal.command, text(terminal)) == ("c1", "npm test", "all of it")
        assert terminal.exit == Exit(0)


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ({"exit_code": 3}, Exit(3)),
        ({"exit_code": None, "signal": "SIGKILL"}, Exit(None, "SIGKILL")),
        ({}, Exit()),
        ({"exit_code": -9}, Exit()),
        ({"exit_code": True}, Exit()),
        ({"exit_code": "1", "signal": 9}, Exit()),
        ({"exit_code": 2**32}, Exit()),
    ],
)
async def test_ends(said: dict[str, Any], ended: Exit) -> None:
    async with opened() as bench:
        bench.says(told(terminal_exit=said))
        assert [each.exit for each in await terminals(bench)] == [ended]


@pytest.mark.parametrize(
    "meta",
    [
        {"terminal_output": "text"},
        {"terminal_output": {"data": 5}},
        {"terminal_output": {"terminal_id": "c1"}},
        {"terminal_info": None},
        {"terminal_exit": 0},
        {"terminal_output": [{"data": "x"}]},
        {"other": {"terminal_id": "c1"}},
    ],
)
async def test_what_does_not_fit_is_left_out(meta: dict[str, Any]) -> None:
    async with opened() as bench:
        bench.says(told(**meta))
        assert await terminals(bench) == []
        assert bench.session.tool_calls["c1"].title == "npm test"


async def test_our_terminals_are_not_the_agents_to_write_to() -> None:
    async with opened() as bench:
        bench.store.apply(bench.session, TerminalPatch("t1", command="ls"))
        bench.says(
            told(terminal_output={"terminal_id": "t1", "data": "forged"}, terminal_exit={"terminal_id": "t1"})
        )
        await bench.settle()
        ours = bench.session.terminals["t1"]
        assert (text(ours), ours.exit) == ("", None)


async def test_halves_of_characters() -> None:
    async with opened() as bench:
        bench.says(told(terminal_output={"data": "a\ud83d\ude80\ud83db"}))
        (terminal,) = await terminals(bench)
        assert text(terminal) == "a🚀\ufffdb"


async def test_a_question_may_tell_of_one_too() -> None:
    async with opened() as bench:
        bench.asks_permission(1, "c1", title="npm test", _meta={"terminal_info": {"terminal_id": "x"}})
        assert [each.id for each in await terminals(bench)] == ["x"]
