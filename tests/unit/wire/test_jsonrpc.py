"""The envelope: what counts as a message, and what is answered (V1-05, V1-09, C01)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from acp_nvim.wire import jsonrpc
from acp_nvim.wire.decode import encode
from acp_nvim.wire.jsonrpc import Envelope, Odd


@pytest.mark.parametrize(
    ("line", "id_"),
    [
        (b'{"jsonrpc":"2.0","id":3,"method":"x"}', 3),
        (b'{"jsonrpc":"2.0","id":"3","method":"x"}', "3"),
        (b'{"jsonrpc":"2.0","id":null,"method":"x"}', None),
        (b'{"jsonrpc":"2.0","method":"x"}', UNSET),
        (b'{"jsonrpc":"2.0","id":7.0,"method":"x"}', 7),
        (b'{"jsonrpc":"2.0","id":"\\ud83d","method":"x"}', "\ufffd"),
    ],
)
def test_ids(line: bytes, id_: Any) -> None:
    message, _ = jsonrpc.read(line)
    assert isinstance(message, Envelope)
    assert message.id == id_
    assert type(message.id) is type(id_)
    assert message.method == "x"


def test_only_the_first_level_is_read() -> None:
    message, why = jsonrpc.read(b'{"method":"x","params":{"a": [1, 2]},"more":1}')
    assert isinstance(message, Envelope)
    assert (bytes(message.params), bytes(message.result), why) == (b'{"a": [1, 2]}', b"", None)


def test_a_lenient_envelope_keeps_the_rest() -> None:
    message, why = jsonrpc.read(b'\xef\xbb\xbf{"method":"x","params":{"a":"\\ud83d\t","b":NaN}}')
    assert isinstance(message, Envelope)
    assert bytes(message.params) == b'{"a":"\\ud83d\\t","b":null}'
    assert why is not None
    assert why.startswith("lenient: ")


@pytest.mark.parametrize(
    ("line", "code", "id_"),
    [
        # Stray (C01), and what programs print: never answered.
        (b"Running database migration 3/7", None, None),
        (b"\x1b[32mready\x1b[0m", None, None),
        (b'"just a json string"', None, None),
        (b"42", None, None),
        (b"null", None, None),
        (b"[]", None, None),
        (b"[1, [2], {}]", None, None),
        (b"[INFO] jsonrpc server started", None, None),
        (b"{ sessions: [] }", None, None),
        (b"{", None, None),
        (b'{"id":1.5,"level":30,"msg":"log line"}', None, None),
        (b'log: {"jsonrpc":"2.0"}', None, None),
        # Meant for us: answered once.
        (b'[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]', -32600, None),
        (b'[1,{"method":"a"}]', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"a"', -32700, None),
        (b'[{"jsonrpc":"2.0",', -32700, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"a"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"a"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":{},"method":"a"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":4,"method":5}', -32600, 4),
        (b'{"jsonrpc":"2.0","method":5}', -32600, None),
        (b"[" * 100_000, -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"params":' + b"[" * 100_000 + b"]" * 100_000 + b"}", -32700, None),
    ],
)
def test_odd_lines(line: bytes, code: int | None, id_: Any) -> None:
    message, _ = jsonrpc.read(line)
    assert isinstance(message, Odd)
    assert (message.code, message.id) == (code, id_)
    assert message.why


@given(st.binary(max_size=80))
def test_any_line(line: bytes) -> None:
    jsonrpc.read(line)


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (jsonrpc.Request(0, "a", {}), b'{"jsonrpc":"2.0","id":0,"method":"a","params":{}}'),
        (jsonrpc.Notification("a", {"x": "\n"}), b'{"jsonrpc":"2.0","method":"a","params":{"x":"\\n"}}'),
        (jsonrpc.Answer(None, None), b'{"jsonrpc":"2.0","id":null,"result":null}'),
        (jsonrpc.Answer("7", {}), b'{"jsonrpc":"2.0","id":"7","result":{}}'),
        (
            jsonrpc.Failure(7, jsonrpc.ErrorBody(-32602, "no")),
            b'{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}',
        ),
    ],
)
def test_frames(message: Any, line: bytes) -> None:
    assert encode(message) == line
