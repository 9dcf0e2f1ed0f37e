"""``terminal/*`` between the wire and the port."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.protocol.acp_v1.bench import opened

from acp_nvim.session.ports import CommandLine
from acp_nvim.session.terminals import Exit

pytestmark = pytest.mark.anyio


@pytest.mark.req("V1-176", "V1-177", "V1-178")
@pytest.mark.parametrize(
    ("params", "line"),
    [
        ({"command": "ls"}, CommandLine("ls")),
        ({"command": "ls", "args": None, "env": None, "cwd": None}, CommandLine("ls")),
        (
            {
                "command": "npm",
                "args": ["run", "a b"],
                "env": [{"name": "CI", "value": "1"}, {"name": "X", "value": ""}],
                "cwd": "/ws/sub",
                "outputByteLimit": 18446744073709551615,
            },
            CommandLine("npm", ("run", "a b"), {"CI": "1", "X": ""}, "/ws/sub", 2**64 - 1),
        ),
    ],
)
async def test_create(params: dict[str, Any], line: CommandLine) -> None:
    async with opened() as bench:
        bench.asks(1, "terminal/create", **params)
        assert (await bench.reply(1))["result"] == {"terminalId": "t1"}
        assert bench.terminals.calls == [("create", "s", line)]


@pytest.mark.req("V1-182", "V1-185")
@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (("a\n", False, None), {"output": "a\n", "truncated": False}),
        (("", True, Exit(0)), {"output": "", "truncated": True, "exitStatus": {"exitCode": 0}}),
        (
            ("x", False, Exit(None, "SIGKILL")),
            {"output": "x", "truncated": False, "exitStatus": {"signal": "SIGKILL"}},
        ),
    ],
)
async def test_output(answer: tuple[str, bool, Exit | None], result: dict[str, Any]) -> None:
    async with opened() as bench:
        bench.terminals.answer = answer
        bench.asks(1, "terminal/output", terminalId="t1")
        assert (await bench.reply(1))["result"] == result


@pytest.mark.req("V1-15", "V1-184")
async def test_waits_hold_nothing_up_and_are_all_answered() -> None:
    async with opened() as bench:
        bench.terminals.exit = Exit(3)
        for number in (1, 2):
            bench.asks(number, "terminal/wait_for_exit", terminalId="t1")
        bench.asks(3, "terminal/output", terminalId="t1")
        await bench.reply(3)
        await bench.settle()
        assert bench.replies(1) == bench.replies(2) == []
        bench.terminals.ends.set()
        assert [(await bench.reply(n))["result"] for n in (1, 2)] == [{"exitCode": 3}, {"exitCode": 3}]


@pytest.mark.req("V1-85")
async def test_a_wait_that_is_taken_back_ends_nothing() -> None:
    async with opened() as bench:
        bench.asks(1, "terminal/wait_for_exit", terminalId="t1")
        await bench.settle()
        bench.transport.push({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
        assert (await bench.reply(1))["error"]["code"] == -32800
        assert bench.terminals.calls == [("wait", "s")]


@pytest.mark.req("V1-186", "V1-187")
async def test_kill_and_release_answer_with_nothing() -> None:
    async with opened() as bench:
        for number, method in enumerate(("kill", "release"), 1):
            bench.asks(number, f"terminal/{method}", terminalId="t1")
            assert (await bench.reply(number))["result"] == {}
        assert bench.terminals.calls == [("kill", "s"), ("release", "s")]


@pytest.mark.req("V1-61", "V1-178", "V1-189", "V1-194")
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("create", {}, -32602),
        ("create", {"command": 5}, -32602),
        ("create", {"command": None}, -32602),
        ("create", {"command": "ls", "args": "-l"}, -32602),
        ("create", {"command": "ls", "args": [1]}, -32602),
        ("create", {"command": "ls", "env": {"A": "b"}}, -32602),
        ("create", {"command": "ls", "env": [{"name": "A"}]}, -32602),
        ("create", {"command": "ls", "cwd": 1}, -32602),
        ("create", {"command": "ls", "outputByteLimit": -1}, -32602),
        ("create", {"command": "ls", "outputByteLimit": 1.5}, -32602),
        ("create", {"command": "ls", "outputByteLimit": 2**64}, -32602),
        ("create", {"command": "ls", "sessionId": "r9"}, -32002),
        ("create", {"command": "ls", "sessionId": 1}, -32602),
        *[
            (method, params, code)
            for method in ("output", "wait_for_exit", "kill", "release")
            for params, code in (
                ({}, -32602),
                ({"terminalId": 1}, -32602),
                ({"terminalId": None}, -32602),
                ({"terminalId": "t9"}, -32002),
                ({"terminalId": "t1", "sessionId": "r9"}, -32002),
            )
        ],
        ("resize", {"terminalId": "t1"}, -32601),
    ],
)
async def test_what_is_refused_does_nothing(method: str, params: dict[str, Any], code: int) -> None:
    async with opened() as bench:
        bench.asks(1, f"terminal/{method}", **params)
        assert (await bench.reply(1))["error"]["code"] == code
        assert bench.terminals.calls == []
