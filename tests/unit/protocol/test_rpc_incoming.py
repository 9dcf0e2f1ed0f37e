"""The agent's requests, notifications and odd lines (cases C01, C08)."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.protocol.rpc_errors import RpcError, method_not_found
from acp_nvim.session.ports import RequestError
from acp_nvim.wire import acp_v1 as w
from acp_nvim.wire.tolerant import WireError

from .rpc_bench import bench, notification, request, result, settle

pytestmark = pytest.mark.anyio


@pytest.mark.req("V1-15")
async def test_a_long_request_blocks_nothing() -> None:
    answer = anyio.Event()
    async with bench() as b:

        async def permission(params: Any) -> Any:
            await answer.wait()
            return w.RequestPermissionResponse(w.SelectedOutcome("ok"))

        async def output(params: Any) -> Any:
            return w.TerminalOutputResponse("x", False)

        b.handler.on |= {"permission": permission, "output": output}
        b.wire.say(request(31, "permission"), request(32, "permission"))
        b.wire.say(request("o", "output"))
        assert await b.wire.answers(1) == [result("o", {"output": "x", "truncated": False})]
        answer.set()
        sent = await b.wire.answers(3)
        ok = {"outcome": {"outcome": "selected", "optionId": "ok"}}
        assert sent[1:] == [result(31, ok), result(32, ok)]


@pytest.mark.req("V1-11")
async def test_ids_of_any_kind_are_echoed_and_may_repeat() -> None:
    async with bench() as b:

        async def echo(params: Any) -> Any:
            await anyio.lowlevel.checkpoint()
            return params or None

        b.handler.on["e"] = echo
        b.wire.say(
            request(1, "e", n=1), request("1", "e", n=2), request(None, "e", n=3), request(1, "e", n=4),
            {"jsonrpc": "2.0", "id": 9, "method": "e"},
        )  # fmt: skip
        sent = await b.wire.answers(5)
        assert [(a["id"], a["result"]) for a in sent] == [
            (1, {"n": 1}), ("1", {"n": 2}), (None, {"n": 3}), (1, {"n": 4}), (9, {}),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("raised", "code", "message"),
    [
        (method_not_found("x"), -32601, "Method not found: x"),
        (RpcError(-32002, "no such terminal", {"id": 1}), -32002, "no such terminal"),
        (RequestError(-32002, "no such file"), -32002, "no such file"),
        (WireError("shape", "missing field `path`"), -32602, "Invalid params: missing field `path`"),
        (ValueError("secret token"), -32603, "Internal error: ValueError"),
        (ExceptionGroup("g", [ValueError("secret")]), -32603, "Internal error: ExceptionGroup"),
    ],
)
async def test_what_a_handler_raises_is_the_answer(raised: Exception, code: int, message: str) -> None:
    async with bench() as b:

        async def refuse(params: Any) -> Any:
            raise raised

        b.handler.on["x"] = refuse
        b.wire.say(request(5, "x"))
        (answer,) = await b.wire.answers(1)
        assert (answer["id"], answer["error"]["code"], answer["error"]["message"]) == (5, code, message)
    assert ("Traceback" in b.notes()) == (code == -32603)


async def test_an_answer_that_cannot_be_encoded_is_an_error() -> None:
    async with bench() as b:

        async def odd(params: Any) -> Any:
            return object()

        b.handler.on["x"] = odd
        b.wire.say(request(5, "x"))
        (answer,) = await b.wire.answers(1)
        assert answer["error"]["code"] == -32603


@pytest.mark.req("V1-85")
@pytest.mark.parametrize("returns", [False, True])
async def test_cancel_request(returns: bool) -> None:
    async with bench() as b:

        async def wait(params: Any) -> Any:
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                if returns:
                    return {"outcome": {"outcome": "cancelled"}}
                raise

        b.handler.on["p"] = wait
        b.wire.say(request(7, "p"), request("7", "p"))
        b.wire.say(
            notification("$/cancel_request", requestId=8),
            notification("$/cancel_request"),
            notification("$/cancel_request", requestId=7),
        )
        (answer,) = await b.wire.answers(1)
        assert answer["id"] == 7
        if returns:
            assert answer["result"] == {"outcome": {"outcome": "cancelled"}}
        else:
            assert answer["error"]["code"] == -32800
        await settle()
        b.wire.say(notification("$/cancel_request", requestId=7))
        await settle()
        assert len(b.wire.sent) == 1, 'the one with the id "7" still runs'
        assert "nothing to cancel for id 8" in b.notes()
        b.peer.cancel_incoming()
        last = (await b.wire.answers(2))[1]
        assert (last["id"], "result" in last) == ("7", returns)


@pytest.mark.req("V1-12")
@pytest.mark.req("V1-211")
async def test_notifications_are_never_answered() -> None:
    """Case C08."""
    async with bench() as b:

        async def broken(params: Any) -> None:
            raise ValueError("boom")

        async def misread(params: Any) -> None:
            raise WireError("shape", "missing field `update`")

        b.handler.on |= {"broken": broken, "misread": misread}
        b.wire.say(
            notification("_x.ai/announcements/update", n=1),
            notification("$/progress"),
            notification("broken"),
            notification("misread"),
            notification("after"),
        )
        await settle()
        assert b.wire.sent == []
        assert b.handler.log[-1] == "notification after"
    assert "boom" in b.notes()
    assert "misread was ignored: missing field `update`" in b.notes()
    assert [direction for direction, _, _ in b.trace].count("in") == 5


async def test_stray_lines_do_not_disturb_the_handshake() -> None:
    """Case C01."""
    stray = [
        b"Running database migration 3/7",
        b"\x1b[32mready\x1b[0m",
        b'"just a json string"',
        b"42",
        b"[]",
        b'{"level":30,"msg":"listening"}',
    ]
    async with bench() as b, anyio.create_task_group() as group:

        async def ask() -> None:
            hello = await b.peer.request("initialize", w.InitializeRequest(1), w.INITIALIZED)
            assert hello.protocol_version == 1

        group.start_soon(ask)
        await b.wire.answers(1)
        b.wire.say(*stray, result(0, {"protocolVersion": 1, "agentCapabilities": {}}))
        await settle()
        assert len(b.wire.sent) == 1
    assert [line for way, line, text in b.trace if way == "in" and line in stray] == stray
    assert b.notes().count("stray") + b.notes().count("syntax") >= len(stray)


@pytest.mark.req("V1-05", "V1-09", "V1-12")
@pytest.mark.parametrize(
    ("line", "id_", "code"),
    [
        (b'[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"a"}]', None, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"a"', None, -32700),
        (b'{"jsonrpc":"2.0"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":6,"method":["a"]}', 6, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":' + b"[" * 50_000, None, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"e","params":' + b"[" * 400 + b"]" * 400 + b"}", 1, -32602),
    ],
)
async def test_malformed_messages_are_answered_once(line: bytes, id_: Any, code: int) -> None:
    async with bench() as b:

        async def echo(params: Any) -> Any:
            return {}

        b.handler.on["e"] = echo
        b.wire.say(line, request(99, "e"))
        sent = await b.wire.answers(2)
        await settle()
        assert len(sent) == 2
        errors = [(a["id"], a["error"]["code"]) for a in sent if "error" in a]
        assert errors == [(id_, code)]
        assert "request a" not in b.handler.log, "nothing of it is processed"


async def test_the_reader_does_not_write() -> None:
    """An agent that reads nothing while it waits for us to read must not stop both."""
    async with bench() as b:
        b.wire.block = anyio.Event()
        b.wire.say(*[request(n, "unknown") for n in range(50)], b'[{"method":"x"}]', notification("after"))
        await settle()
        assert b.handler.log[-1] == "notification after"
        b.wire.block.set()
        b.wire.block = None
        await b.wire.answers(51)


async def test_requests_running_at_once_are_bounded() -> None:
    go = anyio.Event()
    async with bench(max_requests=3) as b:

        async def wait(params: Any) -> Any:
            await go.wait()
            return {}

        b.handler.on["w"] = wait
        b.wire.say(*[request(n, "w") for n in range(10)])
        await settle()
        assert len(b.handler.log) == 3
        go.set()
        assert sorted(a["id"] for a in await b.wire.answers(10)) == list(range(10))
