"""Whatever the agent sends, in whatever order: each request has one answer, and nothing else breaks."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plugin import examples

from acp_nvim.protocol.rpc_errors import ConnectionLostError, RpcError
from acp_nvim.session.ports import RequestError
from acp_nvim.wire.tolerant import WireError

from .rpc_bench import Bench, bench, failure, notification, request, result, settle

pytestmark = pytest.mark.anyio

OURS = 3  # requests of ours, with the ids 0 to 2

IDS: Any = st.one_of(
    st.integers(-2, 5),
    st.sampled_from([2**53 + 1, 2**64, -(2**70), 10**300]),
    st.sampled_from(["", "a", "0", "1", "é🚀", "\ud83d", "x" * 300, "\0"]),
    st.none(),
)
BAD_IDS: Any = st.sampled_from([True, 1.5, [], {}, ["a"]])
METHODS = st.sampled_from(["echo", "slow", "refuse", "break", "wire", "odd", "nothing"])
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
ANSWERS = st.integers(-1, OURS + 1) | st.sampled_from(["0", "1", "2", "9", "", "00"]) | st.floats(0, 3)
MESSAGES: Any = st.one_of(
    st.builds(lambda id_, method, value: request(id_, method, value=value), IDS, METHODS, VALUES),
    st.builds(lambda id_, method: {"jsonrpc": "2.0", "id": id_, "method": method}, IDS, METHODS),
    st.builds(lambda id_, method: {"jsonrpc": "2.0", "id": id_, "method": method, "params": 7}, IDS, METHODS),
    st.builds(lambda method, value: notification(method, value=value), METHODS, VALUES),
    st.builds(lambda id_: notification("$/cancel_request", requestId=id_), IDS),
    st.builds(result, ANSWERS, VALUES),
    st.builds(failure, ANSWERS, st.integers(-33000, 10), st.text(max_size=3)),
    st.builds(lambda id_, error: {"jsonrpc": "2.0", "id": id_, "error": error}, ANSWERS, VALUES),
    st.builds(lambda id_: {"jsonrpc": "2.0", "id": id_}, ANSWERS),
    st.builds(lambda id_: {"jsonrpc": "2.0", "id": id_, "method": "echo"}, BAD_IDS),
    st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params", "result", "x"]), VALUES, max_size=4
    ),
    VALUES,
)
LINES = st.one_of(
    MESSAGES.map(lambda message: json.dumps(message).encode()),
    MESSAGES.map(lambda message: json.dumps(message).encode()[:-1]),
    st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")),
)


def prepared(b: Bench) -> anyio.Event:
    """Give the methods something to do; ``slow`` ends when the event is set."""
    go_on = anyio.Event()

    async def echo(params: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        return params

    async def slow(params: Any) -> Any:
        await go_on.wait()

    async def refuse(params: Any) -> Any:
        raise RequestError(-32002, "no such thing")

    async def fails(params: Any) -> Any:
        raise ZeroDivisionError("a fault of ours")

    async def wire(params: Any) -> Any:
        raise WireError("shape", "not so")

    async def odd(params: Any) -> Any:
        return object()  # cannot be encoded

    b.handler.on |= {"echo": echo, "slow": slow, "refuse": refuse, "break": fails, "wire": wire, "odd": odd}
    return go_on


def told(id_: Any) -> str:
    """An id as it can be compared: 1 is not "1", and a half of a pair cannot be sent back."""
    return json.dumps(
        id_.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(id_, str) else id_
    )


def wanted(lines: list[bytes]) -> Counter[str]:
    """The ids of all requests among the lines that can be read as such."""
    found: Counter[str] = Counter()
    for line in lines:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict) or not {"id", "method"} <= message.keys():
            continue
        if not isinstance(message["method"], str) and "jsonrpc" not in message:
            continue  # a log line; with it, it is a request that is refused
        if isinstance(message["id"], str | int) and not isinstance(message["id"], bool):
            found[told(message["id"])] += 1
    return found


@pytest.mark.req("V1-11", "V1-15")
@examples(150)
@given(st.lists(LINES, max_size=20), st.lists(st.integers(0, 20), max_size=4))
async def test_each_request_is_answered_once(lines: list[bytes], cuts: list[int]) -> None:
    outcomes: list[str] = []

    async def ask(b: Bench) -> None:
        try:
            await b.peer.request("ours")
            outcomes.append("result")
        except (RpcError, WireError):
            outcomes.append("error")
        except ConnectionLostError:
            outcomes.append("lost")

    async with anyio.create_task_group() as group, bench() as b:
        go_on = prepared(b)
        for _ in range(OURS):
            group.start_soon(ask, b)
        await b.wire.answers(OURS)
        places = sorted({min(cut, len(lines)) for cut in cuts} | {0, len(lines)})
        for start, end in itertools.pairwise(places):
            if start < end:
                b.wire.say(*lines[start:end])
                await settle()
        go_on.set()
        await settle()
        with anyio.fail_after(5):
            await b.peer.answered()
        await settle()
        sent = [message for message in b.wire.sent if "method" not in message]
        for message in sent:
            assert ("result" in message) != ("error" in message)
        got = Counter(told(message["id"]) for message in sent if message["id"] is not None)
        assert got == wanted(lines)
        # It still works.
        b.wire.say(request("last", "echo", n=1))
        await settle()
        assert b.wire.sent[-1] == result("last", {"n": 1})
    assert len(outcomes) == OURS
