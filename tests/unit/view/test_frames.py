"""Frames: one acknowledged call at a time, paced, shared, and never lost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.unit.view.buffer import Buffer
from tests.unit.view.helpers import Chat

from acp_nvim.view.frames import BACKLOG, ROOM, STEADY, Frames

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Editor:
    """Applies frames to buffers. ``gate`` holds an answer back; ``errors`` are raised instead."""

    def __init__(self, *chats: int) -> None:
        self.buffers = {chat: Buffer() for chat in chats}
        self.calls: list[list[Any]] = []
        self.errors: list[Exception] = []
        self.gate: anyio.Event | None = None
        self.flying = 0

    async def call(self, module: str, function: str, *args: Any) -> Any:
        assert (module, function) == ("acp.chat.transcript", "frame")
        assert self.flying == 0, "one call at a time"
        self.flying += 1
        try:
            self.calls.append(args[0])
            if self.gate is not None:
                await self.gate.wait()
            if self.errors:
                raise self.errors.pop(0)
            gone = [chat for chat, _ in args[0] if chat not in self.buffers]
            lines = sum(self.buffers[chat].apply(ops) for chat, ops in args[0] if chat in self.buffers)
            return {"lines": lines, "gone": gone}
        finally:
            self.flying -= 1


class Time:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def running(editor: Editor, *chats: Chat, **options: Any) -> AsyncIterator[tuple[Frames, Time]]:
    clock = Time()
    frames = Frames(editor, clock=lambda: clock.now, sleep=clock.sleep, **options)
    for chat in chats:
        frames.add(chat.transcript)
    async with anyio.create_task_group() as group:
        group.start_soon(frames.run)
        yield frames, clock
        group.cancel_scope.cancel()


def chat_number(n: int) -> Chat:
    chat = Chat()
    chat.transcript.chat = n
    return chat


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not true():
            await anyio.lowlevel.checkpoint()


async def test_all_that_is_there_arrives() -> None:
    editor, chat = Editor(1), Chat()
    async with running(editor, chat) as (frames, _):
        chat.say("hello")
        frames.wake()
        await frames.settle(1)
        assert editor.buffers[1].text == "hello\n"
        chat.say(" world")
        frames.wake()
        await frames.settle(1)
        assert editor.buffers[1].text == "hello world\n"
    assert len(editor.calls) == 2


async def test_nothing_wakes_it_while_nothing_happens() -> None:
    editor, chat = Editor(1), Chat()
    async with running(editor, chat) as (frames, clock):
        chat.say("x")
        frames.wake()
        await frames.settle(1)
        await until(lambda: clock.pauses == [STEADY])
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
    assert len(editor.calls) == 1
    assert clock.pauses == [STEADY]


async def test_faster_in_a_backlog() -> None:
    editor, chat = Editor(1), Chat()
    async with running(editor, chat) as (frames, clock):
        chat.say("x" * 60 + "\n" + "y" * 90 * 4000)
        frames.wake()
        await frames.settle(1)
        await until(lambda: clock.pauses[-1:] == [STEADY])
    assert clock.pauses == [BACKLOG] * (len(editor.calls) - 1) + [STEADY]
    assert len(editor.calls) == 4


async def test_one_call_in_flight_and_settle_waits_for_its_answer() -> None:
    editor, chat = Editor(1), Chat()
    async with running(editor, chat) as (frames, _):
        editor.gate = anyio.Event()
        chat.say("one")
        frames.wake()
        await until(lambda: editor.flying == 1)
        settled = []

        async def settle() -> None:
            await frames.settle(1)
            settled.append(editor.buffers[1].text)

        async with anyio.create_task_group() as group:
            group.start_soon(settle)
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            assert settled == []
            editor.gate.set()
        assert settled == ["one\n"]


async def test_chats_take_turns() -> None:
    editor, chats = Editor(1, 2, 3), [chat_number(n) for n in (1, 2, 3)]
    async with running(editor, *chats) as (frames, _):
        for chat in chats:
            chat.say("a line of text\n" * 20_000)
        frames.wake()
        for n in (1, 2, 3):
            await frames.settle(n)
    assert {len(call) for call in editor.calls[:10]} == {3}
    assert [call[0][0] for call in editor.calls[:4]] == [1, 2, 3, 1]
    for n in (1, 2, 3):
        assert editor.buffers[n].blocks[1].content == ["a line of text"] * 20_000


async def test_room() -> None:
    editor, chat = Editor(1), Chat()
    async with running(editor, chat) as (frames, _):
        await frames.room(chat.session)
        editor.gate = anyio.Event()
        chat.say("x" * 100 + "\n" * 3)
        chat.say(("y" * 100 + "\n") * (ROOM // 50))
        passed = []

        async def room(of: Any) -> None:
            await frames.room(of)
            passed.append(chat.transcript.unread)

        async with anyio.create_task_group() as group:
            group.start_soon(room, chat.session)
            group.start_soon(room, 1)
            await until(lambda: editor.flying == 1)
            assert passed == []
            editor.gate.set()
        assert len(passed) == 2
        assert all(unread <= ROOM for unread in passed)
        await frames.room(99)


async def test_a_chat_that_is_gone_is_dropped() -> None:
    gone: list[int] = []
    editor, chats = Editor(1), [chat_number(1), chat_number(2)]
    async with running(editor, *chats, gone=gone.append) as (frames, _):
        for chat in chats:
            chat.say("x")
        frames.wake()
        await frames.settle(1)
        await frames.settle(2)
        assert gone == [2]
        chats[1].say("more")
        frames.wake()
        chats[0].say("more")
        await frames.settle(1)
        assert [chat for chat, _ in editor.calls[-1]] == [1]
        frames.remove(chats[0].transcript)
        await frames.settle(1)


async def test_an_error_ends_nothing_and_loses_nothing() -> None:
    reported: list[Exception] = []
    editor, chat = Editor(1), Chat()
    async with running(editor, chat, report=reported.append) as (frames, _):
        chat.say("one\n")
        frames.wake()
        await frames.settle(1)
        editor.errors = [ValueError("E1"), ValueError("E2")]
        chat.say("two")
        frames.wake()
        await frames.settle(1)
        assert editor.buffers[1].text == "one\ntwo\n"
    assert [str(each) for each in reported] == ["E1", "E2"]


async def test_what_fails_for_ever_is_given_up() -> None:
    reported: list[Exception] = []
    editor, chat = Editor(1), Chat()
    async with running(editor, chat, report=reported.append) as (frames, _):
        editor.errors = [ValueError("E")] * 3
        chat.say("x")
        frames.wake()
        await frames.settle(1)
        assert len(reported) == 3
        assert not chat.transcript.dirty
