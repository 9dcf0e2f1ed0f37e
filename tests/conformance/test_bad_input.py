"""Bad input to each request of the agent: the right code, and nothing else happens."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.protocol.acp_v1.bench import Bench, opened

from .definitions import STABLE, Json
from .sample import RUBBISH

pytestmark = pytest.mark.anyio

SESSION = {"sessionId": "r1"}
TERMINAL = {**SESSION, "terminalId": "t1"}
GOOD: dict[str, Json] = {
    "fs/read_text_file": {**SESSION, "path": "/ws/a"},
    "fs/write_text_file": {**SESSION, "path": "/ws/a", "content": "x"},
    "session/request_permission": {
        **SESSION,
        "toolCall": {"toolCallId": "c1"},
        "options": [{"optionId": "ok", "name": "Yes", "kind": "allow_once"}],
    },
    "terminal/create": {**SESSION, "command": "ls"},
    "terminal/output": TERMINAL,
    "terminal/wait_for_exit": TERMINAL,
    "terminal/kill": TERMINAL,
    "terminal/release": TERMINAL,
    "elicitation/create": {
        **SESSION,
        "mode": "form",
        "message": "?",
        "requestedSchema": {"type": "object", "properties": {}},
    },
}
BAD_PARAMS, NO_METHOD, NOT_FOUND = -32602, -32601, -32002

Case = tuple[str, Any, int, Any]  # method, params, code, data (None: any)


def wrong() -> Iterator[Case]:
    """Each required field, of any depth, left out or of a wrong type; and params that are no object."""
    for method, good in GOOD.items():
        name = STABLE.name("client", method, "Request")
        assert name is not None
        validator = STABLE.lenient(name)
        for path in _paths(good):
            for value in ("gone", *RUBBISH):
                params = copy.deepcopy(good)
                place: Any = params
                for step in path[:-1]:
                    place = place[step]
                if value == "gone":
                    del place[path[-1]]
                else:
                    place[path[-1]] = value
                if not validator.is_valid(params):
                    yield method, params, BAD_PARAMS, None
        others: tuple[Any, ...] = ([], [good], "x", 7, True, {}, None)
        for other in others:
            yield method, other, BAD_PARAMS, None


def _paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _paths(value, (*path, key))


def with_(method: str, **more: Any) -> Json:
    return {**GOOD[method], **more}


def said() -> Iterator[Case]:
    """What is well-formed and yet cannot be done."""
    for method in GOOD:
        data = {"sessionId": "r9"}
        yield method, with_(method, sessionId="r9"), NOT_FOUND, data
        yield method, with_(method, sessionId=""), NOT_FOUND, None
    for method in ("fs/read_text_file", "fs/write_text_file"):
        for path in ("", "a", "./a", "../a", "~/a", "file:///ws/a", "\x00/a", "C:\\a"):
            yield method, with_(method, path=path), BAD_PARAMS, {"path": path}
    for field in ("line", "limit"):
        for value in (2**32, 2**64, 10**30, -1, 1.5):
            yield "fs/read_text_file", with_("fs/read_text_file", **{field: value}), BAD_PARAMS, None
    for value in (2**64, 10**30, -1, 0.5):
        yield "terminal/create", with_("terminal/create", outputByteLimit=value), BAD_PARAMS, None
    for args in ("-l", {"0": "-l"}, [7], [None]):
        yield "terminal/create", with_("terminal/create", args=args), BAD_PARAMS, None
    for env in ({"A": "b"}, ["A=b"], [{"name": "A"}], [{"name": "A", "value": 7}]):
        yield "terminal/create", with_("terminal/create", env=env), BAD_PARAMS, None
    for method in ("terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"):
        yield method, with_(method, terminalId="t9"), NOT_FOUND, {"terminalId": "t9"}
    for mode in ("", "dream", "FORM"):
        yield "elicitation/create", with_("elicitation/create", mode=mode), BAD_PARAMS, None
    for method in (
        "",
        "_x/y",
        "$/dream",
        "fs/delete",
        "terminal/",
        "terminal/resize",
        "session/dream",
        "initialize",
    ):
        yield method, SESSION, NO_METHOD, None


async def ask(bench: Bench, case: Case) -> None:
    method, params, code, data = case
    bench.transport.push({"jsonrpc": "2.0", "id": "x", "method": method, "params": params})
    answer = await bench.reply("x")
    bench.sent.remove(answer)
    assert answer.get("error", {}).get("code") == code, (method, params, answer)
    if data is not None:
        assert answer["error"]["data"] == data, (method, params, answer)


@pytest.mark.req("V1-61", "V1-172", "V1-174", "V1-178", "V1-189", "V1-198", "V1-211", "V1-214", "V1-216")
@pytest.mark.parametrize("cases", [wrong, said])
async def test_the_right_code_and_nothing_else(cases: Any) -> None:
    async with opened() as bench:
        before = len(bench.sent), len(bench.events)
        count = 0
        for case in cases():
            await ask(bench, case)
            count += 1
        await bench.settle()
        assert (len(bench.sent) - 1, len(bench.events)) == before
        assert (bench.files.calls, bench.terminals.calls, bench.questions.asked) == ([], [], [])
        assert [note for note in bench.notes if "Traceback" in note] == []
        assert count > 70


async def test_the_good_ones_are_good() -> None:
    """What the cases above begin with, and the largest limits that fit."""
    async with opened() as bench:
        bench.files.texts["/ws/a"] = "x"
        bench.terminals.ends.set()
        for method, params in [
            *GOOD.items(),
            ("fs/read_text_file", with_("fs/read_text_file", line=2**32 - 1, limit=2**32 - 1)),
            ("terminal/create", with_("terminal/create", outputByteLimit=2**64 - 1, args=None, env=None)),
        ]:
            bench.transport.push({"jsonrpc": "2.0", "id": "x", "method": method, "params": params})
            if method in ("session/request_permission", "elicitation/create"):
                await bench.settle()
                [question] = bench.questions.open()
                bench.questions.answer(question, bench.questions.asked[-1].options[0].id)
            answer = await bench.reply("x")
            bench.sent.remove(answer)
            assert "result" in answer, (method, answer)
