"""The end of the connection, and the peer over real framing (V1-19, cases C02 to C04)."""

from __future__ import annotations

import json
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.protocol.rpc import Peer
from acp_nvim.protocol.rpc_errors import ConnectionLostError
from acp_nvim.transport import LineDecoder, LineTooLongError, StdioTransport
from acp_nvim.wire import acp_v1 as w

from .rpc_bench import Handler, Wire, bench, notification, request, settle

pytestmark = pytest.mark.anyio


@pytest.mark.req("V1-19")
@pytest.mark.parametrize("how", ["eof", "too long", "fail", "cancel"])
async def test_the_end_fails_everything_and_writes_nothing(how: str) -> None:
    reasons = []
    cancelled = []
    async with anyio.create_task_group() as group:
        wire, handler = Wire(), Handler()
        peer = Peer(wire, handler, spawn=group.start_soon)
        scope = anyio.CancelScope()

        async def run() -> None:
            with scope:
                await peer.run()

        async def ask() -> None:
            with pytest.raises(ConnectionLostError) as caught:
                await peer.request("session/prompt")
            reasons.append(caught.value.reason)

        async def wait(params: Any) -> Any:
            try:
                await anyio.sleep_forever()
            finally:
                cancelled.append(True)

        handler.on["p"] = wait
        group.start_soon(run)
        group.start_soon(ask)
        group.start_soon(ask)
        await wire.answers(2)
        wire.say(request(1, "p"))
        await settle()
        match how:
            case "eof":
                wire.end()
            case "too long":
                wire.fail(LineTooLongError(10, []))
            case "fail":
                peer.fail("the agent exited (1)")
            case "cancel":
                scope.cancel()
        await settle()
        wire.end()
    expected = {
        "eof": "the agent closed its output",
        "too long": "the agent sent a line longer than 10 bytes",
        "fail": "the agent exited (1)",
        "cancel": "the connection was closed",
    }[how]
    assert reasons == [expected, expected]
    assert peer.lost == expected
    assert cancelled == [True]
    assert len(wire.sent) == 2, "nothing is written afterwards"
    with pytest.raises(ConnectionLostError):
        await peer.notify("session/cancel", w.CancelNotification("s1"))
    with pytest.raises(ConnectionLostError):
        await peer.request("x")
    assert len(wire.sent) == 2


async def test_a_broken_pipe_is_a_lost_connection() -> None:
    async with bench() as b:
        b.wire.broken = True
        with pytest.raises(ConnectionLostError, match="does not read its input"):
            await b.peer.request("x")
        b.wire.say(request(1, "unknown"))
        await settle()
    assert "not sent: the agent does not read" in b.notes()


async def test_messages_after_fail_are_not_looked_at() -> None:
    async with bench() as b:

        async def stop(params: Any) -> None:
            b.peer.fail("stopped")

        b.handler.on["stop"] = stop
        b.wire.say(notification("stop"), notification("after"))
        await settle()
        assert b.handler.log == ["notification stop"]


async def test_the_end_frees_who_waits_to_write() -> None:
    async with bench() as b, anyio.create_task_group() as group:
        b.wire.block = anyio.Event()

        async def ask() -> None:
            with pytest.raises(ConnectionLostError, match="killed"):
                await b.peer.request("x")

        group.start_soon(ask)
        b.wire.say(request(1, "unknown"))
        await settle()
        b.peer.fail("killed")
    assert b.wire.sent == []
    assert "not sent: killed" in b.notes()


async def test_a_request_that_waits_for_its_turn_is_not_started_at_the_end() -> None:
    async with bench(max_requests=1) as b:

        async def wait(params: Any) -> Any:
            await anyio.sleep_forever()

        b.handler.on["w"] = wait
        b.wire.say(request(1, "w"), request(2, "w"))
        await settle()
        b.peer.fail("killed")
        await settle()
        assert b.handler.log == ["request w"]


class Pipe(anyio.abc.ByteReceiveStream, anyio.abc.ByteSendStream):
    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces
        self.written = b""

    async def receive(self, max_bytes: int = 65536) -> bytes:
        await anyio.lowlevel.checkpoint()
        if not self.pieces:
            raise anyio.EndOfStream
        return self.pieces.pop(0)

    async def send(self, item: bytes) -> None:
        self.written += item

    async def aclose(self) -> None:
        pass


async def over(pieces: list[bytes], limit: int = 1 << 20) -> tuple[Peer, Handler, list[Any], list[Any]]:
    """Run a peer over the pieces, with one prompt pending; return also its outcome, and the updates."""
    outcome: list[Any] = []
    updates: list[Any] = []
    handler = Handler()
    pipe = Pipe(pieces)

    async def update(params: Any) -> None:
        updates.append(params)

    handler.on["session/update"] = update
    async with anyio.create_task_group() as group:
        peer = Peer(StdioTransport(pipe, pipe, limit=limit), handler, spawn=group.start_soon)

        async def ask() -> None:
            try:
                outcome.append(await peer.request("session/prompt", {}, w.PROMPTED))
            except ConnectionLostError as error:
                outcome.append(error.reason)

        group.start_soon(ask)
        group.start_soon(peer.run)
    return peer, handler, outcome, updates


async def test_the_last_message_may_lack_its_newline() -> None:
    """Case C03."""
    peer, _, outcome, _ = await over([b'{"jsonrpc":"2.0","id":0,"result":{"stopReason":"end_turn"}}'])
    assert outcome == [w.PromptResponse("end_turn")]
    assert peer.lost == "the agent closed its output"


async def test_characters_cut_by_reads() -> None:
    """Case C04."""
    content = {"type": "text", "text": "caf\u00e9 \N{ROCKET} ok"}
    line = json.dumps(
        notification("session/update", sessionId="s1", update={"content": content}), ensure_ascii=False
    ).encode()
    first = line.index("é".encode()) + 1
    second = line.index("\N{ROCKET}".encode()) + 2
    _, _, _, updates = await over([line[:first], line[first:second], line[second:] + b"\n"])
    assert [update["update"]["content"]["text"] for update in updates] == ["café \N{ROCKET} ok"]


async def test_a_line_without_end_fails_the_connection() -> None:
    """Case C02, smaller."""
    pieces = [b'{"jsonrpc":"2.0","method":"session/update","params":{}}\n'] + [b"A" * 65536] * 100
    peer, _, outcome, updates = await over(pieces, limit=1_000_000)
    assert outcome == ["the agent sent a line longer than 1,000,000 bytes"]
    assert peer.lost == outcome[0]
    assert updates == [{}]
    assert len(pieces) > 80, "reading stopped at once"


async def test_any_cut_gives_the_same_messages() -> None:
    stream = b"".join(json.dumps(notification("session/update", n=n)).encode() + b"\r\n" for n in range(5))
    for size in (1, 2, 7, 64):
        pieces = [stream[i : i + size] for i in range(0, len(stream), size)]
        _, _, _, updates = await over(pieces)
        assert [update["n"] for update in updates] == list(range(5))
    assert LineDecoder().decode(stream)
