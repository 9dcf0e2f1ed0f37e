"""The bridge: calls settle once, and only valid text crosses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.editor import Editor, NvimError, valid

pytestmark = pytest.mark.anyio


class Rpc:
    """The callback layer of pynvim, as far as it is used."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.settle: list[Callable[[Any, Any], None]] = []

    def notify(self, method: str, args: list[Any]) -> None:
        self.sent.append((method, args[1]))

    def request(self, method: str, args: list[Any], settle: Callable[[Any, Any], None]) -> None:
        self.sent.append((method, args[1]))
        self.settle.append(settle)


def bridge() -> tuple[Editor, Rpc]:
    rpc = Rpc()
    nvim = SimpleNamespace(_session=SimpleNamespace(_async_session=rpc), loop=asyncio.get_running_loop())
    return Editor(cast("Any", nvim)), rpc


async def test_a_notification_names_module_and_function() -> None:
    editor, rpc = bridge()
    editor.notify("acp.host", "ready", {"pid": 1})
    assert rpc.sent == [("nvim_exec_lua", ["acp.host", "ready", {"pid": 1}])]


async def test_a_call_returns_its_answer_or_raises() -> None:
    editor, rpc = bridge()
    async with anyio.create_task_group() as group:
        results: list[Any] = []

        async def call(name: str) -> None:
            try:
                results.append(await editor.call("m", name))
            except NvimError as error:
                results.append(error)

        group.start_soon(call, "good")
        group.start_soon(call, "bad")
        while len(rpc.settle) < 2:
            await anyio.lowlevel.checkpoint()
        rpc.settle[1]([0, "m.lua:1: no"], None)
        rpc.settle[0](None, 42)
    assert sorted(map(str, results)) == ["42", "m.lua:1: no"]


async def test_a_late_answer_to_a_cancelled_call_is_dropped() -> None:
    editor, rpc = bridge()
    with anyio.move_on_after(0):
        await editor.call("m", "f")
    rpc.settle[0](None, 1)
    rpc.settle[0]([0, "late"], None)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("plain", "plain"),
        ("\ud83d\ude00", "\U0001f600"),
        ("a\ud800b", "a\ufffdb"),
        ("a\udc80", "a\ufffd"),
        (
            {"k\udfff": ["x\ud800", ("t", None, 3, b"\xff")]},
            {"k\ufffd": ["x\ufffd", ["t", None, 3, b"\xff"]]},
        ),
    ],
)
def test_lone_surrogates_do_not_cross(raw: Any, clean: Any) -> None:
    assert valid(raw) == clean


@given(st.text(st.characters(categories=["Cs", "L", "Zs"])))
def test_valid_text_can_be_encoded_and_good_text_is_kept(text: str) -> None:
    cleaned = valid(text)
    cleaned.encode()
    assert [c for c in cleaned if c != "\ufffd" and ord(c) < 0x10000] == [
        c for c in text if not 0xD800 <= ord(c) < 0xE000 and c != "\ufffd" and ord(c) < 0x10000
    ]
