"""Our requests, and the order in which everything is handled (V1-11 to V1-17, cases C09, C10)."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.protocol.rpc_errors import RpcError
from acp_nvim.wire import acp_v1 as w
from acp_nvim.wire.tolerant import WireError

from .rpc_bench import ANY, bench, failure, notification, request, result, settle

pytestmark = pytest.mark.anyio


async def test_requests_have_their_own_ids_and_results() -> None:
    got: dict[str, Any] = {}
    async with bench() as b, anyio.create_task_group() as group:

        async def ask(method: str) -> None:
            got[method] = ANY.decode(await b.peer.request(method, {"m": method}))

        group.start_soon(ask, "a")
        group.start_soon(ask, "b")
        sent = await b.wire.answers(2)
        assert sent == [request(0, "a", m="a"), request(1, "b", m="b")]
        b.wire.say(result(1, "B"), result(0, "A"))
    assert got == {"a": "A", "b": "B"}
    assert [direction for direction, _, _ in b.trace] == ["out", "out", "in", "in"]


@pytest.mark.req("V1-14")
@pytest.mark.parametrize(
    "answer",
    [
        {"result": None},
        {"result": {}},
        {},  # a serialiser that leaves out what is undefined
        {"result": {}, "error": None},
    ],
)
async def test_an_empty_result_has_many_forms(answer: dict[str, Any]) -> None:
    async with bench() as b, anyio.create_task_group() as group:

        async def ask() -> None:
            assert await b.peer.request("logout", {}, w.DONE) == w.Empty()

        group.start_soon(ask)
        await b.wire.answers(1)
        b.wire.say({"jsonrpc": "2.0", "id": 0, **answer})


@pytest.mark.req("V1-05")
async def test_a_log_line_with_an_id_answers_nothing() -> None:
    async with bench() as b, anyio.create_task_group() as group:
        answers: list[Any] = []

        async def ask() -> None:
            answers.append(await b.peer.request("logout", {}, w.DONE))

        group.start_soon(ask)
        await b.wire.answers(1)
        b.wire.say({"level": "info", "id": 0, "msg": "started"})
        await settle()
        assert answers == []
        assert "stray" in b.notes()
        b.wire.say({"jsonrpc": "2.0", "id": 0})
        await settle()
        assert answers == [w.Empty()]


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        ({"code": -32000, "message": "log in", "data": [1]}, -32000, "log in"),
        ({"code": 429, "message": "slow down"}, 429, "slow down"),
        ({"code": "E1", "message": "odd"}, -32603, "malformed error"),
        ("just text", -32603, "just text"),
    ],
)
async def test_errors(body: Any, code: int, text: str) -> None:
    async with bench() as b, anyio.create_task_group() as group:

        async def ask() -> None:
            with pytest.raises(RpcError, match=text) as caught:
                await b.peer.request("session/new")
            assert caught.value.code == code

        group.start_soon(ask)
        await b.wire.answers(1)
        b.wire.say({"jsonrpc": "2.0", "id": 0, "error": body})


async def test_a_result_that_does_not_decode_is_an_error_of_the_caller() -> None:
    async with bench() as b, anyio.create_task_group() as group:

        async def ask() -> None:
            with pytest.raises(WireError, match="sessionId"):
                await b.peer.request("session/new", {}, w.SESSION_CREATED)

        group.start_soon(ask)
        await b.wire.answers(1)
        b.wire.say(result(0, {"modes": 1}))
    assert "could not be used" in b.notes()


async def test_a_lenient_result_is_told_to_the_trace() -> None:
    async with bench() as b, anyio.create_task_group() as group:

        async def ask() -> None:
            created = await b.peer.request("session/new", {}, w.SESSION_CREATED)
            assert created.session_id == "s1"

        group.start_soon(ask)
        await b.wire.answers(1)
        b.wire.say(result(0, {"sessionId": "s1", "modes": 1}))
    assert ("note", b'{"jsonrpc": "2.0", "id": 0, "result": {"sessionId": "s1", "modes": 1}}') in [
        seen[:2] for seen in b.trace if seen[2].startswith("lenient: ")
    ]


async def test_a_string_id_is_matched_and_noted() -> None:
    """Case C09."""
    async with bench() as b, anyio.create_task_group() as group:

        async def ask() -> None:
            done = await b.peer.request("session/prompt", {}, w.PROMPTED)
            assert done.stop_reason == "end_turn"

        group.start_soon(ask)
        await b.wire.answers(1)
        b.wire.say(result("x0", {}), result("00", {}), result("0", {"stopReason": "end_turn"}))
    assert "taken for 0" in b.notes()
    assert "unknown response, id 'x0'" in b.notes()
    assert "unknown response, id '00'" in b.notes()


@pytest.mark.req("V1-17")
async def test_late_double_and_unknown_responses_are_only_traced() -> None:
    async with bench() as b, anyio.create_task_group() as group:

        async def ask() -> None:
            assert ANY.decode(await b.peer.request("a")) == 1

        group.start_soon(ask)
        await b.wire.answers(1)
        b.wire.say(result(0, 1), result(0, 2), result(77, 3), failure(None, -32700, "what?"))
        await settle()
        with anyio.move_on_after(0):
            await b.peer.request("b")
        b.wire.say(result(1, "late"))
    assert "late or double response, id 0" in b.notes()
    assert "unknown response, id 77" in b.notes()
    assert "could not read a message of ours" in b.notes()
    assert len(b.wire.sent) <= 2


@pytest.mark.req("V1-86")
async def test_requests_are_withdrawn_by_their_owner_and_keep_waiting() -> None:
    mine, other = object(), object()
    got: list[Any] = []

    async with bench() as b, anyio.create_task_group() as group:

        async def ask(method: str, owner: object) -> None:
            try:
                got.append((method, await b.peer.request(method, {}, ANY, None, owner)))
            except RpcError as error:
                got.append((method, error.code))

        for method, owner in (("a", mine), ("b", other), ("c", mine), ("d", mine)):
            group.start_soon(ask, method, owner)
        await b.wire.answers(4)
        assert (b.peer.asked(mine), b.peer.asked(other), b.peer.asked(object())) == ("a", "b", None)
        b.wire.say(result(0, "done"))
        await settle()
        await b.peer.withdraw(mine)
        await b.peer.withdraw(mine)  # each is told once
        assert b.wire.sent[4:] == [notification("$/cancel_request", requestId=n) for n in (2, 3)]
        assert got == [("a", "done")]
        b.wire.say(failure(2, -32800, "Request cancelled"), result(3, "all the same"), result(1, "kept"))
    assert got == [("a", "done"), ("c", -32800), ("d", "all the same"), ("b", "kept")]


# Order.


@pytest.mark.req("V1-16")
async def test_a_response_waits_for_the_notifications_before_it() -> None:
    """Case C10: updates before the reply, and those of other sessions, keep their order."""
    log: list[str] = []
    gate = anyio.Event()
    async with bench() as b, anyio.create_task_group() as group:

        async def update(params: Any) -> None:
            if params["n"] == 1:
                await gate.wait()  # the view has no room
            log.append(f"update {params['n']}")

        async def ask() -> None:
            await b.peer.request("session/new")
            log.append("created")

        b.handler.on["session/update"] = update
        group.start_soon(ask)
        await b.wire.answers(1)
        b.wire.say(
            notification("session/update", n=1),
            notification("session/update", n=2),
            result(0, {"sessionId": "s1"}),
            notification("session/update", n=3),
        )
        await settle()
        assert log == [], "the reader waits with the view"
        gate.set()
    assert log == ["update 1", "update 2", "created", "update 3"]


async def test_then_runs_before_any_later_message() -> None:
    log: list[str] = []
    async with bench() as b, anyio.create_task_group() as group:

        async def update(params: Any) -> None:
            log.append("update")

        async def ask() -> None:
            await b.peer.request("x", {}, ANY, lambda value: log.append(f"then {value}"))

        async def broken() -> None:
            with pytest.raises(ZeroDivisionError):
                await b.peer.request("y", {}, ANY, lambda value: value / 0)

        b.handler.on["u"] = update
        group.start_soon(ask)
        group.start_soon(broken)
        await b.wire.answers(2)
        b.wire.say(result(0, 5), notification("u"), result(1, 1), notification("u"))
    assert log == ["then 5", "update", "update"]


async def test_a_request_starts_before_the_message_after_it_is_handled() -> None:
    async with bench() as b:

        async def ask(params: Any) -> None:
            await anyio.sleep_forever()

        b.handler.on["session/request_permission"] = ask
        b.wire.say(
            notification("a"), request(2, "session/request_permission"), notification("b"), request(3, "x")
        )
        await b.wire.answers(1)
        assert b.handler.log == [
            "notification a",
            "request session/request_permission",
            "notification b",
            "request x",
        ]
